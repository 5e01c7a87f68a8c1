"""The grid of a panel: typed, ticked, tagged, imported, saved, drafted on."""

from __future__ import annotations

from pathlib import Path

from skill_eval_nb.models import Connection
from tests.running.made_jobs import until
from tests.stand_in import RiggedStandIn
from tests.widgets.run.panels import button, fill, shown
from tests.widgets.trigger.made import do, panel_on, press


def test_drafts_that_cost_are_asked_for_within_a_budget_only(skill: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    panel = panel_on(skill, connection=Connection(stand_in=RiggedStandIn(log=str(log))))
    do(panel, "set", "model", "claude-haiku-4-5")
    fill(panel, n=4)
    press(panel, "What would it cost?")
    assert "at most $" in shown(panel)
    assert "give a budget" in shown(panel)
    assert button(panel, "Draft 4 queries").get("disabled")
    assert not log.exists()
    fill(panel, budget_usd=1.0)
    press(panel, "Draft 4 queries")
    assert len(panel.queries) == 10
    assert any("near miss" in one.tags for one in panel.queries)
    assert "4 queries drafted" in shown(panel)
    assert log.read_text().count("\n") == 1


def test_drafting_something_else_than_was_priced_is_refused(skill: Path) -> None:
    panel = panel_on(skill)
    fill(panel, n=4)
    press(panel, "What would it cost?")
    assert "at no cost" in shown(panel)
    token = panel.launches["queries"].plan.token
    fill(panel, n=40)
    panel.do("press", token)
    until(lambda: panel.fault)
    assert len(panel.queries) == 6
    do(panel, "dismiss")
    fill(panel, n=None)
    do(panel, "price_draft")
    assert panel.launches["queries"].form.n == 20  # its usual value
