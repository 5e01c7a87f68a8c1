"""Keys of drafts, editing, and what is still to be written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving.drafting import edited, key_of, missing_in
from skill_eval_nb.improving.drafting.keys import made

ITEMS = st.one_of(
    st.text(max_size=20),
    st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=5), st.booleans())),
)


@given(st.lists(ITEMS, max_size=3), st.one_of(st.none(), st.text(max_size=5)))
def test_a_key_is_a_digest_of_the_change_alone(new: list[Any], target: str | None) -> None:
    key = key_of("expectations", ["1", "2"], target, new)
    change = ["expectations", ["1", "2"], target, new]
    text = json.dumps(change, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert key == "d-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    assert made("add", "expectations", ["1", "2"], target, new, "because", by="x").key == key


def test_another_change_has_another_key() -> None:
    keys = {
        key_of("expectations", ["1"], None, ["a"]),
        key_of("expectations", ["2"], None, ["a"]),
        key_of("expectations", ["1"], "b", ["a"]),
        key_of("structural_expectations", ["1"], None, ["a"]),
        key_of("expectations", ["1"], None, ["a", "a"]),
    }
    assert len(keys) == 5
    assert key_of("dimensions", ["1"], None, [{"a": 1, "b": 2}]) == key_of(
        "dimensions", ["1"], None, [{"b": 2, "a": 1}]
    )


@pytest.mark.parametrize(
    ("part", "item", "missing"),
    [
        ("expectations", " ", ("text",)),
        ("expectations", {"text": "It is short"}, ()),
        ("structural_expectations", {}, ("type",)),
        ("structural_expectations", {"type": "file_exists"}, ("pattern",)),
        ("structural_expectations", {"type": "file_not_contains", "match_any": []}, ("match",)),
        ("structural_expectations", {"type": "file_contains", "match_regex": "a+"}, ()),
        ("structural_expectations", {"type": "file_count", "pattern": "*"}, ("count",)),
        ("structural_expectations", {"type": "file_count", "pattern": "*", "count": 0}, ()),
        ("structural_expectations", {"type": "custom_script"}, ("script",)),
        ("structural_expectations", {"type": "no_errors"}, ()),
        ("dimensions", {"name": "tone", "description": "How it sounds"}, ("scoring.1",)),
        ("evals", {"prompt": ""}, ("prompt",)),
        ("evals", {"prompt": "Do it"}, ()),
    ],
)
def test_what_is_missing(part: Any, item: Any, missing: tuple[str, ...]) -> None:
    found = missing_in(part, [item])
    assert found[: len(missing)] == missing
    assert bool(found) == bool(missing)


def test_an_edit_has_a_new_key_and_keeps_what_it_rests_on() -> None:
    first = made("reword", "evals", ["1"], "1", [{"prompt": ""}], "Too easy.", found_on=["1"])
    second = edited(first, [{"prompt": "Something harder"}])
    assert first.missing == ("prompt",)
    assert second.missing == ()
    assert second.key not in (first.key, "")
    assert (second.why, second.found_on, second.target) == ("Too easy.", ("1",), "1")
