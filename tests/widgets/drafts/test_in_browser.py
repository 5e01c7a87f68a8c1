"""The drafts in a real browser: from a suggestion to the file, and hostile text stays text."""

from __future__ import annotations

import json

import pytest

from tests.widgets.drafts.made import panel, workspace
from tests.widgets.hostile import IN_FILES
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
        page.get_by_role("button", name="Accept: demote the structural expectation ‘S2’").click()
        page.get_by_role("button", name="Show 24").first.click()
        page.get_by_role("rowheader", name="tea, with_skill, run 1").wait_for()
        looked_at(stage, "drafts")
        page.get_by_role("tab", name="Change of the evals (1)").click()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("The old file is").wait_for()
        looked_at(stage)
        assert '"critical": true' not in (path / "evals.json").read_text()


def test_hostile_text_stays_text(browser, tmp_path):
    hostile = "\n".join(IN_FILES)
    path = workspace(tmp_path, said=hostile, output=hostile)
    evals = json.loads((path / "evals.json").read_text())
    for one in evals["evals"]:
        one["structural_expectations"][0]["description"] = hostile
    (path / "evals.json").write_text(json.dumps(evals, indent=2))
    made = panel(path, "drafts", "suggestions")
    with staged(browser, made) as stage:
        for tab in ("suggestions", "drafts", "change"):
            made.do("choose_tab", tab)
            made.settle()
            for card in made._cards():
                made.do("look_at", card.key)
                if not card.draft.missing:
                    made.do("decide", card.key, "accepted")
            stage.settle()
            stage.fine()
