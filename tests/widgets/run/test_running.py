"""From Start to the verdict: what is told meanwhile, who else is told, and how it is stopped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection, StandIn
from skill_eval_nb.running import Refused
from skill_eval_nb.widgets.ui import find, text
from skill_eval_nb.widgets.ui.source import Source
from tests.running.made_jobs import Writer, until
from tests.widgets.run.panels import (
    SMALL,
    button,
    demo_skill,
    ended,
    panel_on,
    press,
    settled,
    shown,
    slow,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return demo_skill(tmp_path)


def test_runs_land_in_the_other_widgets_and_end_in_a_verdict(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    told = threading.Event()
    other = Source(panel.home, told.set)
    press(panel, "Start")
    settled(panel)
    assert panel.job is not None
    assert panel.plan is not None
    bar = find(panel.view(), tag="progress", aria_label="runs that have ended")
    assert len(bar) == 1
    ended(panel)
    assert panel.job.status == "done"
    assert told.is_set()
    assert other.ws.polars("runs").height == 4
    row = sen.stats.deltas(sen.load(panel.home)).row(0, named=True)
    says = shown(panel)
    assert f"Pass rate: {row['reason']}" in says
    assert f"{row['verdict']} " in says
    assert "4 of 4 runs" in says
    assert f"sen.explore('{panel.home}')" in says
    assert "Everything is done" in says
    assert button(panel, "Start")["disabled"]
    with pytest.raises(Refused, match="Everything is done"):
        panel.start()
    press(panel, "Put away")
    assert "sen.explore" not in shown(panel)


def test_what_is_in_flight_has_a_line_and_a_square(skill: Path) -> None:
    panel = panel_on(skill, executor=slow(), concurrency=2, budget_usd=2.0, **SMALL)
    panel.start()
    assert panel.job is not None
    until(lambda: panel.job.progress.steps[0][1] and len(panel.job.progress.in_flight) == 2)
    until(lambda: find(panel.view(), tag="ul", cls="sen-flights"))
    lines = [text([one]) for one in find(panel.view(), tag="ul", cls="sen-flights")]
    assert "/run-1" in lines[0]
    assert any(step in lines[0] for step in ("execute", "judge"))
    squares = [one[1]["aria-label"] for one in find(panel.view(), role="img") if "cls" not in one]
    assert any("1 in flight" in one for one in squares)
    assert any("of the budget of $2.00 is spent" in one for one in squares)
    panel.stop()
    ended(panel)


def test_stop_says_that_it_stops_and_what_is_kept(skill: Path) -> None:
    panel = panel_on(skill, executor=slow(), concurrency=1, **SMALL)
    press(panel, "Start")
    settled(panel)
    until(lambda: panel._ran.progress.finished == 1, 60)
    press(panel, "Stop")
    assert "Stopping: nothing new is begun. What is finished stays" in shown(panel)
    ended(panel)
    assert panel.job is not None
    assert panel.job.status == "stopped"
    assert "What is finished stays; starting the plan again does only what is missing" in shown(
        panel
    )
    assert "iteration-1: 1 of 4 runs are there" in shown(panel)
    assert panel.plan is not None
    assert len(panel.plan.todo) == 3
    assert not button(panel, "Continue iteration-1").get("disabled")


def test_what_is_in_flight_may_end_where_somebody_stops_gently(skill: Path) -> None:
    panel = panel_on(skill, executor=slow(), concurrency=2, **SMALL)
    panel.start()
    assert panel._ran is not None
    until(lambda: len(panel._ran.progress.in_flight) == 2, 60)
    press(panel, "Stop when what is in flight has ended")
    assert button(panel, "Stop at once")
    assert "what is in flight may end" in shown(panel)
    ended(panel)
    assert panel.job is not None
    assert panel.job.status == "stopped"
    assert dict(panel.job.progress.steps)["execute"] == 2


def test_a_job_that_fails_says_why(skill: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr("skill_eval_nb.running.steps.put_in_place", full)
    panel = panel_on(skill, **SMALL)
    panel.start()
    ended(panel)
    says = shown(panel)
    assert "Failed" in says
    assert "No space left on device" in says
    assert "iteration-1: 0 of 4 runs are there" in says


def test_runs_that_errored_are_counted_and_told(skill: Path) -> None:
    broken = Writer(raises="the disk of the moon is full")
    models = {"executor_model": "worker", "judge_model": "stand-in-judge"}
    here = Connection(stand_in=StandIn())
    panel = panel_on(skill, executor=broken, connection=here, **models, **SMALL)
    panel.start()
    ended(panel)
    says = shown(panel)
    assert "Why 4 runs errored" in says
    assert says.count("the disk of the moon is full") == 1
    assert "the disk of the moon is full" in says
    assert "Runs that errored can be done again" in says
    panel.do("set", "retry_errored", True)
    settled(panel)
    assert panel.plan is not None
    assert len(panel.plan.todo) == 4


def test_a_second_panel_shows_what_the_first_one_runs(skill: Path) -> None:
    first = panel_on(skill, executor=slow(), concurrency=1, **SMALL)
    other = panel_on(skill, executor=slow(), **SMALL)
    first.start()
    until(lambda: other.job is not None)
    assert other.job is first.job
    assert "Running iteration-1" in shown(other)
    with pytest.raises(Refused, match="is busy: it is running iteration-1"):
        other.start()
    third = panel_on(skill, executor=slow(), **SMALL)
    assert third.job is first.job
    press(third, "Stop")
    ended(first)
    assert first.job is not None
    assert first.job.status == "stopped"


def test_a_job_that_code_has_started_is_not_disturbed(skill: Path) -> None:
    panel = panel_on(skill, executor=slow(), **SMALL)
    assert panel.plan is not None
    job = panel.plan.start()
    try:
        panel.do("set", "concurrency", 3)
        settled(panel)
        with pytest.raises(Refused, match=r"a job is already running in .* by this process"):
            panel.start()
        third = panel_on(skill, executor=slow(), **SMALL)
        assert "A job is at it, in this process" in shown(third)
    finally:
        job.stop()
        job.wait()
