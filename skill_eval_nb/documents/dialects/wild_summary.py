"""The stated figures in a home-made benchmark."""

from __future__ import annotations

from typing import Any

from ..benchmark import ConfigurationSummary, Stats
from ..declared import names_of
from ..faults import Faults
from ..tolerant import KEYS_OF_A_LIST
from ..unused import not_used
from .wild_names import Figure, figure_of, is_configuration
from .wild_runs import GROUPS, PLACES

Plain = dict[str, Any]

SUMMARIES = ("run_summary", *GROUPS, "summary", "totals", "aggregate")
_INSIDE = ("summary", "aggregate", "stats", "metrics", "averages")
"""Where the figures of a configuration lie, if not in its object itself."""
_READ = {*_INSIDE, *PLACES}
_STATISTICS = set(names_of(Stats, own=True))


def summary_of(block: Plain, runs: list[Plain], where: str, faults: Faults) -> Plain:
    """Configuration to stated figures, as plain values of `ConfigurationSummary`.

    Args:
        block: one benchmark.
        runs: its runs: `avg_humor` is a figure if they have a dimension `humor`.
        where: its JSON path.
        faults: gets what could not be understood.
    """
    out: Plain = {}
    dimensions = {name for run in runs for name in run.get("rubric_scores", {})}
    for place in SUMMARIES:
        found = _by_name(block.get(place))
        if isinstance(found, dict):
            _add(out, found, dimensions, f"{where}.{place}", faults)
    blocks = {key: value for key, value in block.items() if is_configuration(key)}
    flat = {key: value for key, value in block.items() if not isinstance(value, (dict, list))}
    _add(out, {**blocks, **flat}, dimensions, where, faults)
    return out


def _by_name(found: Any) -> Any:
    """A list of configurations as a mapping from their names."""
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return found
    key = next((key for key in KEYS_OF_A_LIST if found and all(key in one for one in found)), None)
    return None if key is None else {str(one[key]): one for one in found}


def _add(out: Plain, found: Plain, dimensions: set[str], where: str, faults: Faults) -> None:
    loose: Plain = {}
    for key, value in found.items():
        if isinstance(value, dict) and not _is_statistics(value) and key != "cost_efficiency":
            figures = _configuration(value, dimensions, f"{where}.{key}", faults)
            if figures:
                out[key] = {**figures, **out.get(key, {})}
        elif is_configuration(key):
            message = f"{value!r} is no figure; write pass_rate, time_seconds and tokens as numbers"
            faults.add("warning", "not-a-figure", f"{where}.{key}", message)
        else:
            loose[key] = value
    for key, value in loose.items():
        figure = figure_of(key)
        name = figure.configuration or "unstated"
        if figure.metric is None and figure.rest not in dimensions:
            not_used(value, f"{where}.{key}", faults)
        _state(out.setdefault(name, {}), figure, value, dimensions)
        if not out[name]:
            del out[name]


def _is_statistics(value: Plain) -> bool:
    return bool(value) and value.keys() <= _STATISTICS | {"median", "n"}


def _configuration(value: Plain, dimensions: set[str], where: str, faults: Faults) -> Plain:
    """The figures of one configuration; those that the shared type knows go first."""
    figures: Plain = {}
    inside = (value[key] for key in _INSIDE if isinstance(value.get(key), dict))
    rest = {**value, **next(inside, {})}
    if (
        where.endswith(".delta") and "total_tokens" in rest
    ):  # then `tokens` beside it are a part of them
        rest["tokens"] = rest.pop("total_tokens")
    for field in names_of(ConfigurationSummary, own=True):
        for name in names_of(ConfigurationSummary, field):
            if rest.get(name) is not None:
                figures.setdefault(field, rest.pop(name))
    for key, item in rest.items():
        figure = figure_of(key)
        _state(figures, figure, item, dimensions)
        if figure.metric is None and figure.rest not in dimensions and key not in _READ:
            not_used(item, f"{where}.{key}", faults)
    return figures


def _state(figures: Plain, figure: Figure, value: Any, dimensions: set[str]) -> None:
    """Put one figure where it belongs, if it is one, and nothing says it already."""
    if isinstance(value, (dict, list, bool)) or value is None:
        return
    if figure.rest in dimensions and figure.statistic in _STATISTICS:
        scores = figures.setdefault("rubric_dimensions", {}).setdefault(figure.rest, {})
        scores.setdefault(figure.statistic, value)
    if figure.metric is None or figure.statistic not in _STATISTICS:
        return
    if figure.factor != 1 and isinstance(value, (int, float)):
        value = round(value * figure.factor, 9)
    there = figures.get(figure.metric)
    if figure.statistic == "mean" and not isinstance(there, dict):
        figures.setdefault(figure.metric, value)
    elif isinstance(there, dict):
        there.setdefault(figure.statistic, value)
    elif figure.statistic != "mean":
        figures[figure.metric] = {"mean": there, figure.statistic: value}
