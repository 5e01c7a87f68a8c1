"""The notebooks and the bundled data: found where they are, copied beside what is there."""

from __future__ import annotations

import pytest

from skill_eval_nb import share
from tests.checkout import ROOT
from tests.corpus.build import lay

HERE = {
    "notebooks/01_look.ipynb": "one",
    "notebooks/02_more.ipynb": "two",
    "notebooks/images/overview.png": b"png",
    "notebooks/.ipynb_checkpoints/01_look.ipynb": "old",
    "data/README.md": "made up",
    "data/a-workspace/evals.json": [],
    "data/b-workspace/.hidden": "x",
    "data/making/__pycache__/model.pyc": b"x",
    "data/demo-skill/SKILL.md": "skill",
}
COPIED = {name for name in HERE if not any(part in name for part in ("/.", "/__"))}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A package with notebooks and data of a few files."""
    lay(tmp_path / "package" / "_share", HERE)
    monkeypatch.setattr(share, "PACKAGE", tmp_path / "package")
    return tmp_path / "package" / "_share"


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_in_a_checkout_they_are_beside_the_package():
    assert share.share() == ROOT
    names = [path.name for path in share.bundled_workspaces()]
    assert "tdd-workspace" in names
    assert len(names) == 5


def test_in_an_installed_package_they_are_inside(source):
    assert share.share() == source
    assert [path.name for path in share.bundled_workspaces()] == ["a-workspace", "b-workspace"]


def test_everything_that_is_not_hidden_is_copied(source, tmp_path):
    notebooks = share.copy_notebooks(tmp_path / "mine")
    copied = files(tmp_path / "mine")
    assert set(copied) == COPIED
    assert all(copied[name] == files(source)[name] for name in COPIED)
    assert [path.name for path in notebooks] == ["01_look.ipynb", "02_more.ipynb"]
    assert all(path.parent == tmp_path / "mine" / "notebooks" for path in notebooks)


def test_into_a_hidden_folder_too(source, tmp_path):
    share.copy_notebooks(tmp_path / ".cache" / "__mine__")
    assert set(files(tmp_path / ".cache" / "__mine__")) == COPIED


def test_what_is_there_stays_and_what_is_gone_comes_back(source, tmp_path):
    folder = lay(
        tmp_path / "mine", {"notebooks/01_look.ipynb": "my notes", "notebooks/my.ipynb": "x"}
    )
    notebooks = share.copy_notebooks(folder)
    assert (folder / "notebooks" / "01_look.ipynb").read_text() == "my notes"
    assert (folder / "notebooks" / "02_more.ipynb").read_text() == "two"
    assert [path.name for path in notebooks] == ["01_look.ipynb", "02_more.ipynb", "my.ipynb"]
