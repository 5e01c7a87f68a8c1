"""The second tab: what is stored is judged again, with the price before and a way to stop."""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection
from skill_eval_nb.widgets import run as at_work
from skill_eval_nb.widgets.ui.source import Source
from tests.running.made_jobs import until
from tests.stand_in import RiggedStandIn
from tests.widgets.run.panels import (
    SMALL,
    demo_skill,
    ended,
    fill,
    panel_on,
    press,
    settled,
    shown,
)
from tests.widgets.trees import find

if TYPE_CHECKING:
    from pathlib import Path

SLOW = Connection(stand_in=RiggedStandIn(latency=0.4))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A skill whose evals were run, beside its workspace."""
    skill = demo_skill(tmp_path_factory.mktemp("ran"))
    panel = panel_on(skill, **SMALL)
    panel.start()
    ended(panel)
    return skill


def judging(skill: Path, **given) -> sen.widgets.run.RunPanel:
    panel = panel_on(skill, **given)
    panel.do("tab", "judge")
    return settled(panel)


def test_where_nothing_can_be_judged_the_reasons_stand_and_no_plan(
    ran: Path, tmp_path: Path
) -> None:
    home = shutil.copytree(ran.with_name(f"{ran.name}-workspace"), tmp_path / "ws")
    for outputs in [*home.rglob("outputs")]:
        shutil.rmtree(outputs)
    says = shown(judging(ran, workspace=home))
    assert "left out" in says
    assert "None of these runs can be judged" in says
    assert "Estimated: " not in says
    assert "by whom it was before" not in says
    found = sen.judge_again(home, dry_run=True)
    assert (found.n_missing, len(found.left_out) > 0) == (0, True)


def judgings(panel) -> int:
    return len(list(panel.home.glob("iteration-*/*/*/*/judgings/*.json")))


def test_it_shows_what_is_there_and_its_price_then_adds_judgings(
    ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()

    def held(*given, **more):
        if not more.get("dry_run"):
            looked.wait(60)
        return sen.judge_again(*given, **more)

    monkeypatch.setattr(at_work, "judge_again", held)
    panel = judging(ran)
    before = judgings(panel)
    says = shown(panel)
    assert "stand-in-judge (as before)" in says
    assert f"So far: {before} judgings by stand-in-judge" in says
    fill(panel, again=2)
    assert panel.launches["judge"].plan.found.n_missing == 2 * before
    assert "Estimated: " in shown(panel)
    assert "at most" in shown(panel)
    told: list[int] = []
    other = Source(panel.home, lambda: told.append(other.ws.polars("rubric_scores").height))
    press(panel, "Judge again")
    assert find(panel.view(), tag="progress", aria_label="judgings that have ended")
    looked.set()
    ended(panel)
    assert judgings(panel) == before + 2 * before
    assert told
    assert told[-1] == other.ws.polars("rubric_scores").height > 0
    assert "Done" in shown(panel)
    press(panel, "Dismiss")
    assert "Done" not in shown(panel)


def test_it_stops_and_keeps_what_was_written(ran: Path) -> None:
    panel = judging(ran, connection=SLOW)
    before = judgings(panel)
    fill(panel, again=3, concurrency=1)
    press(panel, "Judge again")
    other = panel_on(ran)
    assert "is busy: it is judging stored outputs" in shown(other)
    until(lambda: judgings(panel) > before)
    press(panel, "Stop")
    ended(panel)
    assert panel.tasks["judge"].status == "stopped"
    kept = judgings(panel) - before
    assert 0 < kept < 3 * 4
    assert "Finished work is kept and not paid for again." in shown(panel)
