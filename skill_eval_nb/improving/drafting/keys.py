"""Making and editing a draft: its key, and what of it a person still has to write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..values import Draft, Kind, Part, RunRef

Item = Mapping[str, Any] | str
"""What comes into a list of a suite."""

ANCHORS = ("1", "3", "5")
"""The scores of which a rubric says what they look like."""
LOOKED_FOR = ("match", "match_any", "match_regex")


def key_of(part: Part, evals: Sequence[str], target: str | None, new: Sequence[Item]) -> str:
    """A short name of a change, the same for the same change.

    >>> key_of("expectations", ["1"], None, ["It is short"])
    'd-b04776e1'
    """
    change = [
        part,
        list(evals),
        target,
        [one if isinstance(one, str) else dict(one) for one in new],
    ]
    text = json.dumps(change, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"d-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def missing_in(part: Part, new: Sequence[Item]) -> tuple[str, ...]:
    """The fields that a person still has to write before the change can be applied.

    >>> missing_in("structural_expectations", [{"type": "file_contains", "pattern": "*.md"}])
    ('match',)
    >>> missing_in("dimensions", [{"name": "tone", "scoring": {"1": "rude", "5": "kind"}}])
    ('description', 'scoring.3')
    """
    return tuple(dict.fromkeys(name for one in new for name in _missing(part, one)))


def made(
    kind: Kind,
    part: Part,
    evals: Sequence[str],
    target: str | None,
    new: Sequence[Item],
    why: str,
    *,
    runs: Sequence[RunRef] = (),
    suggestions: Sequence[str] = (),
    found_on: Sequence[str] = (),
    by: str = "rule",
) -> Draft:
    """A draft with its key, and with what is missing in it."""
    return Draft(
        key=key_of(part, evals, target, new),
        kind=kind,
        part=part,
        evals=tuple(evals),
        target=target,
        new=tuple(new),
        why=why,
        runs=tuple(runs),
        suggestions=tuple(suggestions),
        found_on=tuple(found_on),
        missing=missing_in(part, new),
        by=by,
    )


def edited(draft: Draft, new: Sequence[Item]) -> Draft:
    """A draft with other items in the place of its own; it has a key of its own.

    What is missing is looked at again. What it rests on stays, as where it was found: an edit
    of what was seen on some evals is no less seen there.

    >>> blank = made("reword", "expectations", ["1"], "It is good", [""], "Vague.")
    >>> blank.missing, edited(blank, ["It names the author"]).missing
    (('text',), ())
    """
    key = key_of(draft.part, draft.evals, draft.target, new)
    return replace(draft, key=key, new=tuple(new), missing=missing_in(draft.part, new))


def _missing(part: Part, one: Item) -> Iterator[str]:
    match part:
        case "expectations":
            text = one if isinstance(one, str) else one.get("text")
            yield from () if _says(text) else ("text",)
        case "structural_expectations":
            yield from _missing_in_check(one)
        case "dimensions":
            yield from _unsaid(one, "name", "description")
            scoring = _field(one, "scoring") or {}
            yield from (f"scoring.{at}" for at in ANCHORS if not _says(scoring.get(at)))
        case "evals":
            yield from _unsaid(one, "prompt")


def _missing_in_check(one: Item) -> Iterator[str]:
    yield from _unsaid(one, "type")
    match _field(one, "type"):
        case "file_contains" | "file_not_contains":
            if not any(_field(one, name) for name in LOOKED_FOR):
                yield "match"
        case "file_exists":
            yield from _unsaid(one, "pattern")
        case "file_count":
            yield from _unsaid(one, "pattern")
            yield from () if _field(one, "count") is not None else ("count",)
        case "custom_script":
            yield from _unsaid(one, "script")


def _unsaid(one: Item, *names: str) -> Iterator[str]:
    return (name for name in names if not _says(_field(one, name)))


def _field(one: Item, name: str) -> Any:
    return None if isinstance(one, str) else one.get(name)


def _says(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())
