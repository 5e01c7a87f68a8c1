"""The panel in a real browser: from a typed query to a written description."""

from __future__ import annotations

import json

import pytest

from tests.widgets.looks import NARROW, looked_at
from tests.widgets.run.panels import ended
from tests.widgets.stage import staged
from tests.widgets.trigger.made import demo_skill, panel_on

TYPED = "what is new for our customers in this git log?"
PATIENCE = 60_000

pytestmark = pytest.mark.browser


def test_from_a_typed_query_to_a_written_description(browser, tmp_path):
    skill = demo_skill(tmp_path)
    panel = panel_on(skill)
    with staged(browser, panel, *NARROW) as stage:
        page = stage.page
        page.get_by_role("button", name="Add a query").click()
        words = page.get_by_role("textbox", name="query 7", exact=True)
        words.fill("use release-notes for this")
        words.blur()
        page.get_by_text("gives away").wait_for()
        looked_at(stage, "triggers-queries")
        words.fill(TYPED)
        page.get_by_role("checkbox", name="query 5 should trigger").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Space")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("All is as").wait_for()
        saved = json.loads((skill / "trigger-eval-set.json").read_bytes())
        assert saved[-1] == {"query": TYPED, "should_trigger": True}
        assert saved[4]["should_trigger"] is False

        page.get_by_role("tab", name="Queries").focus()
        page.keyboard.press("ArrowRight")
        page.get_by_text("7 queries, 21 attempts").wait_for()
        page.get_by_role("spinbutton", name="Runs of a query").fill("1")
        page.keyboard.press("Tab")
        page.get_by_text("7 queries, 7 attempts").wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("All runs are there").wait_for(timeout=PATIENCE)
        page.get_by_text("1 run").first.click()
        looked_at(stage, "triggers-run")

        page.get_by_role("tab", name="Description").click()
        page.get_by_text("runs at most").wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("What was found").wait_for(timeout=PATIENCE)
        ended(panel)
        looked_at(stage, "triggers-description")
