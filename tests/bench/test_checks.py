"""What is measured does what it says."""

from __future__ import annotations

from tests.bench.checks import MIXED, ONE, make, measure, plain


def test_both_ways_find_the_one_file(tmp_path):
    make(tmp_path / "outputs", n_files=20, n_bytes=512)
    assert plain(str(tmp_path / "outputs")) == 1


def test_there_are_one_and_six_checks():
    assert (len(ONE), len(MIXED)) == (1, 6)


def test_each_way_is_measured(tmp_path):
    make(tmp_path / "outputs")
    (tmp_path / "transcript.md").write_text("0 errors\n")
    best = measure(tmp_path / "outputs", tmp_path / "transcript.md", 1)
    assert set(best) == {"plain", "one", "mixed", "expression"}
    assert all(0 < seconds < 60 for seconds in best.values())
