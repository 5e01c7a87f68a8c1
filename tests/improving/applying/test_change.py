"""A change: shown, written once, and never over what somebody else wrote."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.applying import preview
from skill_eval_nb.running.refused import Refused
from tests.improving.applying.made_suites import draft, suite


@pytest.fixture
def path(tmp_path):
    """A suite of two evals, in a folder of its own."""
    return suite(tmp_path)


def test_the_old_file_is_kept_under_a_free_name(path):
    first = path.read_bytes()
    taken = path.with_name("evals.json.2.bak")
    taken.write_text("somebody's")
    written = [
        preview(draft("expectations", text), path).write().written for text in ("One", "Two")
    ]
    kept = [one.kept for one in written if one is not None]
    assert [one.name for one in kept if one] == ["evals.json.1.bak", "evals.json.3.bak"]
    assert kept[0] is not None
    assert kept[0].read_bytes() == first
    assert taken.read_text() == "somebody's"


def test_old_files_are_not_loaded(path):
    before = sen.load(path.parent)
    preview(draft("expectations", "It is dated"), path).write()
    after = sen.load(path.parent)
    assert after.polars("evals").height == before.polars("evals").height
    assert after.polars("problems").height == before.polars("problems").height


def test_a_file_that_changed_since_is_not_written(path):
    change = preview(draft("expectations", "It is dated"), path)
    path.write_bytes(path.read_bytes() + b"\n")
    there = path.read_bytes()
    with pytest.raises(Refused, match="has changed since"):
        change.write()
    assert path.read_bytes() == there
    assert [one.name for one in path.parent.iterdir()] == ["evals.json"]


def test_it_is_written_once(path):
    change = preview(draft("expectations", "It is dated"), path)
    change.write()
    with pytest.raises(Refused, match="has changed since"):
        change.write()


def test_where_nothing_changes_nothing_is_written(path):
    change = preview([], path).write()
    assert change.written is not None
    assert change.written.kept is None
    assert [one.name for one in path.parent.iterdir()] == ["evals.json"]


def test_a_link_stays_a_link(tmp_path):
    real = suite(tmp_path / "real")
    link = tmp_path / "evals.json"
    link.symlink_to(real)
    preview(draft("expectations", "It is dated"), link).write()
    assert link.is_symlink()
    assert b"It is dated" in real.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_encoding_stays(path, encoding):
    path.write_bytes(path.read_text().encode(encoding))
    preview(draft("expectations", "Süß"), path).write()
    assert "Süß" in path.read_bytes().decode(encoding)
    assert path.read_bytes().decode(encoding).startswith("{")


def test_the_diff_is_one_that_patch_understands(path):
    change = preview(draft("expectations", "It is dated"), path)
    lines = change.diff.splitlines()
    assert lines[0] == f"--- {path}"
    assert lines[1] == "+++ evals.json (new)"
    assert [one for one in lines[2:] if one[0] in "+-"] == [
        '-        "It is polite"',
        '+        "It is polite",',
        '+        "It is dated"',
    ]
    assert preview(draft("expectations", "It is dated"), path).diff == change.diff


def test_a_last_line_without_an_end_is_told(path):
    path.write_text(path.read_text().rstrip("\n"))
    change = preview(draft("evals", {"prompt": "Do more"}), path)
    assert change.diff.splitlines()[-2:] == [" }", "\\ No newline at end of file"]
    assert not change.after.endswith(b"\n")


class TestShown:
    def test_it_says_what_is_in_it_and_what_is_not(self, path):
        good = draft("expectations", "It is dated")
        bad = draft("expectations", target="It is late", kind="drop")
        change = preview([good, bad], path)
        told = repr(change).splitlines()
        assert told[0] == "1 of 2 drafts in evals.json: 2 lines new, 1 line gone; not written yet"
        assert told[1].startswith(f"  {bad.key} is refused: eval 1: there is no item")
        assert '+        "It is dated"' in told

    def test_once_it_is_written_it_says_where_the_old_file_is(self, path):
        change = preview(draft("expectations", "It is dated"), path).write()
        assert f"the old file is {path}.1.bak" in repr(change)
        assert "no iteration was prepared: there is no workspace" in change._repr_html_()

    def test_texts_are_escaped(self, path):
        html = preview(draft("expectations", "<script>alert(1)</script>"), path)._repr_html_()
        assert "<script>" not in html
        assert "<span class='sen-new'>+        &quot;&lt;script&gt;alert(1)" in html

    def test_faults_are_shown(self, path):
        one = draft("structural_expectations", {"pattern": "*"})
        assert "`type` is missing" in repr(preview(one, path))
