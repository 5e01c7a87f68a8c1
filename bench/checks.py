"""`python -m bench.checks`: structural checks beside a plain search of the same files.

The plain search lists a folder of 2,000 files of 4 KB, reads each with `os.read` and looks for
a text in its bytes. Both take turns in one process, warm, and the smallest of several times
counts: compare the ratios, not the times of different days.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

from skill_eval_nb.documents import StructuralExpectation as Wanted
from skill_eval_nb.grading.structural import check

N_FILES = 2_000
N_BYTES = 4_096
NEEDLE = "a text that stands in one file only"

ONE = [Wanted("file_contains", pattern="*.md", match=NEEDLE)]
"""One literal check; the text stands in the last file."""

MIXED = [
    Wanted("file_exists", pattern="**/note-77.md"),
    Wanted("file_count", pattern="*.md", count=N_FILES, operator=">="),
    Wanted("file_contains", pattern="*.md", match=NEEDLE),
    Wanted("file_not_contains", pattern="*.md", match_any=["TODO", "FIXME"], except_context=["x"]),
    Wanted("file_contains", pattern="*.md", match_regex=r"^## Result:\s+\d+ of \d+$"),
    Wanted("no_errors"),
]
"""Six checks, of all types but `custom_script`; three look into every file, for four texts."""

WITHOUT_LITERAL = [Wanted("file_contains", pattern="*.md", match_regex=r"^\w+\d\.\d{9}$")]
"""An expression of which nothing can be looked for in bytes: told, with no limit."""


def make(folder: Path, n_files: int = N_FILES, n_bytes: int = N_BYTES) -> None:
    """Write the files: words of a small vocabulary, in ten folders."""
    chance = random.Random(20260101)
    words = [f"lorem-{number}" if number % 7 == 0 else f"ipsum{number}" for number in range(900)]
    for number in range(n_files):
        text = "# Note\n\n"
        while len(text) < n_bytes:
            text += " ".join(chance.choices(words, k=12)) + ".\n"
        if number == n_files - 1:
            text = f"{NEEDLE}\n## Result: 3 of 4\n{text}"
        place = folder / f"part-{number % 10}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"note-{number}.md").write_text(text[:n_bytes], "utf-8", newline="\n")


def plain(folder: str) -> int:
    """How many files hold the text, by the plainest calls there are."""
    needle, found, waiting = NEEDLE.encode(), 0, [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                    continue
                descriptor = os.open(entry.path, os.O_RDONLY)
                found += needle in os.read(descriptor, 1 << 16)
                os.close(descriptor)
    return found


def measure(folder: Path, transcript: Path, times: int) -> dict[str, float]:
    """The least seconds that each way took; they take turns."""
    ways: Mapping[str, Callable[[], object]] = {
        "plain": lambda: plain(str(folder)),
        "one": lambda: check(ONE, folder, None),
        "mixed": lambda: check(MIXED, folder, transcript),
        "expression": lambda: check(WITHOUT_LITERAL, folder, None),
    }
    marks = [
        expectation.passed for expectation in check(ONE + MIXED, folder, transcript).expectations
    ]
    if plain(str(folder)) != 1 or marks != [True] * len(marks):
        raise RuntimeError(f"the checks do not say what is so: {marks}")
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(times):
        for name, way in ways.items():
            if name == "expression" and turn >= 3:
                continue
            begin = perf_counter()
            way()
            best[name] = min(best[name], perf_counter() - begin)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.checks", description=__doc__)
    parser.add_argument("--times", type=int, default=30, help="measurements of each way")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outputs, transcript = Path(folder, "outputs"), Path(folder, "transcript.md")
        make(outputs)
        transcript.write_text("1. Read the task.\n2. Ran it: 0 errors.\n" * 100, "utf-8")
        best = measure(outputs, transcript, options.times)
    print(f"Python {platform.python_version()}, {N_FILES:,} files of {N_BYTES:,} bytes, warm\n")
    print("| what | milliseconds | × plain | wanted |")
    print("|---|--:|--:|---|")
    rows = [
        ("plain", "plain search of the bytes", None),
        ("one", "one literal check", 1.5),
        ("mixed", "six mixed checks", 4.0),
        ("expression", "one regular expression without a literal", None),
    ]
    for name, title, limit in rows:
        ratio = best[name] / best["plain"]
        holds = "" if limit is None else f"at most {limit}: {'holds' if ratio <= limit else 'NOT'}"
        print(f"| {title} | {best[name] * 1e3:.1f} | {ratio:.2f} | {holds} |")


if __name__ == "__main__":
    main()
