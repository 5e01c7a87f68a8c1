"""Many skills in a widget, and each in the explorer."""

from __future__ import annotations

from typing import Any

import pytest

import skill_eval_nb as sen
from tests.report.made import balanced, of_two_models, workspace
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged


@pytest.mark.browser
def test_everybody_can_read_it_and_a_click_opens_the_explorer_and_goes_back(browser: Any) -> None:
    one = [{**row, "skill": "docs", "workspace": "docs-workspace"} for row in balanced()]
    panel = sen.library_panel(workspace(runs=[*one, *of_two_models()]))
    with staged(browser, panel, *NARROW) as stage:
        looked_at(stage, "library", [("dark", 900), ("light", 900)])
        stage.page.get_by_role("button", name="docs", exact=True).click()
        stage.settle()
        assert stage.page.get_by_role("tablist").count() == 1
        stage.page.get_by_role("button", name="All skills").click()
        stage.settle()
        assert stage.page.get_by_role("tablist").count() == 0
        assert stage.page.get_by_text(panel.library.answers[0].claim).count() == 1
