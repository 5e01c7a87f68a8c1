"""Declaring what a dialect's document has: a choice of the shared document's fields.

A dialect mostly knows some of the fields that we know, demands some of them, and is stricter
about a few. So its types are written as a choice of fields from the shared ones, in the
order in which its documents have them::

    Eval = narrow(shared.Eval, "id prompt files", required="id prompt", id=Annotated[int, …])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

import msgspec

from ..document import Document


def same(value: Any) -> Any:
    """The conversion that there is nothing to do for."""
    return value


@dataclass(frozen=True, slots=True)
class Form:
    """How a dialect writes one kind of document.

    Conversions take and give plain JSON values with the names that the types declare.
    `to_wire` prepares a neutral document for `wire`; what `wire` then does not know is left
    out. `to_neutral` is given only where the structure differs so much that the neutral
    type cannot read the file itself. `many`: one benchmark file holds many iterations.
    """

    wire: type[Document]
    to_wire: Callable[[Any], Any] = same
    to_neutral: Callable[[Any], Any] | None = None
    many: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect: its name, and the form of each kind of document that it has."""

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
                one for one in getattr(kind, "__metadata__", ()) if isinstance(one, msgspec.Meta)
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
    made = msgspec.defstruct(
        shared.__name__,
        chosen,
        bases=(Document,),
        namespace={"__doc__": shared.__doc__, "plain": plain},
        kw_only=True,
    )
    return cast("type[Document]", made)


def reshape(**changes: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A conversion of an object that changes the values under some of its keys.

    >>> reshape(n=str)({"n": 1, "m": 2})
    {'n': '1', 'm': 2}
    """
    return lambda value: {key: changes.get(key, same)(item) for key, item in value.items()}


def each(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """A conversion of a list that changes each of its elements.

    >>> each(str)([1, 2])
    ['1', '2']
    """
    return lambda items: [change(item) for item in items]
