"""What stands out: the statistics' notes, with their runs."""

from __future__ import annotations

import polars as pl

from skill_eval_nb import stats
from tests.charts.worlds import world
from tests.widgets.explore.made import after, bundled, clickable, explorer

WS = bundled()


def test_every_note_is_there_and_leads_to_its_runs():
    panel = explorer(iteration="iteration-1")
    read = after(panel, "see", "tab", "notes")
    notes = stats.notes(WS).filter(iteration="iteration-1").to_dicts()
    runs = WS.runs.filter(iteration="iteration-1")
    name = pl.format("{} {} run {}", "eval_name", "configuration", "run_number")
    acts = list(clickable(panel, "pick", "note"))
    assert [act[3] for act in acts] == [
        at for at, note in enumerate(notes) if note["evals"] or note["runs"]
    ]
    for note in notes:
        assert note["text"] in read
    for act in acts:
        note = notes[act[3]]
        after(panel, *act)
        named = runs.filter(name.is_in(note["runs"]))
        of_evals = runs.filter(pl.col("eval_name").is_in(note["evals"]))
        wanted = named if note["runs"] else of_evals
        assert panel.selection.height == wanted.height > 0


def test_where_nothing_stands_out_it_says_so():
    panel = explorer(world(configurations=("red",), evals=1, dimensions=0, expectations=0))
    assert "Nothing stands out." in after(panel, "see", "tab", "notes")
