"""Checks tried: verdicts now and stored, gates and rates after, where the judge differs."""

from __future__ import annotations

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.running import grade_stored
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


def changed(*new, **more):
    return draft(CHECKS, *new, evals=EVALS, **more)


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
        (changed(SOURCES), [GATE, TOTAL, SOURCES]),
        (changed(SOURCES | CRITICAL), [GATE, TOTAL, SOURCES | CRITICAL]),
        (changed(SOURCES | CRITICAL, target="S1"), [SOURCES | CRITICAL, TOTAL]),
        (changed(SOURCES, target="A total"), [GATE, SOURCES]),
        (changed(TOTAL | CRITICAL, target="S2"), [GATE, TOTAL | CRITICAL]),
        (changed(EXISTS, target="S1"), [EXISTS, TOTAL]),
        (changed(target="S2"), [GATE]),
        (changed({"type": "no such type"}), [GATE, TOTAL, {"type": "no such type"}]),
    ],
    ids="add,add critical,critical for critical,by text,promote,demote,drop,?".split(","),
)
def test_after_is_what_checking_the_changed_suite_gives(tmp_path, made, after):
    root = tried_on(tmp_path, mixed)
    ws = sen.load(root)
    before = deltas(ws, "structural_pass_rate").row(0, named=True)
    tried = try_out(made, ws)
    other = with_suite(root, after)
    columns = [f"{name}_after" for name in ("gate_passed", "structural_pass_rate")]
    expected = other.runs.select(
        *RUN, *(pl.col(name.removesuffix("_after")).alias(name) for name in columns)
    )
    assert_frame_equal(tried.by_run.select(expected.columns), expected, check_row_order=False)
    gates = tried.by_run["gate_passed_before"].fill_null(value=True)
    now = expected["gate_passed_after"].fill_null(value=True)
    assert tried.gates_changed == (gates.sort() != now.sort()).sum()
    # The suite's difference is that of the changed suite.
    then = deltas(other, "structural_pass_rate").row(0, named=True)
    for row in tried.suite.filter(metric="structural_pass_rate").to_dicts():
        for name in ("estimate", "p", "verdict", "n_evals", "n_runs"):
            assert (row[f"{name}_before"], row[f"{name}_after"]) == (before[name], then[name])


def judged(*new, target=JUDGED, **more):
    """A draft of judged expectations."""
    return draft("expectations", *new, evals=EVALS, target=target, **more)


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    """A judge who passes the first of two expectations with the skill alone."""
    return sen.load(tried_on(tmp_path_factory.mktemp("verdicts"), planted(4, 4), with_the_skill))


def test_an_expectation_goes_by_its_name_where_verdicts_tell_its_text_alone(ws, tmp_path):
    root = tried_on(tmp_path, planted(4, 4), with_the_skill)
    named = json.loads((root / "evals.json").read_text())
    for one in named["evals"]:
        one["expectations"] = [{"name": "sources", "text": JUDGED}, OTHER]
    by_name = try_out(judged(target="sources"), sen.load(lay(root, {"evals.json": named})))
    assert by_name.status == "tried"
    assert by_name.by_run.equals(try_out(judged(), ws).by_run)


def test_without_two_runs_of_an_eval_there_is_a_difference_and_no_p(tmp_path):
    tried = try_out(judged(), sen.load(tried_on(tmp_path, planted(1, 1), with_the_skill, runs=1)))
    none = "no p without two runs of an eval on a side"
    assert f"goes from +0.5 ({none}) to 0 ({none})." in tried.answer


def test_stored_verdicts_count(tmp_path):
    """Those on S2 are made to say that it failed."""
    root = tried_on(tmp_path, planted(2, 0), evals=1, runs=2)
    for path in root.rglob("structural.json"):
        content = json.loads(path.read_text())
        content["expectations"][1] |= {"passed": False, "evidence": "as stored"}
        path.write_text(json.dumps(content))
    ws = sen.load(root)
    for target in ("S2", "A total", " a  TOTAL "):
        rows = try_out(draft(CHECKS, SOURCES, target=target), ws).by_run
        assert rows["replaced_passed"].to_list() == [False] * 4
        assert set(rows["replaced_evidence"]) == {"as stored"}
