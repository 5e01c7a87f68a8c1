"""Searching for a better description, shown with its differences, and written where accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.models import Connection
from skill_eval_nb.triggers import Query
from tests.running.made_jobs import until
from tests.stand_in import RiggedStandIn
from tests.widgets.run.panels import ended, fill, shown
from tests.widgets.trees import find, text
from tests.widgets.trigger.made import demo_skill, do, panel_on, press, through

POOR = "Makes an entry of a changelog."
"""A description of the demo skill that only one of these queries triggers."""

QUERIES = [
    Query("make a changelog entry out of these merged pull requests", should_trigger=True),
    Query("here is the git log since 2.3, please write the release notes", should_trigger=True),
    Query("release notes for our customers from this git log, please", should_trigger=True),
    Query("write down what is new in this version, from the git log", should_trigger=True),
    Query("draft the release notes of version 3", should_trigger=True),
    Query("suggest a name for our new cat", should_trigger=False),
    Query("how long does it take to boil eleven eggs?", should_trigger=False),
    Query("which train to the coast is the cheapest?", should_trigger=False),
    Query("plan a birthday party for ten children", should_trigger=False),
]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    found = demo_skill(tmp_path)
    file = found / "SKILL.md"
    head, _, rest = file.read_text().partition("description: ")
    file.write_text(f"{head}description: {POOR}\n{rest.partition(chr(10))[2]}")
    return found


def searched(panel):
    for tab, form in (("run", {"runs": 1, "others": "none"}), ("description", {"rounds": 2})):
        do(panel, "tab", tab)
        fill(panel, **form)
    press(panel, "Start")
    return ended(panel)


def test_from_the_price_to_another_description_in_the_file(skill: Path) -> None:
    panel = panel_on(skill, QUERIES)
    do(panel, "tab", "description")
    says = shown(panel)
    assert "held-out queries, 3 runs of each" in says
    assert "it costs nothing" in says
    assert panel.optimised is None
    assert not (skill.parent / "release-notes-workspace").exists()
    searched(panel)
    found = panel.optimised
    assert panel.fault is None
    says = shown(panel)
    assert found.why in says
    assert found.ended in says
    assert len(found.steps) > 1
    assert f"on new runs of the held-out queries: {found.best}" in says
    for step in found.steps:
        (card,) = find(panel.view(), tag="section", key=f"round-{step.round}")
        tracks = [one[1]["title"] for one in find(card, role="img")]
        assert tracks == [f"train {step.train}", f"held-out {step.test}"]
    step = found.steps[-1]
    before = (skill / "SKILL.md").read_bytes()
    do(panel, "choose", step.round)
    (diff,) = find(panel.view(), tag="pre")
    assert f"-description: {POOR}" in text([diff])
    assert step.description in text([diff])
    assert (skill / "SKILL.md").read_bytes() == before
    press(panel, "Write it to SKILL.md")
    after = (skill / "SKILL.md").read_text()
    assert step.description in after
    assert after.partition("\n---\n")[2] == before.decode().partition("\n---\n")[2]
    assert "The description is written" in shown(panel)
    assert "has this description already" in shown(panel)


def test_a_file_that_was_changed_meanwhile_is_not_written_over(skill: Path) -> None:
    panel = searched(panel_on(skill, QUERIES))
    do(panel, "choose", panel.optimised.steps[-1].round)
    file = skill / "SKILL.md"
    changed = file.read_text().replace(POOR, "Something else.")
    file.write_text(changed)
    panel.do("write")
    assert "has changed since that was shown" in (panel.fault or "")
    assert file.read_text() == changed
    assert "Something else." in shown(panel)
    panel.do("choose", 99)
    assert "no round 99" in (panel.fault or "")


def test_rounds_come_as_they_are_made_and_a_stop_keeps_them(skill: Path) -> None:
    slow = Connection(stand_in=RiggedStandIn(latency=0.1))
    panel = panel_on(skill, QUERIES, connection=slow)
    through(panel, runs=1, others="none", concurrency=2)
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
