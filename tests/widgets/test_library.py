"""Many skills in a widget, and each in the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from tests.report.made import balanced, of_two_models, workspace
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged
from tests.widgets.trees import elements, text


def test_each_row_opens_its_skill_and_its_model_in_the_explorer_and_all_come_back() -> None:
    one = [{**row, "skill": "docs", "workspace": "docs-workspace"} for row in balanced()]
    panel = sen.library_panel(workspace(runs=[*one, *of_two_models()]))
    shown = text(panel._tree)
    assert panel.library.answers[0].claim in shown
    acts = [
        tuple(node[1]["on"]["click"])
        for node in elements(panel._tree)
        if node[0] == "button" and "on" in node[1]
    ]
    assert sorted(acts) == [("open_skill", at) for at in range(len(panel.library.rows))]
    for act in acts:
        row = panel.library.rows[act[1]]
        panel.do(*act)
        assert panel.settle()
        assert panel.fault is None
        choice = panel.choice
        assert (choice.workspace, choice.skill) == (row["workspace"], row["skill"])
        assert choice.sides == (row["configuration"], row["baseline"])
        assert dict(choice.model) in ({}, {"executor_model": row["executor_model"]})
        assert bool(choice.model) == (row["skill"] == "tdd")
        panel.do("close_skill")
        assert text(panel._tree) == shown


def test_an_empty_place_says_so(tmp_path: Path) -> None:
    panel = sen.library_panel(str(tmp_path))
    assert "No skill here has an eval" in text(panel._tree)


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
