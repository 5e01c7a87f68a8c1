"""A run is counted once, however many folders and files speak of it; and no run is lost."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.tables.columns import RUN_KEYS, TABLES
from skill_eval_nb.tables.counted import SeenRuns
from skill_eval_nb.workspace import Problems, RunDocuments, RunId
from tests.corpus.build import graded, row
from tests.tables.made import RUN, coded, load, rows

FIGURES = TABLES["runs"].names[len(RUN_KEYS) :]
RUN_1 = RunId("/ws", "iteration-1", "1", "with_skill", 1)


def figures(**known: Any) -> tuple[Any, ...]:
    return tuple(known.get(name) for name in FIGURES)


PASSED_2_OF_3 = figures(passed=2, failed=1, total=3, pass_rate=2 / 3)


def count(*runs: tuple[str, tuple[Any, ...]]) -> tuple[list[int | None], Problems]:
    """The numbers under which runs of the same keys are counted, and what is said of them."""
    met, problems = SeenRuns(benchmarked=True), Problems()
    found = [met.number(RUN_1, row, RunDocuments(path), problems) for path, row in runs]
    return [run and run.number for run in found], problems


TIMED = figures(passed=2, failed=1, total=3, pass_rate=2 / 3, time_seconds=5.0)
SLOW, QUICK = figures(time_seconds=9.0), figures(time_seconds=2.0)
RATED = figures(passed=2, failed=1, total=3, pass_rate=2 / 3, rubric_weighted_mean=4.0)
FAILED = figures(passed=1, failed=2, total=3, pass_rate=1 / 3)
SAME, OTHER = ("info", "duplicate-run"), ("warning", "duplicate-run")


@pytest.mark.parametrize(
    ("runs", "numbers", "told"),
    [
        ([PASSED_2_OF_3, PASSED_2_OF_3], [1, None], [SAME]),
        ([TIMED, PASSED_2_OF_3], [1, None], [SAME]),  # a copy may lack the time
        ([PASSED_2_OF_3, FAILED, PASSED_2_OF_3], [1, 2, None], [OTHER, SAME]),
        ([PASSED_2_OF_3, RATED, PASSED_2_OF_3], [1, 2, None], [OTHER, SAME]),
        ([PASSED_2_OF_3, figures(status="errored"), RATED], [1, 2, 3], [OTHER, OTHER]),
        # Runs without results are told apart by what else is known.
        ([SLOW, QUICK, SLOW], [1, 2, None], [OTHER, SAME]),
    ],
)
def test_the_same_results_are_the_same_run_and_others_a_further_one(runs, numbers, told):
    found, problems = count(*[(f"/{at}", run) for at, run in enumerate(runs)])
    assert found == numbers
    assert [(one.severity, one.code) for one in problems] == told
    assert problems[0].path == "/1"
    assert ("/0" if told[0] == SAME else "counted as run 2") in problems[0].message


def test_in_folders(tmp_path):
    beside = "iteration-1/eval-1-login/with_skill/run_1"
    files = {f"{RUN}/grading.json": graded("ppf"), f"{beside}/grading.json": graded("pff")}
    ws = load(tmp_path, files)
    assert set(ws.runs["run_number"]) == set(ws.runs["passed"]) == {1, 2}
    (problem,) = coded(ws, "duplicate-run")
    assert problem["severity"] == "warning"


class TestInBenchmarks:
    TIMED = figures(pass_rate=0.667, time_seconds=12.5, tokens=900)

    def elsewhere(self, run: RunId, told: tuple[Any, ...]) -> tuple[bool, Problems]:
        met, problems = SeenRuns(benchmarked=True), Problems()
        met.number(RUN_1, self.TIMED, RunDocuments("/a"), problems)
        return met.elsewhere(run, told, RunDocuments("/benchmark.json"), problems), problems

    def test_a_repeated_run_is_known_by_its_figures(self):
        later = RUN_1._replace(iteration="iteration-2")
        found, problems = self.elsewhere(
            later, figures(pass_rate=0.67, time_seconds=12.5, tokens=900)
        )
        assert found
        assert [one.code for one in problems] == ["repeated-run"]
        assert "/a" in problems[0].message

    @pytest.mark.parametrize(
        ("run", "told"),
        [
            (RUN_1._replace(eval_id="2"), TIMED),
            (RUN_1._replace(workspace="/other"), TIMED),
            (RUN_1._replace(configuration="without_skill"), TIMED),
            (RUN_1, figures(pass_rate=0.667, time_seconds=12.6, tokens=900)),
            (RUN_1, figures(pass_rate=0.667, time_seconds=12.5, tokens=901)),
            (RUN_1, figures(pass_rate=0.5, time_seconds=12.5, tokens=900)),
            (RUN_1, figures(pass_rate=0.667, tokens=900)),
        ],
    )
    def test_anything_else_is_another_run(self, run, told):
        assert self.elsewhere(run, told) == (False, [])

    def test_a_later_benchmark_that_repeats_the_baseline_adds_no_run(self, tmp_path):
        baseline = "iteration-1/eval-1-login/without_skill/run-1"
        told = [row("1", "with_skill", "ppp"), row("1", "without_skill", "pff")]
        files = {
            f"{baseline}/grading.json": graded("pff"),
            f"{baseline}/timing.json": {"total_duration_seconds": 10.0, "total_tokens": 1000},
            "iteration-2/eval-1-login/with_skill/run-1/grading.json": graded("ppp"),
            "iteration-2/benchmark.json": {"metadata": {}, "runs": told},
        }
        ws = load(tmp_path, files)
        assert sorted((run["iteration"], run["configuration"]) for run in rows(ws, "runs")) == [
            ("iteration-1", "without_skill"),
            ("iteration-2", "with_skill"),
        ]
        assert len(coded(ws, "repeated-run")) == 1


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
