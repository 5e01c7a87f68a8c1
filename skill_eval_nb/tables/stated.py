"""The rows of the figures that benchmark.json files state, and of their notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isclose

from skill_eval_nb.documents import ConfigurationSummary, Stats
from skill_eval_nb.documents.scalars import Unreadable, read_number
from skill_eval_nb.workspace import UNSTATED, Problems, Stating

from .columns import RUN_KEYS, TABLES
from .counted import Counted
from .keys import Side
from .rows import Rows

DELTA = "delta"
"""The key of `run_summary` that holds differences and is no configuration."""

RATES = frozenset(("pass_rate", "rubric_normalized", "overall_efficiency"))

Figures = dict[str, float | str]
"""What is stated of a metric: statistic to figure."""


_PLACES = {
    name: TABLES["runs"].names.index(name) - len(RUN_KEYS) for name in ("tokens", "time_seconds")
}


class Sums:
    """What the runs of each side took in all, to tell a stated total from a mean."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str, str], list[float]] = {}

    def add(self, folder: str, run: Counted) -> None:
        """Note a run of a workspace's folder."""
        for metric, place in _PLACES.items():
            if run.figures[place] is not None:
                side = (folder, run.side.iteration, run.side.configuration, metric)
                self._values.setdefault(side, []).append(run.figures[place])

    def as_means(self, one: Stating, problems: Problems) -> None:
        """Turn totals that a benchmark states where means are meant into means, saying so."""
        for configuration, summary in one.document.run_summary.items():
            for metric in _PLACES:
                side = (one.place.workspace, one.iteration, configuration, metric)
                values, stated = self._values.get(side, []), getattr(summary, metric)
                if (
                    len(values) > 1
                    and isinstance(stated, int | float)
                    and isclose(stated, sum(values), rel_tol=0.01)
                ):
                    setattr(summary, metric, stated / len(values))
                    message = (
                        f"{metric} of {configuration}: {stated} is the sum of its {len(values)} "
                        "runs; read as their mean"
                    )
                    problems.add("info", "sum-over-runs", one.path, message)


def add_stated(names: tuple[str, str], one: Stating, path: str, rows: Rows) -> None:
    """Add the figures that a benchmark states to the table `stated`, and its notes to `notes`."""
    if one.document.notes:
        key = rows.key(Side(*names, one.iteration, UNSTATED, UNSTATED, UNSTATED), 0)
        rows["notes"].extend((key, "analyst", text) for text in one.document.notes)
    for configuration, summary in one.document.run_summary.items():
        for metric, figures in _metrics(summary, configuration == DELTA):
            values = _values(figures, metric)
            rows["stated"].extend(
                (
                    *names,
                    one.iteration,
                    configuration,
                    metric,
                    statistic,
                    values[statistic],
                    figure if isinstance(figure, str) else json.dumps(figure),
                    path,
                )
                for statistic, figure in figures.items()
            )


def _metrics(summary: ConfigurationSummary, is_delta: bool) -> Iterator[tuple[str, Figures]]:
    for metric in summary.__struct_fields__:
        value = getattr(summary, metric)
        if metric == "rubric_dimensions":
            for dimension, stats in value.items():
                yield f"rubric:{dimension}", _statistics(stats)
        elif isinstance(value, Stats):
            yield metric, _statistics(value)
        elif value is not None:
            yield metric, {"value" if is_delta or metric == "consistency" else "mean": value}


def _statistics(stats: Stats) -> Figures:
    every = {name: getattr(stats, name) for name in stats.__struct_fields__}
    return {name: figure for name, figure in every.items() if figure is not None}


def _values(figures: Figures, metric: str) -> dict[str, float | None]:
    """The figures as numbers, in the metric's unit.

    No rate and no difference of rates is above 1: where one is, all of them are in percent.

    >>> _values({"mean": 78.5, "stddev": 0.5}, "pass_rate")
    {'mean': 0.785, 'stddev': 0.005}
    """
    values = {name: _number(figure, metric) for name, figure in figures.items()}
    plain = [abs(values[name] or 0) for name, one in figures.items() if not isinstance(one, str)]
    if metric not in RATES or not 1 < max(plain, default=0) <= 100:
        return values
    return {
        name: value if value is None or isinstance(figures[name], str) else value / 100
        for name, value in values.items()
    }


_PRINTED = re.compile(
    r"\s*+(?P<sign>[+\-−–]?)\s*+"
    r"(?P<number>[~≈$]?[\d.][\d.,]*+\s?(?:%|pp\b|[A-Za-z]++)?)\s*+(?:[(,;±].*)?",
    re.DOTALL,
)
"""A number with its unit, and perhaps a remark on it."""


def _number(figure: float | str, metric: str) -> float | None:
    """The number in a figure, however it was printed; None where a text says anything else.

    >>> _number("-0.5s (3.9% faster)", "time_seconds"), _number("+9pp", "pass_rate")
    (-0.5, 0.09)
    >>> _number("about the same", "tokens")
    """
    if not isinstance(figure, str):
        return _float(figure)
    found = _PRINTED.fullmatch(figure)
    if not found:
        return None
    unit = "rate" if metric in RATES else "seconds" if metric == "time_seconds" else None
    try:
        value = read_number(found["number"].strip(), unit)
    except Unreadable:
        return None
    return -value if found["sign"] in ("-", "−", "–") and value else value


def _float(number: float) -> float | None:
    """A number as float; None for a whole one that is too large for any."""
    try:
        return float(number)
    except OverflowError:
        return None
