"""A judge's answer, looked through before any of it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from skill_eval_nb.models.looking import Look, parsed, short


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one expectation is met, and what that rests on."""

    passed: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of one dimension, 1 to 5, and what it rests on."""

    score: int
    evidence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole and sound answer: every expectation by its id, every dimension by its name."""

    expectations: dict[str, Verdict]
    dimensions: dict[str, Scored]
    claims: tuple[dict[str, Any], ...] = ()
    user_notes: dict[str, list[str]] | None = None
    suggestions: tuple[dict[str, Any], ...] = ()
    overall: str | None = None


_PARTS = ("expectations", "dimensions", "claims", "user_notes", "eval_feedback")
_NOTES = ("uncertainties", "needs_review", "workarounds")


def read_answer(text: str, expectations: Iterable[str], dimensions: Iterable[str]) -> Answer:
    """Read a judge's answer against what it was asked for.

    Args:
        text: the answer, JSON of the form `SCHEMA`.
        expectations: the ids that were asked for.
        dimensions: the names that were asked for.

    Raises:
        BadAnswer: it is no JSON of that form; or an expectation or dimension is missing, there
            twice, or was never asked for; or a score is no whole number from 1 to 5; or a
            score or verdict has no evidence.

    >>> import json
    >>> said = {"expectations": [], "dimensions": [{"name": "depth", "score": 4, "evidence": ""}],
    ...         "claims": [], "user_notes": {name: [] for name in _NOTES},
    ...         "eval_feedback": {"suggestions": [], "overall": ""}}
    >>> read_answer(json.dumps(said), [], ["depth"])
    Traceback (most recent call last):
    skill_eval_nb...BadAnswer: dimension `depth` has no evidence
    """
    raw = parsed(text)
    look = _Look()
    parts = look.fields(raw, _PARTS, "the answer")
    verdicts: dict[str, Verdict] = {}
    for name, one in look.named(parts["expectations"], "expectation", "id", list(expectations)):
        passed = one.get("passed")
        if not isinstance(passed, bool):
            look.wrong(f"expectation `{name}`: `passed` is {short(passed)}, not true or false")
        verdicts[name] = Verdict(
            passed is True, look.telling(one, "evidence", f"expectation `{name}`")
        )
    scores: dict[str, Scored] = {}
    for name, one in look.named(parts["dimensions"], "dimension", "name", list(dimensions)):
        score = one.get("score")
        if type(score) is not int or not 1 <= score <= 5:
            look.wrong(
                f"dimension `{name}`: the score is {short(score)}, not a whole number from 1 to 5"
            )
            score = 0
        scores[name] = Scored(score, look.telling(one, "evidence", f"dimension `{name}`"))
    claims = tuple(look.claims(parts["claims"]))
    notes = look.notes(parts["user_notes"])
    suggestions, overall = look.feedback(parts["eval_feedback"])
    look.done()
    return Answer(verdicts, scores, claims, notes, tuple(suggestions), overall)


def in_all_texts(value: Any, change: Callable[[str], str]) -> Any:
    """An answer, or any part of one, with all its texts changed; ids and names stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: in_all_texts(one, change) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(in_all_texts(one, change) for one in value)
    if isinstance(value, (Answer, Verdict, Scored)):
        parts = {one.name: getattr(value, one.name) for one in fields(value)}
        return replace(value, **in_all_texts(parts, change))
    return value


class _Look(Look):
    """Looks through what a judge alone answers."""

    def claims(self, value: Any) -> Iterable[dict[str, Any]]:
        for one in self.objects(value, "claims"):
            if not isinstance(one.get("verified"), bool):
                self.wrong("a claim's `verified` is not true or false")
            yield {
                **{name: self.text(one, name, "a claim") for name in ("claim", "type", "evidence")},
                "verified": one.get("verified"),
            }

    def notes(self, value: Any) -> dict[str, list[str]]:
        parts = self.fields(value, _NOTES, "`user_notes`")
        return {name: self.texts(parts[name] or [], f"user_notes.{name}") for name in _NOTES}

    def feedback(self, value: Any) -> tuple[list[dict[str, Any]], str | None]:
        parts = self.fields(value, ("suggestions", "overall"), "`eval_feedback`")
        suggestions = []
        for one in self.objects(parts["suggestions"], "eval_feedback.suggestions"):
            about = one.get("assertion")
            if about is not None and not isinstance(about, str):
                self.wrong(f"a suggestion's `assertion` is {short(about)}, not a text or null")
                about = None
            suggestions.append(
                {"assertion": about or None, "reason": self.text(one, "reason", "a suggestion")}
            )
        overall = parts["overall"]
        if overall is not None and not isinstance(overall, str):
            self.wrong(f"`eval_feedback.overall` is {short(overall)}, not a text")
            overall = None
        return suggestions, overall or None
