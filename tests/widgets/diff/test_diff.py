"""The widget, without a browser: what is chosen, what is shown, what is selected."""

from __future__ import annotations

import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.diff import Diff
from skill_eval_nb.widgets.ui import Node
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.checkout import ROOT
from tests.widgets.diff.made import do, panel, workspace
from tests.widgets.trees import text


@pytest.fixture
def path(tmp_path):
    """The folder of the made workspace."""
    return workspace(tmp_path)


def tree(made: Diff) -> list[Node]:
    """What is to be seen, once all is counted."""
    assert made.settle()
    return list(made._tree)


def shown(made: Diff) -> str:
    return text(tree(made)).replace("\xa0", " ")


def test_iterations_as_they_come_and_go(path):
    for name in ("iteration-1", "iteration-2"):
        shutil.move(path / name, path.parent / name)
    made = sen.diff(path)
    assert (made.fault, made.selection.height) == (None, 0)
    assert "nothing to load" in shown(made)
    told = ("no two iterations", "iteration-2 against iteration-1")
    for name, words in zip(("iteration-1", "iteration-2"), told, strict=True):
        shutil.move(path.parent / name, path / name)
        tell_landed(path / name)
        assert words in shown(made)
    shutil.copytree(path / "iteration-1", path / "iteration-3")
    tell_landed(path)
    assert "iteration-3 against iteration-2" in shown(made)
    assert "iteration-3 against iteration-1" in shown(panel(path, "iteration-1", "iteration-3"))
    with pytest.raises(ValueError, match="no iteration `iteration-4`"):
        sen.diff(path, "iteration-4")
    do(made, "choose_configuration", "iteration-1")  # what was chosen stays while it is there
    shutil.rmtree(path / "iteration-2")
    tell_landed(path)
    assert "iteration-1 against iteration-3" in shown(made)


def test_a_workspace_made_of_tables_alone():
    ws = sen.load(ROOT / "data" / "tdd-workspace")
    tables = {name: ws.polars(name) for name in ("runs", "expectations", "rubric_scores")}
    made = panel(sen.Workspace.from_tables(tables))
    for tab in ("checks", "skill", "others"):
        do(made, "see", "tab", tab)
