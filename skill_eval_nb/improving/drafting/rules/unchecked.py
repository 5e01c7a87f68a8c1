"""What graders miss and no text shows: a judged expectation, else a dimension to be written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...values import Draft, Part, Suggestion
from ..evidence import Seen
from ..keys import made
from ..literals import literals
from ..mining.phrases import COMMON
from ..saying import runs_of, sentences, suggested
from .splitting import is_whole
from .spoken import looks_for_running

FEWEST_SAYING = 2
"""Runs that must say the same before anything is drafted."""
LONGEST = 200
"""Characters of an expectation."""

_CHECK = r"(?:assertion|expectation|check|test)s?"
_UNCHECKED = re.compile(
    rf"no(?:thing|body|\s+(?:\w+\s+)?{_CHECK})\s+(?:\w+ly\s+)?"
    r"(?:check|verif|test|assert|ensur|validat|confirm)\w*\s+(?:(?P<that>that|whether|if)\s+)?"
    r"(?P<what>.+)",
    re.IGNORECASE,
)
_TO_ADD = re.compile(
    rf"(?:consider\s+)?add(?:ing)?(?::\s*|\s+(?:an?\s+)?(?:\w+\s+)?{_CHECK}\s+(?P<that>that)\s+)"
    r"(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_REMARK = re.compile(
    r",\s+(?:which|but|so|though|although|even|only)\b|\s[–—-]\s|;\s|[.!?](?:\s|$)"
)
_MISSES = re.compile(
    r"\b(?:no|not|nothing|nobody|none|never|missing|lacks?|add)\b|n't\b", re.IGNORECASE
)


def unchecked(seen: Seen) -> Iterator[Draft]:
    """Add what several runs miss: an expectation where they state it, a dimension elsewhere."""
    for one in seen.found.suggestions:
        if not _asks_for_judgement(one):
            continue
        evals = [eval_id for eval_id in seen.suite if eval_id in one.evals]
        text = stated(one)
        known = {each.text for name in evals for each in seen.suite[name].expectations}
        if text is not None and text not in known:
            why = sentences(suggested([one]), "It is judged, and has no verdicts yet.")
            yield _added("expectations", evals, text, why, one)
        elif text is None and _MISSES.search(one.reason):
            why = sentences(
                suggested([one]),
                "No check can count that, a judge can. What it measures and its anchors are "
                "still to be written.",
            )
            yield _added("dimensions", evals, _dimension(seen, one), why, one)


def stated(one: Suggestion) -> str | None:
    """What is to hold, in the words of a suggestion; None where it does not state it.

    What is to be added counts first, else what nothing is said to check.
    """
    action = _TO_ADD.fullmatch(one.action.strip()) if one.action else None
    if action is not None and action["that"] is None:  # an expectation as a grader wrote it
        return _sentence(action["what"])
    for found in (action, _UNCHECKED.match(one.reason.strip())):
        if found is not None:
            what = _REMARK.split(found["what"])[0]
            if found["that"] or is_whole(what):
                return _sentence(what)
    return None


def _sentence(what: str) -> str | None:
    text = " ".join(what.split()).rstrip(".!;, ")
    return f"{text[0].upper()}{text[1:]}" if text and len(text) <= LONGEST else None


def _asks_for_judgement(one: Suggestion) -> bool:
    """Whether several runs miss something that no text in the outputs shows."""
    said = f"{one.reason} {one.action or ''}"
    return (
        one.assertion is None
        and one.frequency >= FEWEST_SAYING
        and not literals(said)
        and not looks_for_running(said)
    )


def _dimension(seen: Seen, one: Suggestion) -> Mapping[str, Any]:
    """A dimension that has a name of its own, and nothing else yet."""
    taken = {dimension.name for dimension, _ in seen.dimensions()}
    words = [word for word in re.findall(r"[a-z]{4,}", one.reason.casefold()) if word not in COMMON]
    name = "_".join(words[:2]) or "new_dimension"
    while name in taken:
        name += "_too"
    return {"name": name, "description": "", "weight": 1.0, "scoring": {}}


def _added(
    part: Part, evals: list[str], new: Mapping[str, Any] | str, why: str, one: Suggestion
) -> Draft:
    runs = runs_of([], [one])
    return made("add", part, evals, None, [new], why, runs=runs, suggestions=[one.key])
