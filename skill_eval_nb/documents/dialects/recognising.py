"""Which dialect a document is written in."""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple

from msgspec import inspect

from ..declared import fields_of
from ..document import Document, Origin, origin_of
from ..faults import Faults
from ..tolerant import mend
from .codingbuddy import CODINGBUDDY
from .iterations import ITERATIONS
from .kinds import NEUTRAL, NoSuchDocument
from .skill_creator import SKILL_CREATOR
from .skill_evaluator import SKILL_EVALUATOR
from .testcases import TEST_CASES
from .wild import WILD, suits
from .wire import Form

DIALECTS: dict[str, dict[str, Form]] = {
    dialect.name: dialect.documents
    for dialect in (SKILL_CREATOR, SKILL_EVALUATOR, ITERATIONS, CODINGBUDDY, TEST_CASES)
}
"""The dialects and their documents. Where a file fits several equally well, the first counts."""


def form_of(kind: str, dialect: str) -> Form:
    """How `dialect` writes documents of `kind`.

    Raises:
        NoSuchDocument: there is no such kind or dialect, or the dialect has no such document.
    """
    _known(kind, "kind of document", NEUTRAL)
    _known(dialect, "dialect", DIALECTS)
    form = DIALECTS[dialect].get(kind)
    if form is None:
        having = ", ".join(name for name, forms in DIALECTS.items() if kind in forms)
        raise NoSuchDocument(
            f"`{dialect}` has no document `{kind}`; these dialects have one: {having}"
        )
    return form


def _known(name: str, what: str, known: dict[str, Any]) -> None:
    if name not in known:
        raise NoSuchDocument(f"there is no {what} `{name}`{did_you_mean(name, list(known))}")


def did_you_mean(name: str, known: list[str]) -> str:
    """The end of a message about an unknown name: the nearest known one, or all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{close[0]}`?" if close else f"; there are {', '.join(known)}"


def recognise(kind: str, raw: Any) -> str:
    """The dialect that a document is nearest to, or `wild`.

    Nearest is the one that knows some of its lists and objects, if any does; then the one with
    the fewest errors; then with the fewest things that it does not
    know or calls by another name; then the one of whose own fields the fewest are absent;
    then the first of `DIALECTS`. `wild` are home-made documents that no dialect reads
    without errors, but that still say clearly what is meant.

    >>> recognise("grading", {"expectations": [{"text": "It runs", "passed": True}]})
    'iterations'
    """
    _known(kind, "kind of document", NEUTRAL)
    seen = {name: _look(raw, forms[kind].wire) for name, forms in DIALECTS.items() if kind in forms}
    nearest = min(seen, key=lambda name: seen[name].distance)
    look = seen[nearest]
    return WILD if suits(kind, raw, look.distance[1] > 0, look.unknown) else nearest


_HOLDING = (inspect.ListType, inspect.DictType, inspect.StructType)


class _Look(NamedTuple):
    """How a document looks to a dialect.

    `distance` says whether all lists and objects are foreign to it, and counts errors, oddities
    and absent fields; `unknown` are the JSON paths of what the dialect does not know.
    """

    distance: tuple[bool, int, int, int]
    unknown: set[str]


def _look(raw: Any, wire: type[Document]) -> _Look:
    document, faults = mend(raw, wire)
    told = faults.collapsed()
    errors = sum(fault.severity == "error" for fault in told)
    marks: dict[str, set[str]] = {"known": set(), "unknown": set(), "absent": set()}
    for mark, where in walk(document, numbered=False):
        marks[mark].add(where)
    absent = marks["absent"] - marks["known"]
    odd = len(told) - errors + len(marks["unknown"])
    distance = (_is_foreign(document), errors, odd, 0 if errors else len(absent))
    return _Look(distance, marks["unknown"])


def is_foreign(kind: str, raw: Any, dialect: str) -> bool:
    """Whether a dialect knows none of the lists and objects of a document."""
    return _is_foreign(mend(raw, form_of(kind, dialect).wire)[0])


def _is_foreign(document: Document) -> bool:
    """Whether a list or object is missing, and all that are there are no fields of the type."""
    origin = origin_of(document)
    wanted = {
        field.name
        for field in fields_of(type(document)).values()
        if field.field.required and isinstance(field.kind, _HOLDING)
    }
    if origin is None or not isinstance(origin.raw, dict) or wanted <= set(origin.keys.values()):
        return False
    inside = [key for key, value in origin.raw.items() if value and isinstance(value, list | dict)]
    return bool(inside) and not origin.keys.keys() & set(inside)


def walk(value: Any, where: str = "$", *, numbered: bool = True) -> list[tuple[str, str]]:
    """Every key of a document that was read, by its JSON path, and how its type takes it.

    `known` and `unknown` are keys that are there; `absent` are fields of the type that have
    no key. Elements of lists have their numbers, or all of them `[*]`.
    """
    found: list[tuple[str, str]] = []
    _walk(value, where, numbered, found)
    return found


def _walk(value: Any, where: str, numbered: bool, found: list[tuple[str, str]]) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _walk(item, f"{where}[{index if numbered else '*'}]", numbered, found)
    elif isinstance(value, dict):
        for key, item in value.items():
            _walk(item, f"{where}.{key}", numbered, found)
    elif isinstance(value, Document) and (origin := origin_of(value)) is not None:
        _walk_document(value, origin, where, numbered, found)


def _walk_document(
    document: Document, origin: Origin, where: str, numbered: bool, found: list[tuple[str, str]]
) -> None:
    if not isinstance(origin.raw, dict):  # a bare value that stands for one field
        assert document.plain is not None
        _walk(getattr(document, document.plain), where, numbered, found)
        return
    for key in origin.raw:
        name, place = origin.keys.get(key), f"{where}.{key}"
        found.append(("unknown" if name is None else "known", place))
        if name is not None:
            _walk(getattr(document, name), place, numbered, found)
    there = set(origin.keys.values())
    found += [
        ("absent", f"{where}.{name}") for name in fields_of(type(document)) if name not in there
    ]


def documented(raw: Any, wire: type[Document]) -> tuple[set[str], Faults]:
    """The JSON paths that the dialect knows and finds nothing wrong with, and its faults."""
    document, faults = mend(raw, wire)
    wrong = {fault.where for fault in faults}
    return {where for mark, where in walk(document) if mark == "known"} - wrong, faults
