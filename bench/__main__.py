"""`python -m bench`: `sen.load` beside other ways of reading, as Markdown tables.

Each measurement has a process of its own, so that no method finds memory or modules that
another left; the methods take turns, so that a busy machine slows them all; the smallest of
several counts. Compare within one size of one report, not reports of different days; and
where (a) takes more seconds than CPU, something else was running: measure again.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .generate import workspace
from .measure import Measured, measure
from .methods import METHODS, every_byte

SIZES = (600, 6_000, 60_000)
FEW = 20
"""Runs of the workspace that a process warms up on."""

_BESIDE = (
    ("figures", "pandas", "(b) a row a file", 10),
    ("tables", "pandas_tables", "(b) a frame a table", 10),
    ("figures", "duckdb", "(c)", 6),
    ("tables", "duckdb", "(c)", 6),
)
"""What is compared: a frame of figures with one of files, all tables with all tables."""

WISHED = {"figures": 2.2, "tables": 3.3}
"""Times (a), at most: listing the folders, reading and decoding alone take about 1.3 of it."""

PATIENCE = 60.0
"""Seconds after which a method that has been measured twice is not measured again."""


class Best(NamedTuple):
    """The best of a method's measurements: the least time, but the most memory."""

    seconds: float
    cpu_seconds: float
    gigabytes: float
    start: float
    times: int


def main() -> None:
    options = _options()
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, warm cache\n")
    for size in options.sizes:
        folder = workspace(size)
        megabytes = every_byte(str(folder)) / 1e6
        best = _take_turns(options.methods, folder, size, options.repeat)
        print(f"## {size:,} runs, {megabytes:.1f} MB of JSON\n")
        print("\n".join(_table(best)), end="\n\n")
        print("\n".join(_wishes(best, size)), end="\n\n", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="RUNS")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--repeat", type=int, default=5, help="measurements a method, at most")
    return parser.parse_args()


def _take_turns(methods: list[str], folder: Path, runs: int, repeat: int) -> dict[str, Best]:
    few = workspace(FEW)
    measured: dict[str, list[Measured]] = {name: [] for name in methods}
    for turn in range(repeat):
        for name, mine in measured.items():
            if turn >= 2 and sum(one.seconds for one in mine) > PATIENCE:
                continue
            one = measure(name, few, folder)
            if one.runs not in (None, runs):
                raise RuntimeError(f"{name} found {one.runs} of {runs} runs in {folder}")
            mine.append(one)
    return {name: _best(mine) for name, mine in measured.items()}


def _best(mine: list[Measured]) -> Best:
    return Best(
        min(one.seconds for one in mine),
        min(one.cpu_seconds for one in mine),
        max(one.gigabytes for one in mine),
        min(one.start for one in mine),
        len(mine),
    )


def _table(best: dict[str, Best]) -> Iterator[str]:
    yield "| method | seconds | × (a) | CPU, s | peak, GB | imports, first call, s | best of |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, one in best.items():
        ratio = f"{one.seconds / best['floor'].seconds:.2f}" if "floor" in best else ""
        yield (
            f"| {METHODS[name].title} | {one.seconds:.3f} | {ratio} "
            f"| {one.cpu_seconds:.3f} | {one.gigabytes:.2f} | {one.start:.2f} | {one.times} |"
        )


def _wishes(best: dict[str, Best], runs: int) -> Iterator[str]:
    """What is wanted at this size, and whether it holds, as far as it was measured."""
    if runs < 6_000:
        yield "Nothing is wanted of so few runs: imports take longer than reading them."
        return
    for name, limit in WISHED.items():
        if {name, "floor"} <= best.keys():
            ratio = best[name].seconds / best["floor"].seconds
            yield _wish(ratio <= limit, f"{name}: {ratio:.2f} × (a), wanted at most {limit}")
    if runs >= 60_000 and "tables" in best:
        peak = best["tables"].gigabytes
        yield _wish(peak < 0.5, f"tables: {peak:.2f} GB at the peak, wanted less than 0.5")
    for name, other, what, limit in _BESIDE:
        if {name, other} <= best.keys():
            ratio = best[other].seconds / best[name].seconds
            told = f"{name}: {ratio:.1f} × faster than {what}, wanted at least {limit}"
            yield _wish(ratio >= limit, told)


def _wish(holds: bool, told: str) -> str:
    return f"- {'holds' if holds else '**does not hold**'}: {told}"


if __name__ == "__main__":
    main()
