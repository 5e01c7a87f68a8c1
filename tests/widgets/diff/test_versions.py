"""Which two versions of the skill are compared."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.diff.skill import Pair, offers_none, skill_pair
from skill_eval_nb.widgets.explore.choice import suites, turned_workspace
from tests.corpus.build import lay
from tests.tables.made import made
from tests.widgets.diff.made import workspace

FIRST = "iteration-1/skill-snapshot/with_skill"
SECOND = "iteration-2/skill-snapshot/with_skill"


PAIR = Pair("iteration-1", "iteration-2")


def versions(ws, configuration="with_skill"):
    (suite,) = suites(turned_workspace(ws), turned=True)
    return skill_pair(ws, suite, PAIR, configuration, {})


def of(path, configuration="with_skill"):
    found = versions(sen.load(path), configuration)
    return list(found.every), [one and one.name for one in (found.old, found.new)]


def test_those_of_the_iterations(tmp_path):
    path = workspace(tmp_path)
    assert of(path) == ([FIRST, SECOND], [FIRST, SECOND])
    assert of(path, "without_skill")[1] == [None, None]


def test_in_a_folder_above_and_by_a_list_of_iterations(tmp_path):
    path = workspace(tmp_path)
    assert of(tmp_path)[1] == [FIRST, SECOND]
    assert of([path / "iteration-1", path / "iteration-2"])[1] == [FIRST, SECOND]


def test_the_skill_beside_the_workspace_can_be_chosen_and_is_of_no_iteration(tmp_path):
    path = workspace(tmp_path, skill=False)
    lay(tmp_path, {"notes/SKILL.md": "now"})
    assert of(path) == (["notes, as it is now"], [None, None])


def test_tables_alone_keep_no_skill():
    run = {"workspace": "w", "skill": "s", "configuration": "with_skill", "path": "nowhere"}
    run |= {"eval_id": "1", "eval_name": "e"}
    ws = made(runs=[run | {"iteration": f"iteration-{n}"} for n in (1, 2)])
    assert versions(ws).every == {}


@pytest.mark.parametrize(("name", "none"), [("baseline", True), ("old_skill", False), ("x", False)])
def test_sides_that_offer_no_skill(name, none):
    assert offers_none(name) is none
