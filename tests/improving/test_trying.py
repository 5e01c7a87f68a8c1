"""A draft tried on what is stored: the answer, its figures, and how it shows itself."""

from __future__ import annotations

import json
import os
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.running import grade_stored
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.values import RUN
from tests.bubblewrap import needed
from tests.corpus.build import lay
from tests.improving.made import (
    CHECKS,
    EVALS,
    EXISTS,
    JUDGED,
    OTHER,
    SOURCES,
    TOTAL,
    draft,
    planted,
    tried_on,
    with_the_skill,
)

changed = partial(draft, CHECKS, evals=EVALS)
ADDED = changed(SOURCES)


@pytest.fixture
def own(tmp_path):
    """Four evals, four runs a side: all runs with the skill name their source, one without."""
    return tried_on(tmp_path, planted(4, 1))


def test_the_evals_it_was_found_on_prove_nothing(tmp_path):
    def text(one, side, run):
        return planted(4, 0)(one, side, run) if one in ("1", "2") else "# Report\n"

    tried = try_out(changed(SOURCES, found_on=("1", "2")), sen.load(tried_on(tmp_path, text)))
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


def test_arguments_that_make_no_sense_are_refused(own):
    for wrong in ({"near": -1}, {"baseline": "without_skil"}):
        with pytest.raises(Refused):
            try_out(ADDED, sen.load(own), **wrong)
    tried_on(own.parent / "other", planted(2, 1), evals=1, runs=2)
    with pytest.raises(Refused, match="a try-out needs one skill, and there are 2 here"):
        try_out(ADDED, sen.load(own.parent))


# ── checks ────────────────────────────────────────────────────────────────────────────────────────


SCRIPT = {"type": "custom_script", "script": "grep -q Source: report.md"}


@needed
def test_a_script_is_run_in_the_sandbox_and_only_where_allowed(tmp_path):
    ws = sen.load(tried_on(tmp_path, planted(2, 1), evals=1, runs=2))
    told = []
    tried = try_out(draft(CHECKS, SCRIPT), ws, allow_scripts=True, progress=told.append)
    assert tried.sides["passed"].to_list() == [2, 1]
    assert (told[-1].done, told[-1].total) == (4, 4)
    assert try_out(draft(CHECKS, SCRIPT), ws).sides["not_scored"].to_list() == [2, 2]


CRITICAL = {"critical": True}
GATE = EXISTS | CRITICAL


def mixed(one: str, side: str, run: int) -> str:
    """Outputs with and without a source, with and without a total."""
    return planted(3, 1)(one, side, run).replace("Total", "Sum" if run == 2 else "Total")


def with_suite(root, structural):
    """The workspace with another suite, checked anew by layer 1: what a draft would come to."""
    content = json.loads((root / "evals.json").read_text())
    for one in content["evals"]:
        one[CHECKS] = structural
    grade_stored(lay(root, {"evals.json": content}), force=True)
    return sen.load(root)


@pytest.mark.parametrize(
    ("made", "after"),
    [
        (changed(SOURCES | CRITICAL), [GATE, TOTAL, SOURCES | CRITICAL]),
        (changed(SOURCES | CRITICAL, target="S1"), [SOURCES | CRITICAL, TOTAL]),
        (changed(SOURCES, target="A total"), [GATE, SOURCES]),
        (changed(EXISTS, target="S1"), [EXISTS, TOTAL]),
        (changed(target="S2"), [GATE]),
        (changed({"type": "no such type"}), [GATE, TOTAL, {"type": "no such type"}]),
    ],
    ids="add critical,critical for critical,by text,demote,drop,?".split(","),
)
def test_after_is_what_checking_the_changed_suite_gives(tmp_path, made, after):
    root = tried_on(tmp_path, mixed)
    ws = sen.load(root)
    before = deltas(ws, "structural_pass_rate").row(0, named=True)
    tried = try_out(made, ws)
    other = with_suite(root, after)
    columns = pl.col("gate_passed", "structural_pass_rate").name.suffix("_after")
    expected = other.runs.select(*RUN, columns)
    assert_frame_equal(tried.by_run.select(expected.columns), expected, check_row_order=False)
    gates = tried.by_run["gate_passed_before"].fill_null(value=True)
    now = expected["gate_passed_after"].fill_null(value=True)
    assert tried.gates_changed == (gates.sort() != now.sort()).sum()
    # The suite's difference is that of the changed suite.
    then = deltas(other, "structural_pass_rate").row(0, named=True)
    for row in tried.suite.filter(metric="structural_pass_rate").to_dicts():
        for name in ("estimate", "p", "verdict", "n_evals", "n_runs"):
            assert (row[f"{name}_before"], row[f"{name}_after"]) == (before[name], then[name])


def test_an_expectation_goes_by_its_name_where_verdicts_tell_its_text_alone(tmp_path):
    root = tried_on(tmp_path, planted(4, 4), with_the_skill)
    by_text = try_out(draft("expectations", evals=EVALS, target=JUDGED), sen.load(root))
    named = json.loads((root / "evals.json").read_text())
    for one in named["evals"]:
        one["expectations"] = [{"name": "sources", "text": JUDGED}, OTHER]
    ws = sen.load(lay(root, {"evals.json": named}))
    by_name = try_out(draft("expectations", evals=EVALS, target="sources"), ws)
    assert (by_text.status, by_name.status) == ("tried", "tried")
    assert by_name.by_run.equals(by_text.by_run)


# ── dimensions ────────────────────────────────────────────────────────────────────────────────────


def test_a_dimension_goes(tmp_path):
    ws = sen.load(tried_on(tmp_path, planted(2, 1), evals=2, runs=2))
    tried = try_out(draft("dimensions", target="depth", evals=("1", "2")), ws)
    assert tried.status == "tried"
    row = tried.suite.row(0, named=True)
    before = deltas(ws, "rubric_weighted_mean")["estimate"].item()
    without = deltas(ws, "clarity")["estimate"].item()
    assert (row["estimate_before"], row["estimate_after"]) == pytest.approx((before, without))
    assert "Without depth the suite's difference" in tried.answer
