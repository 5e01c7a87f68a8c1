"""Which configuration is the baseline, each eval's two sides, and evals that belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.documents.sides import UNSTATED, likeness
from skill_eval_nb.text import clip, count, some

from .checks import checks_of, find_other_checks, mark_unpaired
from .values import (
    ENDS,
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUBRIC,
    RUN,
    SIDES,
    Key,
    by_model,
    cache_on_workspace,
    is_table,
    join_sides,
    natural_key,
    no_such,
    none_stated,
    own_of_evals,
    runs_of,
    sort_rows,
)

if TYPE_CHECKING:
    import polars as pl

FIRST_WORD = re.compile(
    r"(?!(?:eval|test|case|task|scenario|prompt|query|example)s?\b)[^\W\d_]{3,}"
)
"""The first word of a name, unless it says no more than that it is one."""
STATED = {"tags": "their tags", "files": "their input files"}
"""Columns of `evals` that several may share, and what they are in a sentence."""


def name_families(
    workspaces: Iterable[str], marks: Iterable[Sequence[str] | str | None]
) -> list[str | None]:
    """A name for those that have a mark in common, also by way of others; None without any."""
    each = [
        {(of, mark) for mark in ([own] if isinstance(own, str) else own or ())}
        for of, own in zip(workspaces, marks, strict=True)
    ]
    lead: dict[tuple[str, str], tuple[str, str]] = {}

    def first_of(mark: tuple[str, str]) -> tuple[str, str]:
        """The first mark of its family, as far as that is known."""
        while (before := lead.setdefault(mark, mark)) != mark:
            mark = lead[mark] = lead[before]
        return mark

    for own in each:
        firsts = {first_of(mark) for mark in own}
        lead |= dict.fromkeys(firsts, min(firsts, default=("", "")))
    return [" ".join(map(str, first_of(min(own)))) if own else None for own in each]


@cache_on_workspace
def propose_families(data: Any) -> dict[tuple[Any, ...], tuple[str, list[str]]]:
    """By ITERATION the families that its evals seem to have: of two and more, at least two of them.

    As a sentence, and the names of the evals.

    Tags are asked first, then input files, then the first words of names, if those leave no
    more than half of the evals alone.
    """
    evals = runs_of(data).sort(EVAL, nulls_last=True)
    evals = evals.unique([*ITERATION, "eval_name"], keep="first", maintain_order=True)
    stated: dict[str, dict[Any, Any]] = {}
    if not is_table(data):
        of_evals = {column: own_of_evals(data, column) for column in STATED}
        stated = {name: {row[:2]: row[2] for row in own.rows()} for name, own in of_evals.items()}
    found: dict[tuple[Any, ...], tuple[str, list[str]]] = {}
    for place, own in evals.group_by(ITERATION, maintain_order=True):
        named, keys = FIRST_WORD.match, own.select("workspace", "eval_id").rows()
        words = [word[0] if (word := named(name)) else None for name in own["eval_name"]]
        ways: list[tuple[str, str, list[Any]]] = [
            (STATED[name], f'"{name}"', [*map(marks.get, keys)]) for name, marks in stated.items()
        ]
        ways.append(("their first words", "{…}", words))
        for common, cluster, marks in ways:
            members: dict[str | None, list[str]] = {}
            families = name_families(own["workspace"], marks)
            for family, name in zip(families, own["eval_name"], strict=True):
                members.setdefault(family, []).append(name)
            several = [own for name, own in members.items() if name is not None and len(own) > 1]
            most = common != ways[-1][0] or 2 * sum(map(len, several)) >= len(own)
            if len(several) > 1 and most:
                kin = [name for family in several for name in family]
                each = some([" + ".join(map(clip, family[:2])) for family in several])
                belong = f"{count(len(kin), 'eval')} seem related by {common} ({each})"
                found[place] = f"{belong}: `cluster={cluster}` counts each family once.", kin
                break
    return found


Versus = tuple[str, str]
"""Two configurations or two iterations, the baseline last."""
COUNTS = ("n_runs", "n_errored", "n_unscored")
"""What is counted on either side: runs with the figure, and those without by outcome."""
BOTH = [f"{count}{end}" for count in COUNTS for end in ENDS]


def side_key(configuration: str) -> Key:
    """A sorting key that puts the with-skill side first and the likeliest baseline last.

    >>> sorted(["without_skill", "old_skill", "with_skill"], key=side_key)
    ['with_skill', 'old_skill', 'without_skill']
    """
    like = likeness(configuration)
    return (like is not None, *(-part for part in like or ()), natural_key(configuration))


def choose_baseline(
    configurations: Iterable[str], baseline: str | None = None
) -> tuple[str | None, str]:
    """The baseline among the configurations and "", or None and why there is none.

    >>> choose_baseline(["old_skill", "with_skill"])
    ('old_skill', '')
    >>> choose_baseline(["with_skill"])
    (None, 'no baseline among the configurations: with_skill')
    """
    if baseline is not None:
        return baseline, ""
    names = sorted(configurations, key=natural_key)
    likely = {name: like for name in names if (like := likeness(name)) is not None}
    if not likely:
        return None, f"no baseline among the configurations: {', '.join(names)}"
    best = [name for name, like in likely.items() if like == min(likely.values())]
    if len(best) > 1:
        return None, f"several configurations could be the baseline: {', '.join(best)}"
    return best[0], ""


def choose_sides(
    runs: pl.DataFrame, baseline: str | None = None, only: str | None = None
) -> pl.DataFrame:
    """Who is compared with whom: ITERATION, configuration, baseline, why.

    One row for each configuration that is not the baseline of its group, or for `only` that
    one. Where an iteration has no baseline, or nothing beside it, that side is null and `why`
    says so.

    Raises:
        ValueError: for a baseline that is not a configuration of the data, or is `unstated`.
    """
    import polars as pl

    found = runs.select(*ITERATION, "configuration").unique()
    known = set(found["configuration"])
    if baseline == UNSTATED:
        raise ValueError(f"`{UNSTATED}` cannot be the baseline: nothing says what these runs are.")
    if baseline is not None and baseline not in known:
        raise no_such("configuration", baseline, known)
    rows: list[tuple[str | None, ...]] = []
    for *group, names in found.group_by(ITERATION).agg("configuration").iter_rows():
        chosen, why = choose_baseline(names, baseline)
        others = [only] if only is not None else [name for name in names if name != chosen]
        rows += [(*group, name, chosen, why or None) for name in others]
        if not others:
            rows.append((*group, None, chosen, f"no configuration to compare with {chosen}"))
    columns = [*ITERATION, "configuration", "baseline", "why"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def swap_iterations(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with iterations and configurations in each other's place.

    Iterations of one configuration are compared as configurations of one iteration are, so
    what pairs these pairs those. Turning twice gives the frame back.
    """
    swapped = {"iteration": "configuration", "configuration": "iteration"}
    return frame.rename(swapped).select(frame.columns)


@cache_on_workspace
def find_batches(data: Any) -> dict[tuple[str, str], list[str]]:
    """The iterations of each suite that have no eval in common, of those with several sides."""
    import polars as pl

    suite = ["workspace", "skill"]
    sides = pl.col("configuration").n_unique().over(ITERATION)
    evals = runs_of(data).filter(sides > 1).select(*suite, "iteration", *EVAL).unique()
    names = evals.group_by(suite).agg(
        pl.col("iteration").unique(),
        (pl.struct(EVAL).n_unique() == pl.len()).alias("apart"),
    )
    found = names.filter(pl.col("apart") & (pl.col("iteration").list.len() > 1))
    return {(one, skill): sorted(its, key=natural_key) for one, skill, its, _ in found.iter_rows()}


def as_one_iteration(data: Any) -> Any:
    """The data with the iterations of a suite as one, as those are batches of its evals.

    Raises:
        ValueError: if an eval is in two of them.
    """
    import narwhals as nw
    import polars as pl

    from skill_eval_nb.tables import Workspace

    runs = runs_of(data)
    batches = find_batches(data)
    for workspace, skill, names in (
        runs.group_by("workspace", "skill").agg(pl.col("iteration").unique()).sort("skill").rows()
    ):
        if len(names) > 1 and (workspace, skill) not in batches:
            raise ValueError(
                f"Iterations of {skill} have evals in common, so they are not batches of them: "
                "compare two of them with `versus`."
            )
    whole = pl.col("iteration").unique().sort().str.join(", ").over("workspace", "skill")
    renamed = runs.select(*ITERATION, whole.alias("whole")).unique()

    def rename(frame: pl.DataFrame) -> pl.DataFrame:
        found = frame.join(renamed, ITERATION, how="left", nulls_equal=True, maintain_order="left")
        return found.with_columns(iteration=pl.coalesce("whole", "iteration")).drop("whole")

    if is_table(data):
        return rename(nw.from_native(data, eager_only=True).to_polars())
    of_runs = ("runs", "expectations", "rubric_scores", "feedback")
    tables = {name: data.polars(name) for name in of_runs}
    suites = {name: data.polars(name) for name in ("evals", "dimensions")}
    return Workspace.from_tables({name: rename(table) for name, table in tables.items()} | suites)


def are_iterations(runs: pl.DataFrame, versus: Versus) -> bool:
    """Whether the two names to be compared are iterations, and not configurations.

    Raises:
        ValueError: unless both are one or both are the other, and they differ.
    """
    if len(versus) != 2 or versus[0] == versus[1]:
        raise ValueError(f"`versus` takes two different names, the baseline last: {versus!r}.")
    kinds = [set(runs[column]) for column in ("configuration", "iteration")]
    if any(set(versus) <= kind for kind in kinds):
        return not set(versus) <= kinds[0]
    known = kinds[0] | kinds[1]
    for name in versus:
        if name not in known:
            raise no_such("configuration or iteration", name, known)
    raise ValueError(f"An iteration cannot be compared with a configuration: {versus!r}.")


def average_runs(values: pl.DataFrame) -> pl.DataFrame:
    """Each eval × configuration: GROUP, EVAL, metric, configuration, mean, COUNTS, values.

    Runs are averaged inside their eval. `n_runs` and `values` are of those that have the
    figure; the mean of none is null. Sorting first makes sums independent of the order of rows.
    """
    import polars as pl

    value, errored = pl.col("value"), (pl.col("status") == "errored").fill_null(value=False)
    counts = (value.is_not_null(), value.is_null() & errored, value.is_null() & ~errored)
    return values.group_by(*GROUP, *EVAL, "metric", "configuration").agg(
        value.sort().mean().alias("mean"),
        *(own.sum().cast(pl.Int64).alias(name) for own, name in zip(counts, COUNTS, strict=True)),
        value.drop_nulls().sort().alias("values"),
    )


def pair_evals(values: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """Each eval's two sides, with the difference or the reason why there is none.

    `values` have MODEL as `by_model` gives it: sides pair inside it alone. `compared` is what
    `choose_sides` gives. Columns: GROUP, EVAL, configuration, baseline, metric, mean,
    baseline_mean, estimate, COUNTS of either side (`n_runs`, `n_runs_baseline`, …), values,
    baseline_values, unpaired. Rows are in natural order; a model without a run of either side
    has none, where others have.
    """
    import polars as pl

    keys, cell = [*GROUP, *EVAL, "metric"], average_runs(values)
    rows = cell.select(keys).unique().join(compared, ITERATION, nulls_equal=True)
    run = pl.any_horizontal(pl.col("n_runs", "n_runs_baseline").is_not_null())
    faults = [_explain_missing(side, f"n_runs{end}") for side, end in zip(SIDES, ENDS, strict=True)]
    paired = (
        join_sides(rows, cell, keys)
        .filter(run.any().over(*GROUP, *SIDES) | ~run.any().over(*ITERATION, *SIDES))
        .rename({f"{name}_baseline": f"baseline_{name}" for name in ("mean", "values")})
        .with_columns(
            pl.col(BOTH).fill_null(0),
            estimate=pl.col("mean") - pl.col("baseline_mean"),
            unpaired=pl.coalesce(
                "why", pl.concat_str(faults, separator="; ", ignore_nulls=True)
            ).replace("", None),
        )
        .drop("why")
    )
    names = [*GROUP, "metric", *EVAL]
    return sort_rows(paired, **dict.fromkeys(names, natural_key), configuration=side_key)


def pool_models(paired: pl.DataFrame, over: Sequence[str] = MODEL) -> pl.DataFrame:
    """`pairs` with each eval once: its mean over the models that have a pair of any eval.

    An eval that one of these models has no pair of is unpaired. `values` and `baseline_values`
    are lists, one a model; MODEL is null if there are several. `models` names those that are
    averaged, in that order, and `left_out` those without any pair. Of MODEL, that is `over` these.
    """
    import polars as pl

    others = [name for name in GROUP if name not in over]
    comparison = [*others, "configuration", "baseline", "metric"]
    matched = pl.col("estimate").is_not_null()
    name = pl.concat_str(over, separator=", ", ignore_nulls=True).replace("", none_stated(over[0]))
    known = paired.with_columns(
        name.alias("model"),
        (matched.any().over(*comparison, *over) | ~matched.any().over(comparison)).alias("kept"),
    )
    models = known.group_by(comparison).agg(
        pl.col("model").filter("kept").unique(maintain_order=True).alias("models"),
        pl.col("model").filter(~pl.col("kept")).unique().sort().alias("left_out"),
    )
    whole = (pl.len() == pl.col("models").first().list.len()) & matched.all()
    alone = pl.col("models").first().list.len() == 1
    means = ["mean", "baseline_mean", "estimate"]
    lists = ["values", "baseline_values"]
    why = pl.col("unpaired").drop_nulls().unique(maintain_order=True).str.join("; ")
    each = (
        known.filter("kept")
        .join(models, on=comparison, nulls_equal=True, maintain_order="left")
        .group_by(*comparison, *EVAL, maintain_order=True)
        .agg(
            *(pl.when(alone).then(pl.col(column).first()).alias(column) for column in over),
            *(pl.when(whole | alone).then(pl.col(mean).mean()).alias(mean) for mean in means),
            pl.col(BOTH).sum(),
            *lists,
            pl.when(~whole).then(why.replace("", "not every model ran it")).alias("unpaired"),
            pl.col("models", "left_out").first(),
        )
        .select(*paired.columns, "models", "left_out")
    )
    order = dict.fromkeys([*ITERATION, "metric", *EVAL], natural_key)
    return sort_rows(each, **order, configuration=side_key)


def less_change_of(paired: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """`pairs` of two iterations less those of a configuration: the difference of differences.

    Iterations and configurations stand in each other's place. An eval's estimate is the change
    of a configuration minus that of the baseline, its means are the differences between the two
    in either iteration. `values` and `baseline_values` are lists, as of a mean over models: twice
    the runs of the configuration, and of the baseline the other way round, so that the mean of
    the two is the estimate. Labels are then dealt between the iterations of each.
    """
    import polars as pl

    keys = ["workspace", "skill", *MODEL, *EVAL, "configuration", "baseline", "metric"]
    both = paired.filter(pl.col("iteration") != baseline).join(
        paired.filter(iteration=baseline).drop("iteration"),
        on=keys,
        how="left",
        nulls_equal=True,
        suffix="_other",
        maintain_order="left",
    )
    why = pl.format("{}: {}", pl.lit(baseline), pl.col("unpaired_other").fill_null("no run"))
    lacks = pl.col("estimate_other").is_null()

    def double_runs(name: str, other: str) -> pl.Expr:
        runs = (pl.col(side).list.eval(2 * pl.element()) for side in (name, f"{other}_other"))
        return pl.concat_list(own.implode().over(pl.int_range(pl.len())) for own in runs).alias(
            name
        )

    return both.with_columns(
        *(pl.col(name) - pl.col(f"{name}_other") for name in ("mean", "baseline_mean", "estimate")),
        *(pl.col(name) + pl.col(f"{name}_other").fill_null(0) for name in BOTH),
        double_runs("values", "baseline_values"),
        double_runs("baseline_values", "values"),
        pl.coalesce("unpaired", pl.when(lacks).then(why)).alias("unpaired"),
    ).select(paired.columns)


def add_eval_columns(
    paired: pl.DataFrame,
    data: Any,
    *,
    weights: bool = False,
    cluster: str | Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """`pairs` with each eval's `weight` (where asked for; 1 unless said) and its `family`.

    An eval that weighs nothing is unpaired, and says so.

    Raises:
        ValueError: if nothing says weights, or one is below 0; for a cluster that is not a column,
            or whose mapping names no eval.
    """
    import polars as pl

    if weights:
        own = own_of_evals(data, "weight").rename({"own": "weight"})
        paired = _attach(paired, own).with_columns(pl.col("weight").cast(pl.Float64).fill_null(1.0))
        if (paired["weight"] < 0).any():
            raise ValueError(f"Weights must be at least 0: {paired['weight'].min():g}.")
        paired = mark_unpaired(paired, pl.col("weight") == 0, pl.lit("its weight is 0"))
    if cluster is None:
        return paired
    if not isinstance(cluster, str):
        named = {*paired["eval_name"], *paired["eval_id"]}
        for name in cluster:
            if name not in named and len(paired):
                raise no_such("eval", name, [name for name in named if name is not None])
        families = [
            cluster.get(name, cluster.get(id_)) for id_, name in paired.select(EVAL).iter_rows()
        ]
        return paired.with_columns(pl.Series("family", families, pl.String))
    own = own_of_evals(data, cluster)
    tags = own["own"].to_list() if own["own"].dtype == pl.List else own["own"].cast(str).to_list()
    own = own.with_columns(pl.Series("family", name_families(own["workspace"], tags), pl.String))
    return _attach(paired, own.drop("own"))


def _attach(paired: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """`paired` with columns of the evals, from `own`."""
    on = ["workspace", "eval_id"]
    return paired.join(own, on=on, how="left", nulls_equal=True, maintain_order="left")


def _explain_missing(configuration: str, n_runs: str) -> pl.Expr:
    """What a side lacks, or null. `n_runs` is null if it has no run of the eval at all."""
    import polars as pl

    figure = pl.col("metric").str.strip_prefix(RUBRIC)
    return (
        pl.when(pl.col(n_runs).is_null())
        .then(pl.format("no run of {}", configuration))
        .when(pl.col(n_runs) == 0)
        .then(pl.format("no run of {} has a {}", configuration, figure))
    )


class Pairs(NamedTuple):
    """Pairs of sides, whichever two are meant, and the values that they are made of.

    Where the sides are `iterations`, these stand in the place of configurations. `others` are the
    evals whose sides were graded on other checks.
    """

    paired: pl.DataFrame
    values: pl.DataFrame
    iterations: bool
    others: pl.DataFrame

    def swap_if_iterations(self, frame: pl.DataFrame) -> pl.DataFrame:
        """`frame` with iterations and configurations swapped, if the pairs have them so."""
        return swap_iterations(frame) if self.iterations else frame


@cache_on_workspace
def _other_checks(data: Any, baseline: str | None, only: str | None = None) -> pl.DataFrame:
    """The evals whose two configurations were graded on other checks; see `choose_sides`."""
    runs = runs_of(data)
    compared = choose_sides(runs, baseline, only)
    return find_other_checks(checks_of(data), runs, compared, one_suite=True)


def pair_sides(
    data: Any,
    values: pl.DataFrame,
    baseline: str | None,
    versus: Versus | None,
    pool: str | None,
) -> Pairs:
    """The two sides of each eval."""
    import polars as pl

    runs = runs_of(data)
    iterations = versus is not None and are_iterations(runs, versus)
    if versus is not None and baseline is not None and (pool or not iterations):
        raise ValueError(
            "`versus` ends with its baseline. A `baseline` as well needs two iterations: its "
            "change between them is subtracted. It does not go with `pool`."
        )
    own = swap_iterations(runs) if iterations else runs
    if iterations:
        models = by_model(own).select(*RUN, *MODEL).unique(RUN)
        swapped = swap_iterations(values).drop(MODEL)
        values = swapped.join(models, on=RUN, how="left", nulls_equal=True)
    chosen = (baseline, None) if versus is None else (versus[1], versus[0])
    compared = choose_sides(own, *chosen)
    paired = pair_evals(values, compared)
    if versus is not None and baseline is not None:
        paired = less_change_of(paired, baseline)
        others = _other_checks(data, baseline)
        others = swap_iterations(others.filter(pl.col("iteration").is_in(list(versus)))).drop(MODEL)
        others = others.with_columns(configuration=pl.lit(versus[0]), baseline=pl.lit(versus[1]))
        others = others.unique([*ITERATION, *EVAL], maintain_order=True)
    elif iterations:
        checks = swap_iterations(checks_of(data))
        others = find_other_checks(checks, own, compared, one_suite=False)
    else:
        others = _other_checks(data, *chosen)
    return Pairs(pool_models(paired) if pool == "model" else paired, values, iterations, others)
