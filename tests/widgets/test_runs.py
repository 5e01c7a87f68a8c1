"""Which run is meant: the same one in every table, on disk, and in a sentence."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.show.run import folder_of, rows_of, run_row
from skill_eval_nb.widgets.ui.source import RunKey, key_of
from tests.checkout import ROOT

DATA = ROOT / "data"


@pytest.fixture(scope="module")
def ws() -> sen.Workspace:
    return sen.load(DATA)


def test_every_run_is_found_by_its_key_and_by_no_other(ws) -> None:
    runs = ws.polars("runs")
    keys = [key_of(row) for row in runs.iter_rows(named=True)]
    assert len(set(keys)) == len(keys) > 50
    for key, row in zip(keys[::7], runs.iter_rows(named=True), strict=False):
        assert rows_of(runs, key).height == 1
        assert key_of(run_row(ws, key)) == key
        assert row["workspace"]
    scored = key_of(ws.polars("rubric_scores").row(0, named=True))
    assert rows_of(ws.polars("rubric_scores"), scored).height > 1
    assert run_row(ws, scored)["eval_id"] == scored.eval_id


def test_a_run_that_is_no_more_is_named(ws) -> None:
    gone = RunKey("w", "s", "iteration-9", "3", "with_skill", 2)
    with pytest.raises(
        LookupError, match="There is no run eval 3, with_skill, run 2 of iteration-9"
    ):
        run_row(ws, gone)


def test_folders_are_there_or_are_none(ws) -> None:
    folders = [folder_of(ws, row) for row in ws.polars("runs").iter_rows(named=True)]
    assert all(folder is None or folder.is_dir() for folder in folders)
    assert sum(folder is not None for folder in folders) > 20
    assert folder_of(sen.Workspace.from_tables({}), {"path": "."}) is None
