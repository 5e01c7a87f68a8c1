"""From Start to the verdict: what is told meanwhile, who else is told, and how it is stopped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from skill_eval_nb.models import Connection, StandIn
from skill_eval_nb.running import Refused
from skill_eval_nb.widgets.ui.source import Source
from tests.running.made_jobs import Writer, until
from tests.stand_in import Fault
from tests.widgets.run.panels import (
    SMALL,
    button,
    ended,
    fill,
    held,
    panel_on,
    press,
    settled,
    shown,
    slow,
)
from tests.widgets.trees import find, text

if TYPE_CHECKING:
    from pathlib import Path


def test_runs_land_in_the_other_widgets_and_what_is_done_is_refused(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    told = threading.Event()
    other = Source(panel.home, told.set)
    press(panel, "Start")
    ended(panel)
    assert told.is_set()
    assert other.ws.polars("runs").height == 4
    with pytest.raises(Refused, match="Everything is done"):
        panel.start()


def test_a_run_in_flight_shows_its_last_steps_or_says_when_they_come(skill: Path) -> None:
    panel = panel_on(skill, executor=slow(), **SMALL)
    press(panel, "Start")
    for line in ("No steps reported yet.", "Call Skill release-notes", "Result Base dir"):
        until(lambda line=line: line in " ".join(shown(panel).split()), 60)
    ended(panel)


def test_what_a_run_waits_for_is_told(skill: Path) -> None:
    busy = Fault("rate_limited_429", role="executor", retry_after=20.0)
    panel = panel_on(skill, executor=slow(faults=(busy,)), **SMALL)
    press(panel, "Start")
    until(lambda: all(words in shown(panel) for words in ("Retry 1, next in ", "HTTP 429")), 10)
    panel.stop()
    ended(panel)


def test_others_show_it_too_and_stop_it_which_says_what_is_kept(skill: Path) -> None:
    panel = panel_on(skill, executor=slow(), concurrency=1, **SMALL)
    other = panel_on(skill, executor=slow(), **SMALL)
    press(panel, "Start")
    settled(panel)
    late = panel_on(skill, executor=slow(), **SMALL)
    until(lambda: panel._ran.progress.finished == 1, 60)
    assert other.job is late.job is panel.job
    assert "Running iteration-1" in shown(other)
    assert "Interim: the verdict comes at the next planned look, or when the job ends." in shown(
        other
    )
    with pytest.raises(Refused, match="is busy: it is running iteration-1"):
        other.start()
    press(late, "Stop")
    assert "Stopping: nothing new is started. Finished runs are kept" in shown(panel)
    ended(panel)
    assert panel.job.status == "stopped"
    done = panel.job.progress.finished
    assert 0 < done < 4
    kept = "Finished runs are kept; starting the plan again does only what is missing"
    assert kept in shown(panel)
    assert f"iteration-1: {done} of 4 runs are there" in shown(panel)
    assert len(panel.plan.todo) == 4 - done
    assert not button(panel, "Continue iteration-1").get("disabled")


def test_what_is_in_flight_is_seen_and_may_end_where_somebody_stops_gently(skill: Path) -> None:
    may = threading.Event()
    panel = panel_on(skill, executor=held(may), concurrency=2, budget_usd=2.0, **SMALL)
    panel.start()
    until(lambda: len(panel._ran.progress.in_flight) == 2, 60)
    until(lambda: find(panel.view(), tag="ul", cls="sen-flights"))
    (lines,) = find(panel.view(), tag="ul", cls="sen-flights")
    assert "/run-1" in text([lines])
    assert "execute" in text([lines])
    told = "\n".join(one[1]["aria-label"] for one in find(panel.view(), role="img"))
    assert "in flight" in told
    assert "spent of $2.00" in shown(panel)
    press(panel, "Stop after what is in flight")
    assert button(panel, "Stop now")
    assert "Stopping: nothing new is started" in shown(panel)
    may.set()
    ended(panel)
    assert panel.job.status == "stopped"
    assert len([*panel.plan.folder.rglob("timing.json")]) == 2


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
    assert "To retry runs that errored" in says
    fill(panel, retry_errored=True)
    assert len(panel.plan.todo) == 4
