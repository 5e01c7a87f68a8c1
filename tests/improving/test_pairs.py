"""Which sides are meant, and which runs are compared."""

from __future__ import annotations

import json
import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.pairs import pairs_of, sides_of
from skill_eval_nb.running.protocol import Refused
from tests.improving.made import NEW, OLD, ledgers

TWO = "iteration-2"
AT = "iteration-2/eval-{0}-ledger-{0}/{1}/run-{2}"


@pytest.fixture
def path(tmp_path):
    return ledgers(tmp_path, evals=2, runs=2)


def test_what_is_no_side_is_refused_and_told(path) -> None:
    ws = sen.load(path)
    for a, b, said in (
        ("with_skil", OLD, "did you mean `with_skill`"),
        (NEW, "iteration-3", "did you mean `iteration-"),
        (NEW, ("iteration-9", OLD), "there is no iteration `iteration-9`"),
        (NEW, (TWO, "old_skill"), "there is no configuration `old_skill`"),
    ):
        with pytest.raises(Refused, match=said):
            sides_of(ws, a, b)


def test_what_cannot_be_compared_is_told_and_so_is_its_partner(path) -> None:
    shutil.rmtree(path / AT.format(1, NEW, 2) / "outputs")
    timing = path / AT.format(2, OLD, 1) / "timing.json"
    timing.write_text(json.dumps({"status": "errored", "reason": "it crashed"}))
    sides = sides_of(sen.load(path), NEW, OLD)
    pairs, left = pairs_of(*sides)
    assert [(one.a.stored.within, one.b.stored.within) for one in pairs] == [
        (AT.format(n, NEW, n), AT.format(n, OLD, n)) for n in (1, 2)
    ]
    assert dict(left) == {
        f"eval 1, {NEW}, run 2 of {TWO}": "it has no outputs",
        f"eval 1, {OLD}, run 2 of {TWO}": f"{NEW} has no such run of the same eval",
        f"eval 2, {OLD}, run 1 of {TWO}": "the run is errored (it crashed)",
        f"eval 2, {NEW}, run 1 of {TWO}": f"{OLD} has no such run of the same eval",
    }
    assert pairs_of(*sides, [2])[1] == [one for one in left if "eval 2" in one[0]]


def test_of_several_workspaces_one_has_to_be_chosen(path, tmp_path) -> None:
    ledgers(tmp_path, evals=1, runs=1, name="second-workspace")
    several = sen.load(tmp_path)
    with pytest.raises(Refused, match="a comparison is of one skill, and here are 2"):
        sides_of(several, NEW, OLD)
    with pytest.raises(Refused, match="a comparison is of one skill"):
        sides_of(sen.load(path), OLD, tmp_path)
    one = several.select(workspace="second-workspace")
    assert len(pairs_of(*sides_of(one, NEW, OLD))[0]) == 1
