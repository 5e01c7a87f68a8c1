"""The grid: rows keep their names, whatever is done to them, and nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.triggers import Query
from skill_eval_nb.widgets.trigger.queries import Grid

words = st.sampled_from(["", " ", "sum up", "sum  up", "review", "half a pair \ud83d"]) | st.text(
    max_size=8
)
queries = st.lists(st.builds(Query, words, st.booleans()), max_size=8)


@given(queries, st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 7)), max_size=12))
def test_no_two_rows_ever_have_one_name(given, acts):
    grid = Grid().with_all(given)
    for act, at in acts:
        rows = dict(grid.rows)
        row = [*rows][at % len(rows)] if rows else None
        if act == "a":
            grid = grid.with_room()
        elif act == "b":
            grid = grid.with_more(given)
        elif act == "c":
            grid = grid.put_back()
        elif row is not None and act == "d":
            grid = grid.without(row)
            assert row not in grid.rows
            assert [*grid.put_back().rows.items()] == [*rows.items()]
        elif row is not None:
            query = replace(rows[row], query=f"{act}{at}")
            grid = grid.changed(row, query)
            assert grid.row(row) == query
            assert len(grid.rows) == len(rows)
        assert grid.taken_out is None or grid.taken_out[1] not in grid.rows
