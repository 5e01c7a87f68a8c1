"""The set is run, or another description looked for: the price, how far it is, stopped, gone on."""

from __future__ import annotations

from pathlib import Path

from skill_eval_nb.models import Connection
from skill_eval_nb.text import count
from tests.running.made_jobs import until
from tests.stand_in import Fault, RiggedStandIn
from tests.widgets.run.panels import button, ended, fill, shown
from tests.widgets.trees import find
from tests.widgets.trigger.made import do, panel_on, press, through

PRICED = "claude-haiku-4-5"


def through_a(skill: Path, **stand_in):
    """A panel whose queries are run by a stand-in of this kind."""
    return through(panel_on(skill, connection=Connection(stand_in=RiggedStandIn(**stand_in))))


def test_nothing_is_spent_without_a_budget_or_a_word(skill: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    panel = panel_on(skill, connection=Connection(stand_in=RiggedStandIn(log=str(log))))
    through(panel, model=PRICED)
    assert "is sure to be enough" in shown(panel)
    assert "give a budget" in shown(panel)
    assert button(panel, "Start").get("disabled")
    panel.do("press", panel.launches["run"].plan.token)
    assert "give a budget" in (panel.fault or "")
    fill(panel, budget_usd=0.0001)
    assert not log.exists()
    press(panel, "Start")
    ended(panel)
    assert not log.exists()
    assert panel.measured is None
    assert "partial: " in shown(panel)
    fill(panel, budget_usd=None, unlimited=True)
    assert not button(panel, "Start").get("disabled")


def test_stopped_and_gone_on_with(skill: Path) -> None:
    panel = through_a(skill, latency=0.4)
    fill(panel, concurrency=1, runs=1)
    press(panel, "Start")
    until(lambda: panel.tasks["run"].progress.done)
    (bar,) = find(panel.view(), tag="progress")
    assert 0 < float(bar[1]["value"]) < 1
    assert "runs ended" in shown(panel)
    assert "Last: " in shown(panel)
    do(panel, "tab", "description")
    assert "it is running the queries" in shown(panel)
    do(panel, "tab", "run")
    press(panel, "Stop")
    ended(panel)
    measured = panel.measured
    assert measured.status == "partial"
    there = sum(one.outcome != "not run" for one in measured.attempts)
    assert 0 < there < 6
    assert f"{count(6 - there, 'run')} to make" in shown(panel)
    assert "stopped: " in shown(panel)
    fill(panel, concurrency=4)
    press(panel, "Start")
    ended(panel)
    assert {one.outcome for one in panel.measured.attempts} <= {"triggered", "not triggered"}


def test_runs_that_errored_stand_apart_and_can_be_made_again(skill: Path) -> None:
    broken = Fault("bad_request_400", role="executor", holds="git log since 2.3")
    panel = through_a(skill, faults=(broken,))
    press(panel, "Start")
    ended(panel)
    says = shown(panel)
    assert "3 runs errored and count in no figure." in says
    assert "3 errored" in says
    (row,) = panel.measured.rates.filter(n_errored=3).iter_rows(named=True)
    assert row["rate"] is None
    fill(panel, again=True)
    assert "18 runs; 3 runs to make" in shown(panel)
    press(panel, "Start")
    ended(panel)
    assert not panel.launches["run"].form.again
    assert "Everything is done" in shown(panel)


def test_rounds_come_as_they_are_made_and_a_stop_keeps_them(skill: Path) -> None:
    panel = through_a(skill, latency=0.1)
    fill(panel, runs=1, others="none", concurrency=2)
    do(panel, "tab", "description")
    press(panel, "Start")
    until(lambda: getattr(panel.tasks["description"].progress, "steps", ()))
    says = shown(panel)
    assert "Looking for a better description" in says
    assert "Round 1" in says
    assert "spent" in says
    assert find(panel.view(), key="round-1")
    do(panel, "tab", "run")
    assert "it is looking for a better description" in shown(panel)
    do(panel, "tab", "description")
    press(panel, "Stop")
    ended(panel)
    found = panel.optimised
    assert found.status == "partial"
    assert found.steps
    assert found.ended in shown(panel)
