"""What becomes of all that lies in a workspace: counted, told, or the definition of an eval.

The workspaces, and what is read of them, are the cases of `tests/kept/catalogue.txt`.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import skill_eval_nb as sen
from tests.cases import Case, cases
from tests.corpus.build import graded, lay

RUN = "iteration-1/eval-3/with_skill/run-1"


@pytest.mark.parametrize("case", cases("catalogue"))
def test_nothing_is_dropped_in_silence(tmp_path: Path, case: Case) -> None:
    ws = sen.load(lay(tmp_path / "all", case.files))
    places = ("workspace", "iteration", "eval_id", "configuration", "run_number")
    runs = ws.runs.select(*places, pl.col("pass_rate").round(3)).rows()
    evals = ws.evals.select("workspace", "skill", "eval_id", "prompt", "n_expectations").rows()
    problems = ws.polars("problems").select("severity", "code", "path", "message").rows()
    case.hold(
        [
            *("run {}, {}, {}, {}, {}: {}".format(*run) for run in runs),
            *("eval {}, {}, {}, {}: {} expectations".format(*one) for one in sorted(evals)),
            *("{} {} {}: {}".format(*one) for one in problems),
        ]
    )


def test_what_an_agent_puts_out_is_no_result_of_its_run(tmp_path: Path) -> None:
    """Where the run was made here: other tools put their own results there."""
    forged = {"grading.json": graded("pp"), "metrics.json": {"total_steps": 3}}
    files = {f"{RUN}/outputs/{name}": one for name, one in forged.items()}
    for made_by, found in (({"executor": "offline"}, (None, None)), ({}, (2, 3))):
        timing = {f"{RUN}/timing.json": {"status": "errored", **made_by}}
        ws = sen.load(lay(tmp_path / f"{len(made_by)}", files | timing))
        assert ws.runs.select("passed", "steps").rows() == [found]
