"""Which files are outputs, how they are read, and which of them a pattern names."""

from __future__ import annotations

import glob
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb import disk
from skill_eval_nb.disk import NO_LINK, read_bytes
from skill_eval_nb.grading.outputs import BadGlob, Outputs, list_outputs, match_pattern
from skill_eval_nb.grading.structural import KINDS, OF_TRANSCRIPT
from tests.corpus.build import lay
from tests.grading.made import checked


def test_only_regular_files_inside_are_outputs(tmp_path):
    """Links that lead out are neither followed nor counted, pipes not waited for."""
    secret, outputs = tmp_path / "secret.md", tmp_path / "outputs"
    secret.write_text("the secret")
    lay(outputs, {"docs/a.txt": "here"})
    (outputs / "latest.txt").symlink_to("docs/a.txt")
    (outputs / "link.md").symlink_to(secret)
    (outputs / "up").symlink_to(tmp_path, target_is_directory=True)
    (outputs / "gone.md").symlink_to("nowhere")
    (outputs / "one.md").symlink_to("two.md")
    (outputs / "two.md").symlink_to("one.md")
    os.mkfifo(outputs / "pipe.md")
    os.close(os.open(os.fsencode(outputs) + b"/caf\xe9\n.csv", os.O_CREAT))
    found = checked(tmp_path, "file_contains", pattern="*.md", match="secret")
    assert found.passed is False
    assert "the secret" not in found.evidence
    assert "up is a link that leads out of the outputs" in found.evidence
    assert "pipe.md is not a regular file" in found.evidence
    assert checked(tmp_path, "file_exists", pattern="**/secret.md").passed is False
    assert checked(tmp_path, "file_count", pattern="*.md", count=0).passed is True
    own = checked(tmp_path, "file_contains", pattern="latest.txt", match="here")
    assert own.evidence.startswith("latest.txt:1: here")
    odd = checked(tmp_path, "file_exists", pattern="*.csv")  # a name that is no text
    assert (odd.passed, "\n" in odd.evidence) == (True, False)
    assert odd.evidence.encode()
    with pytest.raises(OSError, match="link"):  # nor what became one after it was listed
        read_bytes(outputs / "link.md", flags=NO_LINK)


def test_a_file_that_is_too_large_is_told_and_not_scored(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "LARGEST", 100_000)
    lay(tmp_path, {"outputs/big.txt": "x" * 200_000})
    for says in ("big.txt: it has 0 MB", "big.txt: No such file"):
        found = checked(tmp_path, "file_not_contains", pattern="*", match="y")
        assert found.passed is None
        assert says in found.evidence
        monkeypatch.setattr(Outputs, "read", lambda *_: (tmp_path / "none").read_bytes())


# ── globs ──────────────────────────────────────────────────────────────────────────────────────

DOCS = ["docs/a.md", "docs/b.test.ts", "docs/deep/c.md", "docs/deep/er/d.md"]
NAMES = ["a.md", "b.txt", ".env", *DOCS, "src/a.ts", "src/a.test.ts", "src/.hidden/x.ts"]
PIECES = st.sampled_from(
    ["*", "**", "*.md", "?.*", "docs", "src", "deep", "[ab]*", "[!a].*", "*.ts"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return lay(tmp_path_factory.mktemp("outputs"), dict.fromkeys(NAMES, ""))


@settings(max_examples=100, deadline=None)
@given(pieces=st.lists(PIECES, min_size=2, max_size=4))
def test_a_pattern_with_slashes_names_what_python_globs(folder, pieces):
    pattern = "/".join(pieces)  # pathlib's glob has no `include_hidden`
    theirs = glob.glob(pattern, root_dir=folder, recursive=True, include_hidden=True)  # noqa: PTH207
    files = {name for name in theirs if Path(folder, name).is_file()}
    assert set(match_pattern(pattern, list_outputs(str(folder)).names)) == files


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("docs/**", DOCS),
        ("docs/", DOCS),
        ("./docs/*.md", ["docs/a.md"]),
        ("docs//a.md", ["docs/a.md"]),
        ("outputs/docs/*.md", ["docs/a.md"]),
        ("{a,b}.{md,txt}", ["a.md", "b.txt", "docs/a.md"]),
        ("b.txt\nsrc/a.ts", ["b.txt", "src/a.ts"]),
        ("**", NAMES),
        ("A.md", []),
        ("**/er/**/d.md", ["docs/deep/er/d.md"]),
    ],
)
def test_patterns_as_people_write_them(pattern, names):
    assert sorted(match_pattern(pattern, NAMES)) == sorted(names)


@pytest.mark.parametrize(
    "pattern",
    [
        *("/etc/passwd", "../*.md", "../../*", "a/../../b", "~/x", "C:\\x", "  "),
        *("a/{b,..}/c", "{../a,b}", "..\\..\\*", "*.md\n../*"),
    ],
)
def test_a_pattern_that_leads_out_is_not_scored_by_any_check_of_files(tmp_path, pattern):
    options = {"match": "x", "count": 0, "operator": ">="}
    for kind in KINDS - {*OF_TRANSCRIPT, "custom_script", "custom"}:
        found = checked(tmp_path, kind, {"a.md": "x"}, pattern=pattern, **options)
        assert found.passed is None, kind
        assert "Not scored: `pattern`" in found.evidence


def test_no_pattern_hangs():
    for pattern in ("{," * 5_000, "**/" * 500_000 + "x" * 5_000, "*" * 5_000):
        with pytest.raises(BadGlob, match="characters; no path has more"):
            match_pattern(pattern, ["a.md"])
    assert match_pattern("**/" * 1_000 + "a.md", ["a.md", "b/a.md"]) == ["a.md", "b/a.md"]
    begun = time.process_time()
    for pattern in ("*a" * 30 + "b", "**/" * 40 + "b", "**/*a*/" * 4 + "b"):
        assert match_pattern(pattern, ["/".join(["a" * 60] * 30)]) == []
    with pytest.raises(BadGlob, match="more than 4 times"):
        match_pattern("**/*a*/" * 20 + "b", ["a.md"])
    assert time.process_time() - begun < 2
