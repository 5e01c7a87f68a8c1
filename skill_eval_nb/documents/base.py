"""The base of every document: how fields are declared, what they remember, what was wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Literal, cast

import msgspec
from msgspec import inspect


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
    meaning: str, *, also: str = "", unit: str | None = None, inline: bool = False
) -> msgspec.Meta:
    """Declare what a field means.

    Args:
        meaning: one line; it becomes the field's description in the JSON Schema.
        also: other names under which people write this field, best first, with blanks between.
        unit: `rate`, `seconds`, `milliseconds`, `usd`, `tokens`, … if it has one; `id` for
            a number that is a name: outside of its limits it is still of use.
        inline: the field's own fields may stand directly in the object that should hold it.
    """
    details = {"also": also, "unit": unit, "inline": inline}
    extra = {key: value for key, value in details.items() if value}
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


@dataclass(slots=True)
class Origin:
    """Where a document came from: its raw JSON value and how it was read.

    `keys` maps each raw key that we know to its field, `converted` holds, for the fields
    whose value had to be converted, the field's value as `dump` gave it then, and
    `unwritten` the same for fields that have a value but no key of their own: they were
    missing, or their own fields stood directly in the object.
    """

    raw: Any
    keys: dict[str, str]
    converted: dict[str, Any]
    unwritten: dict[str, Any]


def attach_origin(document: Document, origin: Origin) -> None:
    """Keep beside a document's fields where it came from; it is not written to files."""
    vars(document)["origin"] = origin


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
    for field in struct_fields(type(document)):
        value = getattr(document, field.name)
        if not is_default(value, field) or (origin and field.name in origin.keys.values()):
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
def struct_fields(document: type[Document]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a document type; working them out is slow, so it is done once."""
    return msgspec.structs.fields(document)


def is_default(value: Any, field: msgspec.structs.FieldInfo) -> bool:
    """Whether a field has the value that it has if nothing is given."""
    if field.default is not msgspec.NODEFAULT:
        return type(value) is type(field.default) and bool(value == field.default)
    return field.default_factory is not msgspec.NODEFAULT and value == field.default_factory()


@cache
def struct_of(document: type[Document]) -> inspect.StructType:
    """The type of a document as msgspec describes it."""
    kind = inspect.type_info(document)
    assert isinstance(kind, inspect.StructType)
    return kind


class Declared:
    """A field as the readers need it: its type without wrappings, and its declaration.

    `takes` are the types of JSON values that it takes as they are, whatever the value; `inner`
    is its type where null is one of them.
    """

    def __init__(self, field: inspect.Field) -> None:
        extra, kind = unwrap(field.type)
        self.field = field
        self.name = field.encode_name
        self.kind = kind
        self.inner = kind
        if isinstance(kind, inspect.UnionType):
            others = [type_ for type_ in kind.types if not isinstance(type_, inspect.NoneType)]
            self.inner = others[0] if len(others) == 1 else kind
        self.takes = frozenset(_types_taken_as_is(kind))
        self.also: list[str] = extra.get("also", "").split()
        self.unit: str | None = extra.get("unit")
        self.inline: bool = extra.get("inline", False)


def _types_taken_as_is(kind: inspect.Type) -> Iterator[type]:
    """The types of values that a type takes as they are: texts, flags and null."""
    kind = unwrap(kind)[1]
    if isinstance(kind, inspect.UnionType):
        for type_ in kind.types:
            yield from _types_taken_as_is(type_)
    elif isinstance(kind, inspect.StrType) and not kind.pattern:
        yield str
    elif isinstance(kind, inspect.BoolType):
        yield bool
    elif isinstance(kind, inspect.NoneType):
        yield type(None)


def unwrap(kind: inspect.Type) -> tuple[dict[str, Any], inspect.Type]:
    """What is declared of a type, and the type without its declarations."""
    extra: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        extra = {**(kind.extra or {}), **extra}
        kind = kind.type
    return extra, kind


@cache
def fields_of(document: type[Document]) -> dict[str, Declared]:
    """The fields of a document by their names."""
    return {field.encode_name: Declared(field) for field in struct_of(document).fields}


@cache
def expected_fields(document: type[Document]) -> dict[str, Declared]:
    """The fields for which a missing key means something: required ones and inline ones."""
    fields = fields_of(document).items()
    return {name: field for name, field in fields if field.inline or field.field.required}


@lru_cache(maxsize=65536)  # the same keys come again in every file, and many times in a large one
def plain_key(key: str) -> str:
    """A key without case, underscores and blanks: caseId, case_id and Case ID are the same."""
    return re.sub(r"[\W_]+", "", key).lower()


def objects(raw: Any, *names: str) -> list[dict[str, Any]]:
    """The objects of the first list under one of `names` (or of `raw`, if it is a list)."""
    found = raw if isinstance(raw, list) else None
    if isinstance(raw, dict):
        lists = {plain_key(key): value for key, value in raw.items()}
        wanted = (plain_key(name) for name in names)
        found = next((lists[name] for name in wanted if isinstance(lists.get(name), list)), None)
    return [item for item in found or [] if isinstance(item, dict)]


def names_of(document: type[Document], field: str | None = None, *, own: bool = False) -> list[str]:
    """All names under which the fields of `document` (or one of them) are found.

    With `own`, the names that the fields are declared with, and no others.
    """
    fields = fields_of(document)
    chosen = fields.values() if field is None else [fields[field]]
    return [name for entry in chosen for name in (entry.name, *(() if own else entry.also))]


def parts_of(document: type[Document]) -> set[type[Document]]:
    """The types of all documents within a document, itself included."""
    found: set[type[Document]] = set()
    waiting: list[inspect.Type] = [struct_of(document)]
    while waiting:
        kind = unwrap(waiting.pop())[1]
        if isinstance(kind, inspect.UnionType):
            waiting.extend(kind.types)
        elif isinstance(kind, inspect.ListType):
            waiting.append(kind.item_type)
        elif isinstance(kind, inspect.DictType):
            waiting.append(kind.value_type)
        elif isinstance(kind, inspect.StructType) and kind.cls not in found:
            found.add(cast("type[Document]", kind.cls))
            waiting.extend(field.type for field in kind.fields)
    return found


def to_json(value: Any) -> bytes:
    r"""The bytes of a JSON file: indented by two, UTF-8, with a newline at the end.

    A number that is not finite becomes null, which JSON readers everywhere understand;
    a lone surrogate stays an escape, so the bytes are always valid UTF-8.

    >>> to_json({"score": float("nan"), "text": "é"}).decode()
    '{\n  "score": null,\n  "text": "é"\n}\n'
    """
    finite = change_leaves(
        value, lambda leaf: None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf
    )
    text = json.dumps(finite, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def change_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """A JSON value with all changed that is no list, no object and no key."""
    if isinstance(value, list):
        return [change_leaves(item, change) for item in value]
    if isinstance(value, dict):
        return {key: change_leaves(item, change) for key, item in value.items()}
    return change(value)


Severity = Literal["error", "warning", "info"]
"""The one rule for problems. `error`: a file, a run or a figure could not be used. `warning`:
nothing is lost, but a figure may be other than it seems, or a rule is broken. `info`: a decision
that is worth knowing. A file that was read as it is meant gives none."""

SAME = frozenset(("other-name", "other-form", "inline"))
"""Codes of faults that say how a field with a clear meaning was written; they are no problems."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: something in which a file is not as its document is declared.

    `code` names its kind, `where` is a JSON path, `message` says what was found and what to do.
    `lost`: whether it is, or may hold, a figure or a run that is not in the document.
    """

    severity: Severity
    code: str
    where: str
    message: str
    lost: bool = True


def mask_positions(where: str) -> str:
    """A JSON path with `[*]` for every position in a list.

    >>> mask_positions("$.runs[3].expectations[0]")
    '$.runs[*].expectations[*]'
    """
    return re.sub(r"\[\d+\]", "[*]", where)


MOST_UNUSED = 50
"""How many of the parts of a file that were not used are named."""


class Faults(list[Fault]):
    """The faults of one file. The same fault in many elements of a list is one fault."""

    def add(
        self, severity: Severity, code: str, where: str, message: str, *, lost: bool = True
    ) -> None:
        """Note one fault."""
        self.append(Fault(severity, code, where, message, lost))

    def remarkable(self) -> Faults:
        """Those that say more than how a field with a clear meaning was written."""
        return Faults(fault for fault in self if fault.code not in SAME)

    def collapsed(self) -> list[Fault]:
        """The faults, if those that differ in list positions alone are counted together.

        Only the first parts that were not used are named; the rest are counted.
        """
        groups: dict[tuple[str, str, str, str], list[Fault]] = {}
        for fault in self:
            where = mask_positions(fault.where)
            own = fault.message if where == fault.where else ""
            key = (fault.code, where, fault.severity, own)
            groups.setdefault(key, []).append(fault)
        more = [key for key in groups if key[0] == "not-used"][MOST_UNUSED:]
        for key in more:
            del groups[key]
        found = []
        for (_, where, *_), (first, *others) in groups.items():
            times = f"{first.message} ({len(others) + 1} times, first at {first.where})"
            found.append(replace(first, where=where, message=times) if others else first)
        if more:
            rest = f"{len(more)} more keys hold verdicts, rates or scores"
            found.append(Fault("info", "not-used", "$", f"not used: {rest}"))
        return found
