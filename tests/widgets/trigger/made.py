"""A panel on a copy of the demo skill, whose stand-in answers in a moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import skill_eval_nb as sen
from skill_eval_nb.widgets.trigger import TriggerPanel
from tests.widgets.run import panels
from tests.widgets.run.panels import button, fill, settled, shown

ASKED = {
    "here is the git log since 2.3, please write the release notes": True,
    "make a changelog entry out of these merged pull requests": True,
    "announce version 3.0 to our users: the changes are in changes.txt": True,
    "write a commit message for my staged changes": False,
    "how do I tag a release in git?": False,
    "write the README of this project": False,
}
"""What the stand-in is asked, and whether the demo skill should be picked up."""


def demo_skill(folder: Path) -> Path:
    """A copy of the demo skill, with queries of ours."""
    skill = panels.demo_skill(folder)
    rows = [{"query": words, "should_trigger": should} for words, should in ASKED.items()]
    (skill / "trigger-eval-set.json").write_text(json.dumps(rows))
    return skill


def panel_on(skill: Path, *given: Any, **more: Any) -> TriggerPanel:
    """A panel."""
    return sen.trigger_panel(skill, *given, **more)


def do(panel: TriggerPanel, *act: Any) -> None:
    """Do something, and wait for what comes of it."""
    panel.do(*act)
    assert panel.fault is None, panel.fault
    settled(panel)
    assert panel.fault is None, panel.fault


def through(panel: TriggerPanel, model: str = "stand-in", **form: Any) -> TriggerPanel:
    """The panel with queries run by another stand-in than the usual one."""
    for act in (("tab", "run"), ("set", "executor", "messages-api"), ("set", "model", model)):
        do(panel, *act)
    fill(panel, **form)
    return panel


def press(panel: TriggerPanel, label: str) -> None:
    """Do what the page does when the button is pressed."""
    attributes = button(panel, label)
    assert not attributes.get("disabled"), f"{label!r} is disabled: {shown(panel)}"
    do(panel, *attributes["on"]["click"])
