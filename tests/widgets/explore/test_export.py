"""Handing it on: charts as pictures, and the same files as the shell's `report`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from skill_eval_nb import charts
from skill_eval_nb.cli import app
from skill_eval_nb.widgets.explore import CHARTS, chart_of
from skill_eval_nb.widgets.explore.choice import Choice, settle_choice, suites_of
from tests.charts.worlds import world
from tests.checkout import ROOT
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
    assert chart_of(WS, choice, name).to_dict()["description"]


def test_a_chart_is_saved_where_one_says(tmp_path):
    panel = explorer(world())
    after(panel, "see", "tab", "charts")
    after(panel, "hand", "folder", str(tmp_path / "new" / "folder"))
    shown = after(panel, "save_chart", "svg")
    path = tmp_path / "new" / "folder" / "forest.svg"
    assert path.read_bytes().startswith(b"<svg")
    assert str(path) in shown


SMALL = ROOT / "data" / "skill-creator-workspace"
FILES = ("benchmark.json", "benchmark.md", "report.html")


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_it_writes_what_the_shell_writes_and_says_where(tmp_path):
    panel = explorer(SMALL)
    after(panel, "see", "tab", "export")
    (tmp_path / "file").write_text("not a folder")
    panel.do("hand", "folder", str(tmp_path / "file"))
    panel.do("export")
    assert panel.settle()
    assert str(tmp_path / "file") in (panel.fault or "")
    panel.do("hand", "folder", str(tmp_path / "widget"))  # and it is tried again
    shown = after(panel, "export")
    told = CliRunner().invoke(app, ["report", str(SMALL), "--out", str(tmp_path / "shell")])
    assert told.exit_code == 0, told.output
    written = files(tmp_path / "widget")
    assert written == files(tmp_path / "shell")
    assert {name.rpartition("/")[2] for name in written} == set(FILES)
    for name in written:
        assert str(tmp_path / "widget" / name) in shown


def test_what_is_chosen_can_be_reported_on_alone_in_another_form(tmp_path):
    panel = explorer(ROOT / "data", skill="sql-migration", iteration="iteration-1")
    after(panel, "see", "tab", "export")
    after(panel, "hand", "folder", str(tmp_path))
    after(panel, "hand", "part", "chosen")
    after(panel, "hand", "dialect", "codingbuddy")
    assert "What this format leaves out" in after(panel, "export")
    assert set(files(tmp_path)) == set(FILES)
    assert "eval_results" in json.loads((tmp_path / "benchmark.json").read_text())
    assert "Benchmark of sql-migration, iteration-1" in (tmp_path / "benchmark.md").read_text()
