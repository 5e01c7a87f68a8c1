"""`python -m tests.corpus.count FOLDER`: graded runs of each repository, counted twice.

Once by walking the JSON, without the package: whatever holds verdicts or counts of its own, and
stands under an eval and a side, is a graded run. Once by `sen.load`. The two need not agree: the
walker knows no copies, no summaries and no aggregates, and says how many of its runs lie in how
many files. A line where `load` has fewer is to be looked at.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.corpus import silence

SIDE = re.compile(r"(?:.*[-_])?(?:with|without|old|new|no)[-_]?skill.*|baseline|unstated")
LISTS = ("expectations", "assertions", "assertion_results", "assertion_details", "evaluations")
LISTS += ("grades", "verdicts", "checks", "expectation_results")
COUNTS = (("passed", "total"), ("assertions_passed", "assertions_total"), ("passed", "failed"))
VERDICT = ("passed", "result", "met", "grade", "verdict", "status", "pass", "outcome")


def graded(value: Any, side: bool) -> Iterator[str]:
    """How each part of a document that is a graded run says so; `side`: under a side already."""
    if isinstance(value, list):
        for item in value:
            yield from graded(item, side)
    if not isinstance(value, dict):
        return
    named = (value.get(key) for key in ("configuration", "config", "condition", "variant"))
    side = side or any(isinstance(one, str) and SIDE.fullmatch(one) for one in named)
    if side and (how := _says(value)):
        yield how
        return
    for key, item in value.items():
        if key not in ("run_summary", "summary", "totals", "delta", "aggregate"):
            yield from graded(item, side or SIDE.fullmatch(key) is not None)


def _says(value: dict[str, Any]) -> str | None:
    for key in LISTS:
        rows = value.get(key)
        if isinstance(rows, list) and any(_is_verdict(one) for one in rows):
            return "verdicts"
    if "assertions_met" in value:
        return "verdicts"
    for part in (value, *(value.get(key) for key in ("result", "summary", "assertions"))):
        if not isinstance(part, dict):
            continue
        if any(type(part.get(a)) is int and type(part.get(b)) is int for a, b in COUNTS):
            return "counts"
        if isinstance(passed := part.get("assertions_passed"), str) and "/" in passed:
            return "counts" if passed[:1].isdigit() else None
        if any(isinstance(part.get(key), int | float | str) for key in ("pass_rate", "score")):
            return "rates"
    return None


def _is_verdict(one: Any) -> bool:
    return isinstance(one, dict) and any(
        isinstance(one.get(key), bool) or (isinstance(one.get(key), str) and len(one[key]) < 9)
        for key in VERDICT
    )


def count(folder: Path) -> tuple[Counter[str], int]:
    """The graded runs below a folder, by how and where they say so, and how many files do."""
    found: Counter[str] = Counter()
    holding = 0
    for name in silence.files(folder):
        path = Path(name)
        kind = "benchmark" if path.name.startswith("benchmark") else "other"
        kind = "grading" if "grading" in name.lower() else kind
        try:
            raw = json.loads((folder / path).read_text(encoding="utf-8-sig"), strict=False)
        except ValueError:
            found["unreadable"] += kind == "grading"
            continue
        here = Counter(f"{kind} {how}" for how in graded(raw, kind == "grading"))
        holding += bool(here)
        found += here
    return found, holding


def main(root: Path) -> None:
    """Print a line a repository."""
    import skill_eval_nb as sen

    print("| repository | gradings | benchmarks | other files | files | load: graded | of runs |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        found, holding = count(folder)
        sums: Counter[str] = Counter()
        for name, n in found.items():
            sums[name.split()[0]] += n
        try:
            status = sen.load(folder).runs["status"].to_list()
        except sen.NothingToLoad:
            status = []
        cells = [sums["grading"], sums["benchmark"], sums["other"], holding]
        cells += [status.count("graded"), len(status)]
        print(f"| {folder.name} | {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
