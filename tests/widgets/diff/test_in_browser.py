"""The diff in a real browser: from the verdict to the evidence of the right run."""

from __future__ import annotations

import pytest

from tests.widgets.diff.made import NEW, OLD, panel, workspace
from tests.widgets.hostile import TEXTS, canaries
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged

UNFOLD = "() => document.querySelectorAll('.sen details').forEach((one) => (one.open = true))"

pytestmark = pytest.mark.browser


def test_from_the_verdict_to_the_evidence(browser, tmp_path):
    made = panel(workspace(tmp_path))
    with staged(browser, made, *NARROW) as stage:
        page = stage.page
        page.get_by_role("button", name="login: show its runs").click()
        page.get_by_role("button", name="login, iteration-2, run 2", exact=True).click()
        page.get_by_role("button", name="login, iteration-1, run 1", exact=True).click()
        stage.settle()
        page.evaluate(UNFOLD)
        looked_at(stage)
        page.get_by_role("tab", name="Expectations (2 flipped)").click()
        page.get_by_role("button", name="newly failing 1").click()
        stage.settle()
        page.get_by_role("button", name="check 1: show its runs").click()
        page.get_by_text("iteration-2 with_skill 2: check 1").wait_for()
        stage.settle()
        page.evaluate(UNFOLD)
        looked_at(stage, "diff-expectations")
        page.get_by_role("tab", name="Skill files (1)").click()
        page.get_by_role("button", name="Side by side").click()
        page.get_by_text("sixteen", exact=True).wait_for()
        looked_at(stage, "diff-skill")
        page.get_by_role("button", name="Swap the two iterations").click()
        page.get_by_text("iteration-1 against iteration-2").wait_for()
        assert made.selection.height == 8
        assert stage.console_errors == []
        assert stage.outside_requests == []


def test_hostile_text_stays_text(browser, tmp_path):
    hostile = "\n".join(one.encode("utf-8", "replace").decode() for one in TEXTS)
    line = "<script>window.canary=1</script>" * 3_000
    kept = "{}/skill-snapshot/with_skill/{}"
    run = "iteration-2/eval-1-login/with_skill/run-1/grading.json"
    verdicts = [{"text": one, "passed": False, "evidence": one} for one in TEXTS if one.strip()]
    changes = {
        kept.format("iteration-1", "SKILL.md"): OLD + hostile,
        kept.format("iteration-2", "SKILL.md"): NEW + hostile[::-1] + line,
        kept.format("iteration-2", "<img src=x onerror='window.canary=1'>.md"): hostile,
        run: {
            "expectations": [*verdicts, {"text": "check 1", "passed": False, "evidence": hostile}]
        },
        "iteration-2/eval-2-logout/eval_metadata.json": {"eval_id": 2, "prompt": hostile},
    }
    changes = {name: _plain(content) for name, content in changes.items()}
    made = panel(workspace(tmp_path, changes))
    with staged(browser, made) as stage:
        for tab in ("checks", "skill", "others", "evals"):
            made.do("see", "tab", tab)
            if tab == "checks":
                made.do("pick", "check", "with_skill", "judged", "check 1", None, "1")
            stage.settle()
            stage.page.evaluate(UNFOLD)
            stage.settle()
            assert canaries(stage.page) == []
            assert made.fault is None
        assert stage.outside_requests == []
        assert stage.console_errors == []


def _plain(content):
    """JSON that a file can hold: half a surrogate pair is none."""
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode()
    if isinstance(content, dict):
        return {name: _plain(one) for name, one in content.items()}
    return [_plain(one) for one in content] if isinstance(content, list) else content
