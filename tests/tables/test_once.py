"""A run is counted once, however many folders and files speak of it; and no run is lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpus.build import graded, row
from tests.tables.made import coded, load, rows

FOLDERS = [f"iteration-1/eval-1-login/with_skill/{name}" for name in ("run1", "run-1", "run_1")]


def timed(seconds: float) -> dict[str, Any]:
    return {"timing.json": {"total_duration_seconds": seconds}}


PASSED: dict[str, Any] = {"grading.json": graded("ppf")}
FAILED = {"grading.json": graded("pff")}
RATED = {"grading.json": graded("ppf", rubric_scores={"depth": {"score": 4}})}
ERRORED = {"timing.json": {"status": "errored"}}
SAME, OTHER = "info", "warning"


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ([PASSED, PASSED], [SAME]),
        ([PASSED | timed(5.0), PASSED], [SAME]),  # a copy may lack the time
        ([PASSED, FAILED, PASSED], [OTHER, SAME]),
        ([PASSED, FAILED, FAILED], [OTHER, SAME]),
        ([PASSED, RATED, PASSED], [OTHER, SAME]),
        ([PASSED, ERRORED, RATED], [OTHER, OTHER]),
        # Runs without results are told apart by what else is known.
        ([timed(9.0), timed(2.0), timed(9.0)], [OTHER, SAME]),
    ],
)
def test_the_same_results_are_the_same_run_and_others_a_further_one(tmp_path, runs, told):
    files = {
        f"{folder}/{name}": content
        for folder, run in zip(FOLDERS, runs, strict=False)
        for name, content in run.items()
    }
    ws = load(tmp_path, files)
    assert ws.runs["run_number"].to_list() == [*range(1, 2 + told.count(OTHER))]
    problems = coded(ws, "duplicate-run")
    assert [one["severity"] for one in problems] == told
    assert problems[0]["path"] == FOLDERS[1]
    assert (FOLDERS[0] if told[0] == SAME else "counted as run 2") in problems[0]["message"]


def test_a_run_of_its_own_is_not_lost_to_one_that_was_given_its_number(tmp_path):
    folders = [*FOLDERS[:2], FOLDERS[1].replace("run-1", "run-2")]
    runs = zip(folders, (PASSED, FAILED, FAILED), strict=True)
    ws = load(tmp_path, {f"{folder}/grading.json": run["grading.json"] for folder, run in runs})
    assert ws.runs["passed"].to_list() == [2, 1, 1]
    assert ws.runs["run_number"].to_list() == [1, 2, 3]


BASELINE = ("1", "without_skill", 10.0, 1000)
"""Eval, configuration, seconds and tokens of a run of the first iteration; 1 of 3 passed."""


@pytest.mark.parametrize(
    ("told", "repeated"),
    [
        (BASELINE, True),
        (("2", *BASELINE[1:]), False),
        (("1", "old_skill", *BASELINE[2:]), False),
        ((*BASELINE[:2], 10.1, 1000), False),
        ((*BASELINE[:3], 1001), False),
        ((*BASELINE[:2], None, 1000), False),
    ],
)
def test_a_later_benchmark_that_repeats_a_run_adds_none(tmp_path, told, repeated):
    """It is known by its figures: anything else is another run."""
    folder = "iteration-1/eval-1-login/without_skill/run-1"
    eval_id, side, seconds, tokens = told
    stated = row(eval_id, side, "pff")
    stated["result"] |= {"time_seconds": seconds, "tokens": tokens, "pass_rate": 0.33}
    files = {
        f"{folder}/grading.json": graded("pff"),
        f"{folder}/timing.json": {"total_duration_seconds": 10.0, "total_tokens": 1000},
        "iteration-2/eval-1-login/with_skill/run-1/grading.json": graded("ppp"),
        "iteration-2/benchmark.json": {"runs": [row("1", "with_skill", "ppp"), stated]},
    }
    ws = load(tmp_path, files)
    found = sorted((run["iteration"], run["configuration"]) for run in rows(ws, "runs"))
    known = [("iteration-1", "without_skill"), ("iteration-2", "with_skill")]
    assert found == sorted(known + [("iteration-2", side)] * (not repeated))
    problems = coded(ws, "repeated-run")
    assert [folder in one["message"] for one in problems] == [True] * repeated


def test_half_a_character_costs_nothing(tmp_path):
    """What is compared with what was read before may hold text that no UTF-8 file can."""
    torn = "a \ud800 b"
    runs = [row(torn, side, "pf") for side in ("with_skill", "without_skill")]
    metadata = {"skill_name": "x", "timestamp": "2026-01-01T00:00:00Z"}
    files = {
        "trigger_eval.json": [{"query": torn, "should_trigger": True}],
        "benchmark.json": {"metadata": metadata, "runs": runs, "run_summary": {}},
    }
    ws = load(tmp_path, files)
    assert (ws.triggers.height, ws.runs.height) == (1, 2)
