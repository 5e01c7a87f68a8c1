"""The figures of runs, a row a run and metric, which every statistic starts from; names sorted."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from functools import wraps
from inspect import signature
from itertools import groupby
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from skill_eval_nb.tables.columns import TABLES, frame_of, is_table, to_backend_of
from skill_eval_nb.text import did_you_mean, natural_key

if TYPE_CHECKING:
    import polars as pl


Key = tuple[Any, ...]
"""What names are sorted by."""


def read_time(stamp: str | None) -> datetime | None:
    """An ISO 8601 time, taken as UTC if it names no zone; None for anything else."""
    try:
        time = datetime.fromisoformat(stamp or "")
    except ValueError:
        return None
    return time.replace(tzinfo=time.tzinfo or UTC)


def sort_stamps(stamps: Iterable[str | None]) -> list[str]:
    """ISO 8601 times as they were written, the earliest first; what is none is passed over.

    A time without a zone counts as UTC.

    >>> sort_stamps(["2026-01-15T10:30:00Z", "2026-01-15T11:00:00+02:00", None, "soon"])
    ['2026-01-15T11:00:00+02:00', '2026-01-15T10:30:00Z']
    """
    times = {stamp: time for stamp in stamps if stamp and (time := read_time(stamp))}
    return sorted(times, key=lambda stamp: (times[stamp], stamp))


def order_iterations(runs: pl.DataFrame) -> list[str]:
    """The names of the iterations of runs of one skill, the newest last.

    Their numbers tell. One without a number is the newest only where its runs are known to have
    begun after those of the last number; else it comes first.

    >>> import polars as pl
    >>> order_iterations(pl.DataFrame({"iteration": ["iteration-main", "iteration-2"]}))
    ['iteration-main', 'iteration-2']
    """
    begun: dict[str, list[datetime]] = {name: [] for name in runs["iteration"].unique()}
    if "started_at" in runs.columns:
        for name, stamp in runs.select("iteration", "started_at").unique().iter_rows():
            begun[name] += filter(None, [read_time(stamp)])
    numbered = sorted((name for name in begun if re.search(r"\d", name)), key=natural_key)
    others = sorted(begun.keys() - numbered, key=natural_key)
    if not numbered:
        known = all(begun.values())
        return sorted(others, key=lambda name: min(begun[name])) if known else others
    last = begun[numbered[-1]]
    later = [name for name in others if last and begun[name] and min(begun[name]) > max(last)]
    later.sort(key=lambda name: min(begun[name]))
    return [*(name for name in others if name not in later), *numbered, *later]


def sort_rows(frame: pl.DataFrame, **keys: Callable[[str], Key]) -> pl.DataFrame:
    """`frame` sorted by the named text columns, each by its own key, nulls last."""
    import polars as pl

    names = frame.select(pl.col(list(keys)).unique().implode()).row(0)
    places = [
        pl.col(column).cast(pl.Enum(sorted((name for name in own if name is not None), key=key)))
        for (column, key), own in zip(keys.items(), names, strict=True)
        if len(own) > 1  # where all are the same there is nothing to sort by
    ]
    return frame.sort(places, nulls_last=True, maintain_order=True) if places else frame


def no_such(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """The error for a name that is not there: the nearest one, and all that are.

    >>> print(no_such("metric", "pas_rate", ["pass_rate", "tokens"]))
    There is no metric `pas_rate`. Did you mean `pass_rate`? There are: pass_rate, tokens.
    """
    names = sorted(known, key=natural_key)
    there = f"There are: {', '.join(names)}." if names else "There are none."
    return ValueError(f"There is no {kind} `{name}`.{did_you_mean(name, names)} {there}")


def check_level(level: float) -> float:
    """The level, if it is one.

    Raises:
        ValueError: if it does not lie between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"`level` must lie between 0 and 1, such as 0.95; this is {level}.")
    return level


ITERATION = ["workspace", "skill", "iteration"]
"""What has its own evals and its own runs of them."""
MODEL = ["executor_model", "harness"]
"""What runs an iteration; which of several is a part of GROUP, see `by_model`."""
GROUP = [*ITERATION, *MODEL]
"""What is never compared across, nor averaged over: every statistic has a row for each."""
EVAL = ["eval_id", "eval_name"]
RUN = [*ITERATION, *EVAL, "configuration", "run_number"]
RUN_DETAILS = ("status", *MODEL, "judge_model", "started_at", "judged_at")
"""What else is asked of runs: how they ended, who ran and judged them, when."""
SIDES = ["configuration", "baseline"]
"""Who is compared, the baseline last."""
ENDS = ("", "_baseline")
"""What the columns of either side end in."""
RUBRIC = "rubric:"
"""What a rubric dimension's name begins with where it stands among metrics."""
METRICS = [
    column.name
    for column in TABLES["runs"].columns
    if column.type in ("whole number", "number") and column.name != "run_number"
]
"""The metrics that the table `runs` has a column for."""
HEADLINE = "pass_rate"
"""The metric that a page is about, if it is known."""
STRICTER = 5
"""By so much is alpha smaller for all metrics that are not the headline."""
LESS_IS_BETTER = ("failed", "time_seconds", "tokens", "tool_calls", "steps", "errors", "cost_usd")
NEITHER_IS_BETTER = ("total", "output_chars", "transcript_chars")
UNITS = {column.name: column.unit for column in TABLES["runs"].columns}
"""The unit of each column of `runs`; rubric dimensions have `1-5`."""
WORTH = {"rate": 0.05, "1-5": 0.2}
"""The smallest difference worth having by unit: a twentieth of what figures can differ."""
WORTH_OF_BASELINE = 0.05
"""The same, as a share of the baseline's mean, of figures that have no upper end."""


def unit_of(metric: str) -> str:
    """The unit of a metric; for a rubric dimension it is 1-5.

    >>> unit_of("tokens"), unit_of("rubric:clarity")
    ('tokens', '1-5')
    """
    return UNITS.get(metric, "1-5")


Better = Literal["more", "less"] | None
"""Which side of a metric is the better one, if any is."""


def better(metric: str) -> Better:
    """Whether more or less of a metric is better, or neither.

    >>> better("rubric:clarity"), better("tokens"), better("output_chars")
    ('more', 'less', None)
    """
    if metric in NEITHER_IS_BETTER:
        return None
    return "less" if metric in LESS_IS_BETTER else "more"


def worth_having(metric: str, baseline: float | None) -> float | None:
    """The smallest difference worth having unless told otherwise, in the metric's unit.

    0.05 of a rate, 0.2 points of a rubric, else 5 % of the baseline's mean; None if that
    is 0 or unknown.

    >>> worth_having("pass_rate", 0.4), worth_having("tokens", 1000.0)
    (0.05, 50.0)
    """
    fixed = WORTH.get(unit_of(metric))
    return fixed or abs(baseline or 0) * WORTH_OF_BASELINE or None


Made = TypeVar("Made")
How = ParamSpec("How")


def cache_on_workspace(
    make: Callable[Concatenate[Any, How], Made],
) -> Callable[Concatenate[Any, How], Made]:
    """Keep the result of `make` on its workspace, which never changes, for each set of arguments.

    For an iteration that is `part_of` a workspace, all iterations are computed at once, which
    takes hardly longer: no statistic crosses iterations, so its result is the rows with its keys.
    """
    how_to_call = signature(make)

    @wraps(make)
    def of(data: Any, *args: How.args, **how: How.kwargs) -> Made:
        if is_table(data):
            return make(data, *args, **how)
        asked = how_to_call.bind(data, *args, **how)
        asked.apply_defaults()
        key = make, *map(_as_key, asked.args[1:]), *map(_as_key, asked.kwargs.values())
        if key not in data.figures:
            whole, keys = data.part_of or (data, {})
            answer = make if whole is data else of
            data.figures[key] = _rows_with(keys, answer(whole, *args, **how))
        return data.figures[key]

    return of


def _as_key(value: Any) -> Hashable:
    """An argument as part of a cache key."""
    if isinstance(value, Mapping):
        return tuple(value.items())
    return value if isinstance(value, Hashable) else tuple(value)


def _rows_with(keys: Mapping[str, str], found: Any) -> Any:
    """The rows of a frame that have these keys, and those that have none; else all there is."""
    import polars as pl

    if not (keys and isinstance(found, pl.DataFrame)):
        return found
    return found.filter((pl.col(key) == name) | pl.col(key).is_null() for key, name in keys.items())


def in_polars(data: Any) -> Any:
    """The same data with polars as its backend, so that statistics give polars."""
    import narwhals as nw

    if is_table(data):
        return nw.from_native(data, eager_only=True).to_polars()
    found = copy(data)
    found.backend = "polars"
    return found


def statistic(make: Callable[How, pl.DataFrame]) -> Callable[How, Any]:
    """A statistic as it is asked for: worked out once, in the kind of its data, in order.

    Rows that are in natural order come out with the newest iteration last.
    """
    how_to_call = signature(make)

    @cache_on_workspace
    @wraps(make)
    def work_out(data: Any, *args: Any, **how: Any) -> pl.DataFrame:
        return order_answer(data, make(data, *args, **how))  # type: ignore[call-arg]

    @wraps(make)
    def of(*args: How.args, **how: How.kwargs) -> Any:
        asked = how_to_call.bind(*args, **how)
        return to_backend_of(asked.args[0], work_out(*asked.args, **asked.kwargs))

    return of


@cache_on_workspace
def runs_of(data: Any) -> pl.DataFrame:
    """The table `runs`, fit to count on: what is no finite number is null.

    Where `data` is a table of rubric scores, its runs, with no other figure.
    """
    import polars as pl

    if not _has(data, "dimension"):
        runs = frame_of(data, "runs")
        return runs.with_columns(*stand_in_keys(), *(keep_finite(metric) for metric in METRICS))
    runs = scores_of(data).select(*RUN, *MODEL).unique()
    nothing = (pl.lit(None, pl.Float64).alias(metric) for metric in METRICS)
    details = (name for name in RUN_DETAILS if name not in MODEL)
    texts = (pl.lit(None, pl.String).alias(name) for name in details)
    flag = pl.lit(None, pl.Boolean).alias("gate_passed")
    return runs.with_columns(*texts, flag, *nothing)


@cache_on_workspace
def _number_iterations(data: Any) -> pl.DataFrame:
    """The place of each iteration among the iterations of its skill: ITERATION, place."""
    import polars as pl

    rows = [
        (*suite, name, place)
        for suite, own in runs_of(data).drop_nulls("iteration").group_by(ITERATION[:2])
        for place, name in enumerate(order_iterations(own))
    ]
    types = dict.fromkeys(ITERATION, pl.String) | {"place": pl.Int64}
    return pl.DataFrame(rows, types, orient="row")


def order_answer(data: Any, frame: pl.DataFrame) -> pl.DataFrame:
    """`frame`, which is in natural order, with the newest iteration of `data` last."""
    import polars as pl

    places = _number_iterations(data)
    placed = frame.select(ITERATION).join(
        places, ITERATION, how="left", nulls_equal=True, maintain_order="left"
    )
    suites = pl.struct(ITERATION[:2]).rle_id()
    rows = placed.select(pl.arg_sort_by(suites, "place", maintain_order=True))
    return frame[rows.to_series()]


def rows_of_runs(data: Any, table: str) -> pl.DataFrame:
    """A table whose rows are of runs, with MODEL as `by_model` gives it.

    Of a table by itself that is what it says in columns of its own, if it has them.
    """
    import narwhals as nw
    import polars as pl

    frame = frame_of(data, table).with_columns(*stand_in_keys())
    if is_table(data):
        own = nw.from_native(data, eager_only=True).to_polars()
        said = (own[name] if name in own.columns else pl.lit(None).alias(name) for name in MODEL)
        return by_model(frame.with_columns(said).cast(dict.fromkeys(MODEL, pl.String)))
    models = runs_by_model(data).select(*RUN, *MODEL).unique(RUN)
    return frame.join(models, on=RUN, how="left", nulls_equal=True, maintain_order="left")


def judged_scores(data: Any) -> pl.DataFrame:
    """The table `rubric_scores` with MODEL and each `metric`; a score is finite or null.

    Empty where `data` is a table of runs.
    """
    import polars as pl

    judged = not is_table(data) or _has(data, "dimension")
    scores = rows_of_runs(data, "rubric_scores")
    return (scores if judged else scores.clear()).with_columns(
        keep_finite("score"),
        pl.format(f"{RUBRIC}{{}}", "dimension").alias("metric"),
    )


def scores_of(data: Any) -> pl.DataFrame:
    """Each run's score on each dimension, the mean over its judgings: RUN, MODEL, metric, value.

    `metric` is `rubric:<dimension>`; `value` is null if no judging gave a score. Empty
    where `data` is a table of runs.
    """
    import polars as pl

    runs = judged_scores(data).sort("score").group_by(*RUN, *MODEL, "metric")
    return runs.agg(pl.col("score").mean().alias("value"))


def values_of(data: Any, *metrics: str) -> pl.DataFrame:
    """Every run's figure of each metric: RUN, MODEL, status, metric, value (null without one).

    The rows of a metric stand together, in the order asked for.

    A metric is a number column of `runs`, or a rubric dimension by `rubric:<name>` or by its
    name alone; of a dimension, the runs of the evals that are scored on it.

    Raises:
        ValueError: for any other name.
    """
    import polars as pl

    there = [name for name in METRICS if not is_table(data) or _has(data, name)]
    runs = runs_by_model(data)
    keys = [*RUN, *MODEL, "status"]
    found = []
    for plain, names in groupby(metrics, there.__contains__):
        if plain:
            own = list(dict.fromkeys(names))
            figures = runs.select(*keys, pl.col(own).cast(pl.Float64))
            found.append(figures.unpivot(own, index=keys, variable_name="metric"))
            continue
        asked = {f"{RUBRIC}{name.removeprefix(RUBRIC)}": name for name in names}
        scores = scores_of(data)
        known = set(scores["metric"])
        for metric, name in asked.items():
            if metric not in known:
                raise no_such("metric", name, [*there, *known])
        filled = add_unscored(scores.filter(pl.col("metric").is_in(list(asked))), runs)
        order = pl.DataFrame({"metric": list(asked)})
        together = order.join(filled, on="metric", maintain_order="left_right")
        found.append(together.select(filled.columns))
    return pl.concat(found, how="diagonal")


def add_unscored(scores: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """`scores`, and a null for each run of an eval that was scored if this run was not.

    `runs` have MODEL as `by_model` gives it.
    """
    scored = scores.select(*ITERATION, *EVAL, "metric").unique()
    return (
        runs.select(*RUN, *MODEL, "status")
        .unique(RUN)
        .join(scored, on=[*ITERATION, *EVAL], nulls_equal=True)
        .join(scores.drop(MODEL), on=[*RUN, "metric"], how="left", nulls_equal=True)
    )


def by_model(runs: pl.DataFrame, keys: Sequence[str] = ITERATION) -> pl.DataFrame:
    """`runs` with MODEL as what tells runs of a group apart that are not averaged unasked.

    Where a configuration of a group was run by several models, each run keeps its own, null
    if it states none. If none was, a group stays whole, and MODEL is the only model that
    its runs state, null if its sides have different ones. So of harnesses, each for itself.

    >>> import polars as pl
    >>> runs = runs_of(pl.DataFrame({
    ...     "configuration": ["with_skill", "without_skill", "without_skill"],
    ...     "executor_model": ["large", "large", "small"],
    ... }))
    >>> by_model(runs)["executor_model"].to_list()
    ['large', 'large', 'small']
    >>> by_model(runs.head(2))["executor_model"].to_list(), by_model(runs[[0, 2]])["harness"][0]
    (['large', 'large'], None)
    """
    import polars as pl

    if all(runs[name].n_unique() <= 1 for name in MODEL):
        return runs  # one model and one harness, or none that is known: nothing to tell apart
    known = [pl.col(name).drop_nulls() for name in MODEL]
    own = runs.with_columns(
        column.n_unique().over(*keys, "configuration").alias(f"{name} of a side")
        for name, column in zip(MODEL, known, strict=True)
    )
    return own.with_columns(
        pl.when(pl.col(f"{name} of a side").max().over(keys) > 1)
        .then(name)
        .when(column.n_unique().over(keys) == 1)
        .then(column.max().over(keys))
        .alias(name)
        for name, column in zip(MODEL, known, strict=True)
    ).select(runs.columns)


@cache_on_workspace
def runs_by_model(data: Any) -> pl.DataFrame:
    """`runs_of`, with MODEL as `by_model` gives it."""
    return by_model(runs_of(data))


def is_of_several_models() -> pl.Expr:
    """Whether a row of what `by_model` gives is of an iteration with runs of several models."""
    import polars as pl

    return pl.struct(MODEL).n_unique().over(ITERATION) > 1


STAND_IN, OFFLINE = "stand-in", "offline"
"""What the names of the stand-in begin with, and the executor that puts it in a model's place."""


def is_stand_in(*columns: str) -> pl.Expr:
    """Whether one of these columns of `runs` names the stand-in, which is not a model."""
    import polars as pl

    names = [pl.col(column) for column in columns]
    return pl.any_horizontal(
        (name.str.starts_with(STAND_IN) | (name == OFFLINE)).fill_null(value=False)
        for name in names
    )


Model = tuple[tuple[str, str | None], ...]
"""Columns of MODEL, each with the name that a model's runs have there, or None."""


def run_key(row: Any) -> tuple[Any, ...]:
    """What tells the run of a row from all others: its values of RUN."""
    return tuple(row[name] for name in RUN)


def list_models(runs: pl.DataFrame) -> list[Model]:
    """The models that are told apart, as `Workspace.select` takes them; [()] if none are.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"configuration": ["a"] * 3, "executor_model": ["b", "a", None]})
    >>> list_models(runs_of(runs))
    [(('executor_model', 'a'),), (('executor_model', 'b'),), (('executor_model', None),)]
    """
    import polars as pl

    differs = by_model(runs).select(
        pl.col(name).n_unique().over(ITERATION).max() > 1 for name in MODEL
    )
    names = [name for name in MODEL if runs.height and differs[name].any()]
    rows = runs.select(names).unique().rows() if names else [()]
    order = sorted(rows, key=lambda row: [(part is None, natural_key(part or "")) for part in row])
    return [tuple(zip(names, row, strict=True)) for row in order]


def select_model(runs: pl.DataFrame, model: Model) -> pl.DataFrame:
    """The runs of a model; all if nothing tells models apart."""
    import polars as pl

    for column, name in model:
        runs = runs.filter(pl.col(column).eq_missing(pl.lit(name)))
    return runs


def model_name(row: Mapping[str, Any]) -> str:
    """The model and the harness of a row as they are named together.

    >>> model_name({"executor_model": "large", "harness": "claude-code"})
    'large, claude-code'
    >>> model_name({"executor_model": None, "harness": None})
    'no stated model'
    """
    return ", ".join(row[name] for name in MODEL if row.get(name)) or none_stated()


def none_stated(column: str = MODEL[0]) -> str:
    """What runs are called that state no model, or no harness.

    >>> none_stated("harness")
    'no stated harness'
    """
    return f"no stated {column.removeprefix('executor_')}"


@cache_on_workspace
def metrics_of(data: Any) -> list[str]:
    """The metrics of a page: those of runs that have a figure, and every rubric dimension."""
    runs = runs_of(data)
    dimensions = set(scores_of(data).drop_nulls("value")["metric"])
    return [*(name for name in METRICS if runs[name].count()), *sorted(dimensions, key=natural_key)]


def headline_of(metrics: Sequence[str]) -> str:
    """The pass rate, or the first metric if that is not known.

    >>> headline_of(["tokens", "pass_rate"]), headline_of(["tokens"])
    ('pass_rate', 'tokens')
    """
    return HEADLINE if HEADLINE in metrics else next(iter(metrics), HEADLINE)


def secondary_metrics(data: Any) -> list[str]:
    """All that is asked about below the headline, and so together: other metrics, dimensions."""
    known = metrics_of(data)
    every = dict.fromkeys([*(() if _has(data, "dimension") else METRICS), *known])
    return [name for name in every if name != headline_of(known)]


def secondary_level(level: float) -> float:
    """The level for secondary metrics, where the headline has this level."""
    return 1 - (1 - level) / STRICTER


def own_of_evals(data: Any, column: str) -> pl.DataFrame:
    """What a column says of each eval: workspace, eval_id, own; null if it says nothing.

    Of a `Workspace` a column of `evals`, of a table one of its own.

    Raises:
        ValueError: if there is no such column.
    """
    import polars as pl

    frame = in_polars(data) if is_table(data) else None
    evals = data.polars("evals") if frame is None else frame
    known = [name for name in evals.columns if name != "weight" or not _has(data, "dimension")]
    if column not in known:  # a table of scores has the weights of dimensions
        raise no_such("column of evals", column, known)
    keys = frame_of(data, "runs").select("workspace", *EVAL) if frame is not None else evals
    return (
        keys.select("workspace", pl.coalesce("eval_id", "eval_name").alias("eval_id"))
        .with_columns(evals[column].alias("own"))
        .group_by("workspace", "eval_id", maintain_order=True)
        .agg(pl.col("own").drop_nulls().first())
    )


def join_sides(rows: pl.DataFrame, cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """`rows` of comparisons with what `cells` have of either side; null if a side has no cell.

    `cells` have `keys` and `configuration`. Columns of the baseline end in `_baseline`.
    """
    for side, end in zip(SIDES, ENDS, strict=True):
        names = {name: f"{name}{end}" for name in cells.columns if name not in keys}
        own, on = cells.rename(names | {"configuration": side}), [*keys, side]
        rows = rows.join(own, on, how="left", nulls_equal=True, maintain_order="left")
    return rows


def stand_in_keys() -> list[pl.Expr]:
    """Stand-ins for keys that a table made by hand may lack."""
    import polars as pl

    return [
        pl.coalesce(EVAL[::-1]).alias("eval_name"),
        pl.col("configuration").fill_null("unstated"),
    ]


def keep_finite(column: str) -> pl.Expr:
    """The column, null if it holds no finite number."""
    import polars as pl

    return pl.when(pl.col(column).is_finite()).then(pl.col(column))


def cast_columns(frame: pl.DataFrame, types: Mapping[str, Any]) -> pl.DataFrame:
    """The frame with these columns alone, each as its type; null throughout if it lacks one."""
    import polars as pl

    known = {name: pl.col(name) if name in frame.columns else pl.lit(None) for name in types}
    return frame.select(value.cast(types[name]).alias(name) for name, value in known.items())


def check_workspace(data: Any, statistic: str) -> None:
    """See to it that a statistic of several tables gets them.

    Raises:
        TypeError: for a single table.
    """
    if is_table(data):
        kind = type(data).__name__
        raise TypeError(f"`{statistic}` needs several tables: give a Workspace, not a {kind}.")


def _has(data: Any, column: str) -> bool:
    return is_table(data) and column in getattr(data, "columns", ())
