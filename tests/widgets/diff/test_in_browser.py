"""The diff in a real browser: from the verdict to the evidence of the right run."""

from __future__ import annotations

import pytest

from tests.widgets.diff.made import panel, workspace
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged

pytestmark = pytest.mark.browser


def test_from_the_verdict_to_the_evidence(browser, tmp_path):
    made = panel(workspace(tmp_path))
    with staged(browser, made, *NARROW) as stage:
        page = stage.page
        page.get_by_role("button", name="login: show its runs").click()
        page.get_by_role("button", name="login, iteration-2, run 2", exact=True).click()
        page.get_by_role("button", name="login, iteration-1, run 1", exact=True).click()
        stage.unfold()
        looked_at(stage)
        page.get_by_role("tab", name="Expectations").click()
        page.get_by_role("button", name="newly failing 1").click()
        stage.settle()
        page.get_by_role("button", name="check 1: show its runs").click()
        page.get_by_text("iteration-2 with_skill 2: check 1").wait_for()
        stage.unfold()
        looked_at(stage, "diff-expectations")
        page.get_by_role("tab", name="Skill files").click()
        page.get_by_role("button", name="Side by side").click()
        page.get_by_text("sixteen", exact=True).wait_for()
        looked_at(stage, "diff-skill")
        page.get_by_role("button", name="Swap the two iterations").click()
        page.get_by_text("iteration-1 against iteration-2").wait_for()
        assert made.selection.height == 8
