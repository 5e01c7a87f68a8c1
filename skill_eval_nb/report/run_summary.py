"""`run_summary` of a benchmark.json: each configuration's figures, and their differences."""

from __future__ import annotations

from typing import Any

from ..documents import ConfigurationSummary, Stats
from .measured import DELTA, DIMENSION, Measured
from .words import unit

SHOWN = (
    "pass_rate",
    "rubric_normalized",
    "overall_efficiency",
    "time_seconds",
    "tokens",
    "tool_calls",
    "cost_usd",
)
"""The metrics that the document has a field for, besides consistency and the dimensions."""

_PRINTED = {"rate": "+.2f", "seconds": "+.1f", "tokens": "+.0f", "usd": "+.4f"}
_DECIMALS = {"usd": 6}


def run_summary(measured: Measured) -> dict[str, ConfigurationSummary]:
    """Each configuration's figures, and under `delta` what the first changes.

    The first two configurations are the one that is compared and its baseline, in this
    order: readers of the document take them so. A figure that no run has is absent.
    """
    names = in_document_order(measured)
    summary = {name: _of_configuration(measured, name) for name in names}
    if measured.compared:
        summary[DELTA] = _of_delta(measured, measured.compared[0])
    return summary


def in_document_order(measured: Measured) -> list[str]:
    """The compared configuration, its baseline, then all others."""
    first = [*measured.compared[:1], *filter(None, [measured.baseline])]
    return [*first, *(name for name in measured.configurations if name not in first)]


def _of_configuration(measured: Measured, name: str) -> ConfigurationSummary:
    return ConfigurationSummary(
        **{metric: _stats(measured, name, metric) for metric in SHOWN},
        consistency=rounded(measured.figure(name, "consistency"), "consistency"),
        rubric_dimensions={
            dimension: found
            for dimension in measured.dimensions
            if (found := _stats(measured, name, DIMENSION + dimension))
        },
    )


def _of_delta(measured: Measured, name: str) -> ConfigurationSummary:
    """The differences of the two means, as the document has them, where some eval is paired."""
    figures: dict[str, Any] = {
        metric: printed(measured.gap(name, metric), metric)
        for metric in SHOWN
        if measured.delta(name, metric) is not None
    }
    return ConfigurationSummary(**figures)


def _stats(measured: Measured, name: str, metric: str) -> Stats | None:
    if measured.figure(name, metric) is None:
        return None
    return Stats(
        **{
            statistic: rounded(measured.figure(name, metric, statistic), metric)
            for statistic in ("mean", "stddev", "min", "max")
        }
    )


def rounded(value: float | None, metric: str) -> Any:
    """A figure without the digits that mean nothing; whole where it counts things and is whole.

    >>> rounded(0.1 + 0.2, "pass_rate"), rounded(3800.0, "tokens"), rounded(None, "tokens")
    (0.3, 3800, None)
    """
    if value is None:
        return None
    kept = round(value, _DECIMALS.get(unit(metric), 4))
    counts = unit(metric) not in ("rate", "seconds", "usd") and kept == int(kept)
    return int(kept) if counts else kept


def printed(value: float | None, metric: str) -> str | None:
    """A difference as the documents print it.

    >>> printed(0.5, "pass_rate"), printed(-13.04, "time_seconds"), printed(1700, "tokens")
    ('+0.50', '-13.0', '+1700')
    >>> printed(-0.001, "pass_rate"), printed(None, "tokens")
    ('+0.00', None)
    """
    if value is None:
        return None
    shape = _PRINTED.get(unit(metric), "+.2f")
    return format(round(value, int(shape[2])) + 0.0, shape)
