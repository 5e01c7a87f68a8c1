"""What a plan starts from where there are data: the variances that they show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..deltas.comparison import Scope
from ..pairing import sides
from ..values import EVAL as NAMES
from ..values import GROUP, RUBRIC, runs_of
from ..variance.components import Estimate, estimate
from ..variance.judgings import CELL, judgings_of
from ..variance.mean_squares import EVAL, JUDGE, RUN
from .assumptions import Basis, Keys, Now
from .designs import Variances

if TYPE_CHECKING:
    import polars as pl

ROUGH = 20
"""Evals below which variances are called a rough guess."""
ONE_EVAL = "With one eval, what evals differ by cannot be seen."
ONE_PAIR = "Fewer than two evals have both sides: what the effect differs by cannot be seen."
NO_SECOND_RUN = "No eval was run twice on every side: the noise of these evals cannot be seen."


@dataclass(frozen=True, slots=True)
class Side:
    """A configuration's share in a plan.

    Attributes:
        evals: the sums of its evals (see `by_eval`).
        between: variance between evals; with `run` None that of their runs is part of it.
        run: variance between the runs of an eval, None where no eval was run twice; with
            `judge` None that of the judge is part of it.
        judge: variance between judgings, None where no output was judged twice.
        now: the design that was run.
        price: mean cost of a run in US dollars, None where unknown.
        seconds: mean time of a run.
    """

    evals: pl.DataFrame
    between: float | None
    run: float | None
    judge: float | None
    now: Now
    price: float | None
    seconds: float | None

    @property
    def of_run(self) -> float | None:
        """The variance of runs with that of one judging."""
        return None if self.run is None else self.run + (self.judge or 0)


def measured(
    data: Any, metric: str | None, *, n_sides: int, baseline: str | None, scope: Scope
) -> list[Basis]:
    """A basis for every configuration (one side) or comparison (two) of every metric.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.
        n_sides: 1 for a mean, 2 for a delta.
        baseline: the configuration to compare against.
        scope: these evals or tasks like these.

    Raises:
        ValueError: for a metric or baseline that is not there.
    """
    found = estimate(judgings_of(data, metric))
    runs = runs_of(data)
    known = _sides(found, runs)
    if n_sides == 1:
        return [_of_mean(cell, side, scope) for cell, side in known.items()]
    compared: dict[Keys, tuple[str | None, str | None]] = {
        (*group, other if one is None else one): (None if one is None else other, why)
        for *group, one, other, why in sides(runs, baseline).iter_rows()
    }
    bases: list[Basis] = []
    for cell, side in known.items():
        *group, _, name = cell
        if cell[:-1] in compared:
            other, why = compared[cell[:-1]]
            keys, against = (*cell[:-1], other, name), known.get((*group, other, name))
            if against is None:
                why = why or f"no run of {other} has such a figure"
                bases.append(Basis(keys, 2, None, notes=(f"Nothing to compare: {why}.",)))
            else:
                bases.append(_of_delta(keys, side, against, scope))
    return bases


def _sides(found: Estimate, runs: pl.DataFrame) -> dict[Keys, Side]:
    """Every cell's share in a plan, in the order of the cells."""
    import numpy as np
    import polars as pl

    costs = runs.group_by(*GROUP, "configuration").agg(
        pl.col("cost_usd", "time_seconds").cast(pl.Float64).sort().mean()
    )
    cells = found.cells.join(
        costs, on=[*GROUP, "configuration"], how="left", nulls_equal=True, maintain_order="left"
    )
    parts = np.where(found.found.df > 0, np.maximum(found.found.components, 0), np.nan)
    evals = found.evals.sort("cell").partition_by("cell", maintain_order=True)
    return {
        tuple(cell[key] for key in CELL): Side(
            evals=own,
            between=_known(part[EVAL]),
            run=_known(part[RUN]),
            judge=_known(part[JUDGE]),
            now=_now(own),
            price=cell["cost_usd"],
            seconds=cell["time_seconds"],
        )
        for cell, own, part in zip(cells.iter_rows(named=True), evals, parts, strict=True)
    }


def _known(value: float) -> float | None:
    return None if value != value else float(value)  # noqa: PLR0124 - NaN


def _now(evals: pl.DataFrame) -> Now:
    """Evals, and how many runs and judgings they have on average."""
    runs, judgings = float(evals["n_runs"].sum()), float(evals["n_judgings"].sum())
    return evals.height, round(runs / evals.height), round(judgings / runs)


def _of_mean(cell: Keys, side: Side, scope: Scope) -> Basis:
    """The basis for the mean of a configuration."""
    between, lacks = side.between, ONE_EVAL
    if scope == "suite":
        between, lacks = None if side.run is None else 0.0, NO_SECOND_RUN
    keys = (*cell[:-1], None, cell[-1])
    return _basis(keys, [side], between, lacks, n_evals=side.now[0])


def _of_delta(keys: Keys, one: Side, other: Side, scope: Scope) -> Basis:
    """The basis for a paired delta."""
    both = [one, other]
    n_evals, between = _effect(one, other)
    lacks = ONE_PAIR
    if scope == "suite":
        unknown = one.run is None or other.run is None
        between, lacks = None if unknown else 0.0, NO_SECOND_RUN
    if one.judge is None or other.judge is None:
        both = [replace(side, run=side.of_run, judge=None) for side in both]
    if one.run is None or other.run is None:
        both = [replace(side, run=None, judge=None) for side in both]
    return _basis(keys, both, between, lacks, n_evals)


def _effect(one: Side, other: Side) -> tuple[int, float | None]:
    """Paired evals, and the variance of the effect between them beyond the noise of runs.

    That of the differences less what the runs and judgings of each eval add to it, as
    components tell; all of it where no eval was run twice on either side.
    """
    import polars as pl

    pairs = one.evals.join(other.evals, on=NAMES, nulls_equal=True, suffix=" of other")
    if pairs.height < 2:
        return pairs.height, None
    spread = pairs.select((pl.col("mean") - pl.col("mean of other")).sort().var()).item()
    if one.run is None or other.run is None:
        return pairs.height, spread
    noise = [
        side.run / pl.col(f"n_runs{of}")
        + (side.judge or 0) * pl.col(f"inverse{of}") / pl.col(f"n_runs{of}") ** 2
        for side, of in ((one, ""), (other, " of other"))
        if side.run is not None
    ]
    return pairs.height, max(spread - pairs.select((noise[0] + noise[1]).sort().mean()).item(), 0)


def _basis(keys: Keys, both: list[Side], between: float | None, lacks: str, n_evals: int) -> Basis:
    """The basis of these sides; without variances where `between` is not known."""
    _, n_runs, n_judgings = (max(sizes) for sizes in zip(*(side.now for side in both), strict=True))
    runs = n_runs if any(side.run is None for side in both) else None
    judgings = n_judgings if any(side.judge is None for side in both) else None
    variances = None
    if between is not None:
        variances = Variances(between, tuple((side.run or 0, side.judge or 0) for side in both))
    silent = variances is not None and variances.none
    alike = between == 0 and lacks != NO_SECOND_RUN
    seen = f"{n_evals:,} × {n_runs:,} runs"
    doubts = {
        lacks: between is None,
        f"No noise was seen in {seen}: nothing can be planned from that.": silent,
        f"The variances rest on {n_evals} evals: a rough guess.": n_evals < ROUGH,
        f"Evals were not seen to differ, which {n_evals} of them cannot rule out.": alike,
        "No eval was run twice: what another run buys cannot be told.": runs is not None,
        "No output was judged twice: what another judging buys cannot be told.": (
            judgings is not None and str(keys[-1]).startswith(RUBRIC)
        ),
    }
    notes = [said for said, holds in doubts.items() if holds]
    return Basis(
        keys=keys,
        n_sides=len(both),
        variances=None if silent else variances,
        runs=runs,
        judgings=judgings,
        now=(n_evals, n_runs, n_judgings),
        price=_sum([side.price for side in both]),
        seconds=_sum([side.seconds for side in both]),
        baseline_mean=float(both[-1].evals["mean"].to_numpy().mean()),
        notes=tuple(notes[:1] if silent or between is None else notes),
    )


def _sum(parts: list[float | None]) -> float | None:
    """The sum, where every part is known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
