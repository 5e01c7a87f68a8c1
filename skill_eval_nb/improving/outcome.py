"""What came of blind comparisons: unblinded, settled by pair and by eval, and who wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from skill_eval_nb.documents import Comparison
from skill_eval_nb.stats import preference
from skill_eval_nb.stats.preference import (
    FIRST,
    LAST,
    LEVEL,
    PLAIN,
    TIE,
    Orders,
    majority,
    said,
    settled,
)
from skill_eval_nb.tables.frames import Backend, to_pandas
from skill_eval_nb.text import chance, count, percent, signed

from .pairs import Pair

T = TypeVar("T")
EVAL = ("workspace", "eval_id", "eval_name")
WHO = {FIRST: "a", LAST: "b", TIE: TIE}
STABLE = 0.8
"""Below this repetition stability or position consistency the comparator is called unsteady."""
FEWEST_EVALS = 6
"""With fewer, no exact test over evals can be below 5 %."""


class PairAnswer(NamedTuple):
    """A pair in one of its orders, and the comparison that came of it; None where none did."""

    pair: Pair
    swapped: bool
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class Winner:
    """Who wins, and why.

    Attributes:
        winner: what the side is called; None where nobody can say.
        word: `wins`, `unclear`, `found out` (the comparator goes by the order) or `nothing
            compared`.
        reason: in words, with the figures.
    """

    winner: str | None
    word: str
    reason: str

    def __str__(self) -> str:
        return self.reason


def verdict(row: Mapping[str, Any], a: str, b: str) -> Winner:
    """The verdict on *these evals*, and what of it holds for tasks like these.

    A side wins where the exact p of its wins over pairs is at most 5 %. Nobody wins where
    most pairs have another winner in the other order, and those go one way more often than
    chance would have it (exact p at most 5 %).

    Args:
        row: of `stats.preference`, of a against b; empty where nothing was seen.
        a: what the one side is called.
        b: what the other side is called.
    """
    pairs = row.get("n_both_orders", 0)
    if not pairs:
        return Winner(None, "nothing compared", "No pair was compared in both orders.")
    if reason := _found_out(row, pairs):
        return Winner(None, "found out", reason)
    wins, losses = row["wins"], row["losses"]
    counts = (
        f"{a} wins {wins}, {b} wins {losses}, {row['ties']} tied, of {count(pairs, 'pair')} "
        f"({row['n_evals']} evals)"
    )
    if row["p"] is None or row["p"] > 1 - LEVEL:
        p = "nothing was decided" if row["p"] is None else f"exact p {chance(row['p'])}"
        reason = f"Unclear who is better on these evals: {counts}; {p}.{_unsteady(row)}"
        return Winner(None, "unclear", reason)
    winner, other = (a, b) if wins > losses else (b, a)
    reason = (
        f"{winner} is better than {other} on these evals: {counts}; exact p "
        f"{chance(row['p'])}. {_beyond(row, wins > losses)}{_unsteady(row)}"
    )
    return Winner(winner, "wins", reason)


def rates(row: Mapping[str, Any], a: str) -> Iterator[str]:
    """How often a wins, over pairs and over evals, in words."""
    units = {"": "pairs (these evals)", "eval_": "evals (tasks like these)"}
    for prefix, unit in units.items():
        if row and row[f"{prefix}win_rate"] is not None:
            decided = row[f"{prefix}wins"] + row[f"{prefix}losses"]
            rate, low, high = (
                percent(row[f"{prefix}{name}"]) for name in ("win_rate", "low", "high")
            )
            yield (
                f"{a} wins {rate} of {decided} decided {unit}, 95 % interval {low} to {high} "
                f"(exact); ties left out: {row[f'{prefix}ties']}"
            )


def outcome_of(compared: Sequence[PairAnswer], backend: Backend) -> dict[str, Any]:
    """Unblind comparisons, and count: the fields `pairs`, `by_eval` and `figures` of `Compared`."""
    import polars as pl

    whole, text = pl.Int64, pl.String
    groups = _grouped((one.pair.place, one) for one in compared)
    pairs = [_pair(own) for own in groups]
    schema = dict.fromkeys(EVAL, text) | {"run_number": whole, "pair": text, "run_a": text}
    schema |= dict.fromkeys(("run_b", "winner", "a_first", "b_first"), text)
    schema |= {"consistent": pl.Boolean, "repeated_same": pl.Boolean, "n_comparisons": whole}
    table = pl.DataFrame(pairs, schema | {"reasons": pl.List(text)})
    evals = [_eval(own) for own in _grouped((tuple(row[n] for n in EVAL), row) for row in pairs)]
    counts = dict.fromkeys(("n_pairs", "n_settled", "wins", "losses", "ties"), whole)
    by_eval = pl.DataFrame(evals, dict.fromkeys(EVAL, text) | counts | {"winner": text})
    frames = [to_pandas(one) if backend == "pandas" else one for one in (table, by_eval)]
    return {"pairs": frames[0], "by_eval": frames[1], "figures": _figures(compared)}


def _grouped(keyed: Iterable[tuple[Hashable, T]]) -> list[list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for key, one in keyed:
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _pair(own: Sequence[PairAnswer]) -> dict[str, Any]:
    """A row of `pairs`."""
    pair = own[0].pair
    answers: Orders = (Counter(), Counter())
    for one in own:
        if one.comparison is not None:
            answers[one.swapped][one.comparison.winner] += 1
    forth, back = map(said, answers)
    winner = settled(answers)
    again = [seen for seen in answers if seen.total() > 1]
    consistent = (forth, back) in {(FIRST, LAST), (LAST, FIRST), (TIE, TIE)}
    turned = {FIRST: LAST, LAST: FIRST, TIE: TIE}
    return {
        **{name: getattr(pair.a.ref, name) for name in (*EVAL, "run_number")},
        "pair": pair.key,
        "run_a": pair.a.within,
        "run_b": pair.b.within,
        "winner": winner and WHO[winner],
        "a_first": forth and WHO[forth],
        "b_first": back and WHO[turned[back]],
        "consistent": None if winner is None else consistent,
        "repeated_same": len(again[0]) == 1 if again else None,
        "n_comparisons": sum(seen.total() for seen in answers),
        "reasons": [
            f"({'b is A, a is B' if one.swapped else 'a is A, b is B'}) {one.comparison.reasoning}"
            for one in own
            if one.comparison is not None
        ],
    }


def _eval(own: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row of `by_eval`."""
    winners = [one["winner"] for one in own if one["winner"] is not None]
    counts = Counter(winners)
    letters = {who: letter for letter, who in WHO.items()}
    return {
        **{name: own[0][name] for name in EVAL},
        "n_pairs": len(own),
        "n_settled": len(winners),
        "wins": counts["a"],
        "losses": counts["b"],
        "ties": counts[TIE],
        "winner": WHO[majority(letters[winner] for winner in winners)] if winners else None,
    }


def _figures(compared: Iterable[PairAnswer]) -> Mapping[str, Any]:
    import polars as pl

    rows = []
    for one in compared:
        if one.comparison is not None:
            workspace, key = one.pair.place
            first, second = ("b", "a") if one.swapped else ("a", "b")
            names = f"{workspace}\n{one.pair.a.ref.eval_id}", f"{workspace}\n{key}"
            rows.append((*names, first, second, one.comparison.winner))
    columns = ("eval", "pair", "first", "second", "winner")
    schema: dict[str, Any] = dict.fromkeys(columns, pl.String)
    table = pl.DataFrame(rows, schema, orient="row").select("eval", *PLAIN)
    found = preference(table).to_dicts()
    return found[0] if found else {}


def _found_out(row: Mapping[str, Any], pairs: int) -> str:
    """That the comparator goes by the place, not by the works; empty where it does not."""
    from scipy.stats import binomtest

    primacy, recency = row["primacy"], row["recency"]
    changed = primacy + recency
    if 2 * changed <= pairs or binomtest(primacy, changed).pvalue > 1 - LEVEL:
        return ""
    place, times = ("first", primacy) if primacy > recency else ("last", recency)
    return (
        f"No winner: the comparator was found out. It preferred what it saw {place} in {times} of "
        f"{count(pairs, 'pair')} (preference fairness {signed(row['preference_fairness'])}, "
        f"position consistency {row['position_consistency']:.2f}). Choose another comparator."
    )


def _beyond(row: Mapping[str, Any], a_wins: bool) -> str:
    """What holds for tasks like these."""
    p, ahead = row["eval_p"], row["eval_wins"] > row["eval_losses"]
    if p is not None and p <= 1 - LEVEL and ahead is a_wins:
        return f"It holds for tasks like these, too (over evals, exact p {chance(p)})."
    decided = row["eval_wins"] + row["eval_losses"]
    if decided < FEWEST_EVALS:
        few = f"{decided} of the evals were decided, and {FEWEST_EVALS} would be needed at least"
        return f"Beyond these evals nothing can be claimed: {few}."
    p = chance(row["eval_p"])
    return f"Whether it holds for tasks like these is open (over evals, exact p {p})."


def _unsteady(row: Mapping[str, Any]) -> str:
    """What to bear in mind of the comparator; "" where there is nothing."""
    doubts = []
    stability, consistency = row["repetition_stability"], row["position_consistency"]
    if stability is not None and stability < STABLE:
        doubts.append(f"asked the same twice, its stability is {stability:.2f}")
    if consistency < STABLE:
        doubts.append(f"asked in both orders, its consistency is {consistency:.2f}")
    return f" The comparator is unsteady: {'; '.join(doubts)}." if doubts else ""
