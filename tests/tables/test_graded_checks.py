"""What a grading has a verdict on, held against the checks that its eval defines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.tables.made import load

DEFINED = ["names the host", "names the port", "names the user"]
Verdicts = Sequence[tuple[str, bool | None]]


def graded(folder, verdicts: Verdicts, defined: list[Any] = DEFINED, *, beside: bool = False):
    """The run's passed, failed and total, and what is said of its checks."""
    eval_ = {"id": 1, "prompt": "p", "expectations": DEFINED if beside else defined}
    run = "iteration-1/eval-1/with_skill/run-1"
    files = {
        "evals/evals.json": {"skill_name": "ssh", "evals": [eval_]},
        f"{run}/grading.json": {
            "expectations": [{"text": text, "passed": passed} for text, passed in verdicts]
        },
    }
    if beside:
        files["iteration-1/eval-1/eval_metadata.json"] = {"eval_id": 1, "assertions": defined}
    ws = load(folder, files)
    counts = ws.runs.select("passed", "failed", "total").row(0)
    return counts, ws.problems.filter(code="other-checks")["message"].to_list()


HOST, PORT, USER = DEFINED


@pytest.mark.parametrize(
    ("verdicts", "counts", "says"),
    [
        ([(HOST, True), (PORT, False), (USER, None)], (1, 1, 3), []),
        ([(USER.upper() + ".", True), (HOST, True), (PORT, True)], (3, 0, 3), []),
        ([(HOST, True), (PORT, True), ("says who logs in", False)], (2, 1, 3), []),
        ([("a", True), ("b", True)], (2, 0, 2), []),
        ([(HOST, True)], (1, 0, 1), ["lacks 2 of the 3 checks", PORT, USER]),
        ([(HOST, False), (HOST, True), (PORT, True), (USER, True)], (2, 1, 3), ["doubles", HOST]),
        (
            [*((text, True) for text in DEFINED), ("is short", False)],
            (3, 1, 4),
            ["adds 1", "short"],
        ),
        ([(HOST, True), (HOST, True)], (1, 0, 1), ["lacks 2", "doubles"]),
    ],
)
def test_what_a_grading_lacks_doubles_or_adds_is_named(tmp_path, verdicts, counts, says) -> None:
    for beside in (False, True):
        defined = DEFINED if not beside else [{"text": text, "id": text[-4:]} for text in DEFINED]
        found, told = graded(tmp_path / str(beside), verdicts, defined, beside=beside)
        assert found == counts
        assert len(told) == bool(says)
        assert all(word in text for text in told for word in says)


def test_a_suite_may_ask_for_the_same_twice_or_for_nothing(tmp_path) -> None:
    twice = [(HOST, True), (HOST, False)]
    assert graded(tmp_path / "twice", twice, [HOST, HOST]) == ((1, 1, 2), [])
    assert graded(tmp_path / "none", twice, []) == ((1, 1, 2), [])
