"""Each panel in a real browser, on pages of one: somebody does with it what it is for.

And everybody can: each page is looked at light and dark, wide and narrow.
"""

from __future__ import annotations

import json
import threading

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.explore import Explore
from tests.report.made import balanced, of_two_models, workspace
from tests.widgets.diff import made as diffs
from tests.widgets.drafts import made as drafts
from tests.widgets.explore.made import bundled, explorer
from tests.widgets.looks import NARROW, WIDE, looked_at
from tests.widgets.review.made import held, opened, token
from tests.widgets.run import panels
from tests.widgets.stage import staged
from tests.widgets.trigger import made as triggers

pytestmark = pytest.mark.browser


IMAGE_WIDTH = "async (one) => { await one.decode(); return one.naturalWidth; }"


def test_explorer_every_view_and_from_a_point_to_the_evidence_of_its_run(browser):
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
                assert page.locator("img.sen-x-chart[src]").evaluate(IMAGE_WIDTH) > 300
            dark = [("dark", 900)] if name in ("dimensions", "checks") else []
            new = "[role=tablist], [role=tabpanel]"
            looked_at(stage, f"explore-{name}", [*dark, ("light", 900)], within=new)


def test_explorer_lists_over_the_page_close_by_escape_and_by_a_click_elsewhere(browser):
    panel = explorer()
    with staged(browser, panel) as stage:
        page = stage.page
        menu = page.get_by_label("Evals: all 6")
        elsewhere = page.get_by_role("heading").first.click
        for close in (lambda: page.keyboard.press("Escape"), elsewhere):
            menu.click()
            stage.settle()
            assert panel.seen.unfolded == {"evals"}
            group = page.get_by_role("group", name="Evals", exact=True)
            group.get_by_role("checkbox").first.focus()
            close()
            stage.settle()
            assert panel.seen.unfolded == set()
            assert page.locator(".sen-x-drop").count() == 0


def test_explorer_finds_at_a_key_without_a_kernel_and_copies(browser):
    panel = explorer()
    with staged(browser, panel, *NARROW) as stage:
        page, rows = stage.page, stage.page.locator(".sen-x-runs > tbody > tr:visible")
        stage.alive = False
        page.locator(".sen").focus()
        page.keyboard.press("/")
        page.keyboard.type("late-fee")
        page.locator("select").filter(has_text="without_skill").last.select_option("with_skill")
        assert rows.count() == 3
        assert all("late-fee · run" in text for text in rows.all_inner_texts())
        stage.open()  # as a reload does: Python heard of nothing, nor of what the page sends last
        stage.alive = True
        stage.until(lambda: rows.count() == 25)

        page.locator(".sen").focus()
        page.keyboard.press("/")
        page.keyboard.type("late-fee")
        stage.until(lambda: panel.search.words == "late-fee")
        stage.settle()
        assert rows.count() == panel.selection.height > 3
        looked_at(stage, "explore-found", [("dark", 800), ("light", 1400)], within=".sen-x-behind")

        rows.first.get_by_role("button").click()
        stage.settle()
        page.get_by_role("button", name="the line of code").click()
        page.keyboard.press("/")
        page.keyboard.press("Control+v")
        stage.until(lambda: panel.search.words.startswith("sen.show("))
        page.keyboard.press("Escape")
        stage.until(lambda: not panel.search)
        page.locator(".sen-x-runs button").first.press("Escape")
        stage.until(lambda: not panel.seen.opened)
        stage.settle()


def test_library_a_click_opens_the_explorer_and_goes_back(browser):
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


def test_diff_from_the_verdict_to_the_evidence(browser, tmp_path):
    made = sen.diff(diffs.workspace(tmp_path))
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


def test_drafts_from_a_suggestion_to_the_file(browser, tmp_path):
    path = drafts.workspace(tmp_path)
    made = sen.drafts(path)
    with staged(browser, made, *NARROW) as stage:
        page = stage.page
        page.get_by_text("24 runs").first.wait_for()
        page.get_by_role("button", name="Every run writes notes").click()
        page.get_by_text("tea, with_skill, run 1 of iteration-1").wait_for()
        looked_at(stage)
        page.get_by_role("tab", name="Drafts").click()
        accept = "Accept: demote the structural expectation S2 (‘No headings’)"
        page.get_by_role("button", name=accept).click()
        page.get_by_role("button", name="Show 24").first.click()
        page.get_by_role("rowheader", name="tea, with_skill, run 1").wait_for()
        page.get_by_text("Found: notes.md").first.wait_for()  # what goes has a verdict
        looked_at(stage, "drafts")
        page.get_by_role("tab", name="Changes to the evals (1)").click()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("The old file is").wait_for()
        looked_at(stage)
        assert '"critical": true' not in (path / "evals.json").read_text()


def test_review_by_keyboard_alone(browser, tmp_path):
    panel = opened(tmp_path)
    with staged(browser, panel) as stage:
        page = stage.page
        page.get_by_text("pair 1 of 4").click()
        for key, number in (("ArrowRight", 2), ("ArrowLeft", 1)):
            page.keyboard.press(key)
            page.get_by_text(f"pair {number} of 4").wait_for()
        for key in "35d?":  # the first two dimensions of the first run, what differs, the keys
            page.keyboard.press(key)
            stage.settle()
        assert held(tmp_path)["reviews"][0]["scores"] == {"order": 3, "tone": 5}
        assert page.get_by_text("1 of 2 paragraphs different").is_visible()
        assert page.get_by_text("score the marked dimension").is_visible()
        looked_at(stage)
        page.keyboard.press("Escape")
        page.keyboard.press("d")
        stage.settle()
        assert not page.get_by_text("score the marked dimension").is_visible()
        assert page.get_by_text("1 of 2 paragraphs different").count() == 0
        panel.do("score", token("1", "with_skill"), "tone", None)
        area = page.get_by_label("Comments on with_skill")
        area.focus()
        page.keyboard.type("ab?d")
        page.keyboard.press("Backspace")
        page.keyboard.press("Backspace")
        page.keyboard.press("ArrowLeft")
        page.keyboard.type("-")
        page.keyboard.press("Tab")  # to the scores of the first dimension
        page.keyboard.press("3")
        stage.settle()
        page.keyboard.press("ArrowRight")
        stage.settle()
        assert held(tmp_path)["reviews"][0] == {
            "run_id": "eval-1-login-with_skill-run-1",
            "feedback": "a-b",
            "scores": {"order": 4},
        }
        assert page.get_by_text("pair 1 of 4").is_visible()
        group = page.get_by_role("radiogroup", name="Score for order, with_skill", exact=True)
        assert group.get_by_role("radio", checked=True).get_attribute("value") == "4"
        page.keyboard.press("Delete")
        stage.settle()
        assert "scores" not in held(tmp_path)["reviews"][0]
        assert group.get_by_role("radio", checked=True).count() == 0

        page.get_by_label("Side by side").select_option("checks")
        page.get_by_text("check 1 of").click()
        page.keyboard.press("f")
        stage.settle()
        group = page.get_by_role("radiogroup", name="Does the check hold?")
        group.get_by_role("radio", name="Fail", checked=True).focus()
        page.keyboard.press("ArrowLeft")
        stage.settle()
        assert [one["passed"] for one in held(tmp_path)["reviews"][-1]["labels"]] == [True]
        looked_at(stage)


def test_run_panel_from_the_form_to_the_verdict(browser, tmp_path):
    may = threading.Event()
    skill = panels.demo_skill(tmp_path)
    panel = panels.panel_on(skill, executor=panels.held(may), runs=2)
    with staged(browser, panel, *NARROW) as stage:
        page = stage.page
        page.get_by_role("button", name="No evals").click()
        page.get_by_text("Evals (0 of 6)").wait_for()
        page.get_by_label("mixed-commits").check()
        page.get_by_label("breaking-change").check()
        page.get_by_label("Runs per eval").fill("1")
        page.get_by_label("Runs per eval").press("Tab")
        page.get_by_text("2 evals × 2 configurations × 1 run = 4 runs").wait_for()
        stage.unfold()
        looked_at(stage, "run-panel-plan", (NARROW, ("dark-high-contrast", 1000), WIDE))
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("progressbar", name="runs that have ended").wait_for()
        page.locator(".sen-flights li").first.wait_for()
        looked_at(stage, "run-panel-running", within=".sen-running")
        may.set()
        page.get_by_text("4 of 4 runs,").wait_for(timeout=60_000)
        page.get_by_text("Pass rate:").wait_for(timeout=60_000)
        panels.settled(panel)
        looked_at(stage, "run-panel-done", within=".sen-ended")
        page.get_by_role("tab", name="Judge stored outputs again").click()
        page.get_by_role("button", name="Judge again").wait_for()
        looked_at(stage, "run-panel-judge", within="[role=tabpanel]")


def test_trigger_panel_from_a_typed_query_to_what_was_found(browser, tmp_path):
    skill = triggers.demo_skill(tmp_path)
    panel = triggers.panel_on(skill)
    with staged(browser, panel, *NARROW) as stage:
        page = stage.page
        page.get_by_role("button", name="Add a query").click()
        words = page.get_by_role("textbox", name="query 7", exact=True)
        words.fill("use release-notes for this")
        words.blur()
        page.get_by_text("gives away").wait_for()
        looked_at(stage, "triggers-queries")
        words.fill("what is new for our customers?")
        page.get_by_role("checkbox", name="query 5 should trigger").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Space")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("No unsaved changes").wait_for()
        saved = json.loads((skill / "trigger-eval-set.json").read_bytes())
        assert saved[-1] == {"query": "what is new for our customers?", "should_trigger": True}
        assert saved[4]["should_trigger"] is False

        page.get_by_role("tab", name="Queries").focus()
        page.keyboard.press("ArrowRight")
        page.get_by_text("7 queries, 21 runs").wait_for()
        page.get_by_role("spinbutton", name="Runs per query").fill("1")
        page.keyboard.press("Tab")
        page.get_by_text("7 queries, 7 runs").wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("Everything is done").wait_for(timeout=60_000)
        page.get_by_text("1 run").first.click()
        looked_at(stage, "triggers-run")

        page.get_by_role("tab", name="Description").click()
        page.get_by_text("runs at most").wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("What was found").wait_for(timeout=60_000)
        panels.ended(panel)
        looked_at(stage, "triggers-description")
