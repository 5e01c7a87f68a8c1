"""The dimensions: means with n, deltas, and where the spread comes from."""

from __future__ import annotations

from skill_eval_nb import stats
from skill_eval_nb.widgets.ui import find, text
from tests.charts.worlds import world
from tests.widgets.explore.made import TDD, after, bundled, clickable, explorer, labelled, words

WS = bundled()


def shown(ws=TDD, **asked):
    panel = explorer(ws, **asked)
    after(panel, "see", "tab", "dimensions")
    return panel


def test_every_dimension_has_its_means_with_n_and_its_delta():
    panel = shown()
    read = words(panel)
    for row in stats.deltas_by_dimension(WS).filter(iteration="iteration-2").to_dicts():
        assert f"{row['estimate']:+.2f}" in read
        for name in ("with_skill", "without_skill"):
            summary = stats.summarize(WS).filter(
                iteration="iteration-2", metric=row["metric"], configuration=name
            )
            mean, n = summary.select("mean", "n").row(0)
            label = f"{name}, {row['dimension']}: mean {mean:.2f}, {n} runs; show them"
            assert len(labelled(panel, label)) == 1


def test_the_spread_is_taken_apart_as_the_statistics_do():
    panel = shown()
    for (name, dimension), rows in stats.variance(WS).filter(
        iteration="iteration-2"
    ).partition_by("configuration", "dimension", as_dict=True).items():  # fmt: skip
        parts = {"eval": "evals", "run": "runs", "judge": "judge"}
        said = ", ".join(f"{parts[c]} {s:.0%}" for c, s in rows["component", "share"].rows())
        assert labelled(panel, f"{name}: {said}"), dimension


def test_it_is_said_where_the_judge_cannot_be_told_apart():
    once, twice = shown(world(evals=6, runs=2)), shown(world(evals=6, runs=2, judgings=2))
    together = [
        "runs and judge" in text(find(panel._tree, cls="sen-x-dimensions"))
        for panel in (once, twice)
    ]
    assert together == [True, False]
    told = "No output was judged twice"
    assert [told in words(panel) for panel in (once, twice)] == [True, False]


def test_a_click_shows_the_runs_that_were_scored_with_the_judges_reasons():
    panel = shown()
    acts = list(clickable(panel, "pick", "dimension"))
    assert len(acts) == 4 * 3
    scores = WS.rubric_scores.filter(iteration="iteration-2", dimension="small_steps")
    read = after(panel, "pick", "dimension", "iteration-2", "small_steps", "without_skill")
    own = scores.filter(configuration="without_skill")
    assert panel.selection.height == 17
    for row in own.filter(eval_id="1").to_dicts():
        assert row["evidence"][:60] in read


def test_without_a_rubric_it_says_so():
    panel = shown(world(dimensions=0))
    assert "No run of this skill was scored on a rubric" in words(panel)


def test_one_side_has_no_deltas():
    panel = shown(world(configurations=("with_skill",), runs=2))
    assert "difference" not in text(panel._tree)
    assert len(list(clickable(panel, "pick", "dimension"))) == 3 * 2
