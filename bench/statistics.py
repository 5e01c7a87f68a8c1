"""`python -m bench.statistics`: the statistics beside a plain `group_by`, in one process.

The tables are loaded before, and everything is called once on a few runs, so that no import is
measured. The ways take turns; the smallest of several counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import polars as pl

import skill_eval_nb as sen

from .generate import workspace

FEW = 20
LIMIT, SPARE = 3, 1.0
"""What is wanted of all statistics together: so many times the plain way, and so many seconds."""
KEYS = ["workspace", "skill", "iteration", "eval_id", "configuration"]


def plain(ws: Any) -> None:
    """Mean and standard deviation of each table's figure, eval by eval, as polars gives them."""
    for table, figure, more in (
        ("runs", "pass_rate", []),
        ("rubric_scores", "score", ["dimension"]),
        ("expectations", "passed", ["text"]),
    ):
        value = pl.col(figure).cast(pl.Float64)
        frame = ws.polars(table).group_by(*KEYS, *more)
        frame.agg(value.mean().alias("mean"), value.std().alias("stddev"))


WAYS: dict[str, Callable[[Any], Any]] = {
    "plain `group_by`": plain,
    "`deltas`": sen.stats.deltas,
    "`variance`": sen.stats.variance,
    "`discrimination`": sen.stats.discrimination,
}


def measured(runs: int, repeat: int) -> dict[str, float]:
    """Seconds of each way, the best of `repeat`."""
    few, many = (sen.load(workspace(size)) for size in (FEW, runs))
    for ws in (few, many):
        plain(ws)
    for way in WAYS.values():
        way(few)
    best = dict.fromkeys(WAYS, float("inf"))
    for _ in range(repeat):
        for name, way in WAYS.items():
            many.figures.clear()  # else it is only looked up
            begin = perf_counter()
            way(many)
            best[name] = min(best[name], perf_counter() - begin)
    return best


def main(runs: int = 60_000, repeat: int = 5) -> None:
    """Print the table, and whether what is wanted holds."""
    seconds = measured(runs, repeat)
    print(f"## Statistics over {runs:,} runs, their tables loaded\n")
    print("| what | seconds |\n|---|--:|")
    for name, best in seconds.items():
        print(f"| {name} | {best:.3f} |")
    base, *parts = seconds.values()
    limit = LIMIT * base + SPARE
    holds = "holds" if sum(parts) <= limit else "**does not hold**"
    said = f"{sum(parts):.2f} s together, wanted at most {LIMIT} × {base:.2f} + {SPARE:g} s"
    print(f"\n- {holds}: {said} = {limit:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.statistics", description=__doc__)
    parser.add_argument("--runs", type=int, default=60_000)
    parser.add_argument("--repeat", type=int, default=5)
    main(**vars(parser.parse_args()))
