"""The form, the plan and its price: told before anything is spent, and refused in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import skill_eval_nb as sen
from skill_eval_nb.running import Refused
from skill_eval_nb.widgets.run import run_panel
from skill_eval_nb.widgets.ui.paid import OTHER
from tests.triggers.made import make_skill
from tests.widgets.run.panels import (
    SMALL,
    button,
    ended,
    fill,
    panel_on,
    press,
    settled,
    shown,
)
from tests.widgets.trees import find, text

if TYPE_CHECKING:
    from pathlib import Path

REAL = {"executor": "messages-api", "executor_model": "claude-sonnet-5"}


def test_no_skill_no_evals_and_no_such_option_are_told(tmp_path: Path) -> None:
    panel = panel_on(tmp_path / "nowhere")
    assert panel.plan is None
    assert "nowhere" in text(find(panel.view(), role="alert"))
    with pytest.raises(TypeError, match=r"has no `judging`\. Did you mean `judgings`"):
        run_panel(tmp_path, judging=2)


def test_a_real_model_needs_a_budget_or_an_explicit_word(skill: Path) -> None:
    panel = panel_on(skill, **SMALL, **REAL, judge_model="claude-opus-4-8")
    assert panel.plan.estimate.usd.low > 0
    assert button(panel, "Start")["disabled"]
    assert "This may cost money: give a budget, or tick “Without a budget”." in shown(panel)
    with pytest.raises(Refused, match="give a budget"):
        panel.start()
    panel.do("set", "unlimited", True)
    assert not button(panel, "Start").get("disabled")
    fill(panel, unlimited=False, budget_usd=2.5)
    assert not button(panel, "Start").get("disabled")
    assert "Without a budget" not in shown(panel)
    assert "$2.50" in shown(panel)


def test_models_are_suggested_with_prices_and_any_name_can_be_typed(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    panel.do("set_executor", "messages-api")
    settled(panel)
    assert "Executor's model is not given" in shown(panel)
    select = find(panel.view(), tag="select", aria_invalid="true")[0]
    assert "claude-sonnet-5 · $2 / $10" in text([select])
    panel.do("set_model", "executor_model", OTHER)
    typed = find(panel.view(), tag="input", spellcheck="false")
    assert [one[1]["on"]["change"] for one in typed] == [("set_model", "executor_model")]
    panel.do("set_model", "executor_model", " my-own ")
    assert settled(panel).form.executor_model == "my-own"
    assert "No price is known for the model `my-own`" in shown(panel)
    panel.do("set_executor", "offline")
    assert settled(panel).plan is not None
    assert panel.plan.executor_model == "stand-in"


def test_doing_without_a_sandbox_is_spelled_out(skill: Path, monkeypatch) -> None:
    why = "The sandbox is bubblewrap, and no `bwrap` was found."
    for place in ("grading.sandbox.process", "widgets.run.plan"):
        monkeypatch.setattr(f"skill_eval_nb.{place}.available", lambda: why)
    panel = panel_on(skill, **SMALL)
    assert panel.plan is None
    assert why in shown(panel)
    label = "Without a sandbox: an agent's commands can read and change anything I can"
    assert label in shown(panel)
    panel.do("set_bare", True)
    settled(panel)
    assert panel.plan.sandbox == "none"


def test_what_changed_on_disk_is_shown_before_it_is_started(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    token = button(panel, "Start")["on"]["click"][1]
    path = skill / "SKILL.md"
    path.write_text(path.read_text() + "\nBe brief.\n")
    press(panel, "Start")
    settled(panel)
    assert "so the plan was made again: check it, and start" in (panel.fault or "")
    assert panel.job is None
    assert button(panel, "Start")["on"]["click"][1] != token
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
