"""The rows of the figures that benchmark.json files state, and of their notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from skill_eval_nb.documents import ConfigurationSummary, Stats
from skill_eval_nb.documents.scalars import Unreadable, read_number
from skill_eval_nb.workspace import UNSTATED, Stating

from .rows import Rows, RunKey

DELTA = "delta"
"""The key of `run_summary` that holds differences and is no configuration."""


def add_stated(names: tuple[str, str], one: Stating, path: str, rows: Rows) -> None:
    """Add the figures that a benchmark states to the table `stated`, and its notes to `notes`."""
    if one.document.notes:
        key = rows.key(RunKey(*names, one.iteration, UNSTATED, UNSTATED, UNSTATED, 0))
        rows["notes"].extend((key, "analyst", text) for text in one.document.notes)
    for configuration, summary in one.document.run_summary.items():
        for metric, statistic, value in _figures(summary, configuration == DELTA):
            rows["stated"].append(
                (
                    *names,
                    one.iteration,
                    configuration,
                    metric,
                    statistic,
                    _number(value, metric),
                    value if isinstance(value, str) else json.dumps(value),
                    path,
                )
            )


def _figures(
    summary: ConfigurationSummary, is_delta: bool
) -> Iterator[tuple[str, str, float | str]]:
    for metric in summary.__struct_fields__:
        value = getattr(summary, metric)
        if metric == "rubric_dimensions":
            for dimension, stats in value.items():
                yield from _statistics(f"rubric:{dimension}", stats, "mean")
        elif value is not None:
            alone = "value" if is_delta or metric == "consistency" else "mean"
            yield from _statistics(metric, value, alone)


def _statistics(
    metric: str, value: Stats | float | str, alone: str
) -> Iterator[tuple[str, str, float | str]]:
    if not isinstance(value, Stats):
        yield metric, alone, value
        return
    for statistic in value.__struct_fields__:
        figure = getattr(value, statistic)
        if figure is not None:
            yield metric, statistic, figure


_RATES = ("pass_rate", "rubric_normalized", "overall_efficiency")


def _number(value: float | str, metric: str) -> float | None:
    """The number in a figure as it was printed: the first one, in the metric's unit."""
    if not isinstance(value, str):
        in_percent = metric in _RATES and 1 < abs(value) <= 100
        return value / 100 if in_percent else float(value)
    found = re.match(r"\s*[+−-]?\s*\d[\d,]*(?:\.\d+)?\s*(?:%|pp|ms|s\b)?", value)
    if not found:
        return None
    unit = "rate" if metric in _RATES else "seconds" if metric == "time_seconds" else None
    try:
        return read_number(found[0].replace(" ", ""), unit)
    except Unreadable:
        return None
