"""What was seen of each query, from attempts or from the table `triggers`: one row a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.tables.frames import frame_of

from ..names import in_order, natural, no_such

if TYPE_CHECKING:
    import polars as pl

By = Literal["split", "tag"]
SUITE = ["workspace", "skill", "description"]
"""What is measured at once: a description of a skill."""
QUERY = ["query", "should_trigger"]
OUTCOMES = ("triggered", "not triggered", "errored", "not run")
COUNTS = tuple(f"n_{outcome.replace(' ', '_')}" for outcome in OUTCOMES)
"""Runs of each outcome; null where nobody counted."""
SCORED = COUNTS[:2]
"""The outcomes that enter a rate."""
NEAR_MISS = "near miss"
NEEDED = ("query", "should_trigger", "outcome")
"""What a table of attempts has to hold."""
TOLD = ("instead", "reasons", "others")
"""Lists of texts that only attempts know, a text a run."""


def seen_of(data: Any) -> pl.DataFrame:
    """One row a description × query: SUITE, QUERY, tags, split, COUNTS, `rate`, `odd`, TOLD.

    Queries that were asked more than once under the same description add up.

    Args:
        data: a `Workspace`, its table `triggers`, or a table of attempts: one row a query × run,
            with `query`, `should_trigger` and `outcome` (one of OUTCOMES), and what else is
            known: `tags`, `split`, `reason`, `instead`, `opened`.

    Returns:
        Suites in natural order, their queries as they came. `rate` is triggered / (triggered +
        not triggered), or as stated where there are no counts; null where nothing is known.
        `odd` says that more runs are stated to have triggered than there were: they are not
        counted. `instead` holds what the model did in the runs that did not trigger, `others`
        the first skill that each of those opened (null: none), `reasons` why runs failed.

    Raises:
        ValueError: for a table of attempts that lacks a column, or holds another outcome.
    """
    columns = getattr(data, "columns", None)
    attempts = columns is not None and "outcome" in columns
    seen = _attempts(data) if attempts else _counted(data)
    return in_order(seen, **dict.fromkeys(SUITE, natural))


def parts_of(seen: pl.DataFrame, by: By | None) -> pl.DataFrame:
    """The queries of each part; a query of several tags is in several parts.

    Raises:
        ValueError: for another way to part them.
    """
    import polars as pl

    if by is None or by == "split":
        return seen
    if by != "tag":
        raise no_such("way to part queries, `by`,", by, ("split", "tag"))
    tags = pl.col("tags").list.unique(maintain_order=True)
    return seen.with_columns(tags.alias("tag")).explode("tag", empty_as_null=True)


def total(queries: pl.DataFrame, *counts: str) -> int | None:
    """Runs of these outcomes over the queries; None where nobody counted."""
    known = [int(queries[name].sum()) for name in counts if queries[name].count()]
    return sum(known) if known else None


def _attempts(data: Any) -> pl.DataFrame:
    import narwhals as nw
    import polars as pl

    given = nw.from_native(data, eager_only=True).to_polars()
    if lacking := [name for name in NEEDED if name not in given.columns]:
        raise ValueError(
            f"A table of attempts has the columns {', '.join(NEEDED)}; "
            f"this lacks {', '.join(lacking)}."
        )
    texts = dict.fromkeys((*SUITE, "query", "split", "outcome", "reason", "instead"), pl.String)
    types: dict[str, Any] = texts | {"should_trigger": pl.Boolean}
    types |= dict.fromkeys(("tags", "opened"), pl.List(pl.String))
    known = {name: pl.col(name) if name in given.columns else pl.lit(None) for name in types}
    frame = given.select(value.cast(types[name]).alias(name) for name, value in known.items())
    for outcome in frame["outcome"].unique().to_list():
        if outcome not in OUTCOMES:
            raise no_such("outcome", str(outcome), OUTCOMES)
    outcome, missed = pl.col("outcome"), pl.col("outcome") == OUTCOMES[1]
    first = pl.col("opened").list.first()
    seen = frame.group_by(*SUITE, *QUERY, maintain_order=True).agg(
        pl.col("tags", "split").drop_nulls().first(),
        *(
            (outcome == one).sum().cast(pl.Int64).alias(count)
            for one, count in zip(OUTCOMES, COUNTS, strict=True)
        ),
        pl.col("instead").filter(missed).drop_nulls(),
        pl.col("reason").filter(outcome == OUTCOMES[2]).drop_nulls().alias("reasons"),
        first.filter(missed).alias("others"),
    )
    return seen.with_columns(rate=_rate(), odd=pl.lit(value=False))


def _counted(data: Any) -> pl.DataFrame:
    import polars as pl

    frame = frame_of(data, "triggers")
    tags = pl.col("tags") if "tags" in frame.columns else pl.lit(None)
    odd = (pl.col("triggered") > pl.col("runs")).fill_null(value=False)
    both = (pl.col("triggered").is_not_null() & pl.col("runs").is_not_null()) & ~odd
    return (
        frame.with_columns(
            tags.cast(pl.List(pl.String)).alias("tags"),
            odd.alias("odd"),
            pl.when(both).then("triggered").alias(COUNTS[0]),
            pl.when(both).then(pl.col("runs") - pl.col("triggered")).alias(COUNTS[1]),
            pl.when(~odd).then("trigger_rate").alias("stated"),
        )
        .group_by(*SUITE, *QUERY, maintain_order=True)
        .agg(
            pl.col("tags", "split", "stated").drop_nulls().first(),
            *(_sum(name) for name in SCORED),
            pl.col("odd").any(),
        )
        .with_columns(
            pl.coalesce(_rate(), "stated").alias("rate"),
            *(pl.lit(None, pl.Int64).alias(name) for name in COUNTS[2:]),
            *(pl.lit([], pl.List(pl.String)).alias(name) for name in TOLD),
        )
        .drop("stated")
    )


def _sum(name: str) -> pl.Expr:
    """The sum, null where nothing is known."""
    import polars as pl

    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)


def _rate() -> pl.Expr:
    import polars as pl

    hit, missed = map(pl.col, SCORED)
    return pl.when(hit + missed > 0).then(hit / (hit + missed))
