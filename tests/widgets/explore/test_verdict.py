"""The card with the answer: its sentence is the statistics' own."""

from __future__ import annotations

import pytest

from skill_eval_nb import stats
from skill_eval_nb.widgets.ui import find, text
from tests.charts.worlds import world
from tests.widgets.explore.made import after, bundled, clickable, explorer, words

WS = bundled()


def card(panel):
    (found,) = find(panel._tree, key="verdict")
    return found


def tracks(panel):
    return [one for one in find(card(panel), role="img") if "sen-track" in one[1]["class"]]


def test_it_says_the_verdict_and_the_reason_of_both_scopes():
    said = text(card(explorer()))
    for scope in ("suite", "population"):
        row = stats.deltas(WS, scope=scope).filter(iteration="iteration-2").to_dicts()[0]
        assert row["reason"][:40] in said
        assert row["verdict"] in said
    assert "with_skill helps on these 6 evals." in said
    assert "It is unclear whether with_skill helps on tasks like these: +39.4 pp" in said


def test_single_runs_are_led_by_what_they_say_of_tasks_like_these():
    single = WS.select(iteration="iteration-2", run_number=3)
    (said,) = find(card(explorer(single)), cls="sen-x-said")
    (beyond,) = stats.deltas(single, scope="population").to_dicts()
    assert beyond["verdict"] != "too few evals"
    assert "tasks like these" in text(said)
    (also,) = find(card(explorer(single)), cls="sen-soft")[:1]
    assert "Too few runs to say whether with_skill helps on these 6 evals: " in text(also)


def test_each_iteration_has_its_rows_and_all_lie_on_one_axis():
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


def test_a_difference_in_what_is_better_as_less_has_the_colour_of_the_better_side():
    panel = explorer(metric="tokens")
    assert "with_skill uses more tokens on these 6 evals" in text(card(panel))
    assert "hurts" not in text(card(panel))
    assert any("sen-of-base" in one[1]["class"] for one in tracks(panel))
    after(panel, "choose_configuration", "without_skill")
    assert "without_skill uses fewer tokens on these 6 evals" in text(card(panel))
    assert any("sen-of-with" in one[1]["class"] for one in tracks(panel))


def test_the_other_side_has_the_opposite_delta():
    panel = explorer()
    shown = after(panel, "choose_baseline", "with_skill")
    assert (panel.choice.configuration, panel.choice.baseline) == ("without_skill", "with_skill")
    assert "without_skill hurts on these 6 evals." in shown
    assert "−39.4 pp" in shown


@pytest.mark.parametrize(
    ("ws", "why"),
    [
        (world(configurations=("with_skill",)), "Every run is of with_skill: run a baseline, too."),
        (world(configurations=("red", "blue")), "no baseline among the configurations: blue, red"),
    ],
)
def test_where_nothing_can_be_compared_it_says_why(ws, why):
    panel = explorer(ws)
    shown = words(panel)
    assert "Nothing to compare" in shown
    assert why in shown
    assert tracks(panel) == []


def test_a_baseline_that_nobody_knows_can_be_chosen():
    panel = explorer(world(configurations=("red", "blue"), runs=3))
    shown = after(panel, "choose_baseline", "red")
    assert panel.choice.sides == ("blue", "red")
    assert "Nothing to compare" not in shown


def test_where_the_spread_comes_from_has_the_shares_of_the_statistics():
    panel = explorer()
    rows = stats.variance(WS, "pass_rate").filter(
        iteration="iteration-2", configuration="with_skill"
    )
    shares = dict(rows.select("component", "share").rows())
    (bar,) = find(card(panel), aria_label=(
        f"with_skill: evals {shares['eval']:.0%}, runs and judge {shares['run + judge']:.0%}"
    ))  # fmt: skip
    widths = [float(one[1]["style"]["width"][:-1]) for one in bar[2]]
    assert widths == pytest.approx([100 * share for share in shares.values()], rel=1e-3)


def test_a_click_on_an_iteration_selects_its_runs():
    panel = explorer(iteration=["iteration-1", "iteration-2"])
    assert len(list(clickable(panel, "pick", "iteration"))) == 2
    after(panel, "pick", "iteration", "iteration-1")
    assert panel.selection.height == 33
    assert len(find(card(panel), key="behind")) == 1


def test_the_means_of_all_metrics_are_those_of_the_summary_and_lead_to_them():
    panel = explorer()
    summary = stats.summarize(WS).filter(iteration="iteration-2", metric="tokens")
    mean = summary.filter(configuration="with_skill")["mean"][0]
    assert f"{mean:,.0f}" in words(panel)
    acts = list(clickable(panel, "choose_metric"))
    assert ("choose_metric", "tokens") in acts
    assert "Tokens: +4,660" in after(panel, *next(act for act in acts if act[1] == "tokens"))
