"""`trigger_confusion`: what queries of each class did, counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from .rates import reaches
from .seen import COUNTS, OUTCOMES, SUITE, By, parts_of, seen_of

if TYPE_CHECKING:
    import polars as pl

    Row = dict[str, Any]


def trigger_confusion(data: Any, threshold: float = 0.5, by: By | None = None) -> Any:
    """Should trigger × what came of it, counted by query and by run; errored ones apart.

    Args:
        data: as for `trigger_rates`.
        threshold: the rate from which on a query triggers.
        by: as for `trigger_scores`.

    Returns:
        In the kind of `data`, for each workspace × skill × description (× `split` or `tag`) ×
        `should_trigger` (null where nobody said, if there are such queries) four rows, one an
        `outcome`: `triggered`, `not triggered`, `errored`, `not run`:

        - `right`: whether the outcome is the wanted one; null for the last two, and where
          nobody said what is wanted;
        - `n_queries`: a query with a rate is `triggered` where that reaches the threshold, else
          `not triggered`; one without is `errored` where a run of it errored, else `not run`;
        - `n_runs`; null where nobody counted;
        - `query_share` and `run_share`: of the class's queries and runs that were scored, 0-1;
          null for the last two outcomes, and where none was scored.

    Raises:
        ValueError: as `trigger_scores`.

    >>> import polars as pl
    >>> asked = pl.DataFrame({
    ...     "query": ["a", "a", "a", "b"],
    ...     "should_trigger": [True, True, True, False],
    ...     "outcome": ["triggered", "triggered", "not triggered", "errored"],
    ... })
    >>> trigger_confusion(asked).head(3).select("outcome", "right", "n_queries", "n_runs").rows()
    [('triggered', True, 1, 2), ('not triggered', False, 0, 1), ('errored', None, 0, 0)]
    """
    import polars as pl

    keys = [*SUITE, *([by] if by else [])]
    parts = parts_of(seen_of(data), by).with_columns(_verdict(threshold).alias("verdict"))
    groups = parts.partition_by(keys, maintain_order=True, as_dict=True)
    rows = [
        dict(zip(keys, key, strict=True)) | row
        for key, queries in groups.items()
        for should in (True, False, None)
        for row in _rows(queries.filter(pl.col("should_trigger").eq_missing(should)), should)
    ]
    schema: Row = dict.fromkeys(keys, pl.String) | {"should_trigger": pl.Boolean}
    schema |= {"outcome": pl.String, "right": pl.Boolean}
    schema |= dict.fromkeys(("n_queries", "n_runs"), pl.Int64)
    schema |= dict.fromkeys(("query_share", "run_share"), pl.Float64)
    return like(data, pl.DataFrame(rows, schema))


def _verdict(threshold: float) -> pl.Expr:
    """What a query counts as: one of OUTCOMES."""
    import polars as pl

    triggers = reaches(threshold)
    hit, missed, errored, absent = map(pl.lit, OUTCOMES)
    scored = pl.when(triggers).then(hit).when(~triggers).then(missed)
    return scored.when(pl.col(COUNTS[2]) > 0).then(errored).otherwise(absent)


def _rows(queries: pl.DataFrame, should: bool | None) -> list[Row]:
    """The four outcomes of one class; none of the unlabelled where there are none."""
    if should is None and queries.is_empty():
        return []
    verdicts = Counter(queries["verdict"])
    runs = {
        outcome: int(queries[name].sum()) if queries[name].count() or queries.is_empty() else None
        for outcome, name in zip(OUTCOMES, COUNTS, strict=True)
    }
    scored = sum(verdicts[outcome] for outcome in OUTCOMES[:2])
    scored_runs = sum(runs[outcome] or 0 for outcome in OUTCOMES[:2])
    rows: list[Row] = []
    for outcome, wanted in zip(OUTCOMES, (True, False, None, None), strict=True):
        counts = wanted is not None
        rows.append(
            {
                "should_trigger": should,
                "outcome": outcome,
                "right": should == wanted if counts and should is not None else None,
                "n_queries": verdicts[outcome],
                "n_runs": runs[outcome],
                "query_share": verdicts[outcome] / scored if counts and scored else None,
                "run_share": (runs[outcome] or 0) / scored_runs if counts and scored_runs else None,
            }
        )
    return rows
