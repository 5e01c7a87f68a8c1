"""The diff of two iterations, and of two versions of a skill: what is chosen and shown."""

from __future__ import annotations

import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import versions
from skill_eval_nb.widgets.diff import Diff, compare
from skill_eval_nb.widgets.ui import Node
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.corpus.build import lay
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


SKILL = "---\nname: a\n---\none\n"


@pytest.fixture
def of(tmp_path):
    """Compares two versions made of these files."""

    def compared_files(old, new):
        lay(tmp_path / "old", {"SKILL.md": SKILL, **old})
        lay(tmp_path / "new", {"SKILL.md": SKILL, **new})
        return compare(tmp_path / "old", tmp_path / "new")

    return compared_files


def test_what_became_of_each_file(of, tmp_path):
    text = "the same text"
    lay(tmp_path / "new", {"SKILL.md": SKILL})
    (tmp_path / "new" / "link.md").symlink_to("SKILL.md")
    evals = {"evals/evals.json": "{}", ".git/config": "x"}  # no part of the skill
    found = of(
        {"a.md": "a\nb\n", "gone.md": "x\n", "was/here.md": text, "same.md": "s", **evals},
        {"SKILL.md": f"{SKILL}two\n", "a.md": "a\n", "now.md": text, "same.md": "s", "empty.md": "",
         "new.md": "y\nz", "trigger-eval-set.json": "[]"},
    )  # fmt: skip
    assert [(file.name, file.kind, file.added, file.removed) for file in found.files] == [
        ("SKILL.md", "changed", 1, 0),
        ("a.md", "changed", 0, 1),
        ("empty.md", "added", 0, 0),
        ("link.md", "added", 1, 0),
        ("new.md", "added", 2, 0),
        ("gone.md", "removed", 0, 1),
        ("now.md", "moved", 0, 0),
    ]
    assert "was/here.md" in found.files[-1].note
    assert found.files[2].note == "It is empty."
    assert found.files[3].rows[0].new[1] == "SKILL.md"  # where the link leads, not what is there
    assert (found.same, found.added, found.removed) == (("same.md",), 4, 2)
    again = of({"same.md": "s"}, {"same.md": "longer"})  # read again where a file changed
    assert ("same.md", "changed") in [(file.name, file.kind) for file in again.files]


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (b"\0\1", b"\0\1\2", "2 bytes that are no text, then 3 bytes that are no text."),
        (b"a\r\nb\r\n", b"a\nb\n", "Only how its lines end differs."),
        (b"x" * 21, b"y", "21 bytes, too much to compare line by line, then 1 bytes of text."),
        (b"\n" * 6, b"y", "6 bytes, too much to compare line by line, then 1 bytes of text."),
    ],
)
def test_what_cannot_be_compared_line_by_line_is_said(old, new, note, of, monkeypatch):
    monkeypatch.setattr(versions, "LARGEST", 20)
    monkeypatch.setattr(versions, "LONGEST", 5)
    (file,) = of({"a.bin": old, "SKILL.md": "s"}, {"a.bin": new, "SKILL.md": "s"}).files
    assert (file.note, file.rows) == (note, ())
