"""Panels on a copy of the demo skill, small enough to run in a moment."""

from __future__ import annotations

import asyncio
import shutil
import threading
from pathlib import Path
from typing import Any, TypeVar

from skill_eval_nb.models import Meter
from skill_eval_nb.running import Execution, Task
from skill_eval_nb.running.executors.messages_api import Offline
from skill_eval_nb.widgets.run import RunPanel, run_panel
from skill_eval_nb.widgets.ui import Panel
from skill_eval_nb.widgets.ui.paid import PaidPanel
from tests.checkout import ROOT
from tests.stand_in import RiggedStandIn
from tests.widgets.trees import find, text

P = TypeVar("P", bound=Panel)
Q = TypeVar("Q", bound=PaidPanel)

SMALL: dict[str, Any] = {"evals_only": ["1", "2"], "runs": 1}
"""Two evals on two sides, once each: four runs."""


def demo_skill(folder: Path) -> Path:
    """A copy of the demo skill."""
    return Path(shutil.copytree(ROOT / "data" / "release-notes", folder / "release-notes"))


def settled(panel: P) -> P:
    """The panel once nothing is being worked out."""
    assert panel.settle(60)
    return panel


def panel_on(skill: Path, **given: Any) -> RunPanel:
    """A panel that has looked at everything."""
    return settled(run_panel(skill, **given))


def slow(seconds: float = 0.3, **stand_in: Any) -> Offline:
    """An executor whose model takes its time for every answer."""
    return Offline(RiggedStandIn(latency=seconds, **stand_in))


def held(may: threading.Event) -> Offline:
    """An executor that works once it may: what is in flight can be looked at until then."""

    class Held(Offline):
        async def execute(self, task: Task, meter: Meter) -> Execution:
            assert await asyncio.to_thread(may.wait, 60)
            return await super().execute(task, meter)

    return Held()


def ended(panel: Q) -> Q:
    """The panel once what was begun there has ended, and everybody has been told."""
    settled(panel)
    assert all(task.ended.wait(120) for task in panel.tasks.values())
    return settled(panel)


def shown(panel: Panel) -> str:
    """What somebody reads."""
    return text(panel.view())


def button(panel: Panel, label: str) -> dict[str, Any]:
    """The attributes of the button with that label."""
    found = [one for one in find(panel.view(), tag="button") if text([one]) == label]
    assert len(found) == 1, f"{len(found)} buttons {label!r} in:\n{shown(panel)}"
    return found[0][1]


def fill(panel: PaidPanel, **form: Any) -> None:
    """Set fields of the form, and wait for what comes of it."""
    for name, value in form.items():
        panel.do("set", name, value)
        assert panel.fault is None, panel.fault
    settled(panel)


def press(panel: RunPanel, label: str) -> None:
    """Do what the page does when the button is pressed."""
    attributes = button(panel, label)
    assert not attributes.get("disabled"), f"{label!r} is disabled: {shown(panel)}"
    panel.do(*attributes["on"]["click"])
