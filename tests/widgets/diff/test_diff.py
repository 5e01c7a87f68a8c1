"""The widget, without a browser: what is chosen, what is shown, what is selected."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

import skill_eval_nb as sen
from skill_eval_nb.stats.overview import overview
from skill_eval_nb.widgets.diff import Diff
from skill_eval_nb.widgets.ui import Node, find, text
from skill_eval_nb.widgets.ui.source import landed
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.widgets.diff.made import do, files, panel, workspace

CHECK_1 = ("check", "with_skill", "judged", "check 1", None, "1")
CHECKS = "Passed of those scored; a click shows the runs with their evidence"


@pytest.fixture
def path(tmp_path):
    """The folder of the made workspace."""
    return workspace(tmp_path)


def tree(made: Diff) -> list[Node]:
    """What is to be seen, once all is counted."""
    assert made.settle()
    return list(made._tree)


def shown(made: Diff) -> str:
    return text(tree(made)).replace("\xa0", " ")


def table(made: Diff, caption: str) -> list[list[str]]:
    """The rows of the table with this caption, as texts of their cells."""
    (found,) = (
        one for one in find(tree(made), tag="table") if text(find(one, tag="caption")) == caption
    )
    (body,) = find(found, tag="tbody")
    return [[text(cell) for cell in row[2]] for row in body[2]]


def table_of(made: Diff, title: str) -> list[list[str]]:
    """The rows below this title, as texts of their cells."""
    (found,) = (one for one in find(tree(made), tag="section") if text(one[2][0]) == title)
    (body,) = find(found, tag="tbody")
    return [[text(cell) for cell in row[2]] for row in body[2]]


class TestTheHead:
    def test_it_says_what_came_of_it(self, path):
        words = shown(panel(path))
        assert "with_skill · iteration-2 against iteration-1 · 2 evals, 8 runs" in words
        stated = sen.stats.deltas(sen.load(path), versus=("iteration-2", "iteration-1"))
        assert f"Pass rate: {stated['reason'][0]}" in words
        assert "The skill: 1 file differs, +2 −1 lines" in words
        assert "1 expectation newly failing, 1 newly passing" in words
        assert "Evals, expectations and models are the same" in words

    def test_tabs_say_how_much_there_is(self, path):
        words = [text(tab) for tab in find(panel(path).view(), role="tab")]
        assert words == [
            "Evals", "Dimensions", "Expectations (2 flipped)",
            "Skill files (1)", "What else differs (0)",
        ]  # fmt: skip

    def test_the_other_way_round(self, path):
        made = panel(path)
        before = sen.stats.deltas(sen.load(path), versus=("iteration-1", "iteration-2"))
        (swap,) = find(tree(made), aria_label="Swap the two iterations")
        do(made, *swap[1]["on"]["click"])
        assert "iteration-1 against iteration-2" in shown(made)
        assert before["reason"][0] in shown(made)
        assert "The skill: 1 file differs, +1 −2 lines" in shown(made)
        do(made, "choose_configuration", "iteration-2")  # there already: they change places
        assert "iteration-2 against iteration-1" in shown(made)

    def test_another_metric_and_configuration(self, path):
        made = panel(path)
        do(made, "choose_metric", "time_seconds")
        do(made, "choose_iterations", "without_skill")
        assert "without_skill · iteration-2 against iteration-1" in shown(made)
        (stated,) = (
            row["reason"]
            for row in overview(sen.load(path), versus=("iteration-2", "iteration-1"))
            if (row["metric"], row["scope"]) == ("time_seconds", "suite")
            and row["configuration"] == "without_skill"
        )
        assert f"Time: {stated}" in shown(made)

    def test_what_cannot_be_chosen_is_said_and_changes_nothing(self, path):
        made = panel(path)
        before = shown(made)
        for act in (
            ("choose_configuration", "iteration-9"),
            ("see", "tab", "problems"),
            ("open_run", "w", "s", "iteration-1"),
        ):
            made.do(*act)
            assert made.fault
            made.do("dismiss")
        assert shown(made) == before

    def test_what_the_skill_changed_in_either_iteration(self, path):
        stated = sen.stats.deltas(sen.load(path))
        rows = table(panel(path), "with_skill minus without_skill: difference in pass rate (pp)")
        firsts = [row for row in rows if row[0].startswith("iteration-")]
        assert [row[0].splitlines()[0] for row in firsts] == ["iteration-1", "iteration-2"]
        for row, estimate in zip(firsts, stated["estimate"], strict=True):
            assert row[2].startswith(f"{100 * estimate:+.3g}\xa0pp")


class TestVerdicts:
    def test_all_evals_and_each_of_them(self, path):
        made = panel(path)
        rows = table(made, "iteration-2 minus iteration-1: difference in pass rate (pp)")
        assert [row[0].splitlines()[0][:10] for row in rows] == ["with_skill", "tasks like"]
        do(made, "choose_iterations", "with_skill", "without_skill")
        rows = table(made, "iteration-2 minus iteration-1: difference in pass rate (pp)")
        assert len(rows) == 4
        do(made, "choose_iterations", "with_skill")
        rows = table(made, "Every run’s pass rate, eval by eval")
        assert [row[0] for row in rows] == ["login", "logout"]
        assert ["77.8%" in rows[0][2], "55.6%" in rows[0][2]] == [True, True]
        do(made, "see", "order", "smallest")
        rows = table(made, "Every run’s pass rate, eval by eval")
        assert [row[0] for row in rows] == ["logout", "login"]

    def test_a_click_on_an_eval_shows_its_runs_and_selects_them(self, path):
        made = panel(path)
        every = sen.load(path).runs
        assert made.selection.height == every.filter(configuration="with_skill").height
        do(made, "pick", "eval", "with_skill", "1", "login")
        rows = made.selection
        assert rows.columns == every.columns
        assert set(rows.select("eval_id", "configuration").iter_rows()) == {("1", "with_skill")}
        assert rows["iteration"].to_list() == ["iteration-1"] * 3 + ["iteration-2"] * 3
        assert "6 runs: eval ‘login’, with_skill" in shown(made)

    def test_a_dimension_shows_scores_with_their_evidence(self):
        path = ROOT / "data" / "tdd-workspace"
        made = panel(path)
        do(made, "see", "tab", "dimensions")
        do(made, "pick", "dimension", "with_skill", "isolation")
        scores = sen.load(path).rubric_scores.filter(
            configuration="with_skill", dimension="isolation"
        )
        runs = scores.select("iteration", "eval_id", "run_number").unique()
        assert made.selection.height == runs.height
        words = shown(made)
        for row in scores.filter(eval_name="lend-a-book", run_number=1).to_dicts():
            assert row["evidence"] in words

    def test_the_selection_is_a_table_of_the_kind_of_the_workspace(self, path):
        made = panel(sen.load(path, backend="pandas"))
        do(made, "pick", *CHECK_1)
        assert isinstance(made.selection, pd.DataFrame)
        assert len(made.selection) == 6


class TestExpectations:
    def test_those_that_flipped_alone(self, path):
        made = panel(path)
        do(made, "see", "tab", "checks")
        rows = table(made, CHECKS)
        assert rows[0][0] == "check 1judged · login"  # what fell furthest
        do(made, "see", "kind", "newly failing")
        ((about, counts, turn, why),) = table(made, CHECKS)
        assert about.startswith("check 1")
        assert counts == "1/33/3"
        assert turn == "newly failing"
        assert "1 of 3 runs of iteration-2 and 3 of 3 runs of iteration-1" in why
        assert why.startswith("p = ")

    def test_of_one_iteration_alone_there_is_no_turn(self, path):
        more = {"text": "later", "passed": True, "evidence": "e"}
        run = "iteration-2/eval-2-logout/with_skill/run-1/grading.json"
        lay(path, {run: {"expectations": [more]}})
        made = panel(path)
        do(made, "see", "tab", "checks")
        (row,) = (row for row in table(made, CHECKS) if row[0].startswith("later"))
        assert row[2] == "unknown"

    def test_a_click_shows_the_runs_of_both_iterations_with_their_evidence(self, path):
        made = panel(path)
        do(made, "see", "tab", "checks")
        do(made, "pick", *CHECK_1)
        words = shown(made)
        for number in (1, 2, 3):
            for iteration in ("iteration-1", "iteration-2"):
                assert f"{iteration} with_skill {number}: check 1" in words
        assert made.selection.height == 6

    def test_runs_are_opened_beside_each_other(self, path):
        made = panel(path)
        do(made, "pick", "eval", "with_skill", "1", "login")
        names = [
            tuple(one[1]["on"]["click"])
            for one in find(tree(made), tag="button", aria_expanded="false")
        ]
        do(made, *names[0])
        do(made, *names[4])
        runs = find(tree(made), tag="section", cls="sen-run")
        assert ["run 2 · iteration-2" in text(runs[0]), "run 1" in text(runs[1])] == [True, True]
        do(made, *names[3])  # another one of iteration-2 takes its place
        do(made, *names[0])  # and the first is closed
        (run,) = find(tree(made), tag="section", cls="sen-run")
        assert "run 1 · iteration-2" in text(run)


class TestSkillFiles:
    def test_lines_with_their_numbers_and_signs(self, path):
        made = panel(path)
        do(made, "see", "tab", "skill")
        (lines,) = find(find(tree(made), tag="div", aria_label="Lines of SKILL.md"), tag="tbody")
        rows = [[text(cell) for cell in row[2]] for row in lines[2]]
        assert ["8", "", "−removed: Write at most twenty words an entry."] in rows
        assert ["", "8", "+added: Write at most sixteen words an entry."] in rows
        assert [text(one) for one in find(lines, tag="del")] == ["twenty"]
        assert ["3 unchanged lines"] in rows or ["4 unchanged lines"] in [
            [cell.replace("\xa0", " ") for cell in row] for row in rows
        ]

    def test_unchanged_lines_are_shown_when_asked_for(self, path):
        made = panel(path)
        do(made, "see", "tab", "skill")
        gap = next(
            one
            for one in find(tree(made), cls="sen-quiet")
            if "show_lines" in one[1]["on"]["click"]
        )
        assert "name: notes" not in shown(made)
        do(made, *gap[1]["on"]["click"])
        assert "name: notes" in shown(made)

    def test_side_by_side(self, path):
        made = panel(path)
        do(made, "see", "tab", "skill")
        do(made, "lay_out", True)
        (lines,) = find(find(tree(made), tag="div", aria_label="Lines of SKILL.md"), tag="tbody")
        rows = [[text(cell) for cell in row[2]] for row in lines[2]]
        old, new = "Write at most twenty words an entry.", "Write at most sixteen words an entry."
        assert ["8", f"−removed: {old}", "8", f"+added: {new}"] in rows

    def test_any_two_versions_can_be_chosen(self, path):
        first = "iteration-1/skill-snapshot/with_skill"
        made = panel(path)
        do(made, "see", "tab", "skill")
        do(made, "choose_version", "new", first)
        assert "The two versions are the same, file by file." in shown(made)
        do(made, "choose_version", "old", "")
        assert "No copy of the skill that with_skill had in iteration-1 was kept." in shown(made)

    def test_where_none_was_kept_it_says_how_they_come_to_be(self, tmp_path):
        made = panel(workspace(tmp_path, skill=False))
        do(made, "see", "tab", "skill")
        words = shown(made)
        assert "The skill's files were not kept in both" in words
        assert "had in iteration-1 and iteration-2 was kept" in words
        assert "iteration-N/skill-snapshot/<configuration>/" in words
        do(made, "choose_iterations", "without_skill")
        assert "without_skill offers no skill" in shown(made)


class TestWhatElseDiffers:
    def test_it_is_said_in_the_head_and_told_in_full(self, tmp_path):
        changed = {"eval_id": 2, "eval_name": "logout", "prompt": "Do the logout twice"}
        third = "iteration-2/eval-3-third/with_skill/run-1/grading.json"
        metadata = "iteration-2/eval-2-logout/eval_metadata.json"
        made = panel(workspace(tmp_path, {metadata: changed, third: graded("p")}))
        assert "2 other things differ beside the skill" in shown(made)
        do(made, "see", "tab", "others")
        words = shown(made)
        assert ["third", "–", "third"] in table_of(made, "Evals")
        assert "a delta compares unlike things" in words
        assert [text(one) for one in find(tree(made), tag="ins")][-1] == " twice"

    def test_nothing(self, path):
        made = panel(path)
        do(made, "see", "tab", "others")
        assert "Nothing else differs" in shown(made)


class TestWhatIsLookedAt:
    def test_two_iterations_that_were_asked_for(self, tmp_path):
        path = workspace(tmp_path)
        shutil.copytree(path / "iteration-1", path / "iteration-3")
        assert "iteration-3 against iteration-2" in shown(panel(path))
        assert "iteration-3 against iteration-1" in shown(panel(path, "iteration-1", "iteration-3"))
        with pytest.raises(ValueError, match="no iteration `iteration-4`"):
            sen.diff(path, "iteration-4")

    def test_several_skills(self, tmp_path):
        workspace(tmp_path)
        lay(tmp_path / "other-workspace", files())
        made = panel(tmp_path)
        (choice,) = (
            one for one in find(tree(made), tag="label") if text(one).startswith("Skill\n")
        )
        assert len(find(choice, tag="option")) == 2
        do(made, "choose_suite", "1")
        assert set(made.selection["workspace"]) == {"other-workspace"}

    @pytest.mark.parametrize("names", [["iteration-1"], []])
    def test_nothing_to_compare(self, names, tmp_path):
        path = workspace(tmp_path)
        for name in {"iteration-1", "iteration-2"} - set(names):
            shutil.rmtree(path / name)
        made = sen.diff(path)
        assert made.fault is None
        wanted = "no two iterations" if names else "nothing to load"
        assert wanted in shown(made)
        assert made.selection.height == 0

    def test_runs_that_land_are_shown(self, path):
        shutil.move(path / "iteration-2", path.parent / "later")
        made = sen.diff(path)
        assert "no two iterations" in shown(made)
        shutil.move(path.parent / "later", path / "iteration-2")
        landed(path / "iteration-2")
        made.settle()
        assert "iteration-2 against iteration-1" in shown(made)
        shutil.copytree(path / "iteration-1", path / "iteration-3")
        landed(path)
        assert "iteration-3 against iteration-2" in shown(made)

    def test_iterations_that_were_chosen_stay_chosen(self, path):
        made = panel(path)
        do(made, "choose_configuration", "iteration-1")
        shutil.copytree(path / "iteration-1", path / "iteration-3")
        landed(path)
        assert "iteration-1 against iteration-2" in shown(made)
        shutil.rmtree(path / "iteration-2")
        landed(path)
        assert "iteration-1 against iteration-3" in shown(made)


def test_a_workspace_made_of_tables_alone():
    ws = sen.load(ROOT / "data" / "tdd-workspace")
    tables = {name: ws.polars(name) for name in ("runs", "expectations", "rubric_scores")}
    made = panel(sen.Workspace.from_tables(tables))
    assert made.fault is None
    for tab in ("checks", "skill", "others"):
        do(made, "see", "tab", tab)
