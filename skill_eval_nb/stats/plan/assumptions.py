"""What a plan starts from: the variances, and what in the design cannot be planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from ..deltas.comparison import Scope
from ..names import no_such
from .designs import Variances

Keys = tuple[str | None, ...]
"""Workspace, skill, iteration, configuration, baseline, metric."""
Now = tuple[int, int, int]
"""Evals, runs of each and judgings of each output that there are."""
NAMES = ("eval", "effect", "run", "judge", "run + judge")
"""Components that may be assumed; `effect` is how much a delta differs between evals."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What one plan starts from.

    Attributes:
        keys: what it is for; all None where the variances are assumed.
        n_sides: 1 for a mean, 2 for a delta.
        variances: None where the data cannot tell them; `notes` then say why.
        runs: the number of runs, where what more of them would buy cannot be told; else None.
        judgings: the same of judgings.
        now: the design that was run, where there is one.
        price: what a run costs on all sides together, in US dollars; None where unknown.
        seconds: how long it takes.
        baseline_mean: the mean of the baseline.
        notes: sentences about what the plan rests on.
    """

    keys: Keys
    n_sides: int
    variances: Variances | None
    runs: int | None = None
    judgings: int | None = None
    now: Now | None = None
    price: float | None = None
    seconds: float | None = None
    baseline_mean: float | None = None
    notes: tuple[str, ...] = ()


def assumed(components: Mapping[str, float], n_sides: int, scope: Scope) -> Basis:
    """The basis of a plan without data.

    Args:
        components: the variance of each of NAMES that matters: `run` always (`run + judge`
            where they are not told apart), and for `population` what differs between evals:
            `eval` for a mean, `effect` for a delta. Both sides of a delta are taken to be
            alike. Without `judge`, judgings are not planned.
        n_sides: 1 for a mean, 2 for a delta.
        scope: these evals or tasks like these.

    Raises:
        ValueError: for a name that is none of them, a variance that is missing or no number
            from 0 on.
    """
    for name, value in components.items():
        if name not in NAMES:
            raise no_such("component", name, NAMES)
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"The variance `{name}` has to be a number from 0 on: {value}.")
    between = {1: "eval", 2: "effect"}[n_sides]
    run = components.get("run", components.get("run + judge"))
    lacking = "run" if run is None else ""
    if scope == "population" and between not in components:
        lacking = between
    if lacking or run is None:
        raise ValueError(f"`components` lacks `{lacking}`: {LACKING[lacking]}.")
    judge = components.get("judge")
    return Basis(
        keys=(None,) * 6,
        n_sides=n_sides,
        variances=Variances(
            between=components[between] if scope == "population" else 0.0,
            sides=((run, judge or 0.0),) * n_sides,
        ),
        judgings=1 if judge is None else None,
    )


LACKING = {
    "eval": "how much evals differ, for the mean over tasks like these",
    "effect": "how much the delta differs between evals (how hard they are cancels in it)",
    "run": "how much the runs of one eval differ",
}
