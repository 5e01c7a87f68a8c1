"""Two versions of a skill: which two, what became of each file, and lines and words that differ."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import versions
from skill_eval_nb.widgets.diff import choose_versions, compare
from skill_eval_nb.widgets.explore.choice import suites_of, turned_workspace
from tests.corpus.build import lay
from tests.widgets.diff.made import workspace

SKILL = "---\nname: a\n---\none\n"
FIRST = "iteration-1/skill-snapshot/with_skill"
SECOND = "iteration-2/skill-snapshot/with_skill"


@pytest.fixture
def of(tmp_path):
    """Compares two versions made of these files."""

    def compared_files(old, new):
        lay(tmp_path / "old", {"SKILL.md": SKILL, **old})
        lay(tmp_path / "new", {"SKILL.md": SKILL, **new})
        return compare(tmp_path / "old", tmp_path / "new")

    return compared_files


def chosen(ws, configuration="with_skill"):
    """The versions there are, and the names of the two that are compared."""
    (suite,) = suites_of(turned_workspace(ws), turned=True)
    pair = "iteration-1", "iteration-2"
    every, found = choose_versions(ws, suite, pair, configuration, {})
    return list(every), [one and one.name for one in found]


def test_the_versions_are_those_of_the_iterations(tmp_path):
    path = workspace(tmp_path)
    for place in (path, tmp_path, [path / "iteration-1", path / "iteration-2"]):
        assert chosen(sen.load(place))[1] == [FIRST, SECOND]
    assert chosen(sen.load(path)) == ([FIRST, SECOND], [FIRST, SECOND])
    for side in ("without_skill", "baseline"):
        assert chosen(sen.load(path), side)[1] == [None, None]
    beside = workspace(tmp_path / "beside", skill=False)
    lay(tmp_path / "beside", {"notes/SKILL.md": "now"})
    assert chosen(sen.load(beside)) == (["notes, as it is now"], [None, None])


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
        (b"\xff\xfe", b"text", "2 bytes that are no text, then 4 bytes of text."),
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
