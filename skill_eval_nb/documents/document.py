"""The base of every document, and the words in which its fields are declared.

A field says its meaning, its unit and the other names under which it is met in the
wild in one place, and everything else (decoding, repairing, JSON Schema) reads it there::

    class Timing(Document):
        total_tokens: Annotated[int | None, says("tokens of the run", also=("tokens",))] = None

A document that was read from raw JSON remembers the object it came from, so that
`dump` can give back every field that we do not know, in the order it had.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar

import msgspec


class Document(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """Base of all documents: a struct that forgets nothing of the JSON it was read from.

    Decoding straight into it is strict: it takes what the documents describe and nothing
    else. Whatever the strict decoder refuses goes through `mend`, which takes all that
    has a clear meaning.

    `plain` names the field that a bare value stands for, where people write
    ``"text"`` instead of ``{"text": "text"}``.
    """

    plain: ClassVar[str | None] = None


def says(
    meaning: str,
    *,
    also: tuple[str, ...] = (),
    unit: str | None = None,
    inline: bool = False,
) -> msgspec.Meta:
    """Declare what a field means.

    Args:
        meaning: one line; it becomes the field's description in the JSON Schema.
        also: other names under which people write this field, best first.
        unit: `rate`, `seconds`, `milliseconds`, `usd`, `tokens`, … where it has one; `id` for
            a number that is a name: outside of its limits it is still of use.
        inline: the field's own fields may stand directly in the object that should hold it.
    """
    extra = {
        key: value for key, value in (("also", also), ("unit", unit), ("inline", inline)) if value
    }
    return msgspec.Meta(description=meaning, extra=extra or None)


Rate = Annotated[float, msgspec.Meta(ge=0, le=1, extra={"unit": "rate"})]
"""A share between 0 and 1; percentages are repaired into it."""

MOST = 2**53
"""The largest whole number that every JSON reader keeps exactly."""

Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
"""A number of things: a whole number, not below 0."""

Seconds = Annotated[float, msgspec.Meta(ge=0, extra={"unit": "seconds"})]
"""A length of time in seconds."""

Amount = Annotated[float, msgspec.Meta(ge=0)]
"""A number that is not below 0: milliseconds, dollars, weights."""

Score = Annotated[float, msgspec.Meta(ge=1, le=5)]
"""A rubric score, 1 (poor) to 5 (excellent)."""


class Origin:
    """Where a document came from: its raw JSON value and what became of it.

    `keys` maps each raw key that we know to its field, `converted` holds, for the fields
    whose value had to be converted, the field's value as `dump` gave it then, and
    `unwritten` the same for fields that have a value but no key of their own: they were
    missing, or their own fields stood directly in the object.
    """

    __slots__ = ("converted", "keys", "raw", "unwritten")

    def __init__(
        self, raw: Any, keys: dict[str, str], converted: dict[str, Any], unwritten: dict[str, Any]
    ) -> None:
        self.raw = raw
        self.keys = keys
        self.converted = converted
        self.unwritten = unwritten


def attach(document: Document, name: str, value: Any) -> None:
    """Keep something beside a document's fields; it is not written to files."""
    vars(document)[name] = value


def remember(document: Document, origin: Origin) -> None:
    """Attach to `document` where it came from."""
    attach(document, "origin", origin)


def origin_of(document: Document) -> Origin | None:
    """Where `document` came from, if it was read and not made."""
    return vars(document).get("origin")


def dump(value: Any) -> Any:
    """Turn a document (or a list or dict of them) into plain JSON values.

    Fields that were read keep their place, the name they had, and (while nobody changes
    them) the way they were written; fields we do not know are given back untouched; new
    fields follow; a field at its default that was not there before stays away.

    >>> from skill_eval_nb.documents import Timing, mend
    >>> timing, faults = mend({"note": "by hand", "tokens": "7"}, Timing)
    >>> timing.total_tokens, timing.total_duration_seconds
    (7, None)
    >>> timing.total_duration_seconds = 1.5
    >>> dump(timing)
    {'note': 'by hand', 'tokens': '7', 'total_duration_seconds': 1.5}
    """
    if isinstance(value, Document):
        return _dump_document(value)
    if isinstance(value, list):
        return [dump(item) for item in value]
    if isinstance(value, dict):
        return {key: dump(item) for key, item in value.items()}
    return value


def _dump_document(document: Document) -> Any:
    origin = origin_of(document)
    out: dict[str, Any] = {}
    for field in fields_of(type(document)):
        value = getattr(document, field.name)
        if not _at_default(value, field) or (origin and field.name in origin.keys.values()):
            out[field.encode_name] = dump(value)
    if origin is None:
        return out
    for name, as_read in origin.unwritten.items():
        if out.get(name) == as_read:
            out.pop(name, None)
    if not isinstance(origin.raw, dict):  # a bare value that stands for one field
        assert document.plain is not None
        plain = out.pop(document.plain, None)
        if out:
            return {document.plain: plain, **out}
        return origin.raw if plain == origin.converted.get(document.plain, origin.raw) else plain
    kept: dict[str, Any] = {}
    for key, raw in origin.raw.items():
        name = origin.keys.get(key)
        if name is None:
            kept[key] = raw
            continue
        value = out.pop(name)
        kept[key] = raw if name in origin.converted and origin.converted[name] == value else value
    return {**kept, **out}


@cache
def fields_of(document: type[Document]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a document type; working them out is slow, so it is done once."""
    return msgspec.structs.fields(document)


def _at_default(value: Any, field: msgspec.structs.FieldInfo) -> bool:
    if field.default is not msgspec.NODEFAULT:
        return value is field.default or (
            type(value) is type(field.default) and value == field.default
        )
    if field.default_factory is not msgspec.NODEFAULT:
        return value == field.default_factory()
    return False
