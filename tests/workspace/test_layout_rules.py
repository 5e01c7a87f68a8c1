"""What the strict dialect prescribes of folders: each rule broken alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.workspace import check
from tests.workspace.made import codingbuddy, copy, laid

FIRST = "iteration-1/eval-0/with_skill"


def told(path: Path) -> list[tuple[str, str, str, str | None]]:
    return [
        (one.severity, one.code, str(Path(one.path).relative_to(path)), one.where)
        for one in check(path)
        if one.severity != "info"
    ]


def changed(name: str, **values) -> dict:
    document = copy(codingbuddy()[name])
    document.update(values)
    return {name: document}


@pytest.mark.parametrize("side", ["with_skill", "without_skill"])
@pytest.mark.parametrize(("eval_id", "position"), [(0, 0), (1, 1)])
def test_each_eval_has_metadata_for_both_sides(tmp_path, side, eval_id, position):
    name = f"iteration-1/eval-{eval_id}/{side}/eval_metadata.json"
    laid(tmp_path, codingbuddy(), {name: None})
    assert told(tmp_path) == [("error", "missing-folder", "evals.json", f"$.evals[{position}]")]
    assert [one.message for one in check(tmp_path) if name in one.message]


def test_each_iteration_has_each_eval(tmp_path):
    files = {n: one for n, one in codingbuddy(2).items() if "iteration-2/eval-1" not in n}
    laid(tmp_path, files)
    missing = [one.message for one in check(tmp_path) if one.code == "missing-folder"]
    assert len(missing) == 2
    assert all("iteration-2/eval-1/" in message for message in missing)


def test_a_folder_of_no_eval(tmp_path):
    files = codingbuddy()
    extra = {
        name.replace("eval-1/", "eval-5/"): copy(one)
        for name, one in files.items()
        if "eval-1/" in name
    }
    for name, one in extra.items():
        if name.endswith("eval_metadata.json"):
            one["eval_id"] = 5
    laid(tmp_path, files | extra)
    assert told(tmp_path) == [("error", "unknown-eval", "iteration-1/eval-5", None)]


def test_a_verdict_on_nothing_that_was_asserted(tmp_path):
    grading = copy(codingbuddy()[f"{FIRST}/grading.json"])
    grading["expectations"][1]["text"] = "three"
    laid(tmp_path, codingbuddy(), {f"{FIRST}/grading.json": grading})
    assert told(tmp_path) == [
        ("warning", "unknown-expectation", f"{FIRST}/grading.json", "$.expectations[1].text"),
        (
            "warning",
            "ungraded-assertion",
            f"{FIRST}/eval_metadata.json",
            "$.assertions[1].description",
        ),
    ]


def test_a_benchmark_of_another_iteration(tmp_path):
    laid(tmp_path, codingbuddy(), changed("iteration-1/benchmark.json", iteration=3))
    assert told(tmp_path) == [
        ("error", "other-iteration", "iteration-1/benchmark.json", "$.iteration")
    ]


def test_a_benchmark_of_another_skill(tmp_path):
    laid(tmp_path, codingbuddy(), changed("iteration-1/benchmark.json", skill_name="other"))
    assert told(tmp_path) == [
        ("error", "other-skill", "iteration-1/benchmark.json", "$.skill_name")
    ]


def test_a_benchmark_on_an_eval_without_folder(tmp_path):
    benchmark = copy(codingbuddy()["iteration-1/benchmark.json"])
    benchmark["eval_results"][1]["eval_id"] = 9
    laid(tmp_path, codingbuddy(), {"iteration-1/benchmark.json": benchmark})
    assert told(tmp_path) == [
        ("error", "unknown-eval", "iteration-1/benchmark.json", "$.eval_results[1].eval_id")
    ]


@pytest.mark.parametrize(
    ("name", "elsewhere"),
    [
        ("trigger_eval.json", "iteration-1/trigger_eval.json"),
        ("iteration-1/feedback.json", "feedback.json"),
    ],
)
def test_a_file_that_lies_elsewhere(tmp_path, name, elsewhere):
    files = codingbuddy()
    laid(tmp_path, files, {name: None, elsewhere: files[name]})
    assert ("warning", "misplaced", elsewhere, None) in told(tmp_path)


def test_all_at_once(tmp_path):
    files = codingbuddy()
    changes = changed("iteration-1/benchmark.json", iteration=3, skill_name="other")
    changes |= changed(f"{FIRST}/eval_metadata.json", eval_id=4, prompt="else")
    laid(tmp_path, files, changes | {"iteration-1/eval-1/with_skill/eval_metadata.json": None})
    assert {code for _, code, _, _ in told(tmp_path)} >= {
        "other-iteration",
        "other-skill",
        "other-id",
        "missing-folder",
    }
