"""The few figures that a dialect's benchmark states and the shared one leaves to its readers.

Some dialects have no place for single runs: one line stands for all runs of an eval under a
configuration. To write such a line, its runs are averaged here; all other aggregation is done
in `stats/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean, stdev
from typing import Any

from ..scalars import Unreadable, read_number

Plain = dict[str, Any]

SKILL_SIDES = ("with_skill", "new_skill")
BASELINE_SIDES = ("without_skill", "baseline", "old_skill", "no_skill")
"""Configurations by the names that people give to the two sides, best first."""


def side_of(runs: list[Plain], names: tuple[str, ...]) -> str | None:
    """The first of `names` that is a configuration of some run."""
    there = {run["configuration"] for run in runs}
    return next((name for name in names if name in there), None)


def by_eval(runs: list[Plain], configuration: str | None = None) -> dict[Any, list[Plain]]:
    """Runs by what names their eval, in the order met; of one configuration, if given."""
    groups: dict[Any, list[Plain]] = {}
    for run in runs:
        if configuration is None or run["configuration"] == configuration:
            groups.setdefault(run.get("eval_id", run.get("eval_name")), []).append(run)
    return groups


def results(runs: list[Plain], figure: str) -> list[float]:
    """The values of one figure in those runs that state it."""
    found = (run.get("result", {}).get(figure) for run in runs)
    return [value for value in found if value is not None]


def mean(values: Iterable[float]) -> float | None:
    """The mean, or None of nothing.

    >>> mean([1, 2]), mean([])
    (1.5, None)
    """
    there = list(values)
    return fmean(there) if there else None


def spread(values: list[float]) -> Plain | None:
    """Mean, sample standard deviation (of two or more), smallest and largest; None of nothing.

    >>> spread([1.0, 3.0])
    {'mean': 2.0, 'stddev': 1.4142135623730951, 'min': 1.0, 'max': 3.0}
    """
    if not values:
        return None
    deviation = {"stddev": stdev(values)} if len(values) > 1 else {}
    return {"mean": fmean(values), **deviation, "min": min(values), "max": max(values)}


def mean_of(stated: Any, unit: str | None = None) -> float | None:
    """The mean in a stated figure, whether it stands there in full, bare or printed.

    None of what is no such figure: below 0, or a rate above 1.

    >>> mean_of("85%", "rate"), mean_of({"mean": 12.5}), mean_of("about twelve")
    (0.85, 12.5, None)
    """
    value = stated.get("mean") if isinstance(stated, dict) else stated
    try:
        number = None if value is None else read_number(value, unit)
    except Unreadable:
        return None
    if number is None or number < 0 or (unit == "rate" and number > 1):
        return None
    return number


def without_none(value: Plain) -> Plain:
    """The entries that have a value."""
    return {key: item for key, item in value.items() if item is not None}


def when(value: Any, change: Callable[[Any], Any]) -> Any:
    """`change(value)`, or None where there is no value."""
    return None if value is None else change(value)
