"""The diff in a real browser: from the verdict to the evidence of the right run."""

from __future__ import annotations

import pytest

from tests.widgets.diff.made import NEW, OLD, panel, workspace
from tests.widgets.hostile import IN_FILES
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
        page.get_by_role("tab", name="Expectations (2 flipped)").click()
        page.get_by_role("button", name="newly failing 1").click()
        stage.settle()
        page.get_by_role("button", name="check 1: show its runs").click()
        page.get_by_text("iteration-2 with_skill 2: check 1").wait_for()
        stage.unfold()
        looked_at(stage, "diff-expectations")
        page.get_by_role("tab", name="Skill files (1)").click()
        page.get_by_role("button", name="Side by side").click()
        page.get_by_text("sixteen", exact=True).wait_for()
        looked_at(stage, "diff-skill")
        page.get_by_role("button", name="Swap the two iterations").click()
        page.get_by_text("iteration-1 against iteration-2").wait_for()
        assert made.selection.height == 8


def test_hostile_text_stays_text(browser, tmp_path):
    hostile = "\n".join(IN_FILES)
    line = "<script>window.canary=1</script>" * 3_000
    kept = "{}/skill-snapshot/with_skill/{}"
    run = "iteration-2/eval-1-login/with_skill/run-1/grading.json"
    verdicts = [{"text": one, "passed": False, "evidence": one} for one in IN_FILES if one.strip()]
    verdicts.append({"text": "check 1", "passed": False, "evidence": hostile})
    changes = {
        kept.format("iteration-1", "SKILL.md"): OLD + hostile,
        kept.format("iteration-2", "SKILL.md"): NEW + hostile[::-1] + line,
        kept.format("iteration-2", "<img src=x onerror='window.canary=1'>.md"): hostile,
        run: {"expectations": verdicts},
        "iteration-2/eval-2-logout/eval_metadata.json": {"eval_id": 2, "prompt": hostile},
    }
    made = panel(workspace(tmp_path, changes))
    with staged(browser, made) as stage:
        for tab in ("checks", "skill", "others", "evals"):
            made.do("see", "tab", tab)
            if tab == "checks":
                made.do("pick", "check", "with_skill", "judged", "check 1", None, "1")
            stage.unfold()
            stage.fine()
            assert made.fault is None
