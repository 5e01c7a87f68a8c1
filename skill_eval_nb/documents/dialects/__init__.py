"""The dialects: one module each, and what reads, recognises and checks them all.

A dialect's module holds nothing but facts: the form in which it has each kind of document. What
is written is of one form alone: our own, which `canonical` gives.
"""

from __future__ import annotations

from typing import Any

from ..base import Document, Faults, at_default, origin_of, struct_fields
from ..evals import Expectation
from ..repair import find_unused, mend, not_in
from .home_made import HOME_MADE, read_home_made, suits
from .recognition import (
    DIALECTS,
    NEUTRAL,
    Distance,
    NoSuchDocument,
    distances,
    form_of,
    kind_of,
    recognise,
    walk,
)

__all__ = [
    "DIALECTS",
    "NEUTRAL",
    "Distance",
    "NoSuchDocument",
    "canonical",
    "check",
    "distances",
    "form_of",
    "kind_of",
    "read_as_shared",
    "recognise",
]


def read_as_shared(kind: str, raw: Any) -> tuple[Any, Faults]:
    """Read a plain JSON value as the shared document of its kind, whatever dialect it is of.

    A benchmark is a list of documents, one an iteration. A name by which a field is known is
    no fault; what was repaired, and what holds figures that no document has, is.
    """
    documents, faults = _read_any_dialect(kind, raw)
    return documents if kind == "benchmark" else documents[0], faults.remarkable()


def _read_any_dialect(kind: str, raw: Any) -> tuple[list[Any], Faults]:
    for form in (forms[kind] for forms in DIALECTS.values() if kind in forms):
        if form.rearrange is not None and form.fits(raw):
            wire, faults = mend(raw, form.wire)
            if not any(fault.severity == "error" for fault in faults):
                documents, found = _read_shared(kind, form.rearrange(canonical(wire)))
                faults += (fault for fault in found if fault.severity == "warning")
                not_in(raw, documents, faults)
                faults.extend(find_unused(wire))
                return documents, faults
    return _read_shared(kind, raw)


def _read_shared(kind: str, raw: Any) -> tuple[list[Any], Faults]:
    document, faults = mend(raw, NEUTRAL[kind])
    errors = any(fault.severity == "error" for fault in faults)
    unknown = {where for mark, where in walk(document) if mark == "unknown"}
    if (errors or unknown) and suits(kind, raw, errors, unknown):
        return read_home_made(kind, raw, NEUTRAL[kind])
    faults.extend(find_unused(document))
    return [document], faults


def check(kind: str, raw: Any, dialect: str | None = None) -> Faults:
    """Everything in which a document differs from what its dialect prescribes.

    >>> [fault.message for fault in check("timing", {"total_tokens": -1}, "codingbuddy")][:2]
    ['expected a whole number of at least 0, found -1', '`duration_ms` is missing']
    """
    dialect = dialect or recognise(kind, raw)
    if dialect == HOME_MADE:
        faults = read_as_shared(kind, raw)[1]
        faults.add("error", "no-dialect", "$", f"this is not the `{kind}` document of any dialect")
        return faults
    return mend(raw, form_of(kind, dialect).wire)[1]


def canonical(value: Any) -> Any:
    """A document under our own names of its fields, with what nobody knows kept beside them."""
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if not isinstance(value, Document):
        return value
    out = {
        field.encode_name: canonical(item)
        for field in struct_fields(type(value))
        if not at_default(item := getattr(value, field.name), field)
    }
    origin = origin_of(value)
    if origin is not None and isinstance(origin.raw, dict):
        unknown = origin.raw.keys() - origin.keys - out.keys()
        out |= {key: item for key, item in origin.raw.items() if key in unknown}
    return out["text"] if isinstance(value, Expectation) and out.keys() == {"text"} else out
