"""`plan`: the cheapest design that is sharp enough, and what a little more or less would buy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from ..deltas.comparison import SCOPES, Scope
from ..inference.power import POWER
from ..names import no_such
from ..values import GROUP, worth_having
from ..variance.intervals import confidence
from .assumptions import Basis, Now, assumed
from .designs import Designs, Variances
from .measured import measured
from .search import AS_IT_WAS, LEVERS, Rate, Wish, around, cheapest, fixed

if TYPE_CHECKING:
    import polars as pl

Given = tuple[float | None, float | None, float]
"""What a run on one side, a judging and writing an eval take; None where it was not said."""
KEYS = [*GROUP, "configuration", "baseline", "metric"]
COLUMNS = [
    *KEYS,
    "scope",
    "wanted",
    "n_evals",
    "n_runs",
    "n_judgings",
    "se",
    "mde",
    "price_usd",
    "seconds",
    "chosen",
    "changed",
    "note",
]


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
    price_per_eval: float = 0.0,
    seconds_per_run: float | None = None,
    seconds_per_judging: float | None = None,
    max_evals: int = 100,
    max_runs: int = 20,
    max_judgings: int = 5,
) -> Any:
    """The cheapest evals × runs × judgings that answer the question, and the curve around.

    With `target_se`, the question is a configuration's mean, wanted with that standard error:
    Var = eval / E + run / (E R) + judge / (E R J) (Brennan, *Generalizability Theory*). With
    `effect`, it is a paired delta of that size between two configurations, wanted to be found
    with that power by a two-sided t test (noncentral t): Var = effect / E + (run + run') /
    (E R) + (judge + judge') / (E R J). There `effect` is how much the delta itself differs
    between evals: the variance of the evals' differences, less what runs and judgings add to
    it. How hard evals are cancels, as the severity of a judge does.

    Variances come from the data, or are assumed by `components`. Runs and judgings that have
    never been repeated cannot be planned: their number then stays as it is.

    Cheapest is the least price where there is one, else the least time, else the fewest runs
    and judgings taken together; of equals, the one with the smaller error. Of as many runs,
    those of more evals always say more about tasks like these: unless `max_evals` says how
    many there can be, or writing one has a price (`price_per_eval`), single runs win.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.
        baseline: the configuration to compare against, as for `deltas`.
        components: variances to assume instead of `data`, in the metric's unit squared: `eval`
            (for a mean), `effect` (for a delta), `run`, `judge`; both sides alike.
        target_se: the wanted standard error of the mean, in the metric's unit.
        effect: the delta to be found. With neither, the smallest difference worth having, as
            for `deltas`.
        power: the chance to find it.
        level: 1 - alpha.
        scope: `population`, tasks like these, or `suite`, these evals, which leaves out the
            first term and keeps their number.
        price_per_run: US dollars; the mean of `cost_usd` where not given.
        price_per_judging: US dollars; needed for a price where judgings are planned.
        price_per_eval: US dollars that writing an eval costs.
        seconds_per_run: the mean of `time_seconds` where not given.
        seconds_per_judging: needed for a time where judgings are planned.
        max_evals: most evals to consider; with `components`, the evals of the suite.
        max_runs: most runs of an eval on a side.
        max_judgings: most judgings of an output.

    Returns:
        In the kind of `data` (polars without), a row a design, for every workspace × skill ×
        iteration × configuration × metric of the data:

        - `baseline`, null for a mean; `metric`; `scope`; `wanted`, the standard error or effect;
        - `n_evals`, `n_runs` of each eval on each side, `n_judgings` of each output;
        - `se` of the mean or delta; `mde`, the smallest detectable effect, null for a mean;
        - `price_usd` and `seconds` of the whole design, both sides, one after the other; null
          where a price or time is not known;
        - `chosen`: the one design to take; none where no design within the limits will do;
        - `changed`: what differs from it: `evals`, `runs`, `judgings`, or `as it was run`;
          null for the first row, around which the others lie: the chosen one, else that which
          was run, else the largest allowed;
        - `note` on the first row, in sentences.

        Designs in which no verdict could be reached (fewer than 6 evals for tasks like these,
        or a single run for these evals) are left out, but for that which was run. What cannot
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
        target_se=_positive("target_se", target_se),
        effect=_positive("effect", effect),
        power=power,
        level=confidence(level),
        scope=scope,
        most=(max_evals, max_runs, max_judgings),
    )
    _check(wish, data, components)
    if components is not None:
        bases = [assumed(components, wish.n_sides, scope)]
    else:
        bases = measured(data, metric, n_sides=wish.n_sides, baseline=baseline, scope=scope)
    rates = {
        "price_usd": (price_per_run, price_per_judging, price_per_eval),
        "seconds": (seconds_per_run, seconds_per_judging, 0.0),
    }
    plans = [_plan(basis, wish, rates) for basis in bases]
    frame = pl.concat([pl.DataFrame(schema=_types()), *plans])
    return frame if data is None else like(data, frame)


def _types() -> dict[str, Any]:
    import polars as pl

    texts, wholes = (*KEYS, "scope", "changed", "note"), ("n_evals", "n_runs", "n_judgings")
    types = dict.fromkeys(COLUMNS, pl.Float64) | dict.fromkeys(texts, pl.String)
    return types | dict.fromkeys(wholes, pl.Int64) | {"chosen": pl.Boolean}


def _plan(basis: Basis, wish: Wish, given: Mapping[str, Given]) -> pl.DataFrame:
    """The rows of one plan."""
    import polars as pl

    keys = dict(zip(KEYS, basis.keys, strict=True)) | {"scope": wish.scope}
    wish, notes = _of_metric(wish, basis), basis.notes
    if basis.variances is None or not (wish.target_se or wish.effect):
        columns: dict[str, Any] = {"chosen": [False]}
        notes = notes or ("The baseline is 0 or unknown: say which `effect` is to be found.",)
    else:
        columns, answer = _designs(basis, basis.variances, wish, given)
        notes = (answer, *notes)
    rows = pl.DataFrame(columns, strict=False).with_columns(
        *(pl.lit(value, pl.String).alias(name) for name, value in keys.items()),
        pl.lit(wish.target_se or wish.effect, pl.Float64).alias("wanted"),
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(" ".join(notes))).alias("note"),
    )
    types = _types()
    lacking = [pl.lit(None).alias(name) for name in types if name not in rows.columns]
    return rows.with_columns(lacking).select(pl.col(name).cast(types[name]) for name in COLUMNS)


def _of_metric(wish: Wish, basis: Basis) -> Wish:
    """The wish with the smallest difference worth having, where nothing else was said."""
    if wish.target_se or wish.effect:
        return wish
    return replace(wish, effect=worth_having(str(basis.keys[-1]), basis.baseline_mean))


def _designs(
    basis: Basis, variances: Variances, wish: Wish, given: Mapping[str, Given]
) -> tuple[dict[str, Any], str]:
    """The columns of the designs, and the answer in a sentence."""
    import numpy as np

    rates = {name: _rate(basis, name, rate) for name, rate in given.items()}
    counted = Rate(run=basis.n_sides, judging=0 if basis.judgings else basis.n_sides)
    telling = (rate for rate in rates.values() if rate is not None and rate != Rate(0.0))
    best = cheapest(basis, variances, wish, next(telling, counted))
    base = best or basis.now or wish.most
    rows = list(around(base, basis, wish))
    designs = Designs(*np.array([design for design, _ in rows]).T)
    changed = np.array([what for _, what in rows], dtype=object)
    kept = wish.able(designs) | (np.arange(len(rows)) == 0) | (changed == AS_IT_WAS)
    designs = designs[kept]
    mde = wish.mde(variances, designs)
    columns = {
        "n_evals": designs.evals,
        "n_runs": designs.runs,
        "n_judgings": designs.judgings,
        "se": variances.se(designs),
        "mde": [None if np.isnan(value) else value for value in mde.tolist()],
        "chosen": [best is not None and at == 0 for at in range(len(designs))],
        "changed": changed[kept].tolist(),
    }
    costs = {name: rate.of(designs) for name, rate in rates.items() if rate}
    return columns | costs, _answer(best, basis, wish)


def _rate(basis: Basis, name: str, given: Given) -> Rate | None:
    """What runs and judgings take on all sides; None where that is not known."""
    run, judging, written = given
    seen = basis.price if name == "price_usd" else basis.seconds
    per_run = seen if run is None else run * basis.n_sides
    if per_run is None or (judging is None and basis.judgings is None):
        return None
    return Rate(per_run, (judging or 0) * basis.n_sides, written)


def _answer(best: Now | None, basis: Basis, wish: Wish) -> str:
    """Whether there is such a design, in a sentence."""
    if best:
        return f"The cheapest of the designs that {wish.said}."
    free = zip(wish.most, LEVERS, fixed(basis, wish), strict=True)
    limits = " × ".join(f"{most} {lever}" for most, lever, stays in free if stays is None)
    shown = "what was run" if basis.now else "the largest of them"
    return f"No design up to {limits} would {wish.said}: this is {shown}."


def _positive(name: str, value: float | None) -> float | None:
    if value is not None and not (isfinite(value) and value > 0):
        raise ValueError(f"`{name}` has to be a number above 0: {value}.")
    return value


def _check(wish: Wish, data: Any, components: Mapping[str, float] | None) -> None:
    """Whether it is said what is wanted, and from what."""
    if (data is None) == (components is None):
        raise ValueError("Give `data` or `components`: a plan starts from one of the two.")
    if wish.target_se and wish.effect:
        raise ValueError("Give `target_se` (of a mean) or `effect` (of a delta), not both.")
    if components is not None and not (wish.target_se or wish.effect):
        raise ValueError("Say what is wanted: `target_se` of a mean, or `effect` of a delta.")
    if wish.scope not in SCOPES:
        raise no_such("scope", wish.scope, SCOPES)
    if not 1 - wish.level < wish.power < 1:
        raise ValueError(f"`power` lies between 1 - level and 1, as 0.8 does: {wish.power}.")
    if min(wish.most) < 1:
        raise ValueError("`max_evals`, `max_runs` and `max_judgings` have to be at least 1.")
