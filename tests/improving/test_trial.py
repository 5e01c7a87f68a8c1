"""A draft tried on what is stored: the answer, its figures, and how it shows itself."""

from __future__ import annotations

import os

import pytest
from scipy.stats import fisher_exact

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.running.protocol import Refused
from tests.improving.made import CHECKS, EVALS, SOURCES, draft, planted, tried_on

ADDED = draft(CHECKS, SOURCES, evals=EVALS)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Four evals, four runs a side: all runs with the skill name their source, one without."""
    return tried_on(tmp_path_factory.mktemp("read"), planted(4, 1))


@pytest.fixture
def own(tmp_path):
    """The same for a test that changes it."""
    return tried_on(tmp_path, planted(4, 1))


@pytest.mark.parametrize(("one", "other"), [(5, 2), (1, 4)])
def test_p_of_one_eval_is_fishers(tmp_path, one, other):
    root = tried_on(tmp_path, planted(one, other), evals=1, runs=5)
    tried = try_out(draft(CHECKS, SOURCES), sen.load(root))
    expected = fisher_exact([[one, 5 - one], [other, 5 - other]]).pvalue
    assert tried.delta.p == pytest.approx(expected)


def test_the_evals_it_was_found_on_prove_nothing(tmp_path):
    def text(one, side, run):
        return planted(4, 0)(one, side, run) if one in ("1", "2") else "# Report\n"

    made = draft(CHECKS, SOURCES, evals=EVALS, found_on=("1", "2"))
    tried = try_out(made, sen.load(tried_on(tmp_path, text)))
    assert (tried.delta.says, tried.elsewhere.says) == ("separates", "always fails")
    assert tried.elsewhere.n_evals == 2
    assert tried.why_better == "it replaces nothing"
    assert "2 evals that it was not found on" in tried.answer
    assert "it separates" not in tried.answer


def test_each_run_that_cannot_be_looked_at_is_a_row_with_its_reason(own):
    place = own / "eval-1" / "with_skill"
    (place / "run-1" / "timing.json").write_text('{"status": "errored", "reason": "crashed"}')
    (place / "run-1" / "grading.json").unlink()
    ws = sen.load(own)
    ws.tables()
    (place / "run-2").rename(own / "gone")
    (place / "run-3" / "outputs").rename(own / "gone-too")
    tried = try_out(ADDED, ws)
    row = tried.sides.row(0, named=True)
    assert (row["runs"], row["passed"], row["errored"], row["not_scored"]) == (16, 13, 1, 2)
    evidence = tried.by_run.filter(eval_id="1", configuration="with_skill")["evidence"]
    assert evidence[0] == "Not scored: the run errored"
    assert evidence[1].startswith("Not scored: its folder does not exist")
    assert evidence[2] == "Not scored: it has no stored outputs"
    assert any("no stored outputs" in note for note in tried.notes)


def test_of_several_workspaces_one_has_to_be_chosen(tmp_path):
    for name in "ab":
        tried_on(tmp_path / name, planted(2, 1), evals=1, runs=2)
    with pytest.raises(Refused, match="a try-out is of one skill, and here are 2"):
        try_out(draft(CHECKS, SOURCES), sen.load(tmp_path))


EVIL = "<img src=x onerror=alert(1)>"


def test_hostile_outputs_are_looked_at_all_the_same_and_text_from_files_is_escaped(own):
    outputs = own / "eval-1" / "without_skill" / "run-4" / "outputs"
    os.mkfifo(outputs / "pipe.md")
    (outputs / "loop.md").symlink_to(outputs / "loop.md")
    (outputs / "out.md").symlink_to("/etc/passwd")
    (outputs / "<script>\n.md").write_bytes(b"\0Source:\xff")
    ws = sen.load(own)
    row = try_out(ADDED, ws).by_run.filter(eval_id="1", configuration="without_skill", run_number=4)
    assert row["passed"].item() is True
    assert "<script>" in row["evidence"].item()
    html = try_out(draft(CHECKS, SOURCES, target="S1", why=EVIL), ws)._repr_html_()
    assert EVIL not in html
    assert "&lt;img src=x" in html


@pytest.mark.parametrize("wrong", [{"near": -1}, {"baseline": "without_skil"}], ids=str)
def test_arguments_that_make_no_sense_are_refused(root, wrong):
    with pytest.raises(Refused):
        try_out(ADDED, sen.load(root), **wrong)
