"""What became of every expectation, eval by eval and on both sides: the four outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import frame_of

from ..pairing import sides
from ..values import EVAL, GROUP, RUN, is_table, runs_of, stand_in_keys

if TYPE_CHECKING:
    import polars as pl

PLACE = [*GROUP, *EVAL]
CHECK = ["layer", "expectation_id", "text"]
"""What an expectation is known by inside its eval."""
KIND = ["type", "critical"]
OUTCOMES = ["n_passed", "n_failed", "n_errored", "n_unscored"]
BOTH = [*OUTCOMES, *(f"{outcome}_baseline" for outcome in OUTCOMES)]


def outcomes(data: Any, baseline: str | None = None) -> pl.DataFrame:
    """Each eval's expectations, and how many runs on either side came to which outcome.

    An expectation is the same one in two runs of an eval where it has the same id, else the
    same text; of several texts of an id, the first in the alphabet is given. A run that lists
    it twice passes it where no verdict says otherwise. A run that errored has no verdict,
    whatever it lists. A run with neither verdict nor error is not scored: it was gated before
    the judge came, or not graded, or does not list the expectation.

    Args:
        data: a `Workspace`, or a table of expectations (polars or pandas). A table knows only
            the runs that are in it, and of none that it errored.
        baseline: the configuration to compare against; chosen by name where not given.

    Returns:
        One row an eval × expectation × configuration that is compared: PLACE, CHECK, KIND,
        configuration, baseline, why, and BOTH sides' outcomes (0 where there is no run).
        Where a group has no baseline, or nothing beside it, each configuration stands alone:
        `baseline` is null, and `why` says why.

    Raises:
        ValueError: for a table that holds no expectations, or a baseline that is not there.
    """
    import polars as pl

    verdicts, runs = _verdicts_and_runs(data)
    checks = _checks(_counted(verdicts, runs))
    cells = (
        checks.select("check", "configuration", "passed", "scored")
        .explode("configuration", "passed", "scored")
        .group_by("check", "configuration")
        .agg(pl.col("passed", "scored").sum())
    )
    sizes = runs.group_by("eval", "configuration").agg(
        pl.len().alias("runs"), pl.col("errored").sum()
    )
    asked = (
        checks.select("check", "eval", *CHECK, *KIND)
        .join(runs.select("eval", *PLACE).unique("eval"), on="eval")
        .join(_compared(runs, baseline), on=GROUP, nulls_equal=True)
    )
    for side, end in (("configuration", ""), ("baseline", "_baseline")):
        asked = _with_side(asked, cells, sizes, side, end)
    listed = pl.any_horizontal("listed", "listed_baseline")
    return asked.filter(listed).select(
        *PLACE, *CHECK, *KIND, "configuration", "baseline", "why", *BOTH
    )


def _verdicts_and_runs(data: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Verdicts, each with the index of its run, and every run with the index of its eval."""
    import polars as pl

    if is_table(data) and not {"text", "passed"} <= set(data.columns):
        raise ValueError(
            "This table holds no expectations: it has no columns `text` and `passed`. "
            "Give a Workspace, or its table `ws.expectations`."
        )
    table = frame_of(data, "expectations").with_columns(*stand_in_keys())
    if is_table(data):
        runs = table.select(*RUN, pl.lit(None, pl.String).alias("status")).clear()
    else:
        runs = runs_of(data).select(*RUN, "status").unique(RUN)
    runs = runs.with_row_index("run")
    verdicts = table.join(runs.select("run", *RUN), on=RUN, how="left", nulls_equal=True)
    lone = verdicts.filter(pl.col("run").is_null()).drop("run")
    further = lone.select(RUN).unique().with_row_index("run", offset=runs.height)
    runs = pl.concat([runs, further], how="diagonal")
    verdicts = pl.concat(
        one.select("run", *CHECK, *KIND, "passed")
        for one in (verdicts.drop_nulls("run"), lone.join(further, on=RUN, nulls_equal=True))
    )
    evals = runs.select(PLACE).unique().with_row_index("eval")
    errored = (pl.col("status") == "errored").fill_null(value=False).alias("errored")
    return verdicts, runs.join(evals, on=PLACE, nulls_equal=True).with_columns(errored)


def _counted(verdicts: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Passed and scored by eval, configuration, CHECK and KIND, without runs that errored."""
    import polars as pl

    of_run = runs.filter(~pl.col("errored")).select("run", "eval", "configuration")
    cell, passed = ["eval", "configuration"], pl.col("passed")

    def count(verdicts: pl.DataFrame) -> pl.DataFrame:
        counts = [passed.sum(), passed.count().alias("scored"), pl.len().alias("listed")]
        return verdicts.join(of_run, on="run").group_by(*cell, *CHECK, *KIND).agg(counts)

    counted = count(verdicts)
    most = counted.join(of_run.group_by(cell).len("runs"), on=cell)
    if (most["listed"] <= most["runs"]).all():
        return counted
    return count(verdicts.group_by("run", *CHECK, *KIND).agg(passed.min()))


def _checks(counted: pl.DataFrame) -> pl.DataFrame:
    """A row an expectation of an eval, with lists over the configurations, and its index."""
    import polars as pl

    def listed(frame: pl.DataFrame, cells: pl.Expr) -> pl.DataFrame:
        kind = pl.col("type").min(), pl.col("critical").max()
        return frame.group_by("eval", *CHECK).agg(*kind, cells)

    cells = pl.col("configuration", "passed", "scored")
    checks = listed(counted, cells)
    if _is_known_by_two_names(checks):
        checks = listed(
            _identified(checks), cells.list.explode(keep_nulls=False, empty_as_null=False)
        )
    return checks.with_row_index("check")


def _is_known_by_two_names(checks: pl.DataFrame) -> bool:
    """Whether an eval has an id with several texts, or a text with and without an id."""
    import polars as pl

    if not checks["expectation_id"].count():
        return False
    own = ["eval", "layer"]
    with_id = checks.filter(pl.col("expectation_id").is_not_null())
    texts = checks.select(*own, "text").unique().height
    ids = with_id.select(*own, "expectation_id").unique().height
    return texts < checks.height or ids < with_id.height


def _identified(checks: pl.DataFrame) -> pl.DataFrame:
    """`checks` with one text for each id, and the id where the text has one elsewhere."""
    import polars as pl

    own, number = ["eval", "layer"], pl.col("expectation_id")
    one_text = pl.col("text").min().over(*own, "expectation_id")
    return checks.with_columns(pl.coalesce(number, number.min().over(*own, "text"))).with_columns(
        pl.when(number.is_null()).then("text").otherwise(one_text).alias("text")
    )


def _compared(runs: pl.DataFrame, baseline: str | None) -> pl.DataFrame:
    """What `sides` gives; a baseline that nothing is compared with stands alone."""
    import polars as pl

    alone = pl.col("configuration").is_null()
    return sides(runs, baseline).with_columns(
        pl.coalesce("configuration", "baseline").alias("configuration"),
        pl.when(~alone).then("baseline").alias("baseline"),
    )


def _with_side(
    asked: pl.DataFrame, cells: pl.DataFrame, sizes: pl.DataFrame, side: str, end: str
) -> pl.DataFrame:
    """`asked` with the outcomes of a side, under names with this end."""
    import polars as pl

    name = {"configuration": side}
    own = asked.join(cells.rename(name), on=["check", side], how="left").join(
        sizes.rename(name), on=["eval", side], how="left"
    )
    passed, scored, errored, runs = (
        pl.col(count).fill_null(0).cast(pl.Int64)
        for count in ("passed", "scored", "errored", "runs")
    )
    counts = (passed, scored - passed, errored, runs - errored - scored)
    return own.with_columns(
        pl.col("scored").is_not_null().alias(f"listed{end}"),
        *(count.alias(f"{name}{end}") for name, count in zip(OUTCOMES, counts, strict=True)),
    ).drop("passed", "scored", "errored", "runs")
