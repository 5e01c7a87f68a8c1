"""Folders that an earlier version has written: read back, gone on with, not paid for again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.running.journal import read_journal
from tests.triggers.made import FLY, ROW, outcomes
from tests.triggers.stored import measured_once, searched
from tests.triggers.test_optimising import PRESENT


@pytest.fixture
def stored(tmp_path) -> Path:
    """The folders, laid beside the skills that they are of."""
    files = json.loads(Path(__file__).with_name("stored.json").read_text())
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_search_is_read_back_with_the_figures_that_it_had(stored):
    (file,) = stored.glob("books-workspace/triggers/optimisations/*/optimization_result.json")
    before = json.loads(file.read_text())
    found = searched(stored, lambda: pytest.fail("a run was made again"))
    assert (found.status, found.best_description) == ("done", PRESENT)
    assert (found.best.n_runs, found.selected.n_runs) == (3, 3)
    assert json.loads(file.read_text()) | {"why": before["why"]} == before  # that is a sentence
    ws = sen.load(stored / "books-workspace")
    assert ws.polars("problems").is_empty(), ws.polars("problems").to_dicts()
    assert ws.polars("triggers")["query"].len() == 6 + 3


def test_a_measurement_that_was_killed_is_gone_on_with_and_its_money_stays_counted(stored):
    found = measured_once(stored)
    assert outcomes(found) == {FLY.query: ["triggered"], ROW.query: ["triggered"]}
    assert found.attempts[0].seconds == 0.0, "it is the one that was stored"
    assert found.cost_usd == pytest.approx(3 * 0.005), "the one that was cut off may be billed"
    events = [event["event"] for event in read_journal(found.folder).events]
    assert (events.count("launched"), events.count("interrupted")) == (3, 1)
