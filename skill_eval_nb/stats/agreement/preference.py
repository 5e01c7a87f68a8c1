"""`preference`: which of two sides a blind comparator prefers, whatever order it saw them in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import frame_of, like

from ..names import in_order, natural
from ..pairing import side

if TYPE_CHECKING:
    import polars as pl

SUITE = ["workspace", "skill"]
PLAIN = ["pair", "first", "second", "winner"]
"""What a plain table of comparisons has to hold."""
FIRST, LAST, TIE = "A", "B", "tie"
KEYS = [*SUITE, "configuration", "other"]
COUNTS = ("n_comparisons", "n_left_out", "n_pairs", "n_repeated", "n_both_orders")
OUTCOMES = ("wins", "losses", "ties")
MEASURES = ("p", "repetition_stability", "position_consistency", "preference_fairness")
BIAS = ("primacy", "recency")

Orders = tuple[Counter[str], Counter[str]]
"""How often a pair's comparisons said A, B or tie: `configuration` seen first, and seen last."""


def preference(data: Any) -> Any:
    """Which side a blind comparator prefers, and how far the order of the sides decides.

    A pair is two outputs compared with each other. Within an order its winner is the one
    named most often (a tie where several are); over both orders it is the winner where they
    agree, else a tie. A pair that was seen in one order only enters no outcome, as nobody can
    tell the side from its place.

    The three measures are those of Shi et al. (arXiv 2406.07791): *repetition stability*, the
    share of the commonest winner among the comparisons of one pair in one order, mean over
    those seen twice or more; *position consistency*, the share of pairs with the same winner
    in both orders; *preference fairness*, (recency - primacy) / pairs in both orders, from
    -1 (what is seen first is preferred) over 0 to 1 (what is seen last). Their score
    (rcn × irr - pcn × ipr), scaled to that range, comes to this quotient.

    Args:
        data: a `Workspace` or its table `comparisons` (polars or pandas), where side A was
            seen first, sides are told by `configuration`, else `version`, and a pair is an
            eval; or a table with the columns `pair`, `first` and `second` (names of the
            sides), and `winner` (`A` for the first, `B` for the second, or `tie`).

    Returns:
        In the kind of `data`, one row a workspace × skill × two sides:

        - `configuration` and `other`: the with-skill side, and the one it is compared with;
        - `n_comparisons`, `n_left_out` (of the skill, without a winner or without what
          stands behind their sides), `n_pairs`, `n_repeated` (pairs × orders seen twice or
          more), `n_both_orders` (pairs);
        - `wins`, `losses`, `ties`: of `configuration`, over the pairs seen in both orders;
          `p`: exact two-sided binomial test of wins against losses, null without any;
        - `repetition_stability`, `position_consistency` (0-1), `preference_fairness` (-1-1),
          null where nothing was repeated or seen in both orders; `primacy`, `recency`: the
          pairs whose winner changed, towards what was seen first and what was seen last.

        Where no comparison of a skill names its sides, `configuration` and `other` are null.

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
    for *suite, pair, first, second, winner in _seen(data).iter_rows():
        if None in (first, second, winner) or first == second:
            left_out[*suite] += 1
            continue
        one, other = sorted((first, second), key=side)
        pairs[*suite, one, other, pair][first != one][winner] += 1
    groups: dict[tuple[Any, ...], list[Orders]] = defaultdict(list)
    for key, orders in pairs.items():
        groups[key[:4]].append(orders)
    named = {key[:2] for key in groups}
    groups |= {(*suite, None, None): [] for suite in left_out if suite not in named}
    rows = [
        dict(zip(KEYS, key, strict=True)) | {"n_left_out": left_out[key[:2]]} | _figures(orders)
        for key, orders in groups.items()
    ]
    schema = dict.fromkeys(KEYS, pl.String) | dict.fromkeys((*COUNTS, *OUTCOMES), pl.Int64)
    schema |= dict.fromkeys(MEASURES, pl.Float64) | dict.fromkeys(BIAS, pl.Int64)
    names = dict.fromkeys(SUITE, natural) | dict.fromkeys(KEYS[2:], side)
    return like(data, in_order(pl.DataFrame(rows, schema), **names))


def _seen(data: Any) -> pl.DataFrame:
    """One row a comparison: SUITE, pair, first, second, winner.

    Raises:
        ValueError: for a plain table that lacks a column.
    """
    import narwhals as nw
    import polars as pl

    said = pl.col("winner").str.strip_chars().str.to_lowercase()
    known = {name.lower(): name for name in (FIRST, LAST, TIE)}
    winner = said.replace_strict(known, default=None, return_dtype=pl.String)
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
        return table.select(*suite, *PLAIN).cast(pl.String).with_columns(winner)
    behind = pl.coalesce("configuration", "version")
    return (
        frame_of(data, "comparisons")
        .with_columns(pl.coalesce("eval_id", "comparison").alias("pair"))
        .group_by(*SUITE, "comparison")
        .agg(
            pl.col("pair").first(),
            behind.filter(pl.col("side") == FIRST).drop_nulls().first().alias("first"),
            behind.filter(pl.col("side") == LAST).drop_nulls().first().alias("second"),
            winner.first(),
        )
        .select(*SUITE, *PLAIN)
    )


def _figures(pairs: Sequence[Orders]) -> dict[str, Any]:
    """All columns but KEYS and `n_left_out`, of two sides."""
    both = [tuple(map(_winner, orders)) for orders in pairs if all(orders)]
    wins, losses = both.count((FIRST, LAST)), both.count((LAST, FIRST))
    agreed = wins + losses + both.count((TIE, TIE))
    primacy = sum(FIRST in choices and LAST not in choices for choices in both)
    recency = len(both) - agreed - primacy
    repeated = [seen for orders in pairs for seen in orders if seen.total() > 1]
    return {
        "n_comparisons": sum(seen.total() for orders in pairs for seen in orders),
        "n_pairs": len(pairs),
        "n_repeated": len(repeated),
        "n_both_orders": len(both),
        "wins": wins,
        "losses": losses,
        "ties": len(both) - wins - losses,
        "p": _binomial(wins, losses),
        "repetition_stability": (
            fmean(max(seen.values()) / seen.total() for seen in repeated) if repeated else None
        ),
        "position_consistency": agreed / len(both) if both else None,
        "preference_fairness": (recency - primacy) / len(both) if both else None,
        "primacy": primacy,
        "recency": recency,
    }


def _winner(seen: Counter[str]) -> str:
    """What was said most often, a tie where nothing was."""
    most = [said for said, times in seen.items() if times == max(seen.values())]
    return most[0] if len(most) == 1 else TIE


def _binomial(wins: int, losses: int) -> float | None:
    """The exact p of so uneven a split, were either side as likely to win."""
    from scipy import special

    n = wins + losses
    return min(1.0, 2 * float(special.bdtr(min(wins, losses), n, 0.5))) if n else None
