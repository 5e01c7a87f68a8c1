"""`python -m bench.tryouts`: drafts tried on 6,000 stored runs beside reading their outputs.

Reading is done in two ways: as anybody would (`Path.iterdir`, `Path.read_bytes`), against which
the tries are held, and by bare calls of the system, nothing looked at. All take turns in one
process, warm, with the tables of the workspace read before (a draft is made from them), and the
smallest of several times counts: compare the ratios, not the times of different days.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import platform
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import skill_eval_nb as sen
from skill_eval_nb.improving import Draft, try_out

from .generate import CACHE, write

RUNS = 6_000
LIMIT = 3.0
"""So many times as long as reading the outputs may a try take."""
N_BYTES = 4_096
"""Of a report."""

TRIES = ("a text is looked for", "an expression is looked for", "the same in place of a check")
"""What is held against reading."""

PATTERN = {"type": "file_contains", "pattern": "*.md", "match_regex": r"(?m)^## Order \d+ of"}
WORDS = {"type": "file_contains", "pattern": "*.md", "match": "## Order"}


def workspace(runs: int = RUNS, cache: Path = CACHE) -> Path:
    """The folder of a generated workspace with outputs; it is made once and kept.

    Its name tells which generator made it, so a changed one makes another.
    """
    names = ("generate.py", "phrases.py", "run.py", "suite.py", "tryouts.py")
    sources = (Path(__file__).with_name(name) for name in names)
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:8]
    folder = cache / f"{runs}-tries-{digest}"
    if not folder.exists():
        for old in cache.glob(f"{runs}-tries-*"):
            shutil.rmtree(old)
        unfinished = cache / f"{runs}-tries-unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        write(unfinished, runs)
        add_outputs(unfinished)
        unfinished.rename(folder)
    return folder


def add_outputs(folder: Path) -> None:
    """Write what each run of a generated workspace says that it created: a report, two tables."""
    chance = random.Random(20260102)
    words = [f"article-{number}" for number in range(900)]
    for outputs in sorted(folder.glob("iteration-*/*/*/run-*/outputs")):
        helped = outputs.parts[-3] == "with_skill"
        head = "## Order 12 of it\n" if chance.random() < 0.3 + 0.4 * helped else "## Nothing\n"
        lines = [" ".join(chance.choices(words, k=8)) for _ in range(60)]
        (outputs / "report.md").write_text(("\n".join(["# Stock", *lines, head]))[-N_BYTES:])
        for hall in (1, 2):
            rows = (f"{word},{chance.randint(0, 99)}" for word in words[: 100 * hall])
            (outputs / f"hall-{hall}.csv").write_text("\n".join(["article,stock", *rows]))


def plain(outputs: list[str]) -> int:
    """The bytes of all outputs, as anybody would read them."""
    return sum(len(file.read_bytes()) for folder in outputs for file in Path(folder).iterdir())


def bare(outputs: list[str]) -> int:
    """The bytes of all outputs, by bare calls of the system."""
    total = 0
    for folder in outputs:
        with os.scandir(folder) as entries:
            for entry in entries:
                descriptor = os.open(entry.path, os.O_RDONLY)
                total += len(os.read(descriptor, 1 << 16))
                os.close(descriptor)
    return total


def ways(folder: Path) -> Mapping[str, Callable[[], object]]:
    """What is measured, by its name."""
    ws = sen.load(folder)
    ws.tables()
    evals = tuple(ws.polars("evals")["eval_id"].unique(maintain_order=True))
    outputs = [f"{folder}/{path}/outputs" for path in ws.polars("runs")["path"]]

    def draft(target: str | None, check: Mapping[str, object]) -> Draft:
        kind = "add" if target is None else "sharpen"
        part = "structural_expectations"
        return Draft("d-bench", kind, part, evals, target, (check,), "made up")

    texts, expressions, replaced = TRIES
    return {
        "reading the outputs": lambda: plain(outputs),
        "the same by bare system calls": lambda: bare(outputs),
        texts: lambda: try_out(draft(None, WORDS), ws),
        expressions: lambda: try_out(draft(None, PATTERN), ws),
        replaced: lambda: try_out(draft("S3", PATTERN), ws),
    }


def measure(folder: Path, times: int) -> dict[str, float]:
    """The least seconds that each way took; they take turns."""
    named = ways(folder)
    best = dict.fromkeys(named, float("inf"))
    for _ in range(times):
        for name, way in named.items():
            gc.collect()
            begin = perf_counter()
            way()
            best[name] = min(best[name], perf_counter() - begin)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.tryouts", description=__doc__)
    parser.add_argument("--times", type=int, default=7, help="measurements of each way")
    options = parser.parse_args()
    best = measure(workspace(), options.times)
    reading = best["reading the outputs"]
    print(f"Python {platform.python_version()}, {RUNS:,} runs with 4 files each, warm\n")
    print("| what | milliseconds | × reading | wanted |")
    print("|---|--:|--:|---|")
    for name, seconds in best.items():
        ratio = seconds / reading
        told = f"at most {LIMIT:g}: {'holds' if ratio <= LIMIT else 'NOT'}" if name in TRIES else ""
        print(f"| {name} | {seconds * 1e3:.0f} | {ratio:.2f} | {told} |")


if __name__ == "__main__":
    main()
