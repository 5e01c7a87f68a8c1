"""`load`: what it takes, what it reads when, and that figures alone are the same figures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.tables.made import BASELINE, RUN, load, two_sides
from tests.tables.test_conversion import workspaces

BUNDLED = sorted(
    {path.parent for path in (ROOT / "data").glob("*/README.md")} - {ROOT / "data/published"}
)


@pytest.mark.parametrize("backend", ["polar", "Pandas", "", None])
def test_an_unknown_backend_is_refused_before_anything_is_read(backend):
    with pytest.raises(ValueError, match="'polars' and 'pandas'"):
        sen.load("there/is/no/such/folder", backend=backend)


def test_folders_are_listed_at_once_and_files_read_once_when_a_table_is_asked_for(
    tmp_path, monkeypatch
):
    lay(tmp_path, two_sides())
    opened, real = [], os.open

    def watched(path, *arguments, **more):
        if Path(os.fsdecode(path)).is_relative_to(tmp_path):  # other threads may open others
            opened.append(Path(path).name)
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", watched)
    ws = sen.load(tmp_path)
    assert opened == []
    lay(tmp_path, {RUN.replace("run-1", "run-2") + "/grading.json": graded("p")})
    opened.clear()
    assert ws.runs.height == 2
    assert opened == ["grading.json"] * 2
    ws.tables()
    opened.clear()
    assert ws.tables()["runs"] is ws.runs
    assert opened == []
    assert sen.load(tmp_path).runs.height == 3


def test_a_file_that_is_gone_when_it_is_read_is_a_problem(tmp_path):
    ws = load(tmp_path, two_sides())
    (tmp_path / "ws" / BASELINE / "grading.json").unlink()
    assert dict(ws.runs.select("configuration", "status").iter_rows()) == {
        "with_skill": "graded",
        "without_skill": "ungraded",
    }
    assert ws.problems.filter(severity="error")["path"].to_list() == [f"{BASELINE}/grading.json"]


def compare_figures_with_full_pass(path: Path) -> None:
    """`runs` read alone, with all other tables after it, and after the problems."""
    ws, second = sen.load(path), sen.load(path)
    figures = ws.runs
    assert figures.equals(ws.tables()["runs"])
    assert figures.equals(ws.runs)
    assert second.problems.equals(ws.problems)
    assert second.runs.equals(figures)


def test_figures_alone_are_those_of_the_full_pass(corpus_workspaces):
    for path in (*BUNDLED, *corpus_workspaces[::3]):  # the bundled ones, and a third of others'
        compare_figures_with_full_pass(path)


@given(workspaces())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_figures_alone_are_those_of_the_full_pass_on_any_workspace(tmp_path_factory, files):
    compare_figures_with_full_pass(lay(tmp_path_factory.mktemp("any") / "ws", files))
