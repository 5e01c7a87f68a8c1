"""What documents and folders say of each other, broken in one place at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.tables import check
from tests.corpus.build import graded, lay
from tests.workspace.made import codingbuddy, laid

Told = list[tuple[str, str, str, str | None]]

FIRST = "iteration-1/eval-0/with_skill"
METADATA = "iteration-1/eval-1/with_skill/eval_metadata.json"
BENCHMARK = "iteration-1/benchmark.json"
FEEDBACK = "iteration-1/feedback.json"


def told(path: Path, *codes: str, dialect: str | None = None) -> Told:
    """Severity, code, file below the path and JSON path of all but what a sound one has, too."""
    return sorted(
        (one.severity, one.code, str(Path(one.path).relative_to(path)), one.where)
        for one in check(path, dialect)
        if one.code not in ("dialect", "id-offset") and (not codes or one.code in codes)
    )


# ── what the strict dialect prescribes ───────────────────────────────────────────────────────


def review(run_id: str) -> Callable[[Any], None]:
    return lambda one: one["reviews"][1].update(run_id=run_id)


DISAGREES = ("warning", "disagree", METADATA.replace("with_skill", "without_skill"), "$.eval_id")
UNKNOWN_RUN = ("warning", "unknown-run", FEEDBACK, "$.reviews[1].run_id")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "evals.json",
            lambda one: one["evals"][1].update(id=1),
            [
                ("warning", "duplicate-id", "evals.json", "$.evals[*].id"),
                ("warning", "unknown-eval", "iteration-1/eval-1", None),
            ],
        ),
        (
            METADATA,
            lambda one: one.update(eval_id=7),
            [DISAGREES, ("warning", "other-id", METADATA, "$.eval_id")],
        ),
        (
            METADATA,
            lambda one: one.update(prompt="Do something else"),
            [("warning", "other-prompt", METADATA, "$.prompt")],
        ),
        (FEEDBACK, review("eval-7-with_skill"), [UNKNOWN_RUN]),
        (FEEDBACK, review("eval-3-without_skill"), [UNKNOWN_RUN]),
        (
            FEEDBACK,
            review("the first"),
            [("warning", "outside-limits", FEEDBACK, "$.reviews[1].run_id"), UNKNOWN_RUN],
        ),
        (
            f"{FIRST}/grading.json",
            lambda one: one["expectations"][1].update(text="three"),
            [
                (
                    "warning",
                    "unknown-expectation",
                    f"{FIRST}/grading.json",
                    "$.expectations[1].text",
                ),
                (
                    "warning",
                    "ungraded-assertion",
                    f"{FIRST}/eval_metadata.json",
                    "$.assertions[1].description",
                ),
            ],
        ),
        (
            BENCHMARK,
            lambda one: one.update(iteration=3),
            [("warning", "other-iteration", BENCHMARK, "$.iteration")],
        ),
        (
            BENCHMARK,
            lambda one: one.update(skill_name="other"),
            [("warning", "other-skill", BENCHMARK, "$.skill_name")],
        ),
        (
            BENCHMARK,
            lambda one: one["eval_results"][1].update(eval_id=9),
            [("warning", "unknown-eval", BENCHMARK, "$.eval_results[1].eval_id")],
        ),
    ],
)
def test_a_document_that_another_contradicts(tmp_path, name: str, change: Any, says: Told) -> None:
    files = codingbuddy()
    change(files[name])
    laid(tmp_path, files)
    assert told(tmp_path) == sorted(says)


def test_what_breaks_a_dialect_that_was_asked_for_is_an_error(tmp_path):
    files = codingbuddy()
    files[METADATA].update(eval_id=7)
    files[BENCHMARK].update(iteration=3)
    laid(tmp_path, files)
    assert told(tmp_path, dialect="codingbuddy") == [
        ("error", "other-id", METADATA, "$.eval_id"),
        ("error", "other-iteration", BENCHMARK, "$.iteration"),
        DISAGREES,
    ]


def test_each_iteration_has_each_eval_and_feedback_looks_at_its_own_runs(tmp_path):
    """eval-0 was run in iteration-1 alone."""
    files = {name: one for name, one in codingbuddy(2).items() if "iteration-2/eval-0/" not in name}
    laid(tmp_path, files)
    missing = [one.message for one in check(tmp_path) if one.code == "missing-folder"]
    assert len(missing) == 2
    assert all("iteration-2/eval-0/" in message for message in missing)
    assert told(tmp_path, "unknown-run") == []  # its benchmark still states them
    del files["iteration-2/benchmark.json"]["eval_results"][0]
    laid(tmp_path, files)
    assert told(tmp_path, "unknown-run") == [
        ("warning", "unknown-run", "iteration-2/feedback.json", "$.reviews[0].run_id")
    ]


def test_a_folder_of_no_eval(tmp_path):
    extra = {
        name.replace("eval-1/", "eval-5/"): one | ({"eval_id": 5} if "eval_id" in one else {})
        for name, one in codingbuddy().items()
        if "eval-1/" in name and isinstance(one, dict)
    }
    laid(tmp_path, codingbuddy() | extra)
    assert told(tmp_path) == [("warning", "unknown-eval", "iteration-1/eval-5", None)]


@pytest.mark.parametrize(
    ("name", "elsewhere"),
    [("trigger_eval.json", "iteration-1/trigger_eval.json"), (FEEDBACK, "feedback.json")],
)
def test_a_file_that_lies_elsewhere(tmp_path, name, elsewhere):
    files = codingbuddy()
    laid(tmp_path, files, {name: None, elsewhere: files[name]})
    assert ("warning", "misplaced", elsewhere, None) in told(tmp_path)


# ── the dialects that prescribe less ─────────────────────────────────────────────────────────


def skill_creator(*run_ids: str) -> dict[str, Any]:
    """Two evals counted from 0, with two runs a side; feedback with these run ids."""
    evals = [{"id": n, "prompt": f"P{n}", "expectations": ["e"]} for n in range(2)]
    reviews = [{"run_id": run_id, "feedback": "x"} for run_id in run_ids]
    grading = graded("p", summary={"passed": 1, "failed": 0, "total": 1})
    return {
        "evals/evals.json": {"skill_name": "x", "evals": evals},
        FEEDBACK: {"reviews": reviews, "status": "complete"},
        **{
            f"iteration-1/eval-{n}-name{n}/{side}/run-{run}/grading.json": grading
            for n in range(2)
            for side in ("with_skill", "old_skill")
            for run in (1, 2)
        },
    }


GOOD_IDS = (
    "eval-0-with_skill",
    "eval-1-old_skill",
    "eval-0-name0-with_skill",
    "eval-0-name0-with_skill-run-2",
    "eval-0-with_skill-run_1",
)
BAD_IDS = ("eval-0-with_skill-run-3", "eval-0-without_skill", "eval-2-with_skill", "eval-0", "")


def test_run_ids_name_a_run_in_every_form_or_none(tmp_path):
    lay(tmp_path, skill_creator(*GOOD_IDS, *BAD_IDS))
    assert told(tmp_path, "unknown-run") == [
        ("warning", "unknown-run", FEEDBACK, f"$.reviews[{len(GOOD_IDS) + at}].run_id")
        for at in range(len(BAD_IDS))
    ]


@pytest.mark.parametrize("suite_in", ["x-workspace", "x"])
@pytest.mark.parametrize(
    ("left_out", "where", "says"),
    [
        ("eval-1-name1/old", None, ["eval 1 (name1)", "old_skill", "iteration-1"]),
        ("eval-1-name1/", "$.evals", ["not run in iteration-1: 1 eval (1)"]),
    ],
)
def test_an_eval_that_was_not_run_is_worth_knowing(tmp_path, suite_in, left_out, where, says):
    """Where the suite lies in the skill beside, too; of which eval it is said is true."""
    files = {name: one for name, one in skill_creator().items() if left_out not in name}
    suite = {"evals/evals.json": files.pop("evals/evals.json")}
    lay(tmp_path / "x-workspace", files)
    lay(tmp_path / suite_in, suite)
    (found,) = (one for one in check(tmp_path) if one.code.startswith("missing-"))
    assert found.where == where
    assert found.path.endswith("evals/evals.json") == (where is not None)
    assert all(part in found.message for part in says)


def test_a_prompt_that_one_of_several_suites_has_is_fine(tmp_path):
    about = {"iteration-1/eval-0-name0/eval_metadata.json": {"eval_id": 0, "prompt": "older"}}
    lay(tmp_path, skill_creator() | about)
    assert [code for _, code, _, _ in told(tmp_path)] == ["other-prompt"]
    older = {"skill_name": "x", "evals": [{"id": 0, "prompt": "older"}, {"id": 1, "prompt": "P1"}]}
    lay(tmp_path, {"old/evals.json": older})
    assert told(tmp_path, "other-prompt") == []
