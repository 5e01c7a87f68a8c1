"""Which sides are meant, and which runs are compared."""

from __future__ import annotations

import json
import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.pairs import pairs_of, sides_of
from skill_eval_nb.running.protocol import Refused
from tests.improving.made import NEW, OLD, ledgers

TWO, TEN = "iteration-2", "iteration-10"


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides")
    return sen.load(ledgers(folder, evals=1, runs=1, iterations=(TWO, TEN)))


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("with_skil", OLD, "did you mean `with_skill`"),
        (NEW, "iteration-3", "did you mean `iteration-2`"),
        (NEW, ("iteration-9", OLD), "there is no iteration `iteration-9`"),
        (NEW, ("iteration-2", "old_skill"), "there is no configuration `old_skill`"),
    ],
)
def test_what_is_no_side_is_refused_and_told(ws, a, b, said) -> None:
    with pytest.raises(Refused, match=said):
        sides_of(ws, a, b)


AT = "iteration-2/eval-{0}-ledger-{0}/{1}/run-{2}"


@pytest.fixture
def path(tmp_path):
    return ledgers(tmp_path, evals=2, runs=2)


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


def test_several_workspaces_are_each_compared_within_themselves(path, tmp_path) -> None:
    ledgers(tmp_path, evals=1, runs=1, name="second-workspace")
    pairs, left = pairs_of(*sides_of(sen.load(tmp_path), NEW, OLD))
    assert left == []
    assert all(one.a.stored.workspace == one.b.stored.workspace for one in pairs)
    assert len(pairs) == 5
    with pytest.raises(Refused, match="must be one alone"):
        pairs_of(*sides_of(sen.load(path), OLD, tmp_path))
