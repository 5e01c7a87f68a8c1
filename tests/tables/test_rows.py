"""Rows are collected as tuples and come out as frames, in order, however often they were packed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.tables import TABLES
from skill_eval_nb.tables import rows as rows_module
from skill_eval_nb.tables.rows import Rows, RunKey, is_run_level

RUN_TABLES = [name for name in TABLES if is_run_level(name)]


def key(number: int) -> RunKey:
    return RunKey("ws", "tdd", "iteration-1", "1", "login", "with_skill", number)


def claim(run: int, text: str) -> tuple[int, str, str, bool, str]:
    return (run, text, "factual", True, "seen")


@given(st.lists(st.lists(st.text(), max_size=4), max_size=12), st.integers(1, 5))
def test_rows_keep_their_order_and_their_run(texts_of_runs, enough):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "ENOUGH", enough)
        rows = Rows()
        for number, texts in enumerate(texts_of_runs):
            run = rows.key(key(number))
            rows["claims"].extend(claim(run, text) for text in texts)
            rows.pack()
        frame = rows.frames(["claims"])["claims"]
    expected = [(number, text) for number, texts in enumerate(texts_of_runs) for text in texts]
    assert frame.select("run_number", "claim").rows() == expected
    assert frame.columns == TABLES["claims"].names


def test_without_rows_every_table_has_its_columns():
    frames = Rows().frames(list(TABLES))
    assert {name: frame.columns for name, frame in frames.items()} == {
        name: table.names for name, table in TABLES.items()
    }
    assert all(frame.is_empty() for frame in frames.values())


def test_the_keys_are_filled_in():
    rows = Rows()
    rows.key(key(1))
    rows["claims"].append(claim(rows.key(key(2)), "it works"))
    (row,) = rows.frames(["claims"])["claims"].rows()
    assert row == (*key(2), "it works", "factual", True, "seen")


def test_run_level_tables_are_those_with_the_keys_of_a_run():
    assert set(TABLES) - set(RUN_TABLES) == {
        *("evals", "dimensions", "comparisons", "analyses", "history"),
        *("triggers", "optimizations", "stated", "problems"),
    }


@pytest.mark.parametrize("packed", [False, True])
def test_statuses_are_those_of_every_run(packed, monkeypatch):
    monkeypatch.setattr(rows_module, "ENOUGH", 1)
    width = len(TABLES["runs"].columns) - len(RunKey._fields)
    rows = Rows()
    for number, status in enumerate(("graded", "gated"), 1):
        filler = (None,) * (width - 2)
        rows["runs"].append((rows.key(key(number)), status, *filler, f"run-{number}"))
        if packed:
            rows.pack()
    assert list(rows.statuses()) == [
        (key(1), "graded", "run-1"),
        (key(2), "gated", "run-2"),
    ]
