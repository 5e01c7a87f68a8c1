"""The whole panel: choosing, landing runs, what is drawn where, and what goes wrong."""

from __future__ import annotations

import json
import random
import shutil

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import skill_eval_nb as sen
from skill_eval_nb.stats.values import values_of
from skill_eval_nb.widgets.explore import Explore, quality
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.charts.worlds import HOSTILE, world
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.running.made_jobs import until
from tests.widgets.explore.made import TDD, after, bundled, clickable, explorer, words
from tests.widgets.looks import NARROW, looked_at
from tests.widgets.stage import staged
from tests.widgets.trees import elements, find, text


def test_skill_and_workspace_can_be_chosen_where_there_are_several():
    panel = explorer(ROOT / "data")
    names = [(suite.workspace, suite.skill) for suite in panel.counted.suites]
    assert len(names) == 6
    for at, (place, skill) in enumerate(names):
        shown = after(panel, "choose_suite", str(at))
        assert (panel.choice.workspace, panel.choice.skill) == (place, skill)
        assert skill in shown
        assert set(panel.selection["skill"]) <= {skill}
    assert "nothing was run yet" in shown


def test_runs_are_shown_as_they_land_and_what_was_chosen_stays(tmp_path):
    place = tmp_path / "ws"
    panel = explorer(place)
    assert "Nothing to look at yet" in words(panel)
    assert panel.selection.height == 0
    shutil.copytree(TDD, place, ignore=shutil.ignore_patterns("iteration-2", "feedback.json"))
    tell_landed(place)
    assert panel.settle()
    assert (panel.choice.iterations, panel.selection.height) == (("iteration-1",), 33)
    after(panel, "choose_metric", "tokens")
    chosen = explorer(place, iteration="iteration-1")
    after(chosen, "pick", "eval", "iteration-1", "1", "lend-a-book")
    before = chosen.selection.height
    shutil.copytree(TDD / "iteration-2", place / "iteration-2")
    tell_landed(place / "iteration-2")
    assert panel.settle()
    assert (panel.choice.iterations, panel.choice.metric) == (("iteration-2",), "tokens")
    assert "Tokens: +4,660" in words(panel)
    assert chosen.settle()
    assert (chosen.choice.iterations, chosen.selection.height) == (("iteration-1",), before)
    assert "iteration-2" in chosen.suite.iterations
    assert "is not there any more" not in words(chosen)
    place.rename(tmp_path / "away")
    assert "ws is not there any more" in after(chosen, "see", "tab", "checks")


def test_all_evals_are_those_that_come_later_too(tmp_path):
    place = tmp_path / "ws"
    given = {f"iteration-1/eval-{n}-e{n}/with_skill/grading.json": graded("p") for n in "12"}
    ticked, pressed = (explorer(lay(place, given)) for _ in range(2))
    after(ticked, "tick", "evals", "1", False)
    after(ticked, "tick", "evals", "1", True)
    after(pressed, "choose_evals", *pressed.suite.evals)
    lay(place, {"iteration-2/eval-3-e3/with_skill/grading.json": graded("p")})
    tell_landed(place)
    for panel in (ticked, pressed):
        assert panel.settle()
        assert (len(panel.suite.evals), panel.choice.evals) == (3, ())


def test_a_fault_in_one_view_leaves_the_others(monkeypatch):
    def fail(*_):
        raise RuntimeError("the disk is full")

    panel = explorer()
    monkeypatch.setattr(quality, "count_checks", fail)
    panel.do("see", "tab", "checks")
    assert panel.settle()
    shown = words(panel)
    assert "This could not be shown. RuntimeError: the disk is full" in shown
    assert "with_skill helps" in shown
    monkeypatch.undo()
    assert "always passes" in after(panel, "see", "tab", "checks")


WORLDS = {
    "plain": world(runs=2),
    "hostile": world(evals=8, names=HOSTILE, runs=2, configurations=HOSTILE[:2]),
    "three sides": world(configurations=("with_skill", "old_skill", "without_skill")),
    "one side": world(configurations=("with_skill",), iterations=3),
    "two workspaces": world(workspaces=("a", "b"), iterations=2),
    "nothing scored": world(dimensions=0, expectations=0),
}


@given(st.sampled_from(list(WORLDS)), st.randoms(use_true_random=False), st.data())
@settings(max_examples=8)
def test_whatever_is_clicked_nothing_breaks_and_the_selection_is_of_what_is_there(
    name, chance: random.Random, data
):
    ws = WORLDS[name]
    panel = explorer(ws)
    every = set(ws.runs.rows())
    for _ in range(data.draw(st.integers(1, 6))):
        tab = chance.choice([one for one in Explore.TABS if one != "charts"])
        after(panel, "see", "tab", tab)
        acts = [act for act in clickable(panel) if act[0] not in ("export", "save_chart")]
        after(panel, *chance.choice(acts))
        assert set(panel.selection.rows()) <= every
        json.dumps(panel._tree).encode()


WS = bundled()


def points(panel):
    """The runs that are drawn: what a click on each would send, and where it is."""
    return [
        (one[1]["on"]["click"], one[1]["style"]["left"])
        for one in find(panel._tree, tag="button")
        if "sen-x-point" in one[1].get("class", "")
    ]


def test_every_run_is_drawn_once_where_its_figure_is():
    for metric, low, high in (("pass_rate", 0, 1), ("rubric:isolation", 1, 5)):
        panel = explorer(metric=metric)
        values = values_of(WS, metric).filter(iteration="iteration-2").drop_nulls("value")
        keys = values.select("eval_id", "configuration", "run_number").rows()
        wanted = [100 * (value - low) / (high - low) for value in values["value"]]
        drawn = {
            (act[3], act[5], number): float(left[:-1])
            for act, left in points(panel)
            for number in act[6:]
        }
        assert sorted(drawn) == sorted(keys)
        assert [drawn[run] for run in keys] == pytest.approx(wanted, abs=1)


def test_a_point_of_a_dimension_selects_its_run_and_stays_pressed():
    panel = explorer()
    after(panel, "see", "tab", "dimensions")
    act, _ = next(point for point in points(panel) if len(point[0]) == 6)
    after(panel, *act)
    (run,) = panel.selection.iter_rows(named=True)
    name = f"{run['eval_name']} {run['configuration']} run {run['run_number']}"
    assert act[2:] == [run["iteration"], "behaviour_focus", run["configuration"], name]
    (pressed,) = find(panel._tree, aria_pressed="true", cls="sen-x-point")
    assert pressed[1]["on"]["click"] == act


def test_outputs_that_are_gone_or_were_never_stored_are_said() -> None:
    other = explorer(sen.from_table(explorer().source.ws.polars("runs").drop("path")))
    assert "no outputs stored" in after(other, "see", "tab", "outputs")
    assert "No outputs of" in after(other, *next(clickable(other, "open_outputs")))


def card(panel):
    (found,) = find(panel._tree, key="verdict")
    return found


def single_runs(home):
    """A workspace of four evals that were run once a side, each the better with the skill."""
    sides = {"with_skill": "ppppp", "without_skill": "pffff"}
    return lay(
        home,
        {
            f"iteration-1/eval-{n}-e{n}/{side}/grading.json": graded(verdicts)
            for n in range(1, 5)
            for side, verdicts in sides.items()
        },
    )


def test_beside_the_verdict_stand_the_lean_and_the_way_to_the_runs_that_decide(tmp_path):
    """The run panel is filled in; where there is no skill to run it says what is missing."""
    panel = explorer(single_runs(tmp_path / "kites-workspace"))
    (lean,) = find(card(panel), cls="sen-x-lean")
    assert "with_skill leans up: +80 pp (+" in text(lean)
    runs, evals = find(card(panel), cls="sen-x-next")
    assert text(runs).startswith("Next: 1 more run of each eval a side")
    assert "No skill with evals is in or next to these runs" in text(runs)
    assert text(evals).startswith("For tasks like these: 2 more evals")
    assert list(clickable(panel, "run_more")) == []

    shutil.copytree(ROOT / "data" / "release-notes", tmp_path / "kites")
    panel = explorer(tmp_path / "kites-workspace")
    (act,) = clickable(panel, "run_more")
    assert act == ("run_more", "iteration-1", 2)
    shown = after(panel, *act)
    until(lambda: "2 configurations × 2 runs" in words(panel))
    assert "Run kites" in shown
    number = next(act for act in changes(panel) if act[:3] == ("in_runs", "set", "runs"))
    panel.do(*number, 4)
    until(lambda: "2 configurations × 4 runs" in words(panel))
    assert "Too few runs to say" in after(panel, "leave_runs")


def changes(panel):
    """What can be chosen or typed, as the page would send it."""
    return [tuple(one[1]["on"]["change"]) for one in elements(panel._tree)
            if "change" in one[1].get("on", {})]  # fmt: skip


DECODED = "async (one) => { await one.decode(); return one.naturalWidth; }"


@pytest.mark.browser
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


@pytest.mark.browser
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
