"""`load`: what it takes, what it reads when, and that figures alone are the same figures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.corpus.build import graded, lay, row
from tests.tables.made import BASELINE, RUN, load, two_sides

BUNDLED = sorted(
    {path.parent for path in (ROOT / "data").glob("*/README.md")} - {ROOT / "data/published"}
)


class Opened:
    """The files below a folder that are opened while it watches; other threads may open others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.names: list[str] = []
        self._folder = folder
        self._open = os.open
        monkeypatch.setattr(os, "open", self._watched)

    def _watched(self, path, *arguments, **more):
        if Path(os.fsdecode(path)).is_relative_to(self._folder):
            self.names.append(Path(path).name)
        return self._open(path, *arguments, **more)


@pytest.mark.parametrize("backend", ["polar", "Pandas", "", None])
def test_an_unknown_backend_is_refused_before_anything_is_read(backend):
    with pytest.raises(ValueError, match="'polars' and 'pandas'"):
        sen.load("there/is/no/such/folder", backend=backend)


def test_folders_are_listed_at_once_and_files_read_once_when_a_table_is_asked_for(
    tmp_path, monkeypatch
):
    lay(tmp_path, two_sides())
    opened = Opened(monkeypatch, tmp_path)
    ws = sen.load(tmp_path)
    assert opened.names == []
    lay(tmp_path, {RUN.replace("run-1", "run-2") + "/grading.json": graded("p")})
    assert ws.runs.height == 2
    assert opened.names == ["grading.json"] * 2
    ws.tables()
    opened.names.clear()
    assert ws.tables()["runs"] is ws.runs
    assert opened.names == []
    assert sen.load(tmp_path).runs.height == 3


def test_a_file_that_is_gone_when_it_is_read_is_a_problem(tmp_path):
    ws = load(tmp_path, two_sides())
    (tmp_path / "ws" / BASELINE / "grading.json").unlink()
    assert dict(ws.runs.select("configuration", "status").iter_rows()) == {
        "with_skill": "graded",
        "without_skill": "ungraded",
    }
    assert ws.problems.filter(severity="error")["path"].to_list() == [f"{BASELINE}/grading.json"]


def figures_equal_full_pass(path: Path) -> sen.Workspace:
    """`runs` read alone, and with all other tables after it."""
    ws = sen.load(path)
    figures = ws.runs
    assert figures.equals(ws.tables()["runs"])
    assert figures.equals(ws.runs)
    return ws


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.name)
def test_figures_alone_are_those_of_the_full_pass(path):
    first, second = figures_equal_full_pass(path), sen.load(path)
    assert second.problems.equals(first.problems)
    assert second.runs.equals(first.runs)


def test_figures_alone_are_those_of_the_full_pass_on_real_workspaces(corpus_workspaces):
    for path in corpus_workspaces:
        figures_equal_full_pass(path)


MARKS = st.text("pf-", min_size=1, max_size=5)
GRADINGS = st.builds(
    graded,
    MARKS,
    rubric_scores=st.dictionaries(
        st.sampled_from(["depth", "style"]), st.sampled_from([1, 3, 5, None, "bad"])
    ),
    summary=st.none() | st.fixed_dictionaries({"passed": st.integers(-1, 5)}),
)
SCORED = st.text("pf", min_size=1, max_size=5)
STATED = st.builds(
    row,
    st.sampled_from(["1", 2, "login", None]),
    st.sampled_from(["with_skill", "without_skill"]),
    SCORED,
    st.integers(0, 3) | st.none(),
)
FOLDERS = [
    f"{iteration}/{eval_}/{side}/{run}"
    for iteration in ("iteration-1", "iteration-2")
    for eval_ in ("eval-1-login", "eval-2")
    for side in ("with_skill", "without_skill")
    for run in ("run-1", "run_1", "run-2")
]


@given(
    runs=st.dictionaries(st.sampled_from(FOLDERS), GRADINGS, min_size=1, max_size=6),
    stated=st.lists(STATED, max_size=4),
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
def test_figures_alone_are_those_of_the_full_pass_on_any_workspace(tmp_path_factory, runs, stated):
    files = {f"{folder}/grading.json": grading for folder, grading in runs.items()}
    files["iteration-1/benchmark.json"] = {"metadata": {}, "runs": stated}
    figures_equal_full_pass(lay(tmp_path_factory.mktemp("any") / "ws", files))
