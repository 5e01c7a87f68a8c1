"""The diff of two iterations, and of two versions of a skill: what is chosen and shown."""

from __future__ import annotations

import pytest

from skill_eval_nb.improving import versions
from skill_eval_nb.widgets.diff import compare
from tests.corpus.build import lay

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
        (b"\0\1", b"\0\1\2", "2 bytes that is not text, then 3 bytes that is not text."),
        (b"a\r\nb\r\n", b"a\nb\n", "Only its line endings differ."),
        (b"x" * 21, b"y", "21 bytes, too much to compare line by line, then 1 bytes of text."),
        (b"\n" * 6, b"y", "6 bytes, too much to compare line by line, then 1 bytes of text."),
    ],
)
def test_what_cannot_be_compared_line_by_line_is_said(old, new, note, of, monkeypatch):
    monkeypatch.setattr(versions, "LARGEST", 20)
    monkeypatch.setattr(versions, "LONGEST", 5)
    (file,) = of({"a.bin": old, "SKILL.md": "s"}, {"a.bin": new, "SKILL.md": "s"}).files
    assert (file.note, file.rows) == (note, ())
