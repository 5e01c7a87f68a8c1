"""Generated documents: what holds for all of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_eval_nb.documents import dump, mend, to_json
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NEUTRAL,
    canonical,
    check,
    kind_of,
    read_as_shared,
)
from tests.documents.generated import ANY_JSON, documents

patiently = settings(
    max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("kind", NEUTRAL)
@patiently
@given(raw=ANY_JSON)
def test_any_json_is_read_and_given_back(kind: str, raw: Any) -> None:
    document, faults = mend(raw, NEUTRAL[kind])
    assert all(fault.message and fault.where.startswith("$") for fault in faults)
    if isinstance(raw, dict):
        assert dump(document) == raw
    assert kind_of("something.json", raw) in {None, *NEUTRAL}
    read_as_shared(kind, raw)
    for dialect, forms in DIALECTS.items():
        if kind in forms:
            check(kind, raw, dialect)


@pytest.mark.parametrize("kind", NEUTRAL)
@patiently
@given(data=st.data())
def test_what_is_written_is_read_again(kind: str, data: Any) -> None:
    """Every text and number of a document stands in what is written, and is read from it.

    A document that was read is written as it was read. Drawn figures may be none that reading
    gives (a rate of 2 is read as 2 %), so it is read once before.
    """
    drawn = data.draw(documents(NEUTRAL[kind]))
    value = msgspec.json.decode(to_json(canonical(drawn)))
    document, faults = mend(value, NEUTRAL[kind])
    # what is left out because it is the default comes back when it is read
    assert _texts(drawn) <= _texts(value) | _texts(document)
    assert not [fault for fault in faults if fault.code in ("not-used", "unknown")]
    written = msgspec.json.decode(to_json(canonical(document)))
    again, _ = mend(written, NEUTRAL[kind])
    assert canonical(again) == canonical(document)


def _texts(value: Any) -> set[str]:
    """Every text and number anywhere in a value: a second, simpler look at what is there."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        return {one for item in value.values() for one in _texts(item)}
    if isinstance(value, list):
        return {one for item in value for one in _texts(item)}
    if value in (None, "") or isinstance(value, bool):
        return set()
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return {f"{plain!s:.12}"}
