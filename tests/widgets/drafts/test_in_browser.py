"""The drafts in a real browser: from a suggestion to the file."""

from __future__ import annotations

import pytest

from tests.widgets.drafts.made import panel, workspace
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged

pytestmark = pytest.mark.browser


def test_from_a_suggestion_to_the_file(browser, tmp_path):
    path = workspace(tmp_path)
    made = panel(path, "drafts", "change", "suggestions")
    with staged(browser, made, *NARROW) as stage:
        page = stage.page
        page.get_by_text("24 runs").first.wait_for()
        page.get_by_role("button", name="Every run writes notes").click()
        page.get_by_text("tea, with_skill, run 1 of iteration-1").wait_for()
        looked_at(stage)
        page.get_by_role("tab", name="Drafts").click()
        page.get_by_role(
            "button", name="Accept: demote the structural expectation S2 (‘No headings’)"
        ).click()
        page.get_by_role("button", name="Show 24").first.click()
        page.get_by_role("rowheader", name="tea, with_skill, run 1").wait_for()
        page.get_by_text("Found: notes.md").first.wait_for()  # what goes has a verdict
        looked_at(stage, "drafts")
        page.get_by_role("tab", name="Change of the evals (1)").click()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("The old file is").wait_for()
        looked_at(stage)
        assert '"critical": true' not in (path / "evals.json").read_text()
