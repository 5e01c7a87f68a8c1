"""An analyst's answer, looked through before any of it counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.models.looking import Look, short

from .schema import CATEGORIES, PRIORITIES

_PARTS = (
    "transcript_insights",
    "instruction_following",
    "winner_strengths",
    "loser_weaknesses",
    "improvement_suggestions",
)
SIDES = ("winner", "loser")


@dataclass(frozen=True, slots=True)
class Followed:
    """How well one side followed its skill: 1 to 10, and where it did not."""

    score: int
    issues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggested:
    """A change to a skill."""

    suggestion: str
    category: str
    priority: str
    expected_impact: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole and sound answer; `following` and `patterns` by `winner` and `loser`."""

    following: dict[str, Followed]
    patterns: dict[str, str]
    winner_strengths: tuple[str, ...]
    loser_weaknesses: tuple[str, ...]
    suggestions: tuple[Suggested, ...]


def read_answer(raw: Any) -> Answer:
    """Read an analyst's answer.

    Args:
        raw: the answer's JSON, of the form `SCHEMA`.

    Raises:
        BadAnswer: it is not of that form; or it says neither what the winner did well nor
            what the loser did badly; or a score is no whole number from 1 to 10; or a
            suggestion has no text, no expected impact, or a priority or category that is none.
    """
    look = _Look()
    parts = look.fields(raw, _PARTS, "the answer")
    where, names = "`transcript_insights`", {side: f"{side}_execution_pattern" for side in SIDES}
    patterns = look.fields(parts["transcript_insights"], names.values(), where)
    told = {side: look.telling(patterns, name, where) for side, name in names.items()}
    given = look.fields(parts["instruction_following"], SIDES, "`instruction_following`")
    following = {side: look.followed(given[side], side) for side in SIDES}
    strengths = look.texts(parts["winner_strengths"], "winner_strengths")
    weaknesses = look.texts(parts["loser_weaknesses"], "loser_weaknesses")
    if not strengths and not weaknesses:
        look.wrong("nothing is said of why the winner won: neither strengths nor weaknesses")
    suggestions = tuple(look.suggestions(parts["improvement_suggestions"]))
    look.done()
    return Answer(following, told, tuple(strengths), tuple(weaknesses), suggestions)


class _Look(Look):
    """Looks through what an analyst alone answers."""

    def followed(self, value: Any, side: str) -> Followed:
        where = f"`instruction_following.{side}`"
        one = self.fields(value, ("issues", "score"), where)
        score = one["score"]
        if type(score) is not int or not 1 <= score <= 10:
            self.wrong(f"{where}: the score is {short(score)}, not a whole number from 1 to 10")
            score = 1
        issues = self.texts(one["issues"] or [], f"instruction_following.{side}.issues")
        return Followed(score, tuple(issues))

    def suggestions(self, value: Any) -> Iterator[Suggested]:
        for number, one in enumerate(self.objects(value, "improvement_suggestions"), 1):
            where = f"suggestion {number}"
            yield Suggested(
                suggestion=self.telling(one, "suggestion", where),
                category=self.choice(one, "category", CATEGORIES, where),
                priority=self.choice(one, "priority", PRIORITIES, where),
                expected_impact=self.telling(one, "expected_impact", where),
            )
