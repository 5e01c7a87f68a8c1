"""What the types of the documents declare: fields, their names, units and parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, cast

from msgspec import inspect

from .document import Document


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

    __slots__ = ("also", "field", "inline", "inner", "kind", "name", "takes", "unit")

    def __init__(self, field: inspect.Field) -> None:
        extra, kind = unwrap(field.type)
        self.field = field
        self.name = field.encode_name
        self.kind = kind
        self.inner = _not_null(kind)
        self.takes = frozenset(_taken(kind))
        self.also: tuple[str, ...] = extra.get("also", ())
        self.unit: str | None = extra.get("unit")
        self.inline: bool = extra.get("inline", False)


def _not_null(kind: inspect.Type) -> inspect.Type:
    """What a type is besides null, where that is one type alone; else the type itself."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    others = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    return others[0] if len(others) == 1 else kind


def _taken(kind: inspect.Type) -> Iterator[type]:
    """The types of values that a type takes as they are: texts, flags and null."""
    kind = unwrap(kind)[1]
    if isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _taken(one)
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
def looked_for(document: type[Document]) -> dict[str, Declared]:
    """The fields that are more than left out where they have no key: required, or inline."""
    fields = fields_of(document).items()
    return {name: field for name, field in fields if field.inline or field.field.required}


@lru_cache(maxsize=4096)  # the same keys come again in every file
def plainly(key: str) -> str:
    """A key without case, underscores and blanks: caseId, case_id and Case ID are the same."""
    return re.sub(r"[\W_]+", "", key).lower()


def names_of(document: type[Document], field: str | None = None, *, own: bool = False) -> list[str]:
    """All names under which the fields of `document` (or one of them) are found.

    With `own`, the names that the fields are declared with, and no others.
    """
    fields = fields_of(document)
    chosen = fields.values() if field is None else [fields[field]]
    return [name for one in chosen for name in (one.name, *(() if own else one.also))]


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
