"""Declaring what a dialect's document has: a choice of the shared document's fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

import msgspec

from ..base import Document, plainly

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """How a dialect has one kind of document.

    `rearrange` is given only where the structure differs so much that nothing shared reads it: it
    gives a plain value of `wire`, which `fits` knows by its keys, a structure that is read.
    """

    wire: type[Document]
    rearrange: Callable[[Plain], Plain] | None = None
    fits: Callable[[Any], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect: its name, the form of each kind of document that it has, where they are."""

    name: str
    documents: dict[str, Form]


def narrow(
    shared: type[Document],
    fields: str,
    *,
    required: str = "",
    plain: str | None = None,
    **types: Any,
) -> type[Document]:
    """A document type with some of the `fields` of a shared one, in the order given.

    Args:
        shared: where the meanings, other names, types and defaults come from.
        fields: names, with blanks between them.
        required: those that the dialect demands, whatever the shared document says.
        plain: the field that a bare value stands for, if the dialect has such a thing.
        types: types that take the place of the shared ones: narrower, or with limits.
    """
    known = {field.name: field for field in msgspec.structs.fields(shared)}
    demanded = required.split()
    chosen: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name in fields.split():
        field = known[name]
        kind = field.type
        if name in types:
            metas = [
                meta for meta in getattr(kind, "__metadata__", ()) if isinstance(meta, msgspec.Meta)
            ]
            kind = types[name]
            for meta in metas:
                kind = Annotated[kind, msgspec.Meta(description=meta.description, extra=meta.extra)]
        if name in demanded or field.required:
            chosen.append((name, kind))
        elif field.default is not msgspec.NODEFAULT:
            chosen.append((name, kind, field.default))
        else:
            chosen.append((name, kind, msgspec.field(default_factory=field.default_factory)))
    struct = msgspec.defstruct(
        shared.__name__,
        chosen,
        bases=(Document,),
        namespace={"__doc__": shared.__doc__, "plain": plain},
        kw_only=True,
    )
    return cast("type[Document]", struct)


def without_none(value: Plain) -> Plain:
    """The entries that have a value."""
    return {key: item for key, item in value.items() if item is not None}


def pick(value: Plain, names: str, **renamed: str) -> Plain:
    """The entries of an object that have a value: of `names`, and others under a new name.

    >>> pick({"skill": "s", "tokens": 3, "time": None}, "skill time", total="tokens")
    {'skill': 's', 'total': 3}
    """
    keys = {**{name: name for name in names.split()}, **renamed}
    return without_none({name: value.get(key) for name, key in keys.items()})


def objects(raw: Any, *names: str) -> list[Plain]:
    """The objects of the first list under one of `names` (or of `raw`, if it is a list)."""
    found = raw if isinstance(raw, list) else None
    if isinstance(raw, dict):
        lists = {plainly(key): value for key, value in raw.items()}
        wanted = (plainly(name) for name in names)
        found = next((lists[name] for name in wanted if isinstance(lists.get(name), list)), None)
    return [item for item in found or [] if isinstance(item, dict)]
