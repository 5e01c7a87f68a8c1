"""The expectations: passed of scored on both sides, and what that tells."""

from __future__ import annotations

from collections import Counter

from skill_eval_nb import stats
from skill_eval_nb.widgets.ui import find, text
from tests.charts.worlds import world
from tests.widgets.explore.made import TDD, after, bundled, clickable, explorer, words

WS = bundled()
ROWS = stats.discrimination(WS).filter(iteration="iteration-2").to_dicts()


def shown(ws=TDD, **asked):
    panel = explorer(ws, **asked)
    after(panel, "see", "tab", "checks")
    return panel


def cells(panel):
    """What stands in the cells, by expectation and configuration."""
    return {
        tuple(one[1]["on"]["click"][4:]): one[2][0][2][0]
        for one in find(panel._tree, tag="button")
        if "sen-x-cell" in one[1].get("class", "")
    }


def test_every_cell_has_passed_of_scored():
    wanted = {}
    for row in ROWS:
        for end, name in (("", row["configuration"]), ("_baseline", row["baseline"])):
            passed, failed = row[f"n_passed{end}"], row[f"n_failed{end}"]
            wanted[row["text"], name] = f"{passed}/{passed + failed}"
    assert cells(shown()) == wanted


def test_the_colour_is_that_of_the_share():
    panel = shown()
    for one in find(panel._tree, tag="button"):
        looks = one[1].get("class", "").split()
        if "sen-x-cell" not in looks:
            continue
        passed, scored = map(int, one[2][0][2][0].split("/"))
        share = passed / scored
        assert ("sen-x-more" in looks) == (share >= 0.5)
        strength = float(one[1]["style"]["--sen-share"][:-1])
        assert abs(strength - abs(share - 0.5) * 200) < 0.5


def test_every_expectation_has_its_class_and_reason():
    read = words(shown())
    for row in ROWS:
        assert row["reason"] in read
    for name, number in Counter(row["class"] for row in ROWS).items():
        assert f"{name} {number}" in read


def test_a_class_can_be_looked_at_alone():
    panel = shown()
    after(panel, "see", "kind", "separates")
    texts = {act[4] for act in clickable(panel, "pick", "check")}
    assert texts == {row["text"] for row in ROWS if row["class"] == "separates"}
    after(panel, "see", "kind", "")
    assert len({act[4] for act in clickable(panel, "pick", "check")}) == len(ROWS)


def test_a_click_on_a_cell_shows_verdict_and_evidence_of_its_runs():
    panel = shown()
    row = next(row for row in ROWS if row["class"] == "separates")
    read = after(panel, "pick", "check", "iteration-2", row["layer"], row["text"], "without_skill")
    verdicts = WS.expectations.filter(
        iteration="iteration-2", text=row["text"], configuration="without_skill"
    )
    for evidence in verdicts["evidence"]:
        assert evidence[:80] in read
    block = text(find(panel._tree, key="behind"))
    assert block.count("failed") == verdicts["passed"].to_list().count(False)


def test_what_was_not_scored_is_said_and_counts_as_neither():
    panel = shown()
    read = words(panel)
    lost = [row for row in ROWS if row["n_unscored_baseline"]]
    assert lost
    assert read.count("+1 not scored") == len(lost)


def test_many_expectations_are_shown_25_at_a_time():
    panel = shown(world(evals=6, expectations=10))
    assert "1–25 of 60 expectations" in words(panel)
    assert len({act[4] for act in clickable(panel, "pick", "check")}) == 25
    after(panel, "turn", "checks", 2)
    assert len({act[4] for act in clickable(panel, "pick", "check")}) == 10


def test_without_expectations_it_says_so():
    assert "No run was checked for any expectation." in words(shown(world(expectations=0)))


def test_of_several_iterations_each_has_its_row():
    panel = shown(iteration=["iteration-1", "iteration-2"])
    rows = [act[2:] for act in clickable(panel, "pick", "check") if len(act) == 5]
    assert rows[0][1:] == rows[1][1:]
    assert {rows[0][0], rows[1][0]} == {"iteration-1", "iteration-2"}
