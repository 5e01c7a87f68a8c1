"""Declaring what a dialect's document has: a choice of the shared document's fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import msgspec

from ..base import Document, struct_fields
from ..evals import EvalMetadata, Evals, Feedback, Optimization, SuggestionAggregate, TriggerSet
from ..results import Analysis, Benchmark, Comparison, History
from ..run import Grading, Judging, Metrics, Structural, Timing

Plain = dict[str, Any]


NEUTRAL: dict[str, type[Document]] = {
    "evals": Evals,
    "eval_metadata": EvalMetadata,
    "structural": Structural,
    "grading": Grading,
    "judging": Judging,
    "metrics": Metrics,
    "timing": Timing,
    "benchmark": Benchmark,
    "comparison": Comparison,
    "analysis": Analysis,
    "history": History,
    "feedback": Feedback,
    "triggers": TriggerSet,
    "optimization": Optimization,
    "suggestions": SuggestionAggregate,
}
"""Each kind, and the shared type that it is read into."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a dialect has one kind of document.

    `rearrange` is given only where the structure differs so much that nothing shared reads it: it
    gives a plain value of `wire`, which `fits` knows by its keys, a structure that is read.
    """

    wire: type[Document]
    rearrange: Callable[[Plain], Plain] | None = None
    fits: Callable[[Any], bool] = lambda _: False


NOTHING: Mapping[Any, Any] = MappingProxyType({})


def narrow(
    fields: Mapping[type[Document], str],
    types: Mapping[str, Any],
    base: Mapping[type[Document], type[Document]] = NOTHING,
) -> dict[type[Document], type[Document]]:
    """Shared types to narrower ones, with some of their fields in the order given.

    Where a field's type has one of the shared types in it, it has the narrow one.

    Args:
        fields: each shared type, parts before what holds them, with names of its fields: `name!`
            if the dialect demands it, `name=` if a bare value stands for it; `*` is all of them.
        types: `Type.field` to what takes the place of its type: narrower, or with limits.
        base: the narrow types of the dialect that this one extends.
    """
    narrowed = dict(base)
    for shared, names in fields.items():
        narrowed[shared] = shared if names == "*" else narrow_type(shared, names, types, narrowed)
    return narrowed


def narrow_type(
    shared: type[Document],
    names: str,
    types: Mapping[str, Any] = NOTHING,
    parts: Mapping[Any, Any] = NOTHING,
) -> type[Document]:
    """One shared type with some of its fields, as `narrow` has it; `parts` are known already."""
    known = {field.name: field for field in struct_fields(shared)}
    chosen: list[tuple[str, Any, Any]] = []
    for name in names.split():
        field = known[name.rstrip("!=")]
        kind = _put_in(field.type, parts)
        if own := types.get(f"{shared.__name__}.{field.name}"):
            metas = (m for m in getattr(kind, "__metadata__", ()) if isinstance(m, msgspec.Meta))
            kind = _put_in(own, parts)
            for meta in metas:
                kind = Annotated[kind, msgspec.Meta(description=meta.description, extra=meta.extra)]
        defaults: Any = {"default": field.default, "default_factory": field.default_factory}
        given = msgspec.field() if name.endswith("!") else msgspec.field(**defaults)
        chosen.append((field.name, kind, given))
    bare = (name[:-1] for name in names.split() if name.endswith("="))
    struct = msgspec.defstruct(
        shared.__name__,
        chosen,
        bases=(Document,),
        namespace={"__doc__": shared.__doc__, "plain": next(bare, None)},
        kw_only=True,
    )
    return cast("type[Document]", struct)


def _put_in(kind: Any, parts: Mapping[type[Document], type[Document]]) -> Any:
    """A type with the narrow ones in place of shared ones."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is None:
        return parts.get(kind, kind)
    if origin is Annotated:
        return Annotated[(_put_in(inside[0], parts), *inside[1:])]
    if origin is Literal:
        return kind
    inner = tuple(_put_in(one, parts) for one in inside)
    return reduce(or_, inner) if origin in (Union, UnionType) else origin[inner]


def forms_of(narrowed: Mapping[type[Document], type[Document]]) -> dict[str, Form]:
    """The forms of the kinds of documents that are among narrow types."""
    return {kind: Form(narrowed[type_]) for kind, type_ in NEUTRAL.items() if type_ in narrowed}


def without_none(value: Plain) -> Plain:
    """The entries that have a value."""
    return {key: item for key, item in value.items() if item is not None}


def select_keys(value: Plain, names: str, **renamed: str) -> Plain:
    """The entries of an object that have a value: of `names`, and others under a new name.

    >>> select_keys({"skill": "s", "tokens": 3, "time": None}, "skill time", total="tokens")
    {'skill': 's', 'total': 3}
    """
    keys = {**{name: name for name in names.split()}, **renamed}
    return without_none({name: value.get(key) for name, key in keys.items()})
