"""`python -m bench.widgets`: how long `sen.explore` takes over a choice, as a table.

The tables are loaded before, and a few runs are looked through first, so that no import is
measured. Every choice is made cold, in a widget of its own that knows the figures of the first
view alone, and once more for the smallest of several. Where the seconds are far above those of
the processors, something else was running: measure again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any, NamedTuple

import skill_eval_nb as sen
from skill_eval_nb.stats.deltas import paired_evals
from skill_eval_nb.widgets.explore import Explore
from skill_eval_nb.widgets.explore.rows import PAGE

from .generate import workspace

SIZES = (6_000, 60_000)
FEW = 20
FIRST, CHANGE, OF = 2.0, 0.3, 6_000
"""Seconds that are wanted of the first view and of a change of choice, of so many runs."""
TABLES = ("runs", "evals", "rubric_scores", "expectations", "problems")

SHOWN = (
    f"In time: of {OF:,} runs the first view within {FIRST:g} s, others within {CHANGE:g} s. "
    "The page itself answers before, and says what is being counted. Nothing is sampled: every "
    f"figure is of all runs. {PAGE} rows are shown at a time, and runs that would lie on each "
    "other are one mark that counts them."
)
"""What of so many runs is drawn."""

Act = tuple[Any, ...]
"""An action's name, and what it is given."""


class Took(NamedTuple):
    """Seconds until the page answers, until its last figure is there, and of the processors."""

    answer: float
    figures: float
    cpu: float


def choices(ws: Any) -> dict[str, list[Act]]:
    """What is chosen, by what it is called; all but the last of several is chosen before."""
    suite = sen.explore(ws).suite
    assert suite is not None
    iterations, evals = list(suite.iterations), list(suite.evals)
    every = ("choose_iterations", *iterations)
    tokens, rubric = (("choose_metric", name) for name in ("tokens", suite.dimensions[0]))
    several = f"all {len(iterations)} iterations"
    found: dict[str, list[Act]] = {
        "metric: tokens": [tokens],
        "metric: a rubric dimension": [rubric],
        "another iteration": [("choose_iterations", iterations[0])],
        "two iterations": [("choose_iterations", *iterations[-2:])],
        several: [every],
        f"{several}, tokens": [tokens, every],
        f"{several}, a rubric dimension": [rubric, every],
        "the sides in each other's place": [("choose_configuration", suite.configurations[-1])],
        "half of the evals": [("choose_evals", *evals[::2])],
        "an eval's runs": [("pick", "eval", iterations[-1], evals[0], suite.evals[evals[0]])],
    }
    for tab in ("dimensions", "checks", "notes", "problems"):
        open_tab = ("see", "tab", tab)
        found[f"tab {tab}"] = [open_tab]
        found[f"tab {tab}: another iteration"] = [open_tab, ("choose_iterations", iterations[0])]
        found[f"tab {tab}: {several}"] = [open_tab, every]
    charts = ("see", "tab", "charts")
    found["tab charts"] = [charts]
    found["tab charts: another metric"] = [charts, tokens]
    found["tab charts: another chart"] = [charts, ("see", "chart", "deltas")]
    return found


def first(ws: Any) -> Took:
    """The first view."""
    paired_evals.cache_clear()
    begin = perf_counter(), process_time()
    panel = sen.explore(ws)
    return _until_there(panel, *begin, perf_counter())


def after(ws: Any, acts: list[Act]) -> Took:
    """The last of these choices."""
    paired_evals.cache_clear()
    panel = sen.explore(ws)
    *before, last = acts
    for act in before:
        panel.settle()
        panel.do(*act)
    panel.settle()
    begin = perf_counter(), process_time()
    panel.do(*last)
    return _until_there(panel, *begin, perf_counter())


def _until_there(panel: Explore, begin: float, cpu: float, answered: float) -> Took:
    if not panel.settle(600) or panel.fault:
        raise RuntimeError(panel.fault or "It is still being counted after ten minutes.")
    return Took(answered - begin, perf_counter() - begin, process_time() - cpu)


def measured(ws: Any, repeat: int) -> Iterator[tuple[str, Took]]:
    """Every choice, the best of `repeat`."""
    yield "first view", _best(first(ws) for _ in range(repeat))
    for name, acts in choices(ws).items():
        yield name, _best(after(ws, acts) for _ in range(repeat))


def _best(took: Iterator[Took]) -> Took:
    return Took(*map(min, zip(*took, strict=True)))


def main(sizes: list[int], repeat: int) -> None:
    """Print a table a size, and what is wanted."""
    few = sen.load(workspace(FEW))
    for acts in choices(few).values():
        after(few, acts)
    for size in sizes:
        ws = sen.load(workspace(size))
        for table in TABLES:
            ws.polars(table)
        print(f"## `sen.explore`, {size:,} runs, their tables loaded\n")
        print("| choice | answer, s | figures, s | CPU, s | in time |\n|---|--:|--:|--:|---|")
        for name, took in measured(ws, repeat):
            seconds = " | ".join(f"{one:.2f}" for one in took)
            print(f"| {name} | {seconds} | {_holds(name, took) if size <= OF else '–'} |")
        print(f"\n{SHOWN}\n", flush=True)


def _holds(name: str, took: Took) -> str:
    wanted = FIRST if name == "first view" else CHANGE
    return "yes" if took.figures <= wanted else "**no**"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.widgets", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="RUNS")
    parser.add_argument("--repeat", type=int, default=3)
    main(**vars(parser.parse_args()))
