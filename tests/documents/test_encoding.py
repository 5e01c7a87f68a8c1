"""JSON values to bytes that every reader understands."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.documents import to_json

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters())),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=10,
)


@given(VALUES)
def test_is_strict_json_in_utf8(value: Any) -> None:
    data = to_json(value)
    assert data.endswith(b"\n")

    def never(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(data.decode("utf-8"), parse_constant=never) == _finite(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def test_a_lone_surrogate_stays_an_escape() -> None:
    assert to_json("\ud800") == b'"\\ud800"\n'
