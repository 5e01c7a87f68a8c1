"""`audit`: what a benchmark.json states against what its own runs give."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.tables.columns import TABLES, frame_of
from skill_eval_nb.tables.document_rows import DELTA, RUNS_EACH

from .pairing import choose_sides, side_key
from .summary import STATISTICS, consistency, metric_order, spread
from .values import (
    EVAL,
    ITERATION,
    METRICS,
    RUBRIC,
    RUN,
    check_workspace,
    natural_key,
    runs_of,
    scores_of,
    sort_rows,
    statistic,
)

if TYPE_CHECKING:
    import polars as pl


NUMBER = re.compile(r"(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
FRACTION = re.compile(r"\d\s*/\s*\d")
PERCENT = re.compile(r"%|\bpp\b|\dpp|per ?cent|points?\b", re.IGNORECASE)
UNITS = (1.0, 0.01, 0.001, 1000.0, 60.0)
"""What a printed number may have been multiplied by: percent, milliseconds, thousands, minutes."""


class Rounding(NamedTuple):
    """How far the true figure may lie from the printed one, in the unit of the figure."""

    half: float
    """Half a unit of the last printed place."""
    coarse: float
    """The same where the zeros that end a whole number are no digits: 50 for `3800`."""


def is_plain(printed: str) -> bool:
    """Whether it is a bare number as JSON writes it, which drops the zeros after the point.

    >>> is_plain("0.5"), is_plain("+0.50"), is_plain("50 %")
    (True, False, False)
    """
    return re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", printed) is not None


def rounding_of(printed: str, value: float) -> Rounding:
    """How exactly `value` was printed; 0 if it is a fraction, or no number was printed.

    Args:
        printed: the figure as it was printed, with whatever stands around it.
        value: what was read from it, perhaps in another unit.

    >>> rounding_of("+0.50", 0.5).half
    0.005
    >>> rounding_of("+9pp", 0.09).half
    0.005
    >>> rounding_of("3800", 3800.0)
    Rounding(half=0.5, coarse=50.0)
    >>> rounding_of("2/3", 2 / 3).half
    0.0
    """
    numbers = NUMBER.findall(printed)
    if FRACTION.search(printed) or not numbers:
        return Rounding(0.0, 0.0)
    ways = [way for number in numbers for way in _read_commas(number)]
    units = (0.01, *UNITS) if PERCENT.search(printed) else UNITS
    for unit in units:
        for way in ways:
            if math.isclose(float(way) * unit, abs(value), rel_tol=1e-9, abs_tol=1e-12):
                return _rounding_of_number(way, unit)
    return _rounding_of_number(ways[-1], 1.0)


def _read_commas(number: str) -> list[str]:
    """The ways to read a number's commas: between thousands, or as the decimal point."""
    whole = number.replace(",", "")
    return (
        [whole, number.replace(",", ".")]
        if number.count(",") == 1 and "." not in number
        else [whole]
    )


def _rounding_of_number(number: str, unit: float) -> Rounding:
    exact = Decimal(number)
    _, digits, power = exact.as_tuple()
    is_whole = exact >= 10 and exact == exact.to_integral_value()
    zeros = len(digits) - len("".join(map(str, digits)).rstrip("0")) if is_whole else 0
    half, coarse = (0.5 * float(f"1e{int(power) + more}") * unit for more in (0, zeros))
    return Rounding(half, coarse)


CONSISTENCY = "consistency"
WHOLE = [column.name for column in TABLES["runs"].columns if column.type == "whole number"]
"""Metrics that are counts: a mean of `3800.0` is one that was stated as 3800."""


def ready_stated(stated: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """The stated figures that runs could answer, each with how exactly it was printed.

    Those of an iteration without runs, of an unknown metric, and those that are no number
    are left out. `skill` is null if the file speaks of a skill that no run names: all
    runs of its iteration are meant then.

    Returns:
        The columns of `stated`, and row (its number), stated_skill, stated_statistic (as the
        file has them; the statistic `value` is looked up as `mean`), half and coarse (the
        rounding of the figure, in its unit), own (half, as if the figure stood alone).
    """
    import polars as pl

    metric = pl.col("metric")
    known = metric.is_in([*METRICS, CONSISTENCY, RUNS_EACH]) | metric.str.starts_with(RUBRIC)
    skills = runs.select(*ITERATION, pl.col("skill").alias("scope")).unique()
    figures = (
        stated.with_row_index("row")
        .filter(known & pl.col("value").is_finite())
        .join(runs, on=["workspace", "iteration"], how="semi", nulls_equal=True)
        .join(skills, on=ITERATION, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.col("skill").alias("stated_skill"),
            pl.col("scope").alias("skill"),
            pl.col("statistic").alias("stated_statistic"),
            pl.col("statistic").replace(["value", "runs"], "mean"),
        )
        .drop("scope")
    )
    printed = pl.col("stated_statistic") != "runs"  # and no mean of what its rows say
    texts = [
        text.removesuffix(".0") if metric in WHOLE else text
        for text, metric in figures.select(pl.col("printed").fill_null(""), "metric").iter_rows()
    ]
    pairs = zip(texts, figures["value"], strict=True)
    exact = [(*rounding_of(text, value), is_plain(text)) for text, value in pairs]
    types = {"own": pl.Float64, "coarse": pl.Float64, "plain": pl.Boolean}
    figures = figures.hstack(pl.DataFrame(exact, types, orient="row"))
    return figures.with_columns(pl.col("plain") & (pl.col("configuration") != DELTA)).with_columns(
        pl.when(metric == RUNS_EACH)
        .then(0.0)
        .when("plain")
        .then(pl.col("own").filter("plain").min().over("path", "metric", "statistic", printed))
        .otherwise("own")
        .alias("half")
    )


PARTS = ["with_mean", "baseline_mean", "with_configuration", "baseline"]
"""What a delta was made of; null for the figures of one configuration."""
FEWER_RUNS = "another number of runs"
FIRST_RUNS = 9
"""How many runs a benchmark that knew fewer of them is looked for with."""


def recompute(values: pl.DataFrame, ddof: int = 1) -> pl.DataFrame:
    """Every figure that a benchmark.json may state of these values.

    Args:
        values: ITERATION, configuration, metric and value.
        ddof: 1 for the sample standard deviation, 0 for the population's.

    Returns:
        ITERATION, configuration (or DELTA), metric, statistic, recomputed, PARTS. A delta stands
        as `mean`, with-skill side minus baseline; one for each pair that could be meant.
    """
    import polars as pl

    keys = [*ITERATION, "configuration", "metric"]
    wide = values.group_by(keys).agg(spread("value", ddof))
    wide = pl.concat([wide, consistency(wide.filter(pl.col("metric") == "overall_efficiency"))])
    long = wide.with_columns(pl.col("n").cast(pl.Float64)).unpivot(
        STATISTICS, index=keys, variable_name="statistic", value_name="recomputed"
    )
    return pl.concat([long, _subtract_sides(wide, choose_sides(values))], how="diagonal")


def runs_each(runs: pl.DataFrame) -> pl.DataFrame:
    """How many runs the eval with most of them has on one side, of each side of an iteration."""
    import polars as pl

    whole = runs.with_columns(pl.lit(None, pl.String).alias("skill"))
    side = [*ITERATION, "configuration"]
    return (
        pl.concat([runs, whole])
        .group_by(*side, *EVAL)
        .len()
        .select(
            *side,
            pl.lit(RUNS_EACH).alias("metric"),
            pl.lit("mean").alias("statistic"),
            pl.col("len").max().over(ITERATION).cast(pl.Float64).alias("recomputed"),
        )
        .unique()
    )


def misreadings(values: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The same figures by each usual mistake, with its name, the likeliest mistake first.

    `values` has RUN, metric, value, and output_chars, passed and failed of the run.
    """
    import polars as pl

    value, characters = pl.col("value"), pl.col("output_chars").cast(pl.Float64)
    evals = values.group_by(*ITERATION, *EVAL, "configuration", "metric").agg(value.sort().mean())
    rounded = (values.with_columns(value.round(places)) for places in (2, 3))
    yield "population standard deviation", recompute(values, ddof=0)
    known = characters.is_not_null().any().over(ITERATION)
    tokens = values.filter((pl.col("metric") == "tokens") & known)
    for mixed in (pl.coalesce(characters, value), pl.coalesce(value, characters)):
        for wrong in (mixed, mixed.fill_null(0.0)):
            found = recompute(tokens.with_columns(value=wrong))
            yield "characters counted as tokens", found.filter(pl.col("statistic") != "n")
    for cause, read in (
        ("missing run counted as 0", values.with_columns(value.fill_null(0.0))),
        ("per-eval mean", evals),
        ("pooled over expectations", _rate_of_checks(values)),
        *(("runs rounded before averaging", own) for own in rounded),
    ):
        yield cause, recompute(read)
        yield f"{cause}, population standard deviation", recompute(read, ddof=0)
    most = int(values["run_number"].drop_nulls().max() or 0)  # type: ignore[arg-type]
    for last in range(1, min(FIRST_RUNS, most - 1) + 1):
        yield FEWER_RUNS, recompute(values.filter(pl.col("run_number") <= last))


def _subtract_sides(wide: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """The difference of the means of every two sides."""
    import polars as pl

    means = wide.select(*ITERATION, "metric", "configuration", with_mean="mean")
    other = wide.select(*ITERATION, "metric", baseline="configuration", baseline_mean="mean")
    return (
        compared.join(means, on=[*ITERATION, "configuration"], nulls_equal=True)
        .join(other, on=[*ITERATION, "metric", "baseline"], nulls_equal=True)
        .select(
            *ITERATION,
            pl.lit(DELTA).alias("configuration"),
            "metric",
            pl.lit("mean").alias("statistic"),
            (pl.col("with_mean") - pl.col("baseline_mean")).alias("recomputed"),
            "with_mean",
            "baseline_mean",
            pl.col("configuration").alias("with_configuration"),
            "baseline",
        )
    )


def _rate_of_checks(values: pl.DataFrame) -> pl.DataFrame:
    """One pass rate a configuration: what passed in all its runs, of all that was scored."""
    import polars as pl

    passed, failed = pl.col("passed").sum(), pl.col("failed").sum()
    return (
        values.filter(pl.col("metric") == "pass_rate")
        .group_by(*ITERATION, "configuration", "metric")
        .agg(pl.when(passed + failed > 0).then(passed / (passed + failed)).alias("value"))
    )


HAIR = 1e-9
"""What rounding inside the machine may add: a share of the figure, or this much below 1."""


def compare_stated(stated: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """`stated` with the recomputed figures: recomputed, PARTS, difference and agrees.

    Where a delta could be meant between several sides, the nearest is taken.
    """
    import polars as pl

    keys = [*ITERATION, "configuration", "metric", "statistic"]
    difference = pl.col("value") - pl.col("recomputed")
    return (
        stated.join(figures, on=keys, how="left", nulls_equal=True)
        .with_columns(
            difference.alias("difference"),
            _agrees(difference, "half").fill_null(value=False).alias("agrees"),
        )
        .sort("row", pl.col("difference").abs(), *PARTS, nulls_last=True)
        .unique("row", keep="first", maintain_order=True)
    )


def find_causes(off: pl.DataFrame, stated: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """The likely cause of each row of `off` that has one: row, cause.

    Args:
        off: the rows of `compare_stated` that do not agree.
        stated: all stated figures.
        values: the figures of runs, as `misreadings` takes them.
    """
    import polars as pl

    found = pl.DataFrame(schema={"row": off.schema["row"], "cause": pl.String})
    for cause, rows in _candidate_causes(off, stated, values):
        if found.height == off.height:
            break
        fitting = rows.select("row", pl.lit(cause).alias("cause")).unique()
        found = pl.concat([found, fitting.join(found, on="row", how="anti")])
    return found


def _candidate_causes(
    off: pl.DataFrame, stated: pl.DataFrame, values: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each cause with the rows that it fits, the surest cause first."""
    import polars as pl

    value, recomputed = pl.col("value"), pl.col("recomputed")
    delta = off.filter(pl.col("configuration") == DELTA)
    yield FEWER_RUNS, off.filter(pl.col("metric") == RUNS_EACH)
    sides = values.group_by(ITERATION).agg(pl.col("configuration").n_unique().alias("sides"))
    alone = delta.join(sides.filter(sides=1), on=ITERATION, how="semi", nulls_equal=True)
    yield "no run of a baseline", alone
    yield "sign of the delta reversed", delta.filter(_agrees(value + recomputed, "half"))
    yield from _find_zeros(off, values)
    for cause, figures in misreadings(values):
        yield cause, compare_stated(off.select(stated.columns), figures).filter("agrees")
    yield from _stated_means(delta, stated)
    apart = value - recomputed
    yield "rounded to fewer digits", off.filter(_agrees(apart, "own") | _agrees(apart, "coarse"))
    cut = (apart.abs() < 2 * pl.col("own")) & (value.abs() < recomputed.abs())
    yield "cut off, not rounded", off.filter(cut)
    counts = off.filter(pl.col("statistic") == "n")
    yield FEWER_RUNS, off.join(counts, on=[*ITERATION, "path"], how="semi", nulls_equal=True)


def _find_zeros(off: pl.DataFrame, values: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """A 0 where the runs give no figure, or where the runs were not found."""
    import polars as pl

    keys = [*ITERATION, "configuration", "metric"]
    zero = off.filter((pl.col("value") == 0) & (pl.col("configuration") != DELTA))
    means = zero.filter(pl.col("statistic") == "mean")
    whole = zero.join(means, on=[*keys, "path"], how="semi", nulls_equal=True)
    costs = whole.filter(pl.col("metric").is_in(["tokens", "time_seconds"]))
    yield "not read, counted as 0: the runs have it", costs.filter(pl.col("recomputed") > 0)
    yield "missing run counted as 0", whole
    runs = values.group_by(keys).agg(pl.col("value").count().alias("n_found"))
    empty = zero.filter(pl.col("recomputed").is_null()).join(runs, on=keys, nulls_equal=True)
    yield "missing run counted as 0", empty.filter(pl.col("n_found") == 0)
    single = (pl.col("statistic") == "stddev") & (pl.col("n_found") == 1)
    yield "a single run has no standard deviation", empty.filter(single)


def _stated_means(delta: pl.DataFrame, stated: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The difference of the means that the file states, a mean that it lacks taken for 0."""
    import polars as pl

    keys = [*ITERATION, "path", "metric"]
    means = stated.filter(pl.col("statistic") == "mean").select(
        *keys, with_configuration="configuration", stated="value"
    )
    other = means.rename({"with_configuration": "baseline", "stated": "baseline_stated"})
    rows = delta.join(means, on=[*keys, "with_configuration"], how="left", nulls_equal=True).join(
        other, on=[*keys, "baseline"], how="left", nulls_equal=True
    )
    mean, baseline_mean = pl.col("stated"), pl.col("baseline_stated")
    fitting = rows.filter(
        _agrees(pl.col("value") - (mean.fill_null(0) - baseline_mean.fill_null(0)), "half")
    )
    both = mean.is_not_null() & baseline_mean.is_not_null()
    yield "difference of the stated means", fitting.filter(both)
    yield "missing summary read as 0", fitting.filter(~both)


def _agrees(difference: pl.Expr, rounding: str) -> pl.Expr:
    """Whether a difference is no more than the rounding, and what the machine adds to it."""
    import polars as pl

    hair = HAIR * pl.max_horizontal(pl.col("value").abs(), 1.0)
    return difference.abs() <= pl.col(rounding) + hair


AUDIT = [
    *ITERATION,
    "configuration",
    "metric",
    "statistic",
    "stated",
    "printed",
    "recomputed",
    "difference",
    "agrees",
    "cause",
    "path",
]


@statistic
def audit(workspace: Any) -> Any:
    """Compare each figure that a benchmark.json states with the one from its own runs.

    A figure agrees if it is within half a unit of its last printed place. JSON drops the zeros
    after the point, so a bare number counts as printed with as many places as the most exact
    figure of the same metric and statistic in its file: a mean of `1.0` next to one of `0.387`
    means 1.000.

    Args:
        workspace: a `Workspace`; the tables `stated`, `runs` and `rubric_scores` are read.

    Returns:
        In the kind of the workspace's backend, one row a stated figure that the runs of its
        workspace and iteration can answer: `stated` and `printed`, `recomputed` (null if
        the runs have none and the file says 0, and of a delta without a baseline),
        `difference` (stated - recomputed), `agrees`, `cause` (null if it agrees, else the
        likely one in plain words, or `unknown`) and `path`. A delta is recomputed as the
        with-skill side's mean minus the baseline's; means and standard deviations are over
        runs, as in `summarize`.

    Raises:
        TypeError: for a single table.

    >>> import polars as pl
    >>> from skill_eval_nb.tables import Workspace
    >>> keys = {"workspace": ["w"] * 2, "skill": ["s"] * 2, "iteration": ["none"] * 2}
    >>> runs = pl.DataFrame({
    ...     **keys, "eval_id": ["1", "2"], "configuration": ["with_skill"] * 2,
    ...     "run_number": [1, 1], "pass_rate": [1.0, 0.5],
    ... })
    >>> stated = pl.DataFrame({
    ...     **keys, "configuration": ["with_skill"] * 2, "metric": ["pass_rate"] * 2,
    ...     "statistic": ["mean", "stddev"], "value": [0.75, 0.25], "printed": ["0.75", "0.25"],
    ... })
    >>> ws = Workspace.from_tables({"runs": runs, "stated": stated})
    >>> audit(ws).select("statistic", "agrees", "cause").rows()
    [('mean', True, None), ('stddev', False, 'population standard deviation')]
    """
    import polars as pl

    check_workspace(workspace, "audit")
    runs = runs_of(workspace)
    stated = ready_stated(frame_of(workspace, "stated"), runs)
    values = _values_of(runs, scores_of(workspace), stated)
    found = compare_stated(stated, pl.concat([recompute(values), runs_each(runs)], how="diagonal"))
    off = found.filter(~pl.col("agrees"))
    cause = find_causes(off, stated, _keep_stated(values, off))
    rows = (
        found.join(cause, on="row", how="left", maintain_order="left")
        .filter(pl.col("recomputed").is_not_null() | pl.col("cause").is_not_null())
        .with_columns(
            pl.col("stated_skill").alias("skill"),
            pl.col("stated_statistic").alias("statistic"),
            pl.col("value").alias("stated"),
            pl.when(~pl.col("agrees")).then(pl.col("cause").fill_null("unknown")).alias("cause"),
        )
        .select(AUDIT)
    )
    names = dict.fromkeys([*ITERATION, "path"], natural_key)
    sides = {"configuration": lambda name: (name == DELTA, side_key(name))}  # a delta comes last
    return sort_rows(rows, **names, **sides, metric=metric_order)


def _values_of(runs: pl.DataFrame, scores: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """The figures of the runs that the stated ones are about, as `misreadings` takes them."""
    import polars as pl
    from polars import selectors as cs

    beside = [*RUN, "output_chars", "passed", "failed"]
    wanted = [name for name in METRICS if name in {"overall_efficiency", *stated["metric"]}]
    of_runs = runs.select(*beside, pl.col(wanted).cast(pl.Float64).name.prefix("of "))
    plain = of_runs.unpivot(cs.starts_with("of "), index=beside, variable_name="metric")
    plain = plain.with_columns(pl.col("metric").str.strip_prefix("of "))
    dimensions = stated.filter(pl.col("metric").str.starts_with(RUBRIC))
    asked = dimensions.select("workspace", "iteration", "metric").unique()
    rubric = (
        runs.select(beside)
        .join(asked, on=["workspace", "iteration"], nulls_equal=True)
        .join(scores, on=[*RUN, "metric"], how="left", nulls_equal=True)
    )
    values = pl.concat([plain, rubric.select(plain.columns)])
    whole = values.with_columns(pl.lit(None, pl.String).alias("skill"))
    return _keep_stated(pl.concat([values, whole]), stated)


def _keep_stated(values: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """The part of the values that the stated figures are about."""
    import polars as pl

    source = pl.col("metric").replace(CONSISTENCY, "overall_efficiency")
    about = stated.select(*ITERATION, source)
    return values.join(about, on=[*ITERATION, "metric"], how="semi", nulls_equal=True)
