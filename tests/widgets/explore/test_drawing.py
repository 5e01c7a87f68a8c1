"""The charts, drawn as pictures of what is looked at, and saved."""

from __future__ import annotations

import pytest

from skill_eval_nb import charts
from skill_eval_nb.widgets.explore import CHARTS, chart_of, draw
from skill_eval_nb.widgets.explore.choice import Choice, settle_choice, suites_of
from tests.charts.worlds import world
from tests.widgets.explore.made import after, explorer

WS = world(evals=3, runs=2, iterations=2)
OF_NO_RUN = {"lineage", "trigger_confusion", "trigger_rates", "trigger_rounds"}
"""Charts of versions and descriptions: they show no run, so none that is looked at."""


def test_every_chart_of_runs_can_be_chosen():
    drawing = set(charts.__all__) - {"save"} - OF_NO_RUN
    assert {name.removesuffix("_by_dimension") for name in CHARTS} == drawing


@pytest.mark.parametrize("name", CHARTS)
def test_each_is_drawn_of_what_is_looked_at(name):
    choice = settle_choice(suites_of(WS)[0], Choice(iterations=("iteration-1",), evals=("1", "2")))
    answer, png = draw(WS, choice, name)
    assert png.startswith(b"\x89PNG")
    assert answer == chart_of(WS, choice, name).to_dict()["description"]


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_a_chart_is_saved_where_one_says(tmp_path, kind, begins):
    panel = explorer(world())
    after(panel, "see", "tab", "charts")
    after(panel, "hand", "folder", str(tmp_path / "new" / "folder"))
    shown = after(panel, "save_chart", kind)
    path = tmp_path / "new" / "folder" / f"forest.{kind}"
    assert path.read_bytes().startswith(begins)
    assert str(path) in shown
