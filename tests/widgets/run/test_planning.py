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


def test_the_plan_and_its_price_are_shown_and_nothing_is_written(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    assert len(panel.plan.cells) == 4
    for told in ("2 evals × 2 configurations × 1 run = 4 runs, 1 judging each", "$0.00"):
        assert told in shown(panel)
    assert "Nothing has been measured in this workspace yet" in shown(panel)
    assert not button(panel, "Start").get("disabled")
    assert not panel.home.exists()


def test_planned_looks_are_shown_and_stand_instead_of_the_runs(skill: Path) -> None:
    panel = panel_on(skill, evals_only=["1", "2"], looks=(2, 3, 4))
    assert len(panel.plan.cells) == 16
    for told in ("16 runs at most", "at 2, 3 and 4 runs a side"):
        assert told in shown(panel)
    fill(panel, runs=3)
    assert "Runs per eval is 3, and the last look is at 4" in shown(panel)
    fill(panel, runs=None, looks="2; 4")
    assert "Planned looks is ('2; 4',); it is two or more growing numbers" in shown(panel)
    fill(panel, looks="3, 5")
    assert "at 3 and 5 runs a side" in shown(panel)
    fill(panel, looks="")
    assert panel.plan.looks == ()


def test_a_change_of_the_form_is_another_plan(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    panel.do("set", "runs", 2)
    panel.do("tick_eval", "3", True)
    panel.do("tick_configuration", "without_skill", False)
    settled(panel)
    assert panel.plan.configurations == ("with_skill",)
    assert [one.id for one in panel.plan.evals] == ["1", "2", "3"]
    assert len(panel.plan.cells) == 6
    assert "there is no baseline, so there is no delta" in shown(panel)
    panel.do("all_evals", False)
    settled(panel)
    assert text(find(panel.view(), role="alert")) == "no eval is chosen"
    panel.do("all_evals", True)
    assert settled(panel).form.evals_only is None
    assert len(panel.plan.evals) == 6
    panel.do("add_side")
    assert panel.fault == "Another configuration needs a name, and the folder of its skill."
    for act in (("name_side", "name", "old_skill"), ("name_side", "folder", str(skill))):
        panel.do(*act)
    panel.do("add_side")
    assert settled(panel).plan.configurations == ("with_skill", "old_skill")
    assert "`with_skill` and `old_skill` both offer the same skill" in shown(panel)


def test_all_faults_are_told_at_once_beside_the_form(skill: Path) -> None:
    panel = panel_on(skill, **SMALL)
    fill(panel, runs=0, judgings=None, budget_usd=-1, concurrency=2.5)
    assert panel.plan is None
    told = find(panel.view(), role="alert")[0]
    assert text([told]).splitlines() == [
        "Judgings per run is empty; it is a whole number of at least 0",
        "Runs per eval is 0; it is a whole number of at least 1",
        "Concurrency is 2.5; it is a whole number of at least 1",
        "Budget in US$ is -1; it is a number of at least 0",
    ]
    assert len(find(panel.view(), tag="input", aria_invalid="true")) == 4
    with pytest.raises(Refused, match="errors in the form"):
        panel.start()
    fill(panel, runs=1, judgings=1, budget_usd=None, concurrency=2)
    assert settled(panel).plan is not None
    assert not find(panel.view(), aria_invalid="true")


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
