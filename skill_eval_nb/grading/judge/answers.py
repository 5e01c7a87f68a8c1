"""A judge's answer, looked through before any of it counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any


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


class BadAnswer(ValueError):
    """The answer cannot be used; `faults` says everything that is wrong with it."""

    def __init__(self, faults: Sequence[str]) -> None:
        """Keep all faults: the judge is told of all of them at once."""
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


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

    >>> said = {"expectations": [], "dimensions": [{"name": "depth", "score": 4, "evidence": ""}],
    ...         "claims": [], "user_notes": {name: [] for name in _NOTES},
    ...         "eval_feedback": {"suggestions": [], "overall": ""}}
    >>> read_answer(json.dumps(said), [], ["depth"])
    Traceback (most recent call last):
    skill_eval_nb...BadAnswer: dimension `depth` has no evidence
    """
    raw = _parsed(text)
    look = _Look()
    parts = look.fields(raw, _PARTS, "the answer")
    verdicts: dict[str, Verdict] = {}
    for name, one in look.named(parts["expectations"], "expectation", "id", list(expectations)):
        passed = one.get("passed")
        if not isinstance(passed, bool):
            look.wrong(f"expectation `{name}`: `passed` is {_short(passed)}, not true or false")
        verdicts[name] = Verdict(passed is True, look.evidence(one, f"expectation `{name}`"))
    scores: dict[str, Scored] = {}
    for name, one in look.named(parts["dimensions"], "dimension", "name", list(dimensions)):
        score = one.get("score")
        if type(score) is not int or not 1 <= score <= 5:
            look.wrong(
                f"dimension `{name}`: the score is {_short(score)}, not a whole number from 1 to 5"
            )
            score = 0
        scores[name] = Scored(score, look.evidence(one, f"dimension `{name}`"))
    claims = tuple(look.claims(parts["claims"]))
    notes = look.notes(parts["user_notes"])
    suggestions, overall = look.feedback(parts["eval_feedback"])
    if look.faults:
        raise BadAnswer(look.faults)
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


def _parsed(text: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            raise BadAnswer(["the answer has the same key twice in one object"])
        return found

    def constant(name: str) -> Any:
        raise BadAnswer([f"the answer has {name} in it, which is no JSON"])

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except BadAnswer:
        raise
    except RecursionError:
        raise BadAnswer(["the answer is nested too deeply"]) from None
    except ValueError as error:  # also whole numbers of thousands of digits
        raise BadAnswer([f"the answer is no JSON ({error})"]) from None


class _Look:
    """Looks through the parts of an answer and collects what is wrong."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def wrong(self, fault: str) -> None:
        self.faults.append(fault)

    def fields(self, value: Any, names: Collection[str], where: str) -> dict[str, Any]:
        """An object with these fields; what is missing becomes None and a fault."""
        if not isinstance(value, dict):
            self.wrong(f"{where} is {_short(value)}, not an object")
            return dict.fromkeys(names)
        missing = [name for name in names if name not in value]
        if missing:
            self.wrong(f"{where} lacks {', '.join(missing)}")
        return {name: value.get(name) for name in names}

    def objects(self, value: Any, where: str) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.wrong(f"`{where}` is no list of objects")
            return []
        return value

    def named(
        self, value: Any, what: str, field: str, wanted: list[str]
    ) -> list[tuple[str, dict[str, Any]]]:
        """The objects by their names, which must be the wanted ones, each exactly once."""
        plain = {_plain(name): name for name in wanted}
        found: dict[str, dict[str, Any]] = {}
        for one in self.objects(value, f"{what}s"):
            given = one.get(field)
            name = plain.get(_plain(given)) if isinstance(given, str) else None
            if name is None:
                self.wrong(f"there is no {what} {_short(given)}; leave it out")
            elif name in found:
                self.wrong(f"{what} `{name}` is there twice")
            else:
                found[name] = one
        missing = [name for name in wanted if name not in found]
        if missing:
            self.wrong(f"{what}s not answered: {', '.join(missing)}")
        return list(found.items())

    def evidence(self, one: dict[str, Any], where: str) -> str:
        text = one.get("evidence")
        if not isinstance(text, str) or not any(map(str.isalnum, text)):
            self.wrong(f"{where} has no evidence")
            return ""
        return text

    def text(self, one: dict[str, Any], name: str, where: str) -> str:
        value = one.get(name)
        if not isinstance(value, str):
            self.wrong(f"{where}: `{name}` is {_short(value)}, not a text")
            return ""
        return value

    def texts(self, value: Any, where: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.wrong(f"`{where}` is no list of texts")
            return []
        return [one for one in value if one.strip()]

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
                self.wrong(f"a suggestion's `assertion` is {_short(about)}, not a text or null")
                about = None
            suggestions.append(
                {"assertion": about or None, "reason": self.text(one, "reason", "a suggestion")}
            )
        overall = parts["overall"]
        if overall is not None and not isinstance(overall, str):
            self.wrong(f"`eval_feedback.overall` is {_short(overall)}, not a text")
            overall = None
        return suggestions, overall or None


def _plain(name: str) -> str:
    """A name as it stands on one line."""
    return " ".join(name.split())


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
