"""The widget, without a browser: what is chosen, what is shown, what is selected."""

from __future__ import annotations

import re
import shutil

import pandas as pd
import pytest

import skill_eval_nb as sen
from skill_eval_nb.stats.overview import overview
from skill_eval_nb.widgets.diff import Diff
from skill_eval_nb.widgets.ui import Node
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.widgets.diff.made import do, panel, workspace
from tests.widgets.trees import find, text

KEYS = ("iteration", "run_number")
LATEST = ("iteration-2", "iteration-1")
CHECKS = "Passed of those scored; a click shows the runs with their evidence"
DELTAS = "iteration-2 minus iteration-1: difference in pass rate (pp)"
RUNS = "Every run’s pass rate, eval by eval"


@pytest.fixture
def path(tmp_path):
    """The folder of the made workspace."""
    return workspace(tmp_path)


def stated(reason: str) -> tuple[str, str]:
    """What a reason says of the figure, and the warning of sessions, which stands by itself."""
    figure, warning, _ = re.split(r" (Two iterations [^.:]*)", reason)
    return figure, warning


def tree(made: Diff) -> list[Node]:
    """What is to be seen, once all is counted."""
    assert made.settle()
    return list(made._tree)


def shown(made: Diff) -> str:
    return text(tree(made)).replace("\xa0", " ")


def rows_in(node: Node) -> list[list[str]]:
    (body,) = find(node, tag="tbody")
    return [[text(cell) for cell in row[2]] for row in body[2]]


def table(made: Diff, caption: str) -> list[list[str]]:
    """The rows of the table with this caption, as texts of their cells."""
    tables = find(tree(made), tag="table")
    (found,) = (one for one in tables if text(find(one, tag="caption")) == caption)
    return rows_in(found)


def test_the_head_says_what_came_of_it_either_way_round(path):
    made, ws = panel(path), sen.load(path)
    words = shown(made)
    assert "with_skill · iteration-2 against iteration-1 · 2 evals, 8 runs" in words
    reason, sessions = stated(sen.stats.deltas(ws, versus=LATEST)["reason"][0])
    assert f"Pass rate: {reason}" in words
    assert sessions in words
    assert "The skill: 1 file differs, +2 −1 lines" in words
    assert "1 expectation newly failing, 1 newly passing" in words
    assert "Evals, expectations and models are the same" in words
    assert [text(tab) for tab in find(made.view(), role="tab")] == [
        "Evals", "Outputs", "Dimensions", "Expectations (2 flipped)",
        "Skill files (1)", "What else differs (0)",
    ]  # fmt: skip
    (swap,) = find(tree(made), aria_label="Swap the two iterations")
    do(made, *swap[1]["on"]["click"])
    assert "iteration-1 against iteration-2" in shown(made)
    assert stated(sen.stats.deltas(ws, versus=LATEST[::-1])["reason"][0])[0] in shown(made)
    assert "The skill: 1 file differs, +1 −2 lines" in shown(made)
    do(made, "choose_configuration", "iteration-2")  # there already: they change places
    assert "iteration-2 against iteration-1" in shown(made)


def test_metric_and_configuration_can_be_chosen_and_nothing_that_is_not_there(path):
    made = panel(path)
    firsts = [row[0].splitlines()[0][:10] for row in table(made, DELTAS)]
    assert firsts == ["with_skill", "tasks like"]
    before = shown(made)
    wrong = (("choose_configuration", "iteration-9"), ("see", "tab", "problems"))
    for act in (*wrong, ("open_run", "w", "s", "iteration-1")):
        made.do(*act)
        assert made.fault
        made.do("dismiss")
    assert shown(made) == before
    rows = table(made, "with_skill minus without_skill: difference in pass rate (pp)")
    firsts = [row for row in rows if row[0].startswith("iteration-")]
    for row, estimate in zip(firsts, sen.stats.deltas(sen.load(path))["estimate"], strict=True):
        assert row[2].startswith(f"{100 * estimate:+.3g}\xa0pp")  # of the skill in either
    do(made, "choose_iterations", "with_skill", "without_skill")
    assert len(table(made, DELTAS)) == 4
    do(made, "choose_metric", "time_seconds")
    do(made, "choose_iterations", "without_skill")
    assert "without_skill · iteration-2 against iteration-1" in shown(made)
    of = {"metric": "time_seconds", "scope": "suite", "configuration": "without_skill"}
    rows = overview(sen.load(path), versus=LATEST)
    (found,) = (row["reason"] for row in rows if row.items() >= of.items())
    assert f"Time: {stated(found)[0]}" in shown(made)


def test_a_click_on_an_eval_selects_its_runs_and_two_are_opened_beside_each_other(path):
    made, every = panel(path), sen.load(path).runs
    assert made.selection.height == every.filter(configuration="with_skill").height
    rows = table(made, RUNS)
    assert [row[0] for row in rows] == ["login", "logout"]
    assert ["77.8%" in rows[0][2], "55.6%" in rows[0][2]] == [True, True]
    do(made, "sort", "evals", "delta", "up")
    assert [row[0] for row in table(made, RUNS)] == ["logout", "login"]

    do(made, "pick", "eval", "with_skill", "1", "login")
    assert made.selection.columns == every.columns
    own = every.filter(eval_id="1", configuration="with_skill")
    assert made.selection.sort(KEYS).equals(own.sort(KEYS))
    assert "6 runs: eval ‘login’, with_skill" in shown(made)
    buttons = find(tree(made), tag="button", aria_expanded="false")
    acts = [tuple(one[1]["on"]["click"]) for one in buttons]
    do(made, *acts[0])
    do(made, *acts[4])
    runs = find(tree(made), tag="section", cls="sen-run")
    assert ["run 2 · iteration-2" in text(runs[0]), "run 1" in text(runs[1])] == [True, True]
    do(made, *acts[3])  # another one of iteration-2 takes its place
    do(made, *acts[0])  # and the first is closed
    (run,) = find(tree(made), tag="section", cls="sen-run")
    assert "run 1 · iteration-2" in text(run)


def test_a_dimension_shows_scores_with_their_evidence():
    path = ROOT / "data" / "tdd-workspace"
    made = panel(path)
    do(made, "see", "tab", "dimensions")
    do(made, "pick", "dimension", "with_skill", "isolation")
    scores = sen.load(path).rubric_scores.filter(configuration="with_skill", dimension="isolation")
    assert made.selection.height == scores.select("eval_id", *KEYS).unique().height
    words = shown(made)
    evidence = scores.filter(eval_name="lend-a-book", run_number=1)["evidence"]
    assert [one for one in evidence if one not in words] == []


def test_expectations_that_flipped_and_the_evidence_of_both_iterations(path):
    more = {"text": "later", "passed": True, "evidence": "e"}
    run = "iteration-2/eval-2-logout/with_skill/run-1/grading.json"
    lay(path, {run: {"expectations": [more]}})
    made = panel(sen.load(path, backend="pandas"))
    do(made, "see", "tab", "checks")
    rows = table(made, CHECKS)
    assert rows[0][0] == "check 1judged · login"  # what fell furthest
    assert [row[2] for row in rows if row[0].startswith("later")] == ["unknown"]  # of one alone
    do(made, "see", "kind", "newly failing")
    ((about, counts, turn, why),) = table(made, CHECKS)
    assert (about[:7], counts, turn) == ("check 1", "1/33/3", "newly failing")
    assert "1 of 3 runs of iteration-2 and 3 of 3 runs of iteration-1" in why
    assert why.startswith("p = ")
    do(made, "pick", "check", "with_skill", "judged", "check 1", None, "1")
    words = shown(made)
    for iteration in LATEST:
        for number in (1, 2, 3):
            assert f"{iteration} with_skill {number}: check 1" in words
    assert isinstance(made.selection, pd.DataFrame)  # of the kind of the workspace
    assert len(made.selection) == 6


def test_lines_of_the_skill_with_their_numbers_and_signs(path):
    made = panel(path)
    do(made, "see", "tab", "skill")

    def lines():
        (found,) = find(tree(made), tag="div", aria_label="Lines of SKILL.md")
        return [[cell.replace("\xa0", " ") for cell in row] for row in rows_in(found)], found

    old, new = "Write at most twenty words an entry.", "Write at most sixteen words an entry."
    rows, found = lines()
    assert ["8", "", f"−removed: {old}"] in rows
    assert ["", "8", f"+added: {new}"] in rows
    assert ["4 unchanged lines"] in rows
    assert [text(one) for one in find(found, tag="del")] == ["twenty"]
    assert "name: notes" not in shown(made)
    gaps = find(tree(made), cls="sen-quiet")
    do(made, *next(o[1]["on"]["click"] for o in gaps if "show_lines" in o[1]["on"]["click"]))
    assert "name: notes" in shown(made)
    do(made, "lay_out", True)  # side by side
    assert ["8", f"−removed: {old}", "8", f"+added: {new}"] in lines()[0]

    do(made, "choose_version", "new", "iteration-1/skill-snapshot/with_skill")
    assert "The two versions are the same, file by file." in shown(made)
    do(made, "choose_version", "old", "")
    assert "No copy of the skill that with_skill had in iteration-1 was kept." in shown(made)


def test_where_no_skill_was_kept_it_says_how_copies_come_to_be(tmp_path):
    made = panel(workspace(tmp_path, skill=False))
    do(made, "see", "tab", "skill")
    assert "The skill's files were not kept in both" in shown(made)
    assert "iteration-N/skill-snapshot/<configuration>/" in shown(made)
    do(made, "choose_iterations", "without_skill")
    assert "without_skill offers no skill" in shown(made)


def test_iterations_as_they_come_and_go(path):
    for name in ("iteration-1", "iteration-2"):
        shutil.move(path / name, path.parent / name)
    made = sen.diff(path)
    assert (made.fault, made.selection.height) == (None, 0)
    assert "nothing to load" in shown(made)
    told = ("no two iterations", "iteration-2 against iteration-1")
    for name, words in zip(("iteration-1", "iteration-2"), told, strict=True):
        shutil.move(path.parent / name, path / name)
        tell_landed(path / name)
        assert words in shown(made)
    shutil.copytree(path / "iteration-1", path / "iteration-3")
    tell_landed(path)
    assert "iteration-3 against iteration-2" in shown(made)
    assert "iteration-3 against iteration-1" in shown(panel(path, "iteration-1", "iteration-3"))
    with pytest.raises(ValueError, match="no iteration `iteration-4`"):
        sen.diff(path, "iteration-4")
    do(made, "choose_configuration", "iteration-1")  # what was chosen stays while it is there
    shutil.rmtree(path / "iteration-2")
    tell_landed(path)
    assert "iteration-1 against iteration-3" in shown(made)


def test_a_workspace_made_of_tables_alone():
    ws = sen.load(ROOT / "data" / "tdd-workspace")
    tables = {name: ws.polars(name) for name in ("runs", "expectations", "rubric_scores")}
    made = panel(sen.Workspace.from_tables(tables))
    for tab in ("checks", "skill", "others"):
        do(made, "see", "tab", tab)
