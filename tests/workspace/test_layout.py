"""Which folders are runs, and which files tell of them; nothing is read here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skill_eval_nb.workspace import UNSTATED, Layout, Problems, crawl, lay_out
from tests.corpus.build import lay


def laid_out(root: Path, *paths: str) -> Layout:
    lay(root, dict.fromkeys(paths, ""))
    return lay_out(crawl(str(root), Problems()))


def runs(layout: Layout, root: Path) -> list[tuple[str, str, str, int]]:
    """Path, eval, configuration and number of each run."""
    return [
        (os.path.relpath(one.path, root), one.place.eval, one.place.configuration, one.number)
        for one in layout.runs
    ]


def files(layout: Layout, root: Path) -> list[str]:
    return [os.path.relpath(one.path, root) for one in layout.files]


@pytest.mark.parametrize(
    "trace",
    [
        "grading.json",
        "structural.json",
        "timing.json",
        "metrics.json",
        "transcript.md",
        "transcript.jsonl",
        "outputs/answer.md",
    ],
)
def test_each_trace_makes_a_run(tmp_path, trace):
    layout = laid_out(tmp_path, f"iteration-1/eval-0/with_skill/run-2/{trace}")
    assert runs(layout, tmp_path) == [
        ("iteration-1/eval-0/with_skill/run-2", "eval-0", "with_skill", 2)
    ]


def test_a_folder_above_runs_is_none_itself(tmp_path):
    layout = laid_out(tmp_path, "eval-0/with_skill/timing.json", "eval-0/with_skill/run-1/x.txt")
    assert [one[0] for one in runs(layout, tmp_path)] == ["eval-0/with_skill/run-1"]
    assert files(layout, tmp_path) == ["eval-0/with_skill/timing.json"]


def test_a_configuration_with_nothing_but_metadata_is_a_run_that_did_not_take_place(tmp_path):
    layout = laid_out(tmp_path, "eval-0/with_skill/eval_metadata.json")
    assert runs(layout, tmp_path) == [("eval-0/with_skill", "eval-0", "with_skill", 1)]


def test_outputs_and_judgings_are_known_without_being_entered(tmp_path):
    layout = laid_out(tmp_path, "eval-0/with_skill/outputs/a", "eval-0/with_skill/judgings/1.json")
    (run,) = layout.runs
    assert (run.has_outputs, run.has_judgings) == (True, True)
    assert layout.files == []


@pytest.mark.parametrize(
    ("path", "eval_", "configuration", "number"),
    [
        ("iteration-1/eval-3/grading_with_skill.json", "eval-3", "with_skill", 1),
        ("iteration-1/with_skill/eval-3-grading.json", "eval-3", "with_skill", 1),
        ("iteration-1/eval-3-grading.json", "eval-3", UNSTATED, 1),
        ("iteration-1/grading/without_skill_login_run2.json", "login", "without_skill", 2),
        ("runs/run-4/grading/login.json", "login", "with_skill", 4),
    ],
)
def test_a_run_of_which_a_single_file_tells(tmp_path, path, eval_, configuration, number):
    layout = laid_out(tmp_path, path)
    assert runs(layout, tmp_path) == [(path, eval_, configuration, number)]
    assert layout.runs[0].grading == str(tmp_path / path)


def test_runs_whose_names_are_no_numbers_are_counted_in_order(tmp_path):
    layout = laid_out(tmp_path, "runs/2026-02/grading/a.json", "runs/2026-01/grading/a.json")
    assert [(one[0], one[3]) for one in runs(layout, tmp_path)] == [
        ("runs/2026-01/grading/a.json", 1),
        ("runs/2026-02/grading/a.json", 2),
    ]


def test_files_that_are_no_json_are_left_alone(tmp_path):
    layout = laid_out(tmp_path, "README.md", "evals.json", "iteration-1/benchmark.md")
    assert files(layout, tmp_path) == ["evals.json"]


def test_benchmark_json_goes_before_other_files(tmp_path):
    layout = laid_out(tmp_path, "a.json", "benchmark-old.json", "benchmark.json")
    assert files(layout, tmp_path) == ["benchmark.json", "a.json", "benchmark-old.json"]


def test_an_unknown_file_in_a_run_has_the_place_of_the_run(tmp_path):
    path = "iteration-1/eval-0/with_skill/run-1"
    layout = laid_out(tmp_path, f"{path}/grading.json", f"{path}/eval_metadata.json")
    assert layout.files[0].place == layout.runs[0].place
