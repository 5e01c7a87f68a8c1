"""What lies in a run's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.workspace import UNSTATED, Problems, crawl, lay_out, read_run
from tests.corpus.build import graded, lay

RUN = "iteration-1/eval-0/with_skill/run-1"


def read(root: Path, files: dict[str, Any]) -> tuple[list[tuple[str, int, Any]], Problems]:
    """The runs below a folder: configuration, number and documents; and the problems."""
    lay(root, files)
    problems = Problems()
    runs = [
        (place.configuration, number, documents)
        for run in lay_out(crawl(str(root), Problems())).runs
        for place, number, documents in read_run(run, problems)
    ]
    return runs, problems


def test_all_documents_of_a_run(tmp_path):
    ((side, number, documents),), problems = read(
        tmp_path,
        {
            f"{RUN}/grading.json": graded("pf"),
            f"{RUN}/structural.json": graded("p", gate_passed=True),
            f"{RUN}/timing.json": {"total_tokens": 5},
            f"{RUN}/outputs/metrics.json": {"output_chars": 9},
            f"{RUN}/judgings/10.json": {"rubric_scores": {"a": {"score": 4}}, "judging": 10},
            f"{RUN}/judgings/9.json": {"rubric_scores": {"a": {"score": 3}}, "judging": 9},
        },
    )
    assert (side, number) == ("with_skill", 1)
    assert len(documents.grading.expectations) == 2
    assert documents.structural.gate_passed is True
    assert documents.timing.total_tokens == 5
    assert documents.metrics.output_chars == 9
    assert [one.judging for one in documents.judgings] == [9, 10]
    assert (documents.unreadable, problems) == (False, [])


def test_metrics_beside_the_grading_go_before_those_in_outputs(tmp_path):
    ((_, _, documents),), _ = read(
        tmp_path,
        {
            f"{RUN}/metrics.json": {"total_steps": 1},
            f"{RUN}/outputs/metrics.json": {"total_steps": 2},
        },
    )
    assert documents.metrics.total_steps == 1


def test_a_grading_may_lie_in_the_outputs(tmp_path):
    ((_, _, documents),), _ = read(tmp_path, {f"{RUN}/outputs/grading.json": graded("p")})
    assert len(documents.grading.expectations) == 1


def test_of_a_run_made_here_no_result_is_taken_from_what_the_agent_put_out(tmp_path):
    forged = {
        f"{RUN}/timing.json": {"status": "errored", "reason": "cut off", "executor": "offline"},
        f"{RUN}/outputs/grading.json": graded("pp"),
        f"{RUN}/outputs/metrics.json": {"total_steps": 1},
    }
    ((_, _, documents),), problems = read(tmp_path / "ours", forged)
    assert (documents.grading, documents.metrics) == (None, None)
    assert (documents.took_place, documents.unreadable, problems) == (True, False, [])
    forged[f"{RUN}/timing.json"] = {"status": "errored"}
    ((_, _, documents),), _ = read(tmp_path / "theirs", forged)
    assert len(documents.grading.expectations) == 2
    assert documents.metrics.total_steps == 1


@pytest.mark.parametrize("trace", ["timing.json", "transcript.md", "outputs/answer.md"])
def test_traces_show_that_a_run_without_grading_took_place(tmp_path, trace):
    ((_, _, documents),), _ = read(tmp_path, {f"{RUN}/{trace}": "{}"})
    assert documents.took_place


def test_a_run_that_left_nothing_did_not_take_place(tmp_path):
    ((_, _, documents),), _ = read(tmp_path, {f"{RUN}/notes.txt": "planned"})
    assert not documents.took_place


def test_a_grading_that_is_not_json_makes_the_run_unreadable(tmp_path):
    ((_, _, documents),), problems = read(tmp_path, {f"{RUN}/grading.json": "{{{"})
    assert documents.unreadable
    assert documents.grading is None
    assert [(one.severity, Path(one.path).name) for one in problems] == [("error", "grading.json")]


def test_one_broken_file_does_not_hide_the_others(tmp_path):
    ((_, _, documents),), problems = read(
        tmp_path, {f"{RUN}/grading.json": graded("p"), f"{RUN}/timing.json": "{{{"}
    )
    assert documents.grading is not None
    assert documents.timing is None
    assert len(problems) == 1


@pytest.mark.parametrize("key", ["configuration", "config", "condition"])
def test_a_grading_names_the_configuration_where_no_folder_does(tmp_path, key):
    ((side, _, _),), _ = read(
        tmp_path, {"iteration-1/eval-0/grading.json": graded("p", **{key: "fast"})}
    )
    assert side == "fast"


def test_the_folder_goes_before_what_the_grading_names(tmp_path):
    ((side, _, _),), _ = read(tmp_path, {f"{RUN}/grading.json": graded("p", configuration="fast")})
    assert side == "with_skill"


def test_one_file_grades_both_sides(tmp_path):
    both = {"with_skill": graded("pp"), "without_skill": graded("pf")}
    runs, _ = read(tmp_path, {"iteration-1/eval-0/grading.json": both})
    verdicts = {
        side: [one.passed for one in documents.grading.expectations] for side, _, documents in runs
    }
    assert verdicts == {"with_skill": [True, True], "without_skill": [True, False]}


def test_one_file_grades_a_list_of_runs(tmp_path):
    listed = {
        "runs": [
            graded("p", configuration="fast"),
            graded("f", configuration="fast"),
            graded("p", config="slow", run_number=4),
            graded("p"),
        ]
    }
    runs, _ = read(tmp_path, {"iteration-1/eval-0/grading.json": listed})
    assert [(side, number) for side, number, _ in runs] == [
        ("fast", 1),
        ("fast", 2),
        ("slow", 4),
        (UNSTATED, 1),
    ]
