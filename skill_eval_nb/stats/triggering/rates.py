"""`trigger_rates`: how often each query picks the skill up, and whether it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from ..variance.intervals import confidence
from .seen import COUNTS, NEAR_MISS, SCORED, SUITE, seen_of

if TYPE_CHECKING:
    import polars as pl


def trigger_rates(data: Any, level: float = 0.95, threshold: float = 0.5) -> Any:
    """How often each query picks the skill up, beside whether it should.

    Runs that errored, or never were, enter no rate.

    Args:
        data: a `Workspace`; its table `triggers`; or a table of attempts, one row a query ×
            run, with the columns `query`, `should_trigger`, `outcome` (`triggered`, `not
            triggered`, `errored`, `not run`) and, where known, `tags`, `split`, `reason`,
            `instead`, `opened` (polars or pandas).
        level: of the interval.
        threshold: the rate from which on a query counts as one that triggers.

    Returns:
        In the kind of `data`, one row a workspace × skill × description × query (these three
        are null where the table has no such column):

        - `should_trigger`, `tags`, `split`, `near_miss` (a tag says so; null: no tags known);
        - `rate`: triggered / (triggered + not triggered), 0-1, as stated where the file has no
          counts; null where no run tells. `low` and `high`: Wilson's interval (1927); null
          where there are no counts;
        - `n_triggered`, `n_not_triggered`, `n_errored`, `n_not_run`: runs, null where nobody
          counted, as a file of results has no errored ones;
        - `triggers`: whether the rate reaches the threshold; `right`: the share of scored runs
          that did what they should; `flips`: whether runs of the same query differ; null
          without a rate, `right` also where nobody said whether the query should trigger;
        - `instead`: what the model did most often in runs that did not trigger.

    Raises:
        ValueError: for a table of attempts that lacks a column or holds another outcome, or a
            level or threshold that is none.

    >>> import polars as pl
    >>> asked = pl.DataFrame({
    ...     "query": ["fill in this form"] * 3 + ["what is a form?"] * 2,
    ...     "should_trigger": [True] * 3 + [False] * 2,
    ...     "outcome": ["triggered", "triggered", "not triggered", "not triggered", "errored"],
    ... })
    >>> trigger_rates(asked).select(pl.col("rate", "low", "high").round(3), "flips").rows()
    [(0.667, 0.208, 0.939, True), (0.0, 0.0, 0.793, False)]
    """
    import polars as pl

    hit, missed = map(pl.col, SCORED)
    rate = pl.col("rate")
    low, high = wilson(hit, hit + missed, confidence(level))
    right = pl.when("should_trigger").then(rate).otherwise(1 - rate)
    near = pl.col("tags").list.eval(_plain(pl.element())).list.contains(NEAR_MISS)
    instead = pl.col("instead").list.eval(_commonest(pl.element())).list.first()
    answered = seen_of(data).select(
        *SUITE,
        "query",
        "should_trigger",
        "tags",
        "split",
        near.alias("near_miss"),
        "rate",
        low.alias("low"),
        high.alias("high"),
        *COUNTS,
        reaches(threshold).alias("triggers"),
        pl.when(pl.col("should_trigger").is_not_null()).then(right).alias("right"),
        ((rate > 0) & (rate < 1)).alias("flips"),
        instead.alias("instead"),
    )
    return like(data, answered)


def reaches(threshold: float) -> pl.Expr:
    """Whether a query triggers, by its `rate`; null without one.

    Raises:
        ValueError: for a threshold that is not above 0 and at most 1.
    """
    import polars as pl

    if not 0 < threshold <= 1:
        raise ValueError(f"`threshold` is above 0 and at most 1, as 0.5 is; this is {threshold}.")
    return pl.col("rate") >= threshold - 1e-9


def wilson(hits: pl.Expr, n: pl.Expr, level: float) -> tuple[pl.Expr, pl.Expr]:
    """Wilson's score interval of the rate hits / n (JASA 22, 1927); null where n is 0 or null.

    >>> import polars as pl
    >>> counts = pl.DataFrame({"hits": [0, 2, 3, 0], "n": [3, 3, 3, 0]})
    >>> low, high = wilson(pl.col("hits"), pl.col("n"), level=0.95)
    >>> counts.select(low.round(3).alias("low"), high.round(3).alias("high")).rows()
    [(0.0, 0.561), (0.208, 0.939), (0.439, 1.0), (None, None)]
    """
    import polars as pl
    from scipy import special

    z = float(special.ndtri((1 + level) / 2))
    n = pl.when(n > 0).then(n)
    middle = (hits + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * (hits * (n - hits) / n + z * z / 4).sqrt()
    low = pl.when(hits == 0).then(0.0 * n).otherwise(middle - reach)
    high = pl.when(hits == n).then(1.0 + 0.0 * n).otherwise(middle + reach)
    return low, high


def _plain(tag: pl.Expr) -> pl.Expr:
    """A tag as one may write it: `Near-Miss`, `near_miss`."""
    return tag.str.to_lowercase().str.replace_all("[-_ ]+", " ").str.strip_chars()


def _commonest(text: pl.Expr) -> pl.Expr:
    """The texts, those met most often first; of several, the first in the alphabet."""
    return text.mode().sort()
