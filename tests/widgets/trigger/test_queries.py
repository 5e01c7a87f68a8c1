"""The grid of a panel: its rows keep their names, and drafts are paid for within a budget only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import Connection
from skill_eval_nb.triggers import Query
from skill_eval_nb.widgets.trigger.queries import Grid
from tests.stand_in import RiggedStandIn
from tests.widgets.run.panels import button, fill, shown
from tests.widgets.trigger.made import do, panel_on, press


def test_drafts_that_cost_are_asked_for_within_a_budget_only(skill: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    panel = panel_on(skill, connection=Connection(stand_in=RiggedStandIn(log=str(log))))
    do(panel, "set", "model", "claude-haiku-4-5")
    fill(panel, n=4)
    press(panel, "Estimate the price")
    assert "at most $" in shown(panel)
    assert "give a budget" in shown(panel)
    assert button(panel, "Draft 4 queries").get("disabled")
    assert not log.exists()
    fill(panel, budget_usd=1.0)
    press(panel, "Draft 4 queries")
    assert len(panel.queries) == 10
    assert any("near miss" in one.tags for one in panel.queries)
    assert "4 queries drafted" in shown(panel)
    assert log.read_text().count("\n") == 1


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
            grid = grid.remove_query(row)
            assert row not in grid.rows
            assert [*grid.put_back().rows.items()] == [*rows.items()]
        elif row is not None:
            query = replace(rows[row], query=f"{act}{at}")
            grid = grid.replace_query(row, query)
            assert grid.row(row) == query
            assert len(grid.rows) == len(rows)
        assert grid.taken_out is None or grid.taken_out[1] not in grid.rows
