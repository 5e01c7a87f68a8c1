"""Exploring in a real browser: from a point to the evidence of its run."""

from __future__ import annotations

import pytest

from skill_eval_nb.widgets.explore import Explore
from tests.widgets.explore.made import bundled, explorer
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged

pytestmark = pytest.mark.browser


DECODED = "async (one) => { await one.decode(); return one.naturalWidth; }"


def test_every_view_can_be_read_by_everybody_from_a_point_to_the_evidence_of_its_run(browser):
    panel = explorer(iteration=["iteration-1", "iteration-2"])
    with staged(browser, panel, *NARROW) as stage:
        page = stage.page
        page.get_by_label("Metric or dimension").select_option("rubric:small_steps")
        stage.settle()
        point = page.get_by_role("button", name="without_skill, late-fee, run 2").last
        point.click()
        stage.settle()
        assert point.get_attribute("aria-pressed") == "true"
        run = {"iteration": "iteration-2", "eval_name": "late-fee", "run_number": 2}
        assert panel.selection.select(*run).rows() == [tuple(run.values())]
        scores = bundled().rubric_scores.filter(
            **run, configuration="without_skill", dimension="small_steps"
        )
        assert scores.height == 3
        for reason in scores["evidence"]:
            assert page.locator(".sen-x-below").get_by_text(reason).first.is_visible()
        looked_at(stage, "explore-evals")

        assert page.get_by_role("tab", name=Explore.TABS["models"]).count() == 0
        for name, label in list(Explore.TABS.items())[1:]:
            if name == "models":  # there is one
                continue
            page.get_by_role("tab", name=label).click()
            stage.settle()
            if name == "charts":
                assert page.locator("img.sen-x-chart[src]").evaluate(DECODED) > 300
            dark = [("dark", 900)] if name in ("dimensions", "checks") else []
            new = "[role=tablist], [role=tabpanel]"
            looked_at(stage, f"explore-{name}", [*dark, ("light", 900)], within=new)


def test_lists_over_the_page_close_by_escape_and_by_a_click_elsewhere(browser):
    panel = explorer()
    with staged(browser, panel) as stage:
        page = stage.page
        menu = page.get_by_label("Evals: all 6")
        for close in (
            lambda: page.keyboard.press("Escape"),
            page.get_by_role("heading").first.click,
        ):
            menu.click()
            stage.settle()
            assert panel.seen.unfolded == {"evals"}
            page.get_by_role("group", name="Evals", exact=True).get_by_role(
                "checkbox"
            ).first.focus()
            close()
            stage.settle()
            assert panel.seen.unfolded == set()
            assert page.locator(".sen-x-drop").count() == 0
