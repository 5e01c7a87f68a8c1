"""What stands behind the tabs: expectations, dimensions, what stands out, problems of the data."""

from __future__ import annotations

from collections import Counter

import polars as pl

from skill_eval_nb import stats
from tests.charts.worlds import world
from tests.checkout import ROOT
from tests.widgets.explore.made import TDD, after, bundled, clickable, explorer, labelled, words
from tests.widgets.trees import find, text

WS = bundled()
LAST = {"iteration": "iteration-2"}
ROWS = stats.discrimination(WS).filter(**LAST).to_dicts()


def shown(tab, ws=TDD, **asked):
    panel = explorer(ws, **asked)
    after(panel, "see", "tab", tab)
    return panel


def texts(panel):
    """The expectations that can be clicked."""
    return {act[4] for act in clickable(panel, "pick", "check")}


def test_every_expectation_has_passed_of_scored_its_class_and_the_reason():
    panel = shown("checks")
    wanted = {}
    for row in ROWS:
        for end, name in (("", row["configuration"]), ("_baseline", row["baseline"])):
            passed, failed = row[f"n_passed{end}"], row[f"n_failed{end}"]
            wanted[row["text"], name] = (passed, passed + failed)
    found = {}
    for one in find(panel._tree, tag="button"):
        looks = one[1].get("class", "").split()
        if "sen-x-cell" in looks:
            passed, scored = map(int, one[2][0][2][0].split("/"))
            found[tuple(one[1]["on"]["click"][4:])] = (passed, scored)
            share = passed / scored
            assert ("sen-x-more" in looks) == (share >= 0.5)  # the colour is that of the share
            strength = float(one[1]["style"]["--sen-share"][:-1])
            assert abs(strength - abs(share - 0.5) * 200) < 0.5
    assert found == wanted
    read = words(panel)
    assert [row["reason"] for row in ROWS if row["reason"] not in read] == []
    classes = Counter(row["class"] for row in ROWS)
    assert [one for one in classes.items() if "{} {}".format(*one) not in read] == []
    lost = [row for row in ROWS if row["n_unscored_baseline"]]
    assert read.count("+1 not scored") == len(lost) > 0  # and counts as neither


def test_a_click_on_a_cell_shows_verdict_and_evidence_of_its_runs():
    panel = shown("checks")
    after(panel, "see", "kind", "separates")
    assert texts(panel) == {row["text"] for row in ROWS if row["class"] == "separates"}
    after(panel, "see", "kind", "")
    assert len(texts(panel)) == len(ROWS)
    row = next(row for row in ROWS if row["class"] == "separates")
    read = after(panel, "pick", "check", "iteration-2", row["layer"], row["text"], "without_skill")
    verdicts = WS.expectations.filter(**LAST, text=row["text"], configuration="without_skill")
    assert [one for one in verdicts["evidence"] if one[:80] not in read] == []
    block = text(find(panel._tree, key="behind"))
    assert block.count("failed") == verdicts["passed"].to_list().count(False)


def test_every_dimension_has_its_means_with_n_its_delta_and_where_the_spread_comes_from():
    panel = shown("dimensions")
    read = words(panel)
    for row in stats.deltas_by_dimension(WS).filter(**LAST).to_dicts():
        assert f"{row['estimate']:+.2f}" in read
        for name in ("with_skill", "without_skill"):
            means = stats.summarize(WS).filter(**LAST, metric=row["metric"], configuration=name)
            mean, n = means.select("mean", "n").row(0)
            label = f"{name}, {row['dimension']}: mean {mean:.2f}, {n} runs; show them"
            assert len(labelled(panel, label)) == 1
    parts = {"eval": "evals", "run": "runs", "judge": "judge"}
    spread = stats.variance(WS).filter(**LAST)
    for (name, _), rows in spread.partition_by("configuration", "dimension", as_dict=True).items():
        told = ", ".join(f"{parts[c]} {s:.0%}" for c, s in rows["component", "share"].rows())
        assert labelled(panel, f"{name}: {told}")
    for judgings, told in ((1, True), (2, False)):  # one judging cannot be told from the run
        panel = shown("dimensions", world(evals=6, runs=2, judgings=judgings))
        assert ("runs and judge" in text(find(panel._tree, cls="sen-x-dimensions"))) is told
        assert ("No output was judged twice" in words(panel)) is told


def test_a_click_on_a_dimension_shows_the_runs_that_were_scored_with_the_judges_reasons():
    panel = shown("dimensions")
    acts = [act for act in clickable(panel, "pick", "dimension") if len(act) <= 5]
    assert len(acts) == 4 * 3  # beside those of each point
    read = after(panel, "pick", "dimension", "iteration-2", "small_steps", "without_skill")
    assert panel.selection.height == 17
    own = WS.rubric_scores.filter(**LAST, dimension="small_steps", configuration="without_skill")
    assert [one for one in own.filter(eval_id="1")["evidence"] if one[:60] not in read] == []
    one_side = shown("dimensions", world(configurations=("with_skill",), runs=2))
    assert "difference" not in text(one_side._tree)
    acts = [act for act in clickable(one_side, "pick", "dimension") if len(act) <= 5]
    assert len(acts) == 3 * 2


def test_every_note_is_there_and_leads_to_its_runs():
    panel = explorer(iteration="iteration-1")
    read = after(panel, "see", "tab", "notes")
    notes = stats.notes(WS).filter(iteration="iteration-1").to_dicts()
    runs = WS.runs.filter(iteration="iteration-1")
    name = pl.format("{} {} run {}", "eval_name", "configuration", "run_number")
    acts = list(clickable(panel, "pick", "note"))
    assert [note["text"] for note in notes if note["text"] not in read] == []
    assert [act[3] for act in acts] == [
        at for at, note in enumerate(notes) if note["evals"] or note["runs"]
    ]
    for act in acts:
        note = notes[act[3]]
        after(panel, *act)
        of_evals = runs.filter(pl.col("eval_name").is_in(note["evals"]))
        wanted = runs.filter(name.is_in(note["runs"])) if note["runs"] else of_evals
        assert panel.selection.height == wanted.height > 0


def test_every_problem_is_there_errors_first_and_leads_to_the_runs_it_touches():
    panel = explorer()
    read = after(panel, "see", "tab", "problems")
    problems = bundled().problems
    assert "Problems (3)" in read
    assert [one for one in problems["message"] if one not in read] == []
    assert read.index("errored-run") < read.index("efficiency-of-one")
    acts = list(clickable(panel, "pick", "problem"))
    assert [problems["code"][act[2]] for act in acts] == ["errored-run", "missing-side"]
    only = after(panel, "see", "severity", "info")
    assert "errored-run" not in only
    assert "efficiency-of-one" in only
    after(panel, *acts[0])  # of whichever iteration
    assert panel.selection.select("iteration", "eval_name", "run_number").rows() == [
        ("iteration-1", "waiting-list", 2)
    ]
    other = after(explorer(ROOT / "data", skill="recipe-scaler"), "see", "tab", "problems")
    assert "double-pancakes" in other
    assert "waiting-list" not in other


def test_where_there_is_nothing_it_says_so():
    for tab, ws, told in (
        ("checks", world(expectations=0), "No run was checked for any expectation."),
        ("dimensions", world(dimensions=0), "No run of this skill was scored on a rubric"),
        ("problems", world(), "Everything could be used as it is."),
        ("notes", world(configurations=("red",), evals=1, dimensions=0, expectations=0),
         "Nothing notable."),
    ):  # fmt: skip
        read = words(shown(tab, ws))
        assert told in read
        assert "Problems (" not in read
