"""`preference`: which of two sides a blind comparator prefers, whatever order it saw them in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.columns import frame_of, to_backend_of

from .pairing import side_key
from .values import natural_key, sort_rows

if TYPE_CHECKING:
    import polars as pl


FIRST, LAST, TIE = "A", "B", "tie"
OUTCOMES = ("wins", "losses", "ties")
RATES = ("win_rate", "low", "high", "p")
LEVEL = 0.95

Orders = tuple[Counter[str], Counter[str]]
"""How often a pair's comparisons said A, B or tie: one side seen first, and seen last."""


def most_often(seen: Counter[str]) -> str | None:
    """What was said most often in one order: a tie if several were, None if nothing was.

    >>> most_often(Counter("AAB")), most_often(Counter("AB")), most_often(Counter())
    ('A', 'tie', None)
    """
    most = [answer for answer, times in seen.items() if times == max(seen.values())]
    return None if not most else most[0] if len(most) == 1 else TIE


def settle_orders(orders: Orders) -> str | None:
    """`A` where the side wins that `orders` tells of, `B` where the other does, else a tie.

    A side wins if both orders name it. None if one of them was not seen: nobody can then
    tell the side from its place.

    >>> settle_orders((Counter("A"), Counter("B"))), settle_orders((Counter("A"), Counter("A")))
    ('A', 'tie')
    """
    forth, back = map(most_often, orders)
    if forth is None or back is None:
        return None
    return forth if (forth, back) in {(FIRST, LAST), (LAST, FIRST)} else TIE


def majority(winners: Iterable[str]) -> str:
    """Who won more of several pairs; a tie if both won as many.

    >>> majority(["A", "tie", "tie"]), majority(["A", "B", "tie"])
    ('A', 'tie')
    """
    counts = Counter(winners)
    difference = counts[FIRST] - counts[LAST]
    return TIE if not difference else FIRST if difference > 0 else LAST


@dataclass(frozen=True, slots=True)
class Wins:
    """Wins, losses and ties; figures are of what was decided, ties are left out of them."""

    wins: int
    losses: int
    ties: int

    @classmethod
    def from_winners(cls, winners: Iterable[str]) -> Wins:
        """The wins of `A` over `B`."""
        counts = Counter(winners)
        return cls(counts[FIRST], counts[LAST], counts[TIE])

    @property
    def rate(self) -> float | None:
        """Wins of all that was decided; None if nothing was."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None

    @property
    def p(self) -> float | None:
        """Exact two-sided binomial test of wins against losses; None without either."""
        from scipy import special

        n = self.wins + self.losses
        if not n:
            return None
        return min(1.0, 2 * float(special.bdtr(min(self.wins, self.losses), n, 0.5)))

    def interval(self, level: float = LEVEL) -> tuple[float | None, float | None]:
        """The exact interval of the rate (Clopper and Pearson, 1934); None without a rate.

        >>> low, high = Wins(5, 0, 2).interval()
        >>> round(low, 4), high
        (0.4782, 1.0)
        """
        from scipy import special

        if not self.wins + self.losses:
            return None, None
        tail = (1 - level) / 2
        low = special.betaincinv(self.wins, self.losses + 1, tail) if self.wins else 0.0
        high = special.betaincinv(self.wins + 1, self.losses, 1 - tail) if self.losses else 1.0
        return float(low), float(high)

    def columns(self, prefix: str = "") -> dict[str, Any]:
        """All of it, as columns of a table."""
        counted = (self.wins, self.losses, self.ties)
        figures = zip(
            (*OUTCOMES, *RATES), (*counted, self.rate, *self.interval(), self.p), strict=True
        )
        return {f"{prefix}{name}": figure for name, figure in figures}


SUITE = ["workspace", "skill"]
PLAIN = ["pair", "first", "second", "winner"]
"""What a plain table of comparisons has to hold."""
KEYS = [*SUITE, "configuration", "other"]
COUNTS = ("n_comparisons", "n_left_out", "n_pairs", "n_repeated", "n_both_orders", "n_evals")
MEASURES = ("repetition_stability", "position_consistency", "preference_fairness")
BIAS = ("primacy", "recency")
OF_EVALS = "eval_"
"""What the outcomes over evals begin with; those over pairs have no prefix."""


def preference(data: Any) -> Any:
    """Which side a blind comparator prefers, and how much the order of the sides decides.

    A pair is two outputs compared with each other. Within an order, the side named most often
    wins (a tie if several are); over both orders, the side that both name wins, otherwise the
    pair is a tie. A pair that was seen in only one order enters no outcome, because side and
    position cannot be separated.

    Outcomes are counted twice, for the same two questions as a delta. Over *pairs*, for these
    evals: given the evals, each pair is a separate draw. Over *evals*, for tasks like these: the
    pairs of one eval ask the same, so the side that won more of them wins the eval. Ties are
    counted, but rates, intervals (exact, Clopper and Pearson, 95 %) and tests leave them out.

    The three measures come from Shi et al. (arXiv 2406.07791): *repetition stability*, the share
    of the commonest winner among the comparisons of one pair in one order, mean over those seen
    twice or more; *position consistency*, the share of pairs with the same winner in both
    orders; *preference fairness*, (recency - primacy) / pairs in both orders, from -1 (what is
    seen first is preferred) over 0 to 1 (what is seen last). Their score (rcn × irr - pcn ×
    ipr), scaled to that range, comes to this quotient.

    Args:
        data: a `Workspace` or its table `comparisons` (polars or pandas), where side A was
            seen first, sides are told by what differs (`configuration`, else `version`, or
            both), and a comparison of no stated `pair` is of the eval's only one; or a table
            with the columns `pair`, `first` and `second` (names of the sides), `winner` (`A`
            for the first, `B` for the second, or `tie`), and `eval` where pairs share one.

    Returns:
        In the kind of `data`, one row a workspace × skill × two sides:

        - `configuration` and `other`: the with-skill side, and the one it is compared with;
        - `n_comparisons`, `n_left_out` (of the skill, without a winner or without what
          stands behind their sides), `n_pairs`, `n_repeated` (pairs × orders seen twice or
          more), `n_both_orders` (pairs), `n_evals` (with such a pair);
        - `wins`, `losses`, `ties`: of `configuration`, over the pairs seen in both orders;
          `win_rate`: wins / (wins + losses), with its interval `low`, `high`; `p`: exact
          two-sided binomial test of wins against losses; null without any of them;
        - `eval_wins`, …, `eval_p`: the same over evals;
        - `repetition_stability`, `position_consistency` (0-1), `preference_fairness` (-1-1),
          null if nothing was repeated or seen in both orders; `primacy`, `recency`: the
          pairs whose winner changed, towards what was seen first and what was seen last.

        If no comparison of a skill names its sides, `configuration` and `other` are null.

    >>> import polars as pl
    >>> seen = pl.DataFrame({
    ...     "pair": ["1", "1", "2", "2"],
    ...     "first": ["new", "old", "new", "old"],
    ...     "second": ["old", "new", "old", "new"],
    ...     "winner": ["A", "B", "A", "A"],
    ... })
    >>> preference(seen).select("wins", "losses", "ties", "position_consistency").rows()
    [(1, 0, 1, 0.5)]
    """
    import polars as pl

    pairs: dict[tuple[Any, ...], Orders] = defaultdict(lambda: (Counter(), Counter()))
    left_out: Counter[tuple[Any, ...]] = Counter()
    for *suite, eval_, pair, first, second, winner in _read_comparisons(data).iter_rows():
        if None in (first, second, winner) or first == second:
            left_out[*suite] += 1
            continue
        left, right = sorted((first, second), key=side_key)
        pairs[*suite, left, right, eval_, pair][first != left][winner] += 1
    groups: dict[tuple[Any, ...], list[tuple[str, Orders]]] = defaultdict(list)
    for key, orders in pairs.items():
        groups[key[:4]].append((key[4], orders))
    named = {key[:2] for key in groups}
    groups |= {(*suite, None, None): [] for suite in left_out if suite not in named}
    rows = [
        dict(zip(KEYS, key, strict=True)) | {"n_left_out": left_out[key[:2]]} | _count_wins(own)
        for key, own in groups.items()
    ]
    whole, real = pl.Int64, pl.Float64
    outcomes = dict.fromkeys(OUTCOMES, whole) | dict.fromkeys(RATES, real)
    schema = dict.fromkeys(KEYS, pl.String) | dict.fromkeys(COUNTS, whole) | outcomes
    schema |= {f"{OF_EVALS}{name}": kind for name, kind in outcomes.items()}
    schema |= dict.fromkeys(MEASURES, real) | dict.fromkeys(BIAS, whole)
    names = dict.fromkeys(SUITE, natural_key) | dict.fromkeys(KEYS[2:], side_key)
    return to_backend_of(data, sort_rows(pl.DataFrame(rows, schema), **names))


def _read_comparisons(data: Any) -> pl.DataFrame:
    """One row a comparison: SUITE, eval, pair, first, second, winner.

    Raises:
        ValueError: for a plain table that lacks a column.
    """
    import narwhals as nw
    import polars as pl

    answer = pl.col("winner").str.strip_chars().str.to_lowercase()
    known = {name.lower(): name for name in (FIRST, LAST, TIE)}
    winner = answer.replace_strict(known, default=None, return_dtype=pl.String)
    columns = getattr(data, "columns", None)
    if columns is not None and "side" not in columns:
        lacking = [name for name in PLAIN if name not in columns]
        if lacking:
            raise ValueError(
                f"A table of comparisons has the columns {', '.join(PLAIN)}; this lacks "
                f"{', '.join(lacking)}."
            )
        table = nw.from_native(data, eager_only=True).to_polars()
        suite = [name if name in columns else pl.lit(None).alias(name) for name in SUITE]
        of = pl.col("eval" if "eval" in columns else "pair").alias("eval")
        return table.select(*suite, of, *PLAIN).cast(pl.String).with_columns(winner)
    names = ("configuration", "version")
    parts = [
        pl.col(name).filter(pl.col("side") == side_).drop_nulls().first().alias(f"{name} {side_}")
        for name in names
        for side_ in (FIRST, LAST)
    ]
    return (
        frame_of(data, "comparisons")
        .with_columns(
            pl.coalesce("eval_id", "pair", "comparison").alias("eval"),
            pl.coalesce("pair", "eval_id", "comparison").alias("pair"),
        )
        .group_by(*SUITE, "comparison")
        .agg(pl.col("eval").first(), pl.col("pair").first(), *parts, winner.first())
        .with_columns(_name_side(FIRST).alias("first"), _name_side(LAST).alias("second"))
        .select(*SUITE, "eval", *PLAIN)
    )


def _name_side(side_: str) -> pl.Expr:
    """The name of a side: whatever differs of configuration and version, or both."""
    import polars as pl

    def differs_in(name: str) -> pl.Expr:
        return (pl.col(f"{name} {FIRST}") != pl.col(f"{name} {LAST}")).fill_null(value=False)

    configuration, version = pl.col(f"configuration {side_}"), pl.col(f"version {side_}")
    both = differs_in("configuration") & differs_in("version")
    return (
        pl.when(both)
        .then(pl.format("{} of {}", configuration, version))
        .when(differs_in("version"))
        .then(version)
        .otherwise(pl.coalesce(configuration, version))
    )


def _count_wins(pairs: Sequence[tuple[str, Orders]]) -> dict[str, Any]:
    """All columns but KEYS and `n_left_out`, of two sides."""
    winners: dict[str, list[str]] = defaultdict(list)
    for eval_, orders in pairs:
        winner = settle_orders(orders)
        if winner is not None:
            winners[eval_].append(winner)
    both = [tuple(map(most_often, orders)) for _, orders in pairs if all(orders)]
    agreed = both.count((FIRST, LAST)) + both.count((LAST, FIRST)) + both.count((TIE, TIE))
    primacy = sum(FIRST in choices and LAST not in choices for choices in both)
    recency = len(both) - agreed - primacy
    repeated = [seen for _, orders in pairs for seen in orders if seen.total() > 1]
    return {
        "n_comparisons": sum(seen.total() for _, orders in pairs for seen in orders),
        "n_pairs": len(pairs),
        "n_repeated": len(repeated),
        "n_both_orders": len(both),
        "n_evals": len(winners),
        **Wins.from_winners(won for own in winners.values() for won in own).columns(),
        **Wins.from_winners(map(majority, winners.values())).columns(OF_EVALS),
        "repetition_stability": (
            fmean(max(seen.values()) / seen.total() for seen in repeated) if repeated else None
        ),
        "position_consistency": agreed / len(both) if both else None,
        "preference_fairness": (recency - primacy) / len(both) if both else None,
        "primacy": primacy,
        "recency": recency,
    }
