"""`python -m tests.bench`: `sen.load` beside other ways of reading, as a Markdown table.

Each measurement has a process of its own, so that no method finds memory or modules that
another left; the methods take turns, so that a busy machine slows all of them; the smallest
of several counts. Compare within one size of one report, not reports of different days.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from pathlib import Path

from .generate import workspace
from .measure import Measured, measure
from .methods import METHODS, every_byte

SIZES = (600, 6_000, 60_000)
FEW = 20
"""Runs of the workspace that a process warms up on."""

PATIENCE = 60.0
"""Seconds after which a method that has been measured twice is not measured again."""

Figures = dict[str, list[Measured]]
"""Method to its measurements."""


def main() -> None:
    options = _options()
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, warm cache\n")
    for size in options.sizes:
        folder = workspace(size)
        megabytes = every_byte(str(folder)) / 1e6
        measured = _take_turns(options.methods, folder, size, options.repeat)
        print(f"## {size:,} runs, {megabytes:.1f} MB of JSON\n")
        print("\n".join(_table(measured)), end="\n\n")
        print("\n".join(_verdicts(measured, size)), end="\n\n", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="RUNS")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--repeat", type=int, default=5, help="measurements of each method, at most")
    return parser.parse_args()


def _take_turns(methods: list[str], folder: Path, runs: int, repeat: int) -> Figures:
    few = workspace(FEW)
    measured: Figures = {name: [] for name in methods}
    for turn in range(repeat):
        for name, mine in measured.items():
            if turn >= 2 and sum(one.seconds for one in mine) > PATIENCE:
                continue
            one = measure(name, few, folder)
            if one.runs not in (None, runs):
                raise RuntimeError(f"{name} found {one.runs} of {runs} runs in {folder}")
            mine.append(one)
    return measured


def _table(measured: Figures) -> Iterator[str]:
    yield "| method | seconds | ÷ (a) | peak memory, GB | imports and first call, s | best of |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, mine in measured.items():
        ratio = _ratio(measured, name, "floor")
        yield (
            f"| {METHODS[name].title} | {_best(mine):.3f} | {'' if ratio is None else f'{ratio:.2f}'} "
            f"| {_peak(mine):.2f} | {min(one.start for one in mine):.2f} | {len(mine)} |"
        )


def _best(mine: list[Measured]) -> float:
    return min(one.seconds for one in mine)


def _peak(mine: list[Measured]) -> float:
    return max(one.megabytes for one in mine) / 1e3


def _ratio(measured: Figures, method: str, other: str) -> float | None:
    if method not in measured or other not in measured:
        return None
    return _best(measured[method]) / _best(measured[other])


def _verdicts(measured: Figures, runs: int) -> Iterator[str]:
    """What is wanted at this size, and whether it holds; the methods left out say nothing."""
    if runs < 6_000:
        yield "Nothing is wanted of so few runs: imports cost more than reading them."
        return
    for method, other, most in (("figures", "floor", 1.6), ("tables", "floor", 2.3)):
        ratio = _ratio(measured, method, other)
        if ratio is not None:
            yield f"- {_held(ratio <= most)}: {method} {ratio:.2f} × (a), at most {most} wanted"
    for method in ("figures", "tables"):
        for other, letter, least in (("pandas", "b", 10), ("duckdb", "c", 6)):
            ratio = _ratio(measured, other, method)
            if ratio is not None:
                yield f"- {_held(ratio >= least)}: {method} {ratio:.1f} × faster than ({letter}), at least {least} wanted"
    if runs >= 60_000 and "tables" in measured:
        peak = _peak(measured["tables"])
        yield f"- {_held(peak < 0.5)}: tables take {peak:.2f} GB at their peak, less than 0.5 wanted"


def _held(holds: bool) -> str:
    return "holds" if holds else "**does not hold**"


if __name__ == "__main__":
    main()
