"""A review in a real browser: by keyboard, and side by side."""

from __future__ import annotations

import pytest

from skill_eval_nb.widgets.review import review
from tests.widgets.looks import looked_at
from tests.widgets.review.made import doubted, held, opened, token
from tests.widgets.stage import staged

pytestmark = pytest.mark.browser

WORDS = "Comments on with_skill"


def test_by_keyboard_alone(browser, tmp_path):
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
        area = page.get_by_label(WORDS)
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


def test_checks_are_labelled_by_keyboard_and_everybody_can_do_it(browser, tmp_path):
    doubted(tmp_path)
    panel = review(tmp_path / "tidy-workspace", "checks")
    with staged(browser, panel) as stage:
        page = stage.page
        page.get_by_text("check 1 of").click()
        for key in ("p", "ArrowRight", "f"):
            page.keyboard.press(key)
            stage.settle()
        group = page.get_by_role("radiogroup", name="Does the check hold?")
        assert group.get_by_role("radio", name="Fail", checked=True).count() == 1
        labels = [one["labels"][0]["passed"] for one in held(tmp_path, 1)["reviews"]]
        assert labels == [True, False]
        group.get_by_role("radio", name="Fail").focus()
        page.keyboard.press("ArrowLeft")
        stage.settle()
        assert held(tmp_path, 1)["reviews"][1]["labels"][0]["passed"]
        looked_at(stage)
