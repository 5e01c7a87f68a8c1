"""A comparator's answer, looked through before any of it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from skill_eval_nb.grading.judge.answers import Scored, Verdict
from skill_eval_nb.models.looking import Look, short

_PARTS = "expectations scores quality_a quality_b key_differentiators reasoning winner".split()
_WINNERS = ("A", "B", "tie")


@dataclass(frozen=True, slots=True)
class Side:
    """What is said of one work.

    Attributes:
        expectations: in the order that they were asked for.
        scores: of the criteria, 1 to 5, in the order that they were asked for.
        quality: 1 to 10.
        strengths: what is good.
        weaknesses: what is not.
    """

    expectations: tuple[Verdict, ...]
    scores: tuple[Scored, ...]
    quality: int
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole and sound answer."""

    winner: str
    reasoning: str
    key_differentiators: tuple[str, ...]
    sides: dict[str, Side]


def read_answer(raw: Any, n_expectations: int, n_criteria: int) -> Answer:
    """Read a comparator's answer against what it was asked for.

    Args:
        raw: the answer's JSON, of the form `SCHEMA`.
        n_expectations: how many were asked for, as E1, E2, ….
        n_criteria: how many were asked for, as C1, C2, ….

    Raises:
        BadAnswer: it is not of that form; or an expectation or criterion is missing, there
            twice, or was never asked for; or a score is out of its range; or something has no
            evidence; or the winner is the side that is scored lower, both by the criteria and
            as a whole.
    """
    look = _Look()
    parts = look.fields(raw, _PARTS, "the answer")
    verdicts = look.by_side(parts["expectations"], "expectation", _ids("E", n_expectations))
    scores = look.by_side(parts["scores"], "score", _ids("C", n_criteria))
    winner = look.choice(parts, "winner", _WINNERS, "the answer")
    reasoning = look.telling(parts, "reasoning", "the answer")
    differences = look.texts(parts["key_differentiators"], "key_differentiators")
    sides = {
        side: Side(verdicts[side], scores[side], *look.quality(parts, side.lower()))
        for side in ("A", "B")
    }
    look.done()
    if winner != "tie":
        _look_at_winner(look, winner, sides)
    look.done()
    return Answer(winner, reasoning, tuple(differences), sides)


def _ids(letter: str, count: int) -> list[str]:
    return [f"{letter}{n}" for n in range(1, count + 1)]


def _look_at_winner(look: Look, winner: str, sides: dict[str, Side]) -> None:
    won, lost = sides[winner], sides["B" if winner == "A" else "A"]
    by_scores = _mean(won.scores) < _mean(lost.scores)
    if by_scores and won.quality < lost.quality:
        look.wrong(f"the winner is {winner}, which is scored lower by the criteria and as a whole")


def _mean(scores: Sequence[Scored]) -> float:
    return fmean(one.score for one in scores)


class _Look(Look):
    """Looks through what a comparator alone answers."""

    def by_side(self, value: Any, what: str, wanted: list[str]) -> dict[str, tuple[Any, ...]]:
        """Expectations or scores of both sides, in the order that they were asked for."""
        found = dict(self.named(value, what, "id", wanted))
        read = self._verdict if what == "expectation" else self._score
        return {
            side: tuple(
                read(found[name], side.lower(), f"{what} `{name}`, {side}")
                for name in wanted
                if name in found
            )
            for side in ("A", "B")
        }

    def quality(
        self, parts: dict[str, Any], side: str
    ) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
        name = f"quality_{side}"
        given = self.fields(parts[name], ("strengths", "weaknesses", "score"), f"`{name}`")
        lists = [
            tuple(self.texts(given[one] or [], f"{name}.{one}"))
            for one in ("strengths", "weaknesses")
        ]
        return self._whole(given["score"], 10, f"`{name}`"), lists[0], lists[1]

    def _verdict(self, one: dict[str, Any], side: str, where: str) -> Verdict:
        passed = one.get(f"passed_{side}")
        if not isinstance(passed, bool):
            self.wrong(f"{where}: `passed_{side}` is {short(passed)}, not true or false")
        return Verdict(passed is True, self.telling(one, f"evidence_{side}", where))

    def _score(self, one: dict[str, Any], side: str, where: str) -> Scored:
        score = self._whole(one.get(f"score_{side}"), 5, where)
        return Scored(score, self.telling(one, f"evidence_{side}", where))

    def _whole(self, value: Any, highest: int, where: str) -> int:
        if type(value) is not int or not 1 <= value <= highest:
            self.wrong(
                f"{where}: the score is {short(value)}, not a whole number from 1 to {highest}"
            )
            return 1
        return value
