"""After a kernel restart: what is on disk is enough to go on, and nothing is paid for twice."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from skill_eval_nb.models import StandIn
from skill_eval_nb.running.executors.messages_api import Offline
from skill_eval_nb.running.journal import LOCK, hold_folders
from tests.running.made_jobs import until
from tests.stand_in import RiggedStandIn
from tests.widgets.run.panels import (
    button,
    ended,
    panel_on,
    press,
    settled,
    shown,
    slow,
)

if TYPE_CHECKING:
    from pathlib import Path

    from skill_eval_nb.widgets.run import RunPanel

ASKED = {"runs": 1, "evals_only": ["1", "3"], "judgings": 2, "concurrency": 1}
ASKED |= {"budget_usd": 3.0, "seed": 5, "allow_scripts": True}


def stopped(skill: Path, **given) -> RunPanel:
    """A panel whose job was stopped when its first run was finished."""
    panel = panel_on(skill, **{"executor": slow(0.2), **ASKED, **given})
    panel.start()
    until(lambda: panel._ran.progress.finished == 1, 60)
    panel.stop()
    return ended(panel)


def executed(home: Path) -> list[str]:
    """The folders of the runs that were executed, each as often as it was."""
    lines = (home / "iteration-1" / "journal.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    whole = {one["launch"] for one in events if one["event"] == "finished"}
    return [
        one["folder"]
        for one in events
        if one["event"] == "launched" and one["step"] == "execute" and one["launch"] in whole
    ]


def test_a_fresh_panel_goes_on_with_the_same_settings_and_pays_nothing_twice(skill: Path) -> None:
    before = stopped(skill, executor=Offline(RiggedStandIn(latency=0.2, seed=9)))
    done = executed(before.home)
    fresh = panel_on(skill)
    assert f"iteration-1: {len(done)} of 4 runs are there" in shown(fresh)
    assert "of $3.00 spent" in shown(fresh)
    assert fresh.plan.asked == before.plan.asked
    assert fresh.plan.fingerprint == before.plan.fingerprint
    assert (fresh.plan.budget_usd, fresh.plan.seed) == (3.0, 5)
    assert fresh.plan.executor == Offline(StandIn(seed=9))  # which only code can give
    assert f"{len(done)} done, {4 - len(done)} to do" in shown(fresh)
    press(fresh, "Continue iteration-1")
    ended(fresh)
    assert fresh.job.status == "done"
    again = executed(fresh.home)
    assert again[: len(done)] == done
    assert len(again) == len(set(again)) == 4
    assert "runs are there" not in shown(panel_on(skill))


def test_a_new_iteration_the_rest_of_the_last_one_or_a_word_that_it_cannot_be_continued(
    skill: Path,
) -> None:
    stopped(skill)
    fresh = panel_on(skill, runs=2)
    press(fresh, "Start a new iteration")
    settled(fresh)
    assert (fresh.plan.iteration, len(fresh.plan.cells)) == (2, 24)
    assert button(fresh, "Start")["class"] == "sen-main"
    press(fresh, "Plan the rest of iteration-1")
    settled(fresh)
    assert fresh.plan.iteration == 1

    # what the cell gives counts where it goes on with the same iteration
    fresh = panel_on(skill, **{"executor": slow(0.2), **ASKED, "budget_usd": 5.0})
    assert button(fresh, "Continue iteration-1")
    assert fresh.plan.budget_usd == 5.0

    # what has changed since is told instead of going on
    path = skill / "SKILL.md"
    path.write_text(path.read_text() + "\nBe brief.\n")
    fresh = panel_on(skill)
    says = shown(fresh)
    assert "iteration-1 is incomplete, and cannot be continued yet" in says
    assert "skills (with_skill) differed" in says
    assert "Continue iteration-1" not in says
    assert button(fresh, "Start")


INTERRUPTED = "It last ended as “interrupted”"


@pytest.mark.parametrize(
    ("doing", "told"),
    [
        ("a job", "A job is working on it, in this process"),
        ("a judging", INTERRUPTED),
        (None, INTERRUPTED),
    ],
)
def test_a_job_that_was_killed_is_told_from_one_that_is_at_work(skill: Path, doing, told) -> None:
    panel = panel_on(skill, runs=1)
    lines = [
        {"at": "2026-01-01T00:00:00Z", **panel.plan.fingerprint.event()},
        {"event": "started", "ceiling_usd": None, "asked": panel.plan.asked},
    ]
    panel.plan.folder.mkdir(parents=True)
    journal = "".join(json.dumps(line) + "\n" for line in lines)
    (panel.plan.folder / "journal.jsonl").write_text(journal)
    (panel.plan.folder / LOCK).write_text(" ")  # as a killed one leaves it
    with hold_folders([panel.plan.folder], doing) if doing else nullcontext():
        assert told in shown(panel_on(skill))
