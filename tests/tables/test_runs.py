"""The figures of a run, and what its grading lacks: the cases of `tests/kept/figures.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import Case, cases
from tests.golden import lines_of
from tests.tables.made import RUN, load

FIGURES = (
    "status pass_rate passed failed total structural_pass_rate gate_passed rubric_weighted_mean "
    "rubric_normalized overall_efficiency time_seconds tokens tool_calls steps errors output_chars "
    "transcript_chars cost_usd skill_used harness executor_model judge_model started_at"
).split()


@pytest.mark.parametrize("case", cases("figures"))
def test_what_is_known_of_a_run(tmp_path: Path, case: Case) -> None:
    """Where no folder is said the files are those of the run; what nobody says is null."""
    whole = ("evals.json", "iteration-1/")
    files = {
        name if name.startswith(whole) else f"{RUN}/{name}": one for name, one in case.files.items()
    }
    ws = load(tmp_path, files)
    [run] = ws.runs.select(FIGURES).to_dicts()
    problems = ws.problems.select("severity", "code", "path", "where", "message").rows()
    case.hold(
        [
            *lines_of(run),
            *("{} {}, {} {}: {}".format(*one).replace(" None:", ":") for one in problems),
        ]
    )
