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


class TestOnDisk:
    def test_the_same_results_are_the_same_run(self):
        numbers, problems = count(("/a", PASSED_2_OF_3), ("/b", PASSED_2_OF_3))
        assert numbers == [1, None]
        assert [(one.severity, one.code, one.path) for one in problems] == [
            ("info", "duplicate-run", "/b")
        ]
        assert "/a" in problems[0].message

    def test_a_copy_may_lack_the_time(self):
        timed = figures(passed=2, failed=1, total=3, pass_rate=2 / 3, time_seconds=5.0)
        assert count(("/a", timed), ("/b", PASSED_2_OF_3))[0] == [1, None]

    @pytest.mark.parametrize(
        "other",
        [
            figures(passed=1, failed=2, total=3, pass_rate=1 / 3),
            figures(passed=2, failed=1, total=3, pass_rate=2 / 3, rubric_weighted_mean=4.0),
            figures(status="errored"),
        ],
    )
    def test_other_results_are_a_further_run(self, other):
        numbers, problems = count(("/a", PASSED_2_OF_3), ("/b", other), ("/c", PASSED_2_OF_3))
        assert numbers == [1, 2, None]
        assert [one.severity for one in problems] == ["warning", "info"]
        assert "counted as run 2" in problems[0].message

    def test_runs_without_results_are_told_apart_by_what_else_is_known(self):
        slow, quick = figures(time_seconds=9.0), figures(time_seconds=2.0)
        assert count(("/a", slow), ("/b", quick), ("/c", slow))[0] == [1, 2, None]

    def test_a_third_result_gets_the_third_number(self):
        every = [figures(passed=n, failed=0, total=n) for n in (1, 2, 3)]
        assert count(*zip(("/a", "/b", "/c"), every, strict=True))[0] == [1, 2, 3]

    def test_in_folders(self, tmp_path):
        beside = "iteration-1/eval-1-login/with_skill/run_1"
        files = {f"{RUN}/grading.json": graded("ppf"), f"{beside}/grading.json": graded("pff")}
        ws = load(tmp_path, files)
        assert sorted((run["run_number"], run["passed"]) for run in rows(ws, "runs")) in (
            [(1, 2), (2, 1)],
            [(1, 1), (2, 2)],
        )
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
