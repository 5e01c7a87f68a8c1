"""`plan`: the cheapest design that is sharp enough, and what a little more or less would buy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.columns import to_backend_of

from .comparison import SCOPES, Scope, fewest_moved
from .inference import MANY, POWER, detectable_by_flips, detectable_effect, shrink_spread
from .pairing import choose_sides
from .values import (
    EVAL,
    GROUP,
    ITERATION,
    RUBRIC,
    cast_columns,
    check_level,
    no_such,
    runs_by_model,
    unit_of,
    worth_having,
)
from .variance import CELL, NESTED, ROUGH, Estimated, estimate_components, judgings_of

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]
    Designs = Array
    "A row a design: evals, runs of each eval, judgings of each output."


FEWEST_RUNS = 2
"""Runs below which the noise of these evals is unknown."""


@dataclass(frozen=True, slots=True)
class Variances:
    """The variances behind a mean (one side) or a paired delta (two).

    Attributes:
        between: between evals, of their level or of the effect on them.
        sides: for each side that of runs and that of judgings.
    """

    between: float
    sides: tuple[tuple[float, float], ...]

    @property
    def are_zero(self) -> bool:
        """Whether there is no noise at all to plan from."""
        return not self.between > 0 and not any(part > 0 for side in self.sides for part in side)

    def se(self, of: Designs) -> Array:
        """The standard error of the mean, or of the delta.

        >>> import numpy as np
        >>> worked = Variances(between=0.64, sides=((0.25, 0.16),))
        >>> worked.se(np.array([[6, 3, 1], [6, 3, 3], [20, 3, 1]])).round(3).tolist()
        [0.36, 0.351, 0.197]
        """
        import numpy as np

        evals, runs, judgings = of.T
        within = sum(run + judge / judgings for run, judge in self.sides)
        return np.sqrt(self.between / evals + within / (evals * runs))

    def degrees_of_freedom(self, of: Designs, scope: Scope) -> Array:
        """Degrees of freedom of the test of a delta: paired t, or Welch's over all cells."""
        import numpy as np

        evals, runs, judgings = of.T
        if scope == "population":
            return evals - 1.0
        noise = np.array([run + judge / judgings for run, judge in self.sides])
        cells = evals * (runs - 1.0)
        return noise.sum(axis=0) ** 2 / (noise**2).sum(axis=0) * cells

    def mde(self, of: Designs, scope: Scope, level: float, power: float = POWER) -> Array:
        """The smallest effect that is found with that power; NaN if no claim can be made.

        By the noncentral t (see `detectable_effect`), of few evals by their sign flip (see
        `detectable_by_flips`).
        """
        import numpy as np

        able = can_claim(of, scope, level)
        found = np.full(len(of), np.nan)
        mine = of[able]
        df, place = np.unique(self.degrees_of_freedom(mine, scope), return_inverse=True)
        found[able] = self.se(mine) * detectable_effect(1.0, df, level, power)[place]
        for n in range(1, MANY if scope == "population" else 1):
            few, factor = able & (of[:, 0] == n), detectable_by_flips(n, level, power)
            if factor is not None:
                found[few] = self.se(of[few]) * n**0.5 * factor
        return found


def can_claim(of: Designs, scope: Scope, level: float) -> Array:
    """Whether a design can reach a verdict at all.

    These evals need two runs a side; and the exact test must be able to reach p <= 1 - level:
    among C(2 m, m) arrangements of each eval's labels, m runs (or one mean) a side, the most
    extreme two have to be rare enough.
    """
    import numpy as np
    from scipy import special

    evals, runs, _ = of.T
    m = runs if scope == "suite" else np.ones_like(runs)
    arrangements = special.gammaln(2 * m + 1.0) - 2 * special.gammaln(m + 1.0)
    rare = evals * arrangements >= np.log(2 / (1 - level)) - 1e-9  # rounding
    return rare & ((runs >= FEWEST_RUNS) | (scope == "population"))


Keys = tuple[str | None, ...]
"""GROUP, configuration, baseline, metric."""
Now = tuple[int, int, int]
"""Evals, runs of each and judgings of each output that there are."""
COMPONENTS = ("eval", "effect", "run", "judge", "run + judge")
"""Components that may be assumed; `effect` is how much a delta differs between evals."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What one plan starts from.

    Attributes:
        keys: what it is for; all None if the variances are assumed.
        variances: None if the data cannot tell them; `notes` then say why.
        runs: the number of runs, where what more of them would buy cannot be told; else None.
        judgings: the same of judgings.
        now: the design that was run, if there is one.
        price: what a run costs on all sides together, in US dollars; None if unknown.
        seconds: how long it takes.
        baseline_mean: the mean of the baseline.
        notes: sentences about what the plan rests on.
    """

    keys: Keys
    variances: Variances | None
    runs: int | None = None
    judgings: int | None = None
    now: Now | None = None
    price: float | None = None
    seconds: float | None = None
    baseline_mean: float | None = None
    notes: tuple[str, ...] = ()


def assume_basis(components: Mapping[str, float], n_sides: int, scope: Scope) -> Basis:
    """The basis of a plan without data.

    Args:
        components: the variance of each of NAMES that matters: `run` always (`run + judge`
            if they are not told apart), and for `population` what differs between evals:
            `eval` for a mean, `effect` for a delta. Both sides of a delta are taken to be
            alike. Without `judge`, judgings are not planned.
        n_sides: 1 for a mean, 2 for a delta.
        scope: these evals or tasks like these.

    Raises:
        ValueError: for a name that is none of them, a variance that is missing or no number
            from 0 on.
    """
    for name, value in components.items():
        if name not in COMPONENTS:
            raise no_such("component", name, COMPONENTS)
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"The variance `{name}` must be a number of at least 0: {value}.")
    between = {1: "eval", 2: "effect"}[n_sides]
    run = components.get("run", components.get("run + judge"))
    lacking = "run" if run is None else ""
    if scope == "population" and between not in components:
        lacking = between
    if lacking or run is None:
        raise ValueError(f"`components` lacks `{lacking}`: {LACKING[lacking]}.")
    judge = components.get("judge")
    return Basis(
        keys=(None,) * len(KEYS),
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


ONE_EVAL = "With one eval, the variance between evals is unknown."
ONE_PAIR = "Fewer than two evals have both sides: how much the effect varies is unknown."
NO_SECOND_RUN = "No eval was run twice on every side: the noise of these evals is unknown."


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """A configuration's share in a plan.

    Attributes:
        evals: the sums of its evals (see `sum_by_eval`).
        between: variance between evals; with `run` None that of their runs is part of it.
        run: variance between the runs of an eval, None if no eval was run twice; with
            `judge` None that of the judge is part of it.
        judge: variance between judgings, None if no output was judged twice.
        now: the design that was run.
        price: mean cost of a run in US dollars, None if unknown.
        seconds: mean time of a run.
    """

    evals: pl.DataFrame
    between: float | None
    run: float | None
    judge: float | None
    now: Now
    price: float | None
    seconds: float | None


def measure_basis(
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
    found = estimate_components(judgings_of(data, metric))
    runs = runs_by_model(data)
    known = _plan_sides(found, runs)
    if n_sides == 1:
        means = {(*cell[:-1], None, cell[-1]): side for cell, side in known.items()}
        return [_make_basis(keys, [side], scope) for keys, side in means.items()]
    compared: dict[Keys, tuple[str | None, str | None]] = {
        (*group, other if side is None else side): (None if side is None else other, why)
        for *group, side, other, why in choose_sides(runs, baseline).iter_rows()
    }
    bases: list[Basis] = []
    for cell, side in known.items():
        *group, configuration, name = cell
        place = (*cell[: len(ITERATION)], configuration)
        if place in compared:
            other, why = compared[place]
            keys, against = (*cell[:-1], other, name), known.get((*group, other, name))
            if against is None:
                why = why or f"no run of {other} has this figure"
                bases.append(Basis(keys, None, notes=(f"Nothing to compare: {why}.",)))
            else:
                bases.append(_make_basis(keys, [side, against], scope))
    return bases


def _plan_sides(found: Estimated, runs: pl.DataFrame) -> dict[Keys, PlannedSide]:
    """Each cell as a side of a plan, in the order of the cells."""
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
        tuple(cell[key] for key in CELL): PlannedSide(
            own,
            *(None if np.isnan(part[at]) else float(part[at]) for at in NESTED),
            now=_average_design(own),
            price=cell["cost_usd"],
            seconds=cell["time_seconds"],
        )
        for cell, own, part in zip(cells.iter_rows(named=True), evals, parts, strict=True)
    }


def _average_design(evals: pl.DataFrame) -> Now:
    """Evals, and how many runs and judgings they have on average."""
    runs, judgings = float(evals["n_runs"].sum()), float(evals["n_judgings"].sum())
    return evals.height, round(runs / evals.height), round(judgings / runs)


def _effect(side: PlannedSide, other: PlannedSide, *, rate: bool) -> tuple[int, float | None]:
    """Paired evals, and the variance of the effect between them beyond the noise of runs.

    That of the differences (of a `rate` drawn to the usual one, as few evals say little) less
    what the runs and judgings of each eval add to it, as components tell; all of it where no eval
    was run twice on either side.
    """
    import polars as pl

    pairs = side.evals.join(other.evals, on=EVAL, nulls_equal=True, suffix=" of other")
    if pairs.height < 2:
        return pairs.height, None
    spread = pairs.select((pl.col("mean") - pl.col("mean of other")).sort().var()).item()
    spread = shrink_spread(spread, pairs.height) if rate else spread
    if side.run is None or other.run is None:
        return pairs.height, spread
    noise = [
        side.run / pl.col(f"n_runs{of}")
        + (side.judge or 0) * pl.col(f"inverse{of}") / pl.col(f"n_runs{of}") ** 2
        for side, of in ((side, ""), (other, " of other"))
        if side.run is not None
    ]
    return pairs.height, max(spread - pairs.select((noise[0] + noise[1]).sort().mean()).item(), 0)


def _make_basis(keys: Keys, both: list[PlannedSide], scope: Scope) -> Basis:
    """The basis for the mean of a side, or the paired delta of two.

    Without variances where what lies between evals is not known.
    """
    n_evals, between, lacks = both[0].now[0], both[0].between, ONE_EVAL
    runs_seen = all(side.run is not None for side in both)
    judges_seen = all(side.judge is not None for side in both)
    noise = [(side.run or 0, side.judge or 0) for side in both]
    if len(both) > 1:
        n_evals, between = _effect(*both, rate=unit_of(str(keys[-1])) == "rate")
        lacks, judges_seen = ONE_PAIR, judges_seen and runs_seen
        if not judges_seen:
            noise = [(run + judge if runs_seen else 0, 0) for run, judge in noise]
    if scope == "suite":
        between, lacks = 0.0 if runs_seen else None, NO_SECOND_RUN
    _, n_runs, n_judgings = (max(sizes) for sizes in zip(*(side.now for side in both), strict=True))
    variances = None if between is None else Variances(between, tuple(noise))
    silent = variances is not None and variances.are_zero
    alike = between == 0 and lacks != NO_SECOND_RUN
    seen = f"{n_evals:,} × {n_runs:,} runs"
    doubts = {
        lacks: between is None,
        f"No noise was seen in {seen}, so there is nothing to plan from.": silent,
        f"The variances rest on {n_evals} evals: a rough guess.": n_evals < ROUGH,
        f"No variance between evals was seen, but {n_evals} evals cannot rule it out.": alike,
        "No eval was run twice: what another run would add is unknown.": not runs_seen,
        "No output was judged twice: what another judging would add is unknown.": (
            not judges_seen and str(keys[-1]).startswith(RUBRIC)
        ),
    }
    notes = [doubt for doubt, holds in doubts.items() if holds]
    return Basis(
        keys=keys,
        variances=None if silent else variances,
        runs=None if runs_seen else n_runs,
        judgings=None if judges_seen else n_judgings,
        now=(n_evals, n_runs, n_judgings),
        price=_sum_if_known([side.price for side in both]),
        seconds=_sum_if_known([side.seconds for side in both]),
        baseline_mean=float(both[-1].evals["mean"].to_numpy().mean()),
        notes=tuple(notes[:1] if silent or between is None else notes),
    )


def _sum_if_known(parts: list[float | None]) -> float | None:
    """The sum, where every part is known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


LEVERS = ("evals", "runs", "judgings")
AROUND = (10, 5, 4)
"""How many more of each the curve shows at least; else up to twice as many."""
AS_IT_WAS = "as it was run"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted: of one side a standard error of its mean, of two an effect to find.

    `wanted` is None if each metric has its own. `most` evals, runs of each and judgings of each
    output are considered.
    """

    n_sides: int
    wanted: float | None
    power: float
    level: float
    scope: Scope
    most: Now

    def can_answer(self, of: Designs) -> Array:
        """Whether designs can answer at all."""
        if self.n_sides > 1:
            return can_claim(of, self.scope, self.level)
        at, fewest = (1, FEWEST_RUNS) if self.scope == "suite" else (0, fewest_moved(self.level))
        return of[:, at] >= fewest

    def mde(self, variances: Variances, of: Designs) -> Array:
        """Their smallest detectable effects; NaN for a mean, and where no claim can be made."""
        import numpy as np

        if self.n_sides < 2:
            return np.full(len(of), np.nan)
        return variances.mde(of, self.scope, self.level, self.power)

    def is_met_by(self, variances: Variances, of: Designs) -> Array:
        """Whether designs are sharp enough."""
        import numpy as np

        if self.n_sides < 2:
            return self.can_answer(of) & (variances.se(of) <= self.wanted)
        return np.nan_to_num(self.mde(variances, of), nan=np.inf) <= self.wanted

    @property
    def requirement(self) -> str:
        """What is wanted, after "designs that" and "would"."""
        if self.n_sides < 2:
            return f"have a standard error of at most {self.wanted:g}"
        return f"detect a difference of {self.wanted:g} with {self.power:.0%} power"


Rate = tuple[float, float]
"""What one run and one judging take, on all sides together."""


def cost_of(designs: Designs, rate: Rate) -> Array:
    """What designs take."""
    evals, runs, judgings = designs.T
    return evals * runs * (rate[0] + judgings * rate[1])


def fixed_numbers(basis: Basis, wish: Wish) -> tuple[int | None, int | None, int | None]:
    """The numbers of evals, runs and judgings that stay as they are; None if planned.

    These evals stay these: `max_evals` of them, if no data say how many they are.
    """
    suite = basis.now[0] if basis.now else wish.most[0]
    return suite if wish.scope == "suite" else None, basis.runs, basis.judgings


def cheapest_design(basis: Basis, variances: Variances, wish: Wish, rate: Rate) -> Now | None:
    """The design that is sharp enough at the least cost, the smaller error first; or None."""
    import numpy as np

    axes = [
        np.arange(1, most + 1) if stays is None else np.array([stays])
        for most, stays in zip(wish.most, fixed_numbers(basis, wish), strict=True)
    ]
    designs = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    designs = designs[wish.is_met_by(variances, designs)]
    if not len(designs):
        return None
    cost = cost_of(designs, rate).round(9)
    first = np.lexsort((designs[:, 0], variances.se(designs), cost))[0]
    evals, runs, judgings = designs[first].tolist()
    return evals, runs, judgings


def vary_design(base: Now, basis: Basis, wish: Wish) -> Iterator[tuple[Now, str | None]]:
    """The design, then those that differ from it in one number, and what that is."""
    yield base, None
    if basis.now not in (None, base):
        yield basis.now, AS_IT_WAS
    planned = (True, basis.runs is None, basis.judgings is None)
    for at, lever in enumerate(LEVERS):
        top = min(wish.most[at], max(2 * base[at], base[at] + AROUND[at]))
        for number in range(1, top + 1 if planned[at] else 1):
            if number != base[at]:
                evals, runs, judgings = (*base[:at], number, *base[at + 1 :])
                yield (evals, runs, judgings), lever


Given = tuple[float | None, float | None]
"""What a run on one side and a judging take; None if it was not said."""
KEYS = [*GROUP, "configuration", "baseline", "metric"]


def plan(
    data: Any = None,
    *,
    metric: str | None = "pass_rate",
    baseline: str | None = None,
    components: Mapping[str, float] | None = None,
    target_se: float | None = None,
    effect: float | None = None,
    power: float = POWER,
    level: float = 0.95,
    scope: Scope = "population",
    price_per_run: float | None = None,
    price_per_judging: float | None = None,
    seconds_per_run: float | None = None,
    seconds_per_judging: float | None = None,
    max_evals: int = 100,
    max_runs: int = 20,
    max_judgings: int = 5,
) -> Any:
    """The cheapest evals × runs × judgings that answer the question, and the designs around it.

    With `target_se`, the goal is a configuration's mean with that standard error: Var = eval / E
    + run / (E R) + judge / (E R J) (Brennan, *Generalizability Theory*). With `effect`, the goal
    is to find a paired delta of that size between two configurations, with that power, by a
    two-sided t test (noncentral t): Var = effect / E + (run + run') / (E R) + (judge + judge') /
    (E R J). There `effect` is how much the delta itself differs between evals: the variance of
    the evals' differences, less what runs and judgings add to it. The difficulty of evals
    cancels out, and so does a judge's severity.

    Variances come from the data, or from `components`. If runs or judgings were never repeated,
    they cannot be planned: their number stays as it is.

    Cheapest means the lowest price if there is one, else the least time, else the fewest runs
    and judgings together; among equals, the smallest error. For the same number of runs, more
    evals always say more about tasks like these. So single runs win, unless `max_evals` limits
    the evals.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.
        baseline: the configuration to compare against, as for `deltas`.
        components: variances to assume instead of `data`, in the metric's unit squared: `eval`
            (for a mean), `effect` (for a delta), `run`, `judge`; both sides alike.
        target_se: the wanted standard error of the mean, in the metric's unit.
        effect: the delta to find. With neither, the smallest difference worth having, as for
            `deltas`.
        power: the chance to find it.
        level: 1 - alpha.
        scope: `population`, tasks like these, or `suite`, these evals, which leaves out the
            first term and keeps their number.
        price_per_run: US dollars; the mean of `cost_usd` if not given.
        price_per_judging: US dollars; needed for a price if judgings are planned.
        seconds_per_run: the mean of `time_seconds` if not given.
        seconds_per_judging: needed for a time if judgings are planned.
        max_evals: most evals to consider; with `components`, the evals of the suite.
        max_runs: most runs of an eval per side.
        max_judgings: most judgings of an output.

    Returns:
        In the kind of `data` (polars without), a row a design, for every workspace × skill ×
        iteration × configuration × metric of the data, and for each model and harness as for
        `deltas`:

        - `baseline`, null for a mean; `metric`; `scope`; `wanted`, the standard error or effect;
        - `n_evals`, `n_runs` of each eval on each side, `n_judgings` of each output;
        - `se` of the mean or delta; `mde`, the smallest detectable effect, null for a mean;
        - `price_usd` and `seconds` of the whole design, both sides, one after the other; null
          where a price or time is not known;
        - `chosen`: the one design to take; none if no design within the limits will do;
        - `changed`: what differs from it: `evals`, `runs`, `judgings`, or `as it was run`;
          null for the first row, around which the others lie: the chosen one, else that which
          was run, else the largest allowed;
        - `note` on the first row, in sentences.

        Designs in which no verdict could be reached (fewer than 6 evals for tasks like these at
        95 %, or a single run for these evals) are left out, but for that which was run. What cannot
        be planned is one row without a design, whose `note` says why.

    Raises:
        ValueError: for a metric, baseline, scope or component that is not there, for numbers
            out of their range, and where it is not said what is wanted or from what.

    >>> worked = plan(components={"eval": 0.64, "run": 0.25, "judge": 0.16}, target_se=0.2)
    >>> worked.filter("chosen").select("n_evals", "n_runs", "n_judgings", "se").rows()
    [(27, 1, 1, 0.197...)]
    """
    import polars as pl

    wish = Wish(
        n_sides=2 if target_se is None else 1,
        wanted=_check_positive("target_se", target_se) or _check_positive("effect", effect),
        power=power,
        level=check_level(level),
        scope=scope,
        most=(max_evals, max_runs, max_judgings),
    )
    if target_se and effect:
        raise ValueError("Give `target_se` (of a mean) or `effect` (of a delta), not both.")
    _check_wish(wish, data, components)
    if components is not None:
        bases = [assume_basis(components, wish.n_sides, scope)]
    else:
        bases = measure_basis(data, metric, n_sides=wish.n_sides, baseline=baseline, scope=scope)
    rates = {
        "price_usd": (price_per_run, price_per_judging),
        "seconds": (seconds_per_run, seconds_per_judging),
    }
    plans = [_plan_rows(basis, wish, rates) for basis in bases]
    frame = pl.concat([pl.DataFrame(schema=_plan_types()), *plans])
    return frame if data is None else to_backend_of(data, frame)


def _plan_types() -> dict[str, Any]:
    """The columns of a plan, in order."""
    import polars as pl

    types: dict[str, Any] = dict.fromkeys([*KEYS, "scope"], pl.String) | {"wanted": pl.Float64}
    types |= dict.fromkeys(("n_evals", "n_runs", "n_judgings"), pl.Int64)
    types |= dict.fromkeys(("se", "mde", "price_usd", "seconds"), pl.Float64)
    return types | {"chosen": pl.Boolean, "changed": pl.String, "note": pl.String}


def _plan_rows(basis: Basis, wish: Wish, given: Mapping[str, Given]) -> pl.DataFrame:
    """The rows of one plan."""
    import polars as pl

    keys = dict(zip(KEYS, basis.keys, strict=True)) | {"scope": wish.scope}
    notes, wanted = basis.notes, wish.wanted
    if wanted is None:
        wanted = worth_having(str(basis.keys[-1]), basis.baseline_mean)
    if basis.variances is None or wanted is None:
        columns: dict[str, Any] = {"chosen": [False]}
        notes = notes or ("The baseline is 0 or unknown: give the `effect` to detect.",)
    else:
        wish = replace(wish, wanted=wanted)
        columns, answer = _design_columns(basis, basis.variances, wish, given)
        notes = (answer, *notes)
    rows = pl.DataFrame(columns, strict=False).with_columns(
        *(pl.lit(value, pl.String).alias(name) for name, value in keys.items()),
        pl.lit(wanted, pl.Float64).alias("wanted"),
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(" ".join(notes))).alias("note"),
    )
    return cast_columns(rows, _plan_types())


def _design_columns(
    basis: Basis, variances: Variances, wish: Wish, given: Mapping[str, Given]
) -> tuple[dict[str, Any], str]:
    """The columns of the designs, and the answer in a sentence."""
    import numpy as np

    rates = {name: _sum_rates(basis, wish.n_sides, name, rate) for name, rate in given.items()}
    counted = (wish.n_sides, 0 if basis.judgings else wish.n_sides)
    rated = (rate for rate in rates.values() if rate and any(rate))
    best = cheapest_design(basis, variances, wish, next(rated, counted))
    base = best or basis.now or wish.most
    rows = list(vary_design(base, basis, wish))
    designs = np.array([design for design, _ in rows])
    changed = np.array([what for _, what in rows], dtype=object)
    kept = wish.can_answer(designs) | (np.arange(len(rows)) == 0) | (changed == AS_IT_WAS)
    designs = designs[kept]
    mde = wish.mde(variances, designs)
    columns = dict(zip(("n_evals", "n_runs", "n_judgings"), designs.T, strict=True)) | {
        "se": variances.se(designs),
        "mde": [None if np.isnan(value) else value for value in mde.tolist()],
        "chosen": [best is not None and at == 0 for at in range(len(designs))],
        "changed": changed[kept].tolist(),
    }
    costs = {name: cost_of(designs, rate) for name, rate in rates.items() if rate}
    return columns | costs, _answer_wish(best, basis, wish)


def _sum_rates(basis: Basis, n_sides: int, name: str, given: Given) -> Rate | None:
    """The price (or time) of a run and of a judging, over all sides; None if unknown."""
    run, judging = given
    seen = basis.price if name == "price_usd" else basis.seconds
    per_run = seen if run is None else run * n_sides
    if per_run is None or (judging is None and basis.judgings is None):
        return None
    return per_run, (judging or 0) * n_sides


def _answer_wish(best: Now | None, basis: Basis, wish: Wish) -> str:
    """Whether there is such a design, in a sentence."""
    if best:
        return f"The cheapest of the designs that {wish.requirement}."
    free = zip(wish.most, LEVERS, fixed_numbers(basis, wish), strict=True)
    limits = " × ".join(f"{most} {lever}" for most, lever, stays in free if stays is None)
    shown = "what was run" if basis.now else "the largest of them"
    return f"No design with up to {limits} would {wish.requirement}: this is {shown}."


def _check_positive(name: str, value: float | None) -> float | None:
    if value is not None and not (isfinite(value) and value > 0):
        raise ValueError(f"`{name}` must be a number above 0: {value}.")
    return value


def _check_wish(wish: Wish, data: Any, components: Mapping[str, float] | None) -> None:
    """Whether it is said what is wanted, and from what."""
    if (data is None) == (components is None):
        raise ValueError("Give `data` or `components`: a plan starts from one of the two.")
    if components is not None and wish.wanted is None:
        raise ValueError("Say what is wanted: `target_se` of a mean, or `effect` of a delta.")
    if wish.scope not in SCOPES:
        raise no_such("scope", wish.scope, SCOPES)
    if not 1 - wish.level < wish.power < 1:
        raise ValueError(f"`power` must lie between 1 - level and 1, such as 0.8: {wish.power}.")
    if min(wish.most) < 1:
        raise ValueError("`max_evals`, `max_runs` and `max_judgings` must be at least 1.")
