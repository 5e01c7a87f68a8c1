"""`deltas`: what a configuration changes against the baseline, paired by eval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.text import some

from .checks import correct_by_labels, leave_out, state_labels
from .comparison import SCOPES, PairedEvals, PairedResult, Scope
from .confounds import (
    DeltaQuestion,
    Known,
    describe_strata,
    drop_gated,
    errors_as_failures,
    find_confounds,
    is_rate,
    mark_stand_in,
    settle_verdict,
)
from .inference import Adjusted, flip_signs, joint_p, over_evals, permute_within_evals
from .lean import DESIGN, Additions
from .looks import settle_looks
from .pairing import BOTH, Pairs, Versus, as_one_iteration, pair_sides
from .values import (
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUBRIC,
    SIDES,
    check_level,
    in_polars,
    natural_key,
    no_such,
    runs_of,
    scores_of,
    secondary_level,
    secondary_metrics,
    statistic,
    unit_of,
    values_of,
    worth_having,
)
from .verdict import LEANS, decide_verdict, limit_by_suite

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]


FIGURES = ("estimate", "low", "high", "p", "mde", "mde_twice_evals", "mde_twice_runs")
"""What a comparison gives, each null if it cannot."""
ASKED = ("worth", "level", "weighted", "verdict", "reason")
"""What it was asked for, and the answer."""


paired_evals = lru_cache(maxsize=4096)(PairedEvals)
"""Several figures rest on the same comparison; what the same values say is counted once."""
REACH = {"rate": 1.0, "1-5": 4.0}
"""How far two figures of a unit can lie apart."""


def answer_rows(
    paired: pl.DataFrame,
    asked: DeltaQuestion,
    by: list[str],
    together: Sequence[str] = (),
    values: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """One row per group of `by`: scope, FIGURES, worth, level, weighted, verdict, reason, BOTH.

    Args:
        paired: what `pair_evals` gives, or `pooled` of it; with a `weight` and a `family` where
            `add_eval_columns` added them.
        asked: what is asked.
        by: what has one answer; `metric` is among them.
        together: where given, p-values are adjusted over the answers that have this in
            common, `p_adjusted` follows `p`, and verdicts and intervals rest on it.
        values: where the answers in common are figures of the same runs, these, a row a run
            and metric: then labels are dealt out again for all figures jointly.

    Of several evals `n_runs` are those of the paired ones; what errored or was not scored is
    of all. Last stand `n_unpaired` and, unless `by` has it, `unpaired`: the names of the evals
    without a pair.
    """
    import polars as pl

    matched = pl.col("estimate").is_not_null()
    several = "unpaired" not in by
    why = pl.col("unpaired").drop_nulls().unique(maintain_order=True).alias("why")
    unpaired = [pl.col("eval_name").filter(~matched).alias("unpaired"), why] if several else []
    runs = pl.col("n_runs", "n_runs_baseline")
    rows = paired.group_by(by, maintain_order=True).agg(
        matched.sum().cast(pl.Int64).alias("n_evals"),
        (runs.filter(matched) if several else runs).sum(),
        pl.col([name for name in BOTH if not name.startswith("n_runs")]).sum(),
        (~matched).sum().cast(pl.Int64).alias("n_unpaired"),
        *unpaired,
        pl.col("values", "baseline_values", *_eval_columns(paired)).filter(matched),
    )
    metrics = rows["metric"].to_list()
    of_models = _are_lists(paired)
    pairs = [_pair_values(asked, row, of_models=of_models) for row in rows.iter_rows(named=True)]
    alone = [each.answer_at(asked.level) for each in pairs]
    groups = rows.select(together).rows() if together else []

    def deal_for_group(group: Any, places: list[int]) -> Array | None:
        named = dict(zip(together, group, strict=True))
        own = [metrics[at] for at in places]
        return None if values is None else _deal_labels(paired, values, asked.scope, named, own)

    adjusted = _adjust_groups(alone, groups, deal_for_group, 1 - asked.level)
    found = [  # the interval allows for what was asked with it
        own if adjustment is None else replace(own, **each.interval(1 - adjustment.alone))
        for own, each, adjustment in zip(alone, pairs, adjusted, strict=True)
    ]
    answered = []
    for row, own, adjustment in zip(rows.iter_rows(named=True), found, adjusted, strict=True):
        metric, worth = row["metric"], asked.worth
        if worth is None:
            worth = worth_having(metric, (own.baseline or 0.0) / asked.differences)
        word, reason = decide_verdict(own, metric, worth, adjustment)
        if several and not own.n_evals and row["why"]:
            reason = f"{reason[:-1]}: {some(row['why'])}."
        figures = {name: getattr(own, name) for name in FIGURES}
        figures |= {"p_adjusted": adjustment and adjustment.p} if together else {}
        asked_for = {"worth": worth, "level": asked.level, "weighted": own.weighted}
        said = {"verdict": word, "reason": reason}
        answered.append({"scope": asked.scope} | figures | asked_for | said)
    columns = ["scope", *FIGURES, *(["p_adjusted"] if together else []), *ASKED]
    texts = dict.fromkeys(("scope", "verdict", "reason"), pl.String)
    types = dict.fromkeys(columns, pl.Float64) | texts | {"weighted": pl.Boolean}
    order = [*by, *columns, "n_evals", *BOTH, "n_unpaired", *(["unpaired"] if several else [])]
    return rows.hstack(pl.DataFrame(answered, types)).select(order)


def _pair_values(asked: DeltaQuestion, row: Mapping[str, Any], *, of_models: bool) -> PairedEvals:
    """The evals of a row; of means over models, which have lists of a model each, one by one."""
    ones, others = row["values"], row["baseline_values"]
    strata = len(ones[0]) if of_models and ones else 1
    if of_models:
        ones, others = chain(*ones), chain(*others)
    sides = tuple(zip(map(tuple, ones), map(tuple, others), strict=True))
    reach = REACH.get(unit_of(row["metric"]))
    reach = None if reach is None else reach * asked.differences
    own = (tuple(row[name]) if name in row else None for name in ("weight", "family"))
    return paired_evals(sides, asked.scope, reach, strata, *own)


def _are_lists(paired: pl.DataFrame) -> bool:
    """Whether an eval has several lists of values a side, as of a mean over models."""
    import polars as pl

    return paired.schema["values"] == pl.List(pl.List(pl.Float64))


def _eval_columns(paired: pl.DataFrame) -> list[str]:
    """Which of the columns weight and family there are."""
    return [name for name in ("weight", "family") if name in paired.columns]


def _adjust_groups(
    found: Sequence[PairedResult],
    groups: Sequence[Any],
    deal: Callable[[Any, list[int]], Array | None],
    alpha: float,
) -> list[Adjusted | None]:
    """What allows for the others of their group; None if there are no groups, or no p."""
    adjusted: list[Adjusted | None] = [None] * len(found)
    members: dict[Any, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        if found[at].p is not None:
            members[group].append(at)
    for group, places in members.items():
        p = [p_value for at in places if (p_value := found[at].p) is not None]
        least = [found[at].least_p for at in places]
        joint = deal(group, places)
        each = over_evals(p, least, alpha) if joint is None else joint_p(p, least, joint, alpha)
        for at, adjustment in zip(places, each, strict=True):
            adjusted[at] = adjustment
    return adjusted


def _deal_labels(
    paired: pl.DataFrame,
    values: pl.DataFrame,
    scope: Scope,
    together: Mapping[str, Any],
    metrics: Sequence[str],
) -> Array:
    """The differences of these metrics, which have this in common, under labels dealt out again."""
    import polars as pl

    def is_of(names: Iterable[str]) -> pl.Expr:
        return pl.all_horizontal(pl.col(name).eq_missing(pl.lit(together[name])) for name in names)

    own = paired.filter(is_of(together)).drop_nulls("estimate")
    alike = {"weight": pl.lit(1.0), "family": pl.lit(None, pl.String)}
    own = own.with_columns(**{name: alike[name] for name in alike.keys() - {*_eval_columns(own)}})
    if scope == "population":
        wide = own.pivot("metric", index=[*EVAL, *alike], values="estimate").sort(EVAL)
        family = pl.coalesce("family", pl.format("\0{}", pl.int_range(pl.len())))
        by_family = wide.group_by(family.alias("family"), maintain_order=True)
        sums = by_family.agg((pl.col(metrics) * pl.col("weight")).sum())
        return flip_signs(sums.select(metrics).to_numpy().astype(float))
    first, second = (together[side] for side in SIDES)
    strata = [*EVAL, *MODEL]
    runs = (
        values.filter(
            is_of(ITERATION if _are_lists(paired) else GROUP),
            pl.col("configuration").is_in([first, second]),
            pl.col("metric").is_in(metrics),
        )
        .join(own.select(*EVAL, "metric", "weight"), on=[*EVAL, "metric"], nulls_equal=True)
        .with_columns(
            (pl.col("configuration") != first).alias("second"),
            value=pl.col("value") * pl.col("weight"),
        )
        .pivot(
            "metric",
            index=[*strata, "second", "run_number"],
            values="value",
            aggregate_function="mean",
        )
        .sort(*strata, "second", "run_number")  # whichever way the rows came
    )
    evals = [
        (part.select(metrics).to_numpy().astype(float), int((~part["second"]).sum()))
        for part in runs.partition_by(strata, maintain_order=True)
    ]
    return permute_within_evals([eval_ for eval_ in evals if 0 < eval_[1] < len(eval_[0])])


POOLS = ("model", "iteration")
"""What can be averaged over."""
Pool = Literal["model", "iteration"] | None


@statistic
def deltas(
    data: Any,
    metric: str | Sequence[str] = "pass_rate",
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    scope: Scope = "suite",
    worth: float | None = None,
    level: float = 0.95,
    pool: Pool = None,
    weights: bool = False,
    cluster: str | Mapping[str, str] | None = None,
    other_checks: bool = False,
    corrected: bool = False,
) -> Any:
    """Each configuration against the baseline: the mean difference over paired evals.

    An eval's difference d_i is its mean over runs minus its mean over runs of the baseline;
    a run's rubric score is first its mean over judgings. The estimate is the mean of d_i
    (Miller, arXiv 2411.00640, section 4). Runs without the figure enter no mean.

    How sure that is depends on the question. `scope="suite"` is about *these evals*: another run
    could come out differently. Its interval is Welch's over eval × configuration cells, its p
    the exact permutation of the labels within each eval (and, if the sides have different
    numbers of runs, at least that of the studentised difference, and Welch's); both need two
    runs per side. `scope="population"` is about *tasks like these*: other evals could have been
    chosen. Its p is the exact sign flip of the evals' differences, its interval all differences
    that the flip does not rule out (Hartigan 1969; above 12 evals the paired t). There is one if
    at least 6 evals differ between the sides (at another level n, with 2 / 2ⁿ at most 1 -
    level). An interval excludes 0 exactly if p is at most alpha, and never goes beyond the
    largest possible difference.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by `rubric:<name>` or by its
            name alone. For several, such as all below a headline, p-values are adjusted together
            (Westfall and Young), `p_adjusted` follows `p`, and verdicts and intervals use it.
        baseline: the configuration to compare against. Chosen by name if not given:
            `without_skill`, `baseline`, `no_skill`, `control`, … else `old_skill`, …
        versus: instead, two configurations or two iterations, the baseline last. The iterations
            are compared configuration by configuration. With a `baseline` that both iterations
            have, its own change is subtracted (the difference of differences), and with it
            whatever changed for both sides between the sessions; labels are permuted between the
            iterations of each, which is more cautious the larger that change was.
        scope: what the answer is about.
        worth: the smallest difference worth having, in the metric's unit. If not given: 0.05 for
            a rate, 0.2 points for a rubric, else 5 % of the baseline's mean.
        level: of the interval; the verdict's alpha is 1 - level.
        pool: `iteration` for one answer over iterations that have no eval in common; `model` for
            the mean over models, over evals that each of them has on both sides: an eval's
            difference is the mean of theirs; labels are permuted within each eval and model, and
            for tasks like these the signs of the evals' means are flipped.
        weights: whether means use the suite's weights of evals (`evals.weight`; for a table of
            runs, its column `weight`). By default all evals count the same.
        cluster: which evals belong together: a column of `evals` (or of a table of runs), or the
            family of each eval by its name or id. With `tags`, evals that share one. For tasks
            like these a family is flipped as one, and 6 families are needed; an eval without one
            is its own. Families do not change the answer on these evals.
        other_checks: whether to include evals whose sides were graded on different checks (only
            for a `Workspace`, where the texts of checks are known). By default such evals are
            left out of figures counted from checks; if no other is left, there is no verdict.
        corrected: whether to correct pass rates by the checks that a human labelled (see
            `sen.review(ws, "checks")`), so that a judge who is too kind to one side cannot
            decide the verdict: prediction-powered inference (Angelopoulos et al., Science 382,
            2023), eval by eval and side by side. Only labels of checks drawn at random count, at
            least three per side of an eval; evals without them are unpaired. Intervals, p and
            verdict allow for the labelling, too, and `reason` says how much was corrected. There
            is then no lean and no next step, and planned looks are not taken into account.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration that
        is not the baseline, and of each model and harness where a side has runs of several:

        - `executor_model` and `harness`, null if runs do not state it or the sides have
          different ones, and of a mean over models; sides pair inside a model, and one with
          one side alone has no paired eval, and a `reason`;
        - `baseline`, `metric`, `scope`; with two iterations, `baseline` is the second one;
        - `estimate`, first minus baseline in the metric's unit, null without a paired eval;
          `low` and `high`, null if there is no interval (too few runs, too few evals
          that differ, or no noise seen); `p`, exact and two-sided;
        - `mde`, the smallest detectable effect (80 % power, from the noise seen: noncentral t;
          of 6 or 7 evals the sign flip's), and what twice the evals (`mde_twice_evals`) or
          twice the runs (`mde_twice_runs`) would make of it; null if no noise was seen, and
          where no claim can be reached or no difference is so large;
        - `worth` and `level` as used; `weighted`: whether the evals weigh unlike;
        - `verdict`: `helps`, `hurts`, `no worthwhile difference` (two one-sided tests: the
          interval of 2 `level` - 1 lies within ± `worth`), `unclear` (with the difference that
          can be ruled out), `too few runs`, `too few evals`; null for a difference in what is
          neither better as more nor as less (`output_chars`). `reason` is the sentence to it;
        - `warnings`: what may turn the verdict, in sentences that stand in `reason`, too: errors
          on one side, sides that differ in judge, model or checks or were run on other days, two
          iterations, a gate that took unequal parts, evals that seem to belong together; of a mean
          over models each one's own, opposite signs, and an effect that differs (see `factors`).
          `verdict_with_errors` and `estimate_with_errors` count runs that errored as failures (of
          a rate; null if none did). If that decides, the verdict is `unclear: errors
          decide`, the interval holds those of both and 0, and p is the larger; it is null if
          different judges judged the sides or no eval has the same checks on both, and of a
          rubric after an unequal gate it is of the evals whose runs all passed;
        - `lean`: `leans up`, `leans down` or `no lean`, apart from the verdict and never one, where
          a side has single runs or the verdict is `too few runs`: by noise that is borrowed from
          public benchmarks that repeat their runs (see `stats.lean`). Of pass rates of these evals
          alone, whose checks are known and the same on both sides, which one judge and model made
          within a week (or, without time stamps, in one iteration); `lean_low`, `lean_high` and
          `lean_p` are its interval and p, `improved` how many evals improved, as "4 of 4";
        - `next_step`: the cheapest addition that would decide it, in words; null if there is a
          verdict, of a mean over models, of tasks like these with `cluster`, and of metrics that
          are asked about together. The figures
          to it are those of `next_step`; `next_runs` is how many runs a side each eval then has
          (of tasks like these, each new eval);
        - `stand_in`: whether the stand-in ran a side (or judged one, of what a judge has a say in):
          it is not a model, so there is no verdict, and `reason` and `warnings` begin with that;
        - `n_evals` (paired); of the paired evals `n_runs`, `n_errored`, `n_unscored` (with the
          figure, errored, without a figure for another reason), each with its `…_baseline`;
        - `n_unpaired` and `unpaired` (names of the evals without a pair).

        Groups without a baseline have no row: `deltas_by_eval` says why.

    Raises:
        ValueError: for a metric, baseline, scope, pool or name in `versus` that is not there, or
            a level outside (0, 1); for weights below 0, or where nothing says any, and a
            `cluster` that names no column or no eval; the message says what is. For `corrected`
            where too little is labelled, and of anything but the pass rate of a `Workspace`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1"] * 6 + ["2"] * 6,
    ...     "configuration": (["with_skill"] * 3 + ["without_skill"] * 3) * 2,
    ...     "pass_rate": [1.0, 0.9, 1.0, 0.5, 0.6, 0.5, 0.8, 0.7, 0.8, 0.4, 0.2, 0.3],
    ... })
    >>> deltas(runs).select(pl.col("estimate", "low", "high", "p").round(3), "verdict").rows()
    [(0.45, 0.35, 0.55, 0.005, 'helps')]
    """
    how = {"worth": worth, "weights": weights, "cluster": cluster, "other_checks": other_checks}
    asked = ask_deltas(data, baseline, versus, scope=scope, level=level, pool=pool, **how)
    joint = not isinstance(metric, str)
    values = values_of(asked.data, *(dict.fromkeys(metric) if joint else [metric]))
    values, cells = correct_by_labels(asked.data, values) if corrected else (values, None)
    found = answer_deltas(asked, values, joint=joint)
    found = found if cells is None else state_labels(found, cells)
    planned = not (joint or versus or pool or corrected) and scope == "suite"
    at_look = partial(deltas, metric=metric, baseline=baseline, **how) if planned else None
    return settle_looks(found.drop("designs"), asked.data, level, at_look)


@statistic
def deltas_by_dimension(
    data: Any,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    scope: Scope = "suite",
    worth: float | None = None,
    level: float = 0.95,
) -> Any:
    """`deltas` of every rubric dimension, in points of the 1-5 scale.

    An eval counts for each dimension on which at least one of its runs was scored. Runs that
    failed the gate were not judged, so `n_runs` and `n_runs_baseline` may be very different:
    look at both.

    Args:
        data: a `Workspace` or a table of rubric scores (polars or pandas).
        baseline: as for `deltas`, which takes a dimension as its metric and has more arguments.
        versus: two configurations or two iterations, the baseline last.
        scope: these evals or tasks like these.
        worth: in points.
        level: of a headline; dimensions are below it, and their alpha is a fifth of 1 - level.

    Returns:
        In the kind of `data`, the columns of `deltas`, `dimension` and `p_adjusted`, one row
        a dimension and configuration; no row if nothing was scored. Verdicts are those of
        every page: they rest on `p_adjusted` (Westfall and Young over all that stands below the
        headline: the dimensions, and of a `Workspace` the other metrics), and what is not clear
        on these evals is not claimed of tasks like these.

    Raises:
        ValueError: as `deltas`.

    >>> import polars as pl
    >>> scores = pl.DataFrame({
    ...     "eval_id": ["1", "1"], "configuration": ["with_skill", "old_skill"],
    ...     "dimension": ["clarity", "clarity"], "score": [5, 3],
    ... })
    >>> deltas_by_dimension(scores).select("dimension", "baseline", "estimate").rows()
    [('clarity', 'old_skill', 2.0)]
    """
    import polars as pl

    own, level = in_polars(data), secondary_level(level)
    scored = sorted({*scores_of(own)["metric"]}, key=natural_key)
    metrics = list(dict.fromkeys([*secondary_metrics(own), *scored]))

    def answer(scope: Scope) -> pl.DataFrame:
        how: dict[str, Any] = {"versus": versus, "scope": scope, "worth": worth, "level": level}
        found = deltas(own, metrics, baseline, **how)
        return found.filter(pl.col("metric").str.starts_with(RUBRIC))

    found = answer(scope)
    if scope == "population":
        both = zip(answer("suite").to_dicts(), found.to_dicts(), strict=True)
        found = pl.DataFrame([limit_by_suite(*rows) for rows in both], found.schema)
    dimension = pl.col("metric").str.strip_prefix(RUBRIC).alias("dimension")
    at = found.columns.index("metric") + 1
    return found.select(*found.columns[:at], dimension, *found.columns[at:])


@statistic
def deltas_by_eval(
    data: Any,
    metric: str | Sequence[str] = "pass_rate",
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    worth: float | None = None,
    level: float = 0.95,
    pool: Pool = None,
) -> Any:
    """Each eval's difference between a configuration and the baseline.

    A single eval is uncertain only because of its runs, so the scope is *these evals*.

    Args:
        data: as for `deltas`; so are the other arguments.
        metric: a column of `runs` or a rubric dimension.
        baseline: the configuration to compare against.
        versus: two configurations or two iterations, the baseline last.
        worth: in the metric's unit.
        level: of the interval.
        pool: `model` for the mean over models.

    Returns:
        In the kind of `data`, one row an eval × configuration that is not the baseline
        (× model, as in `deltas`): `mean` and `baseline_mean` over runs, then the columns of
        `deltas`, but `unpaired` is null if the eval is paired, else why it is not (and so
        says `reason`, with no verdict). Verdicts rest on `p_adjusted`: Benjamini and Hochberg
        over the evals of a configuration. If no baseline can be told, `baseline` is null and
        every eval says so.

    Raises:
        ValueError: as `deltas`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"eval_id": ["1"], "configuration": ["with_skill"]})
    >>> deltas_by_eval(runs.with_columns(pass_rate=1.0))["unpaired"].item()
    'no baseline among the configurations: with_skill'
    """
    import polars as pl

    asked = ask_deltas(data, baseline, versus, worth=worth, level=level, pool=pool)
    metrics = [metric] if isinstance(metric, str) else dict.fromkeys(metric)
    pairs = pair_sides(asked.data, values_of(asked.data, *metrics), baseline, versus, pool)
    paired = leave_out(pairs.paired, pairs.others)
    by = [*GROUP, *EVAL, *SIDES, "metric", "mean", "baseline_mean", "unpaired"]
    found, known = answer_rows(paired, asked, by, together=[*GROUP, *SIDES]), Known(asked, pairs)
    names = [*GROUP, *EVAL, *SIDES, "metric"]
    alone = pool != "model" and asked.subtracted_side is None
    additions = Additions(known, pairs._replace(paired=paired), names) if alone else None
    rows = []
    for row in found.to_dicts():
        if row["unpaired"] is not None:
            row |= {"verdict": None, "reason": row["unpaired"]}
        lean = dict.fromkeys(LEANS) if additions is None else additions.lean_of(row)
        rows.append(mark_stand_in(row | lean, known.facts_about(row).sides))
    beside = {name: kind for name, kind in _types_beside().items() if name in LEANS}
    types = found.schema | beside | {"stand_in": pl.Boolean}
    at = found.columns.index("n_evals")
    columns = [*found.columns[:at], "stand_in", *found.columns[at:], *LEANS]
    turned = pairs.swap_if_iterations(pl.DataFrame(rows, types).select(columns))
    settled = settle_looks(turned, asked.data, level)
    return settled.select(pl.exclude("n_unpaired", "unpaired"), "unpaired")


def _types_beside() -> dict[str, Any]:
    """The types of what `Additions` gives."""
    import polars as pl

    design = dict.fromkeys(DESIGN, pl.Float64) | dict.fromkeys(DESIGN[:2], pl.String)
    design |= dict.fromkeys(DESIGN[2:5], pl.Int64)
    numbers = dict.fromkeys(("lean_low", "lean_high", "lean_p"), pl.Float64)
    texts = dict.fromkeys((*LEANS, "next_step"), pl.String)
    return texts | numbers | {"next_runs": pl.Int64, "designs": pl.List(pl.Struct(design))}


def ask_deltas(
    data: Any, baseline: str | None = None, versus: Versus | None = None, **how: Any
) -> DeltaQuestion:
    """What is asked, if it can be: fields of `DeltaQuestion`.

    Raises:
        ValueError: for a scope, pool or level that is none.
    """
    asked = DeltaQuestion(data, baseline, versus, **how)
    if asked.scope not in SCOPES:
        raise no_such("scope", asked.scope, SCOPES)
    if asked.pool not in (None, *POOLS):
        raise no_such("pool", asked.pool, POOLS)
    check_level(asked.level)
    return asked._replace(data=as_one_iteration(data)) if asked.pool == "iteration" else asked


def pair_figures(asked: DeltaQuestion, values: pl.DataFrame) -> Pairs:
    """The two sides of each eval, without the figures that are not alike on both."""
    found = pair_sides(asked.data, values, asked.baseline, asked.versus, asked.pool)
    runs = found.swap_if_iterations(runs_of(asked.data))
    paired = drop_gated(found.paired.drop_nulls(SIDES), runs, asked.keys)
    paired = paired if asked.other_checks else leave_out(paired, found.others)
    return found._replace(paired=asked.add_weights(paired))


def answer_deltas(
    asked: DeltaQuestion, values: pl.DataFrame, *, joint: bool = False
) -> pl.DataFrame:
    """One row per metric and comparison, with what may change its verdict, and `designs`.

    `joint` metrics are adjusted together.
    """
    import polars as pl

    by = [*GROUP, *SIDES, "metric"]
    pooled = asked.pool == "model"

    def answer(values: pl.DataFrame) -> tuple[pl.DataFrame, Pairs]:
        found = pair_figures(asked, values)
        dealt = None if asked.subtracted_side is not None else found.values
        together = {"together": by[:-1], "values": dealt} if joint else {}
        return answer_rows(found.paired, asked, by, **together), found

    found, pairs = answer(values)
    known = Known(asked, pairs)
    alone = not (joint or pooled or asked.subtracted_side or asked.weights)
    additions = Additions(known, pairs, by) if alone else None
    counted = errors_as_failures(values)
    failures: dict[Any, dict[str, Any]] = {}
    if not counted["value"].equals(values["value"]):
        failures = {tuple(row[name] for name in by): row for row in answer(counted)[0].to_dicts()}
    models = describe_strata(pairs.paired, asked.scope, asked.level)
    settled = []
    for row in found.to_dicts():
        compared = known.facts_about(row)
        sentences, none = find_confounds(compared)
        sentences += models.get(tuple(row[name] for name in [*ITERATION, *SIDES, "metric"]), [])
        errors = row["n_errored"] + row["n_errored_baseline"] and is_rate(row["metric"])
        again = failures.get(tuple(row[name] for name in by)) if errors else None
        whose = not pooled and any(side.get("several") for side in compared.sides)
        own = row | settle_verdict(row, again, sentences, none=none, whose=whose)
        if additions is not None:
            own |= additions.lean_of(own) | additions.step_of(own)
        settled.append(mark_stand_in(own, compared.sides))
    types = {
        "warnings": pl.List(pl.String),
        "verdict_with_errors": pl.String,
        "estimate_with_errors": pl.Float64,
        **_types_beside(),
    }
    after = found.columns.index("reason") + 1
    types["stand_in"] = pl.Boolean
    order = [*found.columns[:after], *types, *found.columns[after:]]
    return pairs.swap_if_iterations(pl.DataFrame(settled, found.schema | types).select(order))
