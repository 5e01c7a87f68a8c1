"""Two versions of a skill, file by file."""

from __future__ import annotations

import pytest

from skill_eval_nb.improving import versions
from skill_eval_nb.widgets.diff.skill import compare
from tests.corpus.build import lay

SKILL = "---\nname: a\n---\none\n"


@pytest.fixture
def of(tmp_path):
    """Compares two versions made of these files."""

    def made(old, new):
        lay(tmp_path / "old", {"SKILL.md": SKILL, **old})
        lay(tmp_path / "new", {"SKILL.md": SKILL, **new})
        return compare(tmp_path / "old", tmp_path / "new")

    return made


def test_what_became_of_each_file(of):
    moved, same = "the same text", {"same.md": "s"}
    found = of(
        {"a.md": "a\nb\n", "gone.md": "x\n", "was/here.md": moved, **same},
        {"SKILL.md": f"{SKILL}two\n", "a.md": "a\n", "new.md": "y\nz", "now.md": moved, **same},
    )
    told = [(file.name, file.kind, file.added, file.removed) for file in found.files]
    assert told == [
        ("SKILL.md", "changed", 1, 0),
        ("a.md", "changed", 0, 1),
        ("new.md", "added", 2, 0),
        ("gone.md", "removed", 0, 1),
        ("now.md", "moved", 0, 0),
    ]
    assert "was/here.md" in found.files[-1].note
    assert found.same == ("same.md",)
    assert (found.added, found.removed) == (3, 2)


def test_what_tells_about_the_evals_is_no_part_of_the_skill(of):
    found = of({"evals/evals.json": "{}"}, {"trigger-eval-set.json": "[]", ".git/config": "x"})
    assert found.files == ()
    assert found.same == ("SKILL.md",)


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


def test_an_empty_file_and_a_link(of, tmp_path):
    lay(tmp_path / "new", {"SKILL.md": SKILL})
    (tmp_path / "new" / "link.md").symlink_to("SKILL.md")
    found = of({}, {"empty.md": ""})
    assert [(file.name, file.kind, file.note) for file in found.files] == [
        ("empty.md", "added", "It is empty."),
        ("link.md", "added", ""),
    ]
    assert found.files[1].rows[0].new.text == "SKILL.md"


def test_it_is_read_again_when_a_file_changed(of, tmp_path):
    assert of({"a.md": "a"}, {"a.md": "a"}).files == ()
    assert of({"a.md": "a"}, {"a.md": "longer"}).files[0].name == "a.md"
