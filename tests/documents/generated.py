"""Generated documents: any JSON value, and any well-formed shared document."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from skill_eval_nb.documents import Document
from skill_eval_nb.documents.dialects import NEUTRAL

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12
).filter(str.strip)
WORDS = st.sampled_from(
    ["with_skill", "without_skill", "old_skill", "e-1", "3", "eval-2", "A", "B"]
)
NUMBERS = st.one_of(st.integers(-5, 200), st.floats(-5, 200, allow_nan=False))

KNOWN = sorted(
    {field.name for kind in NEUTRAL.values() for field in msgspec.structs.fields(kind)}
    | {"assertions", "with_skill", "evals", "entries", "score_a", "details", "per_case", "met"}
    | {"id", "text", "passed", "result", "configuration", "avg_ms", "pass_rate", "tokens", "name"}
)
KEYS = st.one_of(st.sampled_from(KNOWN), TEXT)

ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), NUMBERS, TEXT, WORDS, st.sampled_from(["3/3", "85%", "pass"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)
"""Any JSON value, with keys that documents have more often than not."""


def documents(document: type[Document]) -> st.SearchStrategy[Any]:
    """Well-formed documents of a shared type."""
    kind = inspect.type_info(document)
    assert isinstance(kind, inspect.StructType)
    return _struct(kind)


def _struct(kind: inspect.StructType) -> st.SearchStrategy[Any]:
    needed = {field.name: _value(field.type) for field in kind.fields if field.required}
    free = {field.name: _value(field.type) for field in kind.fields if not field.required}
    return st.fixed_dictionaries(needed, optional=free).map(lambda values: kind.cls(**values))


def _value(kind: inspect.Type) -> st.SearchStrategy[Any]:
    if isinstance(kind, inspect.Metadata):
        return _value(kind.type)
    if isinstance(kind, inspect.UnionType):
        return st.one_of([_value(one) for one in kind.types])
    if isinstance(kind, inspect.StructType):
        return _struct(kind)
    if isinstance(kind, inspect.ListType):
        return st.lists(_value(kind.item_type), max_size=2)
    if isinstance(kind, inspect.DictType):
        names = st.one_of(st.sampled_from(["with_skill", "without_skill", "delta", "A", "B"]), TEXT)
        return st.dictionaries(names, _value(kind.value_type), max_size=2)
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        low = kind.ge if kind.ge is not None else -3
        high = kind.le if kind.le is not None else 500
        if isinstance(kind, inspect.IntType):
            return st.integers(int(low), int(high))
        return st.floats(low, high, allow_nan=False).map(lambda number: round(number, 3))
    simple: dict[type, st.SearchStrategy[Any]] = {
        inspect.NoneType: st.none(),
        inspect.BoolType: st.booleans(),
        inspect.StrType: st.one_of(TEXT, WORDS),
    }
    return simple[type(kind)]
