"""Which description is chosen: the held-out score decides, as far as it can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .scoring import Asked

LEVEL = 0.125
"""The largest p with which a description takes another's place. Three queries that go one way
and none the other just reach it. A wrong step costs little: it is taken between two that are
about as good.
"""
SURE = 0.05
"""The largest p, shared among all descriptions that are compared, with which one is called better;
with a larger one it seems so.
"""


@dataclass(frozen=True, slots=True)
class Round:
    """A description that was measured, before anything is said about it.

    Attributes:
        number: 1 for the present description, then 2, 3, …
        description: the words.
        asked: each query as it went.
        whole: whether all its runs were made; others cannot be chosen.
    """

    number: int
    description: str
    asked: tuple[Asked, ...]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Paired:
    """A description against an earlier one, over the same held-out queries.

    Attributes:
        before: the mean share of right runs of the earlier one, 0-1.
        after: that of the later one.
        n: queries that both have runs of.
        p: the chance of a lead like the later one's, or a larger, if the sides of each query
            could as well have been the other way round; exact; None where it does not lead.
    """

    before: float
    after: float
    n: int
    p: float | None

    @property
    def told_apart(self) -> bool:
        """Whether the later one takes the earlier one's place."""
        return self.p is not None and self.p <= LEVEL


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen description, and why, in words."""

    round: Round
    why: str


def choose(rounds: Sequence[Round]) -> Choice:
    """Choose among descriptions, by the held-out queries alone.

    They are taken in order, the present one first. A later one takes its place where it does
    better than chance explains. Where the two cannot be told apart the earlier one stays, but
    for a later one that is shorter and scores no lower.

    Args:
        rounds: the first is the present description, and is kept where no other is whole.
    """
    held = rounds[0]
    told = []
    for one in rounds[1:]:
        pair = paired(held, one)
        if not one.whole:
            told.append(f"{_name(one)} was not finished, so it cannot be chosen.")
        elif pair is None:
            told.append(f"{_name(one)} has no held-out query to be compared by.")
        else:
            held, words = _compared(held, one, pair, SURE / (len(rounds) - 1))
            told.append(words)
    first = "is chosen" if held is not rounds[0] else "is kept"
    every = [f"{_name(held)} {first}.", *told]
    return Choice(held, " ".join(f"{one[0].upper()}{one[1:]}" for one in every))


def _compared(held: Round, one: Round, pair: Paired, sure: float) -> tuple[Round, str]:
    """Which of two stays, and why; `sure` is the largest p that shows a difference."""
    chance = "" if pair.p is None else f" (exact one-sided p = {pair.p:.2g})"
    against = (
        f"{pair.after:.0%} right on {pair.n} held-out queries against {pair.before:.0%}{chance}"
    )
    if pair.p is not None and pair.p <= sure:
        return one, f"{_name(one)} is better than {_name(held)}: {against}."
    if pair.told_apart:
        return one, f"{_name(one)} seems better than {_name(held)}: {against}, which may be chance."
    if pair.after < pair.before:
        return held, f"{_name(one)} scores lower than {_name(held)}: {against}."
    shorter = len(one.description) < len(held.description)
    kept = "shorter" if shorter else "earlier"
    words = (
        f"{_name(one)} and {_name(held)} cannot be told apart: {against}, so the {kept} one is "
        "kept."
    )
    return one if shorter else held, words


def paired(before: Round, after: Round) -> Paired | None:
    """Compare two descriptions query by query; None where they share no query with runs.

    The test is the exact permutation test with one value a query and side, the share of right
    runs: it flips the sign of each query's difference. What it says holds for queries like
    these, not for these alone.
    """
    from skill_eval_nb.stats.inference.exact import exact_p

    shares = {one.query: one.share for one in before.asked if one.query.split == "test"}
    both = [
        (one.share, known)
        for one in after.asked
        if one.share is not None and (known := shares.get(one.query)) is not None
    ]
    if not both:
        return None
    later, earlier = (sum(side) / len(both) for side in zip(*both, strict=True))
    leads = later > earlier + 1e-9
    p = exact_p([([one], [other]) for one, other in both]) / 2 if leads else None
    return Paired(earlier, later, len(both), p)


def _name(one: Round) -> str:
    return "the present description" if one.number == 1 else f"round {one.number}"
