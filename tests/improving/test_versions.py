"""What differs between two versions of a skill: counted by difflib on its own, and in words."""

from __future__ import annotations

import difflib

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import history
from skill_eval_nb.improving.stored import LARGEST_SHOWN, texts
from skill_eval_nb.improving.versions import changes, in_words
from tests.checkout import ROOT
from tests.corpus.build import lay


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("versions")


def two(folder, old, new):
    return changes(lay(folder / "old", old), lay(folder / "new", new))


def diffed(old: str, new: str) -> tuple[int, int]:
    """Lines that came and went, as difflib tells them."""
    told = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    return sum(one.startswith("+ ") for one in told), sum(one.startswith("- ") for one in told)


def test_the_bundled_skill_is_counted_as_difflib_counts_it():
    kept = [
        ROOT / f"data/tdd-workspace/iteration-{n}/skill-snapshot/with_skill/SKILL.md"
        for n in (1, 2)
    ]
    one = history(sen.load(ROOT / "data" / "tdd-workspace")).versions[1]
    assert (one.lines_added, one.lines_removed) == diffed(*(file.read_text() for file in kept))
    assert one.what_changed is not None
    assert one.what_changed.startswith("SKILL.md +9 −5 lines, first: ‘description: ")


def test_files_that_came_and_went_are_named_and_evals_are_no_part(tmp_path):
    old = {"SKILL.md": "Same.\n", "notes/a.md": "1\n2\n", "evals/evals.json": "{}", "c.md": "It"}
    new = {"SKILL.md": "Same.\n", "notes/b.md": "1\n", "pic.bin": b"\0\1", "notes/c.md": "It"}
    assert in_words(two(tmp_path, old, new)) == (
        "notes/a.md removed, 2 lines; notes/b.md added, 1 line; notes/c.md moved; pic.bin added"
    )


def test_the_skill_comes_first_and_what_is_no_text_has_none(tmp_path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "SKILL.md").write_text("# Made up")
    (tmp_path / "assets" / "a.txt").write_text("a line")
    (tmp_path / "assets" / "b.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "assets" / "c.txt").write_text("x" * (LARGEST_SHOWN + 1))
    assert list(texts(tmp_path)) == [
        ("SKILL.md", "# Made up"),
        ("assets/a.txt", "a line"),
        ("assets/b.bin", None),
        ("assets/c.txt", None),
    ]
