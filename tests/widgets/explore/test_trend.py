"""The first screen: iterations as a trend, a baseline for those without, what is worst."""

from __future__ import annotations

import polars as pl
import pytest

from skill_eval_nb import load, stats
from tests.charts.worlds import run_keys, workspace
from tests.widgets.explore.made import TDD, after, clickable, explorer, words
from tests.widgets.looks import looked_at
from tests.widgets.stage import staged
from tests.widgets.trees import find, text

BASE, OWN = "without_skill", "with_skill"


def several(*iterations, evals=("a", "b")):
    """Iterations, each a mapping of sides to the share that each eval passed, of four checks."""
    return workspace(
        runs=[
            run_keys(eval_id=eval_, eval_name=eval_, configuration=side, iteration=f"iteration-{n}")
            | {"status": "graded", "passed": passed, "failed": 4 - passed, "total": 4}
            | {"pass_rate": passed / 4, "path": f"{n}/{eval_}/{side}"}
            for n, sides in enumerate(iterations, 1)
            for side, shares in sides.items()
            for eval_, passed in zip(evals, shares, strict=True)
        ]
    )


def rows(panel):
    """The rows of the trend, as they are read."""
    (table,) = find(panel._tree, tag="table", cls="sen-x-trend")
    return [text(row).replace("\n", " ").replace("\xa0", " ") for row in find(table, tag="tr")[1:]]


def test_each_iteration_has_its_means_and_its_difference_and_a_click_looks_at_it():
    panel = explorer(load(TDD))
    shown = rows(panel)
    suite = stats.deltas(load(TDD)).filter(scope="suite", metric="pass_rate")
    assert [row.split()[0] for row in shown] == suite["iteration"].to_list()
    for row, estimate in zip(shown, suite["estimate"], strict=True):
        assert f"{100 * estimate:+.1f}" in row
    after(panel, "choose_iterations", "iteration-1")
    assert panel.choice.iterations == ("iteration-1",)
    assert rows(panel) == shown


def test_an_iteration_without_a_baseline_is_compared_with_an_older_one_where_one_asks():
    ws = several({OWN: (3, 4), BASE: (1, 2)}, {OWN: (4, 4)}, {OWN: (2, 4)})
    panel = explorer(ws)
    assert panel.choice.iterations == ("iteration-1",)
    assert "2 of 3 iterations have no run of without_skill" in words(panel)
    offers = list(clickable(panel, "borrow"))
    assert offers == [("borrow", f"iteration-{n}", "iteration-1", BASE) for n in (2, 3)]
    after(panel, *offers[1])
    assert "against iteration-1’s" in rows(panel)[2]
    assert "+37.5 pp" in rows(panel)[2]  # (2 + 4) of 8 against (1 + 2) of 8
    assert panel.choice.iterations == ("iteration-3",)
    of = panel.selection.select("iteration", "configuration").unique().rows()
    assert sorted(of) == [("iteration-1", BASE), ("iteration-3", OWN)]
    after(panel, "borrow", "iteration-3", "", "")
    assert list(clickable(panel, "borrow")) == offers
    assert ws.runs.height == 8


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ({OWN: (4, 0)}, "Worst eval of with_skill: b, pass rate 0%; run 1 passed 0 of 4 checks."),
        ({"unstated": (4, 3)}, "Worst eval: b, pass rate 75%; run 1 passed 3 of 4 checks."),
        ({OWN: (4, 4)}, None),
        ({OWN: (4, 2), BASE: (0, 4)}, "Worst eval of with_skill: b, pass rate 50%; run 1"),
    ],
)
def test_the_worst_eval_and_its_worst_run_are_named(sides, said):
    panel = explorer(several(sides))
    assert (said or "") in words(panel)
    assert ("Worst eval" in words(panel)) == bool(said)
    if BASE not in sides:
        assert "Mean pass rate: " in words(panel)
        order = [act[3] for act in clickable(panel, "pick", "eval")]
        rates = panel.selection.sort("pass_rate", "eval_id", maintain_order=True)["eval_id"]
        assert order == rates.to_list()  # the worst first


def test_dimensions_have_every_run_a_standard_deviation_and_an_order():
    panel = explorer()
    after(panel, "see", "tab", "dimensions")
    scores = stats.summarize(load(TDD)).filter(
        pl.col("metric").str.starts_with("rubric:"), iteration="iteration-2"
    )
    for spread in scores["stddev"]:
        assert f"SD {spread:.2f}" in words(panel)
    for way in ("up", "down"):
        after(panel, "sort", "dimensions", "base", way)
        own = scores.filter(configuration=BASE).sort("mean", descending=way == "down")
        found = [act[3] for act in clickable(panel, "pick", "dimension") if len(act) == 4]
        assert [f"rubric:{name}" for name in found] == own["metric"].to_list()


@pytest.mark.browser
def test_everybody_can_read_the_trend_and_ask_for_a_baseline(browser):
    ws = several({OWN: (3, 4), BASE: (1, 2)}, {OWN: (4, 4)}, {OWN: (2, 4)})
    with staged(browser, panel := explorer(ws)) as stage:
        stage.page.get_by_role("button", name="use iteration-1’s baseline").last.click()
        stage.settle()
        assert panel.choice.iterations == ("iteration-3",)
        looked_at(stage, "explore-trend", [("dark", 800), ("light", 1400)])
