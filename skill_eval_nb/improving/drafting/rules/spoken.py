"""Structural expectations out of the very words of a suggestion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...values import Draft, Suggestion
from ..checks import Check, form
from ..evidence import Seen
from ..keys import made
from ..literals import Literal, literals
from ..mining import common_glob
from ..saying import runs_of, sentences, suggested

_FILES = re.compile(
    r"\b(at least|at most|no more than|no fewer than|exactly)?\s*"
    r"(\d+|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:[\w`*.\"'-]+\s+){0,2}files?\b",
    re.IGNORECASE,
)
_NUMBERS: dict[str, int] = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
)
_OPERATORS = {"at least": ">=", "no fewer than": ">=", "at most": "<=", "no more than": "<="}
_IS_THERE = re.compile(
    r"\b(?:exist|written|write|creat|produc|generat|saved?\b|present|is (?:there|missing))",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\bcustom_script\b|\b(?:executes?|executed|compil\w*)\b|"
    r"\b(?:can be|is|are|be) (?:run|imported)\b|"
    r"\b(?:tests?|code|script|program|it) (?:really )?(?:runs?|pass(?:es)?) "
    r"(?:through|clean\w*|without)|"
    r"\b(?:run|running|import) the\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\b(?:or|either)\b", re.IGNORECASE)
_ADDS = re.compile(r"\b(?:add|also|in addition|besides|missing|beside)\b", re.IGNORECASE)


def spoken(seen: Seen) -> Iterator[Draft]:
    """A check for each thing that a suggestion names as wanted, one for all that is unwanted.

    What several suggestions ask for is one draft, for the evals of all of them.
    """
    together: dict[str, _Asked] = {}
    for one in seen.found.suggestions:
        check = _about(seen, one)
        about = one.evals if check is None else check.evals
        evals = tuple(name for name in seen.suite if name in about)
        if not evals:
            continue
        for item in _items(one, check, common_glob(seen, evals)):
            target = check if check is not None and _is_replaced(one, check, item) else None
            key = json.dumps([target and target.target, target and form(target.definition), item])
            asked = together.setdefault(key, _Asked(target, item, [], []))
            asked.evals.extend(evals)
            asked.suggestions.append(one)
    for asked in together.values():
        yield _draft(seen, asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A check that suggestions ask for, and the one that it replaces."""

    target: Check | None
    item: dict[str, Any]
    evals: list[str]
    suggestions: list[Suggestion]


def looks_for_running(said: str) -> bool:
    """Whether a text asks that what the outputs hold be run, which a script alone can show."""
    return bool(_RUNS.search(said))


def _about(seen: Seen, one: Suggestion) -> Check | None:
    """The check that a suggestion is about."""
    return next((check for check in seen.checks if one in seen.about(check)), None)


def _items(one: Suggestion, check: Check | None, usual: str | None) -> Iterator[dict[str, Any]]:
    said = one.action or one.reason
    named = [literal for literal in literals(said) if not _is_known(literal, check)]
    if not named and one.action:
        said = one.reason
        named = [literal for literal in literals(said) if not _is_known(literal, check)]
    files = [literal for literal in named if literal.is_file]
    texts = [literal for literal in named if not literal.is_file]
    about = getattr(check.definition, "pattern", None) if check is not None else None
    pattern = files[0].text if files else about or usual
    where = {"pattern": pattern} if pattern else {}
    count = _FILES.search(said)
    if files and count:
        yield {"type": "file_count", **where, **_counted(count)}
    elif files and not texts and _IS_THERE.search(said):
        for file in files:
            none = {"type": "file_count", "pattern": file.text, "count": 0, "operator": "=="}
            yield {"type": "file_exists", "pattern": file.text} if file.wanted else none
    wanted = [literal.text for literal in texts if literal.wanted]
    either = len(wanted) > 1 and _OR.search(said)
    for group in [wanted] if either else [[one] for one in wanted]:
        yield {"type": "file_contains", **where, **_sought(group)}
    if unwanted := [literal.text for literal in texts if not literal.wanted]:
        yield {"type": "file_not_contains", **where, **_sought(unwanted)}
    if not named and looks_for_running(said):
        yield {"type": "custom_script"}


def _sought(texts: list[str]) -> dict[str, Any]:
    """What to look for: the one text, or any of several."""
    return {"match": texts[0]} if len(texts) == 1 else {"match_any": texts}


def _is_known(literal: Literal, check: Check | None) -> bool:
    """Whether the check that a suggestion is about looks for just that already."""
    if check is None:
        return False
    own = check.definition
    looked_for = [check.target, check.text, *(getattr(own, "match_any", None) or ())]
    looked_for += [getattr(own, name, None) or "" for name in ("match", "pattern", "match_regex")]
    return literal.text in looked_for


def _counted(found: re.Match[str]) -> dict[str, Any]:
    number = found[2].casefold()
    return {
        "count": _NUMBERS.get(number) or int(number),
        "operator": _OPERATORS.get((found[1] or "").casefold(), "=="),
    }


def _is_replaced(one: Suggestion, check: Check, item: Mapping[str, Any]) -> bool:
    """Whether a check is to come in the place of the one that a suggestion is about."""
    return (
        check.structural
        and not check.critical
        and item["type"] != "custom_script"
        and not _ADDS.search(one.action or one.reason)
    )


def _draft(seen: Seen, asked: _Asked) -> Draft:
    item, suggestions = asked.item, asked.suggestions
    if item["type"] == "custom_script":
        what = "Runs what the outputs hold"
        note = "No text shows that: the script that tries it is still to be written."
    else:
        what = _described(item)
        note = "The check looks for the words that are named there."
    actions = [one.action for one in suggestions if one.action and one.action not in one.reason]
    return made(
        "add" if asked.target is None else "sharpen",
        "structural_expectations",
        [name for name in seen.suite if name in asked.evals],
        None if asked.target is None else asked.target.target,
        [{"type": item["type"], "description": what, **item, "critical": False}],
        sentences(suggested(suggestions), *(f"To do: {one}" for one in actions), note),
        runs=runs_of([], suggestions),
        suggestions=[one.key for one in suggestions],
    )


def _described(item: dict[str, Any]) -> str:
    pattern = item.get("pattern")
    files = f"file {pattern}" if pattern else "output file"
    looked_for = item.get("match") or " or ".join(item.get("match_any", ()))
    match item["type"]:
        case "file_exists":
            return f"There is a file {pattern}"
        case "file_count":
            if not item["count"]:
                return f"There is no file {pattern}"
            words = {">=": "at least", "<=": "at most", "==": "exactly"}[item["operator"]]
            return f"There are {words} {item['count']} files {pattern}"
        case "file_not_contains":
            return f"No {files} holds “{looked_for}”"
    return f"A {files} holds “{looked_for}”" if pattern else f"An {files} holds “{looked_for}”"
