"""The form, the plan and its price: told before anything is spent, and refused in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import skill_eval_nb as sen
from tests.triggers.made import make_skill
from tests.widgets.run.panels import (
    SMALL,
    button,
    ended,
    panel_on,
    press,
    settled,
    shown,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_doing_without_a_sandbox_is_spelled_out(skill: Path, monkeypatch) -> None:
    why = "The sandbox is bubblewrap, and no `bwrap` was found."
    for place in ("grading.sandbox", "widgets.run.plan"):
        monkeypatch.setattr(f"skill_eval_nb.{place}.available", lambda: why)
    panel = panel_on(skill, **SMALL)
    assert panel.plan is None
    assert why in shown(panel)
    label = "Without a sandbox: an agent's commands can read and change anything I can"
    assert label in shown(panel)
    panel.do("set", "bare", True)
    settled(panel)
    assert panel.plan.sandbox == "none"


def test_what_changed_on_disk_is_shown_before_it_is_started(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    token = button(panel, "Start")["on"]["click"][1]
    path = skill / "SKILL.md"
    path.write_text(path.read_text() + "\nBe brief.\n")
    press(panel, "Start")
    settled(panel)
    assert "The plan has changed since it was shown: check it" in (panel.fault or "")
    assert panel.job is None
    assert button(panel, "Start")["on"]["click"][1] != token
    panel.do("dismiss")
    panel.do("press", token)  # by a page that still shows what was priced before
    settled(panel)
    assert "The plan has changed since it was shown: check it" in (panel.fault or "")
    assert panel.job is None
    press(panel, "Start")
    settled(panel)
    assert panel.fault is None
    assert panel.job is not None
    panel.stop()
    ended(panel)


def test_a_skill_without_evals_is_shown_the_way_to_some(tmp_path: Path) -> None:
    skill = make_skill(tmp_path / "kites")
    panel = panel_on(skill, judge_model="claude-opus-4-8", budget_usd=2)
    told = f'sen.draft_evals({str(skill)!r}, model="claude-opus-4-8", budget_usd=2, dry_run=True)'
    assert told in shown(panel)
    made = sen.drafts(sen.draft_evals(skill, n=3))
    for draft in made.drafts:
        made.do("decide", draft.key, "accepted")
    made.do("apply")
    settled(panel)
    assert "has no evals" not in shown(panel)
    assert len(panel.plan.cells) == 18
