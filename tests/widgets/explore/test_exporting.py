"""Handing it on: the same files as the shell's `report`, and where they are."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from skill_eval_nb.cli import app
from tests.checkout import ROOT
from tests.widgets.explore.made import after, explorer

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
    assert "What this form has no place for" in after(panel, "export")
    assert set(files(tmp_path)) == set(FILES)
    assert "eval_results" in json.loads((tmp_path / "benchmark.json").read_text())
    assert "Benchmark of sql-migration, iteration-1" in (tmp_path / "benchmark.md").read_text()
