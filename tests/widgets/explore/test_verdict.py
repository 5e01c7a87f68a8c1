"""The card with the answer: its sentence is the statistics' own."""

from __future__ import annotations

import shutil

import pytest

from skill_eval_nb import stats
from tests.charts.worlds import world
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.running.made_jobs import until
from tests.widgets.explore.made import after, bundled, clickable, explorer, words
from tests.widgets.trees import elements, find, text

WS = bundled()
LAST = {"iteration": "iteration-2"}


def card(panel):
    (found,) = find(panel._tree, key="verdict")
    return found


def tracks(panel):
    return [one for one in find(card(panel), role="img") if "sen-track" in one[1]["class"]]


def test_it_says_the_verdict_and_the_reason_of_both_scopes_and_where_the_spread_comes_from():
    panel = explorer()
    said = text(card(panel))
    for scope in ("suite", "population"):
        row = stats.deltas(WS, scope=scope).filter(**LAST).to_dicts()[0]
        assert row["reason"][:40] in said
        assert row["verdict"] in said
    assert "with_skill helps on these 6 evals." in said
    assert "It is unclear whether with_skill helps on tasks like these. Pass rate: +39.4 pp" in said
    rows = stats.variance(WS, "pass_rate").filter(**LAST, configuration="with_skill")
    shares = dict(rows.select("component", "share").rows())
    label = f"with_skill: evals {shares['eval']:.0%}, runs and judge {shares['run + judge']:.0%}"
    (bar,) = find(card(panel), aria_label=label)
    widths = [float(one[1]["style"]["width"][:-1]) for one in bar[2]]
    assert widths == pytest.approx([100 * share for share in shares.values()], rel=1e-3)


def test_single_runs_are_led_by_what_they_say_of_tasks_like_these():
    single = WS.select(iteration="iteration-2", run_number=3)
    found = card(explorer(single))
    (said,) = find(found, cls="sen-x-said")
    (beyond,) = stats.deltas(single, scope="population").to_dicts()
    assert beyond["verdict"] != "too few evals"
    assert "tasks like these" in text(said)
    (also,) = find(found, cls="sen-soft")[:1]
    assert "Too few runs to say whether with_skill helps on these 6 evals. Pass" in text(also)


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
    assert "No skill with evals is in or next to kites-workspace" in text(runs)
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


def test_each_iteration_has_its_rows_on_one_axis_and_its_runs_behind_a_click():
    panel = explorer(iteration=["iteration-1", "iteration-2"])
    found = tracks(panel)
    assert [one[1]["aria-label"].replace("\xa0", " ") for one in found] == [
        "+20.8 pp, −5 to +35",
        "+20.8 pp, no interval",
        "+39.4 pp, +27.6 to +51.1",
        "+39.4 pp, −8.3 to +75",
    ]
    zeros = {find(one, cls="sen-zero")[0][1]["style"]["left"] for one in found}
    assert len(zeros) == 1
    places = [float(find(one, cls="sen-dot")[0][1]["style"]["left"][:-1]) for one in found]
    assert places[0] == places[1] < places[2] == places[3]
    assert len(list(clickable(panel, "pick", "iteration"))) == 2
    after(panel, "pick", "iteration", "iteration-1")
    assert panel.selection.height == 33
    assert len(find(card(panel), key="behind")) == 1


def test_of_what_is_better_as_less_and_the_other_way_round():
    panel = explorer()
    summary = stats.summarize(WS).filter(**LAST, metric="tokens", configuration="with_skill")
    assert f"{summary['mean'][0]:,.0f}" in words(panel)  # the means of all metrics lead to them
    act = next(act for act in clickable(panel, "choose_metric") if act[1] == "tokens")
    assert "Tokens: +4,660" in after(panel, *act)
    assert "with_skill uses more tokens on these 6 evals" in text(card(panel))
    assert any("sen-of-base" in one[1]["class"] for one in tracks(panel))
    after(panel, "choose_baseline", "with_skill")
    assert "without_skill uses fewer tokens on these 6 evals" in text(card(panel))
    assert any("sen-of-with" in one[1]["class"] for one in tracks(panel))
    shown = after(panel, "choose_metric", "pass_rate")
    assert "without_skill hurts on these 6 evals." in shown
    assert "−39.4 pp" in shown


@pytest.mark.parametrize(
    ("sides", "why"),
    [
        (
            ("with_skill",),
            "All runs belong to one configuration, with_skill. Run a baseline to compare.",
        ),
        (("red", "blue"), "no baseline among the configurations: blue, red"),
    ],
)
def test_where_nothing_can_be_compared_it_says_why(sides, why):
    panel = explorer(world(configurations=sides, runs=3))
    shown = words(panel)
    assert ("Nothing to compare" if len(sides) > 1 else "Mean pass rate: ") in shown
    assert why in shown
    assert tracks(panel) == []
    if "red" in sides:  # a baseline that nobody knows can be chosen
        assert "Nothing to compare" not in after(panel, "choose_baseline", "red")
        assert panel.choice.sides == ("blue", "red")
