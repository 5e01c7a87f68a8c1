"""One run, all of it."""

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.show import run
from skill_eval_nb.widgets.show.run import show_run
from skill_eval_nb.widgets.ui.source import key_of
from tests.checkout import ROOT
from tests.widgets.show import zoo
from tests.widgets.trees import text


@pytest.fixture(scope="module")
def tdd():
    return sen.load(ROOT / "data" / "tdd-workspace")


def test_hostile_words_stay_words(tmp_path):
    ws = sen.load(zoo.workspace(tmp_path))
    words = text(show_run(ws, key_of(ws.polars("runs").row(0, named=True))))
    assert words.count(zoo.CANARY) > 15
    assert zoo.TURNED not in words


@pytest.mark.corpus
def test_every_run_that_others_left_is_shown(corpus_loaded):
    shown = 0
    for ws in corpus_loaded:
        for row in ws.polars("runs").head(2).iter_rows(named=True):
            shown += bool(text(show_run(ws, key_of(row))))
    assert shown > 30


def test_every_run_is_found_by_its_key_and_by_no_other():
    ws = sen.load(ROOT / "data")
    runs = ws.polars("runs")
    keys = [key_of(row) for row in runs.iter_rows(named=True)]
    assert len(set(keys)) == len(keys) > 50
    for key in keys[::7]:
        assert len(run.rows(ws, "runs", key)) == 1
        assert key_of(run.run_row(ws, key)) == key
    folders = [run.folder_of(ws, row) for row in runs.iter_rows(named=True)]
    there = [folder for folder in folders if folder is not None]
    assert all(folder.is_dir() for folder in there)
    assert len(there) > 20
    assert run.folder_of(sen.Workspace.from_tables({}), {"path": "."}) is None
    gone = run.RunKey("w", "s", "iteration-9", "3", "with_skill", 2)
    with pytest.raises(LookupError, match="no run eval 3, with_skill, run 2 of iteration-9"):
        run.run_row(ws, gone)
