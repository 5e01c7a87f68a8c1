"""The grid of a panel: typed, ticked, tagged, imported, saved, drafted on."""

from __future__ import annotations

import json
from pathlib import Path

from skill_eval_nb.models import Connection
from skill_eval_nb.triggers import Query, read_queries
from tests.running.made_jobs import until
from tests.stand_in import RiggedStandIn
from tests.widgets.run.panels import button, fill, shown
from tests.widgets.trigger.made import demo_skill, do, panel_on, press

NAME = "trigger-eval-set.json"


def stored(skill: Path) -> list[dict]:
    return json.loads((skill / NAME).read_bytes())


def keys(panel) -> list[str]:
    return [*panel._grid.rows]


def test_a_set_can_go_to_another_file_but_not_over_what_was_not_seen_nor_as_nothing(
    skill: Path, tmp_path: Path
) -> None:
    panel = panel_on(skill)
    do(panel, "save_to", str(tmp_path / "copy.json"))
    press(panel, "Save")
    assert read_queries(tmp_path / "copy.json") == panel.queries
    other = tmp_path / "other.json"
    other.write_text('[{"query": "mine", "should_trigger": true}]')
    do(panel, "save_to", str(other))
    panel.do("save")
    assert "is there already" in (panel.fault or "")
    assert "mine" in other.read_text()
    panel = panel_on(skill)
    do(panel, "remove", keys(panel)[0])
    (skill / NAME).write_text("[]\n")  # by others
    panel.do("save")
    assert "has changed since it was read" in (panel.fault or "")
    assert stored(skill) == []
    panel = panel_on(demo_skill(tmp_path / "again"))
    for key in keys(panel):
        do(panel, "remove", key)
    panel.do("save")
    assert "nothing to save" in (panel.fault or "")
    assert len(stored(tmp_path / "again" / "release-notes")) == 6


def test_importing_adds_what_is_not_there(skill: Path, tmp_path: Path) -> None:
    more = [stored(skill)[0], {"query": "list what broke", "should_trigger": False}]
    (tmp_path / "more.json").write_text(json.dumps({"queries": more}))
    panel = panel_on(skill)
    panel.do("import_from", str(tmp_path / "more.json"))
    press(panel, "Import")
    assert panel.queries[-1] == Query("list what broke", should_trigger=False)
    assert len(panel.queries) == 7
    assert "2 queries imported; 1 of them there already" in shown(panel)
    for path, told in (
        ("", "Say first which"),
        (str(skill / "no-such.json"), "does not exist"),
        (str(skill / "SKILL.md"), "not a trigger set"),
    ):
        panel.do("import_from", path)
        panel.do("import_file")
        assert told in (panel.fault or "")
        assert len(panel.queries) == 7


def test_drafts_that_cost_are_asked_for_within_a_budget_only(skill: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    panel = panel_on(skill, connection=Connection(stand_in=RiggedStandIn(log=str(log))))
    do(panel, "set_model", "draft_model", "claude-haiku-4-5")
    fill(panel, draft_n=4)
    press(panel, "What would it cost?")
    assert "at most $" in shown(panel)
    assert "give a budget" in shown(panel)
    assert button(panel, "Draft 4 queries").get("disabled")
    assert not log.exists()
    fill(panel, draft_budget_usd=1.0)
    press(panel, "Draft 4 queries")
    assert len(panel.queries) == 10
    assert any("near miss" in one.tags for one in panel.queries)
    assert "4 queries drafted" in shown(panel)
    assert log.read_text().count("\n") == 1


def test_drafting_something_else_than_was_priced_is_refused(skill: Path) -> None:
    panel = panel_on(skill)
    fill(panel, draft_n=4)
    press(panel, "What would it cost?")
    assert "at no cost" in shown(panel)
    fill(panel, draft_n=40)
    panel.do("press", panel.launches["queries"].plan.token)
    until(lambda: panel.fault)
    assert len(panel.queries) == 6
    do(panel, "dismiss")
    fill(panel, draft_n=None)
    do(panel, "price_draft")
    assert "How many is empty" in shown(panel)
