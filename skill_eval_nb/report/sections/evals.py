"""Evals by name, with both sides and the difference."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ... import charts, stats
from ..content import Figure, Part, Picture, Section, Table, section
from ..measured import Measured
from ..plain import line
from ..sides import header
from ..words import MISSING, difference, figure, metric_name, with_n

METRICS = ("pass_rate", "rubric_normalized")
"""What is shown eval by eval, where it is known."""

SIDES = (("configuration", "mean", "n_runs"), ("baseline", "baseline_mean", "n_runs_baseline"))
"""The columns that hold either side of an eval: its name, its mean, its runs."""


def section_of(measured: Measured) -> Section:
    """The evals of an iteration."""
    return section("Evals", _parts(measured))


def _parts(measured: Measured) -> Iterator[Part]:
    if measured.stated:
        yield from _suite(measured)
        return
    metrics = [metric for metric in METRICS if metric in measured.metrics]
    if metrics and measured.compared:
        yield Picture(
            f"{metric_name(metrics[0])} of each eval with the skill and without. "
            "The table below has the figures.",
            partial(charts.deltas, measured.ws, metrics[0]),
        )
    for metric in metrics:
        yield _table(measured, metric)


def _suite(measured: Measured) -> Iterator[Part]:
    """The evals that are defined, where no run says more of them."""
    evals = measured.ws.polars("evals")
    if evals.is_empty():
        return
    counts = ("n_expectations", "n_structural", "n_dimensions")
    yield Table(
        "What is defined: judged and structural expectations, rubric dimensions",
        ("Eval", "Judged", "Structural", "Dimensions"),
        tuple(
            (line(row["eval_name"]), *(f"{row[name]:,}" for name in counts))
            for row in evals.iter_rows(named=True)
        ),
    )


def _table(measured: Measured, metric: str) -> Table:
    sides: dict[tuple[str, str], dict[str, Figure]] = {}
    deltas: dict[tuple[str, str], dict[str, str]] = {}
    for row in stats.deltas_by_eval(measured.ws, metric).iter_rows(named=True):
        key = row["eval_id"], row["eval_name"]
        shown = sides.setdefault(key, {})
        for side, mean, n in SIDES:
            shown[row[side]] = with_n(figure(row[mean], metric), row[n])
        deltas.setdefault(key, {})[row["configuration"]] = difference(row["estimate"], metric)
    rows = tuple(
        (
            line(name),
            *(sides[eval_id, name].get(one, Figure(MISSING)) for one in measured.configurations),
            *(deltas[eval_id, name].get(one, MISSING) for one in measured.compared),
        )
        for eval_id, name in sides
    )
    return Table(f"{metric_name(metric)}, by eval", header(measured, "Eval"), rows)
