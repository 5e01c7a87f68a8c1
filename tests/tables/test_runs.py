"""The figures of a run: the cases of `tests/kept/figures.txt`; and what a grading lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import Case, cases
from tests.golden import lines_of
from tests.tables.made import RUN, coded, load, rows

FIGURES = (
    "status pass_rate passed failed total structural_pass_rate gate_passed rubric_weighted_mean "
    "rubric_normalized overall_efficiency time_seconds tokens tool_calls steps errors output_chars "
    "transcript_chars cost_usd skill_used harness executor_model judge_model started_at"
).split()


@pytest.mark.parametrize("case", cases("figures"))
def test_what_is_known_of_a_run(tmp_path: Path, case: Case) -> None:
    """The files are those of a run, and of a suite; what nobody says is null, and not told."""
    files = {
        name if name == "evals.json" else f"{RUN}/{name}": one for name, one in case.files.items()
    }
    ws = load(tmp_path, files)
    (run,) = rows(ws, "runs")
    problems = ws.problems.select("severity", "code", "path", "where", "message").rows()
    case.hold(
        [
            *lines_of({name: run[name] for name in FIGURES}),
            *("{} {}, {} {}: {}".format(*one).replace(" None:", ":") for one in problems),
        ]
    )


# ── what is missing ────────────────────────────────────────────────────────────────────────────


def suite(*checks: str) -> dict[str, Any]:
    """An evals.json with these checks."""
    one = {"id": 1, "name": "login", "prompt": "Log in.", "expectations": [*checks]}
    return {"evals.json": {"skill_name": "auth", "evals": [one]}}


HOST, PORT, USER = DEFINED = ["names the host", "names the port", "names the user"]
ALL = [(text, True) for text in DEFINED]


@pytest.mark.parametrize(
    ("defined", "verdicts", "counts", "says"),
    [
        (DEFINED, [(HOST, True), (PORT, False), (USER, None)], (1, 1, 3), []),
        (DEFINED, [(USER.upper() + ".", True), (HOST, True), (PORT, True)], (3, 0, 3), []),
        (DEFINED, [(HOST, True)], (1, 0, 1), ["lacks 2 of the 3 checks", PORT, USER]),
        (DEFINED, [(HOST, False), *ALL], (2, 1, 3), ["doubles", HOST]),
        (DEFINED, [*ALL, ("is short", False)], (3, 1, 4), ["adds 1", "short"]),
        (DEFINED, [(HOST, True), (HOST, True)], (1, 0, 1), ["lacks 2", "doubles"]),
        # A suite may ask for the same twice, or for nothing.
        ([], [(HOST, True), (HOST, False)], (1, 1, 2), []),
    ],
)
def test_what_a_grading_lacks_doubles_or_adds_is_named(tmp_path, defined, verdicts, counts, says):
    """Held against the checks of the suite, or of what lies beside the runs."""
    about = {"eval_id": 1, "assertions": [{"text": text, "id": text[-4:]} for text in defined]}
    checks = [{"text": text, "passed": passed} for text, passed in verdicts]
    beside = {"iteration-1/eval-1-login/eval_metadata.json": about}
    for own, more in ((defined, {}), (DEFINED if defined else [], beside)):
        files = suite(*own) | {f"{RUN}/grading.json": {"expectations": checks}} | more
        ws = load(tmp_path / f"{len(more)}", files)
        assert ws.runs.select("passed", "failed", "total").row(0) == counts
        told = [one["message"] for one in coded(ws, "other-checks")]
        assert len(told) == bool(says)
        assert all(word in text for text in told for word in says)
