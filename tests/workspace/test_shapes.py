"""Shapes that people keep their results in, made up after real ones: what becomes of each.

The shapes, and what is read of them, are the cases of `tests/kept/shapes.txt`: runs, evals, checks,
scores, queries and problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import skill_eval_nb as sen
from tests.cases import Case, cases
from tests.corpus.build import lay
from tests.golden import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TOLD = {
    "runs": "workspace skill iteration eval_id eval_name configuration run_number status passed "
    "total pass_rate score rubric_weighted_mean tokens time_seconds executor_model",
    "evals": "workspace skill eval_id prompt n_expectations",
    "expectations": "text passed",
    "rubric_scores": "dimension score",
    "triggers": "workspace skill query should_trigger triggered runs description tags",
    "stated": "configuration metric value",
    "problems": "severity code workspace path where",
}
"""What is kept of a shape: columns by table."""


def lines_of_workspace(ws: sen.Workspace, more: Mapping[str, str] | None = None) -> Iterator[str]:
    more = more or {}
    for name in [*TOLD, *(more.keys() - TOLD)]:
        columns, table = f"{TOLD.get(name, '')} {more.get(name, '')}", ws.polars(name)
        if table.height:
            yield from lines_of(table.select(columns.split()).to_dict(as_series=False), name)
    yield from dict.fromkeys(ws.polars("problems")["message"])


@pytest.mark.parametrize("case", cases("shapes"))
def test_what_people_keep_is_read_as_what_it_is(tmp_path: Path, case: Case) -> None:
    ws = sen.load(lay(tmp_path / "all", case.files))
    case.hold(lines_of_workspace(ws))
    rows = ws.runs.select("workspace", "iteration", "eval_id", "configuration", "run_number")
    assert not rows.is_duplicated().any()


def test_rows_that_are_no_grading_make_no_run(tmp_path: Path) -> None:
    rows = {"results": [{"id": 1, "title": "x"}]}
    with pytest.raises(sen.NothingToLoad):
        sen.load(lay(tmp_path, {"a/b/results.json": rows}))
