"""A trigger set into its file: whole or not at all, and whatever else stood there stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.documents.dialects import kind_of
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.tables import load
from skill_eval_nb.triggers.attempt import Query
from skill_eval_nb.triggers.queries import read_queries, write_queries
from tests.corpus.build import lay

QUERIES = st.lists(
    st.builds(
        Query,
        st.text(st.characters(exclude_categories=["Cs"])),
        st.booleans(),
        st.lists(st.text("abc é", max_size=3), max_size=2).map(tuple),
        st.sampled_from([None, "train", "test"]),
    ),
    max_size=4,
)
ROWS = [
    {"id": 1, "query": "sort it", "should_trigger": True, "_comment": "plain"},
    {"id": 2, "query": "hi", "should_trigger": False, "run_count": 3, "trigger_count": 1},
    {"id": 3, "query": "bye", "should_trigger": False},
]


@given(QUERIES, QUERIES)
def test_what_was_written_is_read(tmp_path_factory, first: list[Query], then: list[Query]) -> None:
    file = tmp_path_factory.mktemp("set") / "trigger-eval-set.json"
    assert write_queries(file, first) == file
    assert read_queries(file) == tuple(first)
    write_queries(file, then)
    assert read_queries(file) == tuple(then)


def test_a_new_file_is_the_bare_list_of_the_documents(tmp_path: Path) -> None:
    file = tmp_path / "new" / "trigger-eval-set.json"
    write_queries(file, [Query("sort it", True), Query("hi", False, ("near miss",), "test")])
    told = json.loads(file.read_bytes())
    assert told == [
        {"query": "sort it", "should_trigger": True},
        {"query": "hi", "should_trigger": False, "split": "test", "tags": ["near miss"]},
    ]
    assert kind_of(file.name, told) == "triggers"
    assert load(file).polars("triggers")["query"].to_list() == ["sort it", "hi"]


@pytest.mark.parametrize(
    ("around", "at"), [({}, None), ({"note": [1], "query_results": 0}, "query_results")]
)
def test_what_else_stands_there_stays(
    tmp_path: Path, around: dict[str, Any], at: str | None
) -> None:
    raw: Any = ROWS if at is None else around | {at: ROWS}
    file = lay(tmp_path, {"trigger.json": raw}) / "trigger.json"
    bye, new, sort = Query("bye", False), Query("new", True), Query("sort it", False, ("odd",))
    write_queries(file, [bye, new, sort])
    told = json.loads(file.read_bytes())
    if at is not None:
        assert {**told, at: 0} == around
        told = told[at]
    assert told == [
        ROWS[2],
        {"query": "new", "should_trigger": True},
        {**ROWS[0], "should_trigger": False, "tags": ["odd"]},
    ]


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"name": "package"}, "is no trigger set"),
        ("{", "is no trigger set"),
        ([{"query": "a", "expected": "pdf"}], "for several skills"),
        ([{"query": "a", "should_trigger": [1]}], "mend it before"),
    ],
)
def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path, there: Any, said: str) -> None:
    file = lay(tmp_path, {"some.json": there}) / "some.json"
    before = file.read_bytes()
    with pytest.raises(Refused, match=said):
        write_queries(file, [Query("a", should_trigger=True)])
    assert file.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["some.json"]
