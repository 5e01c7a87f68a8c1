"""What a side may be called, and what it is then."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.comparing.sides import sides_of
from skill_eval_nb.running.refused import Refused
from tests.improving.comparing.made import workspace

NEW, OLD = "with_skill", "without_skill"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    iterations = ("iteration-2", "iteration-10")
    return workspace(tmp_path_factory.mktemp("sides"), evals=1, runs=1, iterations=iterations)


@pytest.fixture(scope="module")
def ws(path):
    return sen.load(path)


def told(side):
    return side.configuration, set(side.iterations.values()), side.label, side.version


@pytest.mark.parametrize(
    ("a", "b", "first", "second"),
    [
        (
            NEW,
            OLD,
            (NEW, {"iteration-10"}, NEW, None),
            (OLD, {"iteration-10"}, OLD, None),
        ),
        (
            "iteration-2",
            "iteration-10",
            (NEW, {"iteration-2"}, "iteration-2", "iteration-2"),
            (NEW, {"iteration-10"}, "iteration-10", "iteration-10"),
        ),
        (
            ("iteration-2", OLD),
            "iteration-10/with_skill",
            (OLD, {"iteration-2"}, f"iteration-2 {OLD}", "iteration-2"),
            (NEW, {"iteration-10"}, f"iteration-10 {NEW}", "iteration-10"),
        ),
    ],
)
def test_names(ws, a, b, first, second) -> None:
    assert tuple(map(told, sides_of(ws, a, b))) == (first, second)


def test_the_latest_iteration_is_taken_and_that_is_said(ws) -> None:
    side, _ = sides_of(ws, NEW, OLD)
    (note,) = side.notes
    assert note == (
        "iteration-10 was taken, the latest of 2 iterations of ledger-keeper-workspace; "
        "for another name it before each side, as in iteration-2/with_skill"
    )


def test_the_latest_iteration_is_the_one_that_has_both_sides(tmp_path) -> None:
    path = workspace(tmp_path, evals=1, runs=1)
    workspace(tmp_path, evals=1, runs=1, iterations=("iteration-3",), sides=(NEW,))
    side, _ = sides_of(sen.load(path), NEW, OLD)
    assert set(side.iterations.values()) == {"iteration-2"}
    with pytest.raises(Refused, match="there is no configuration `without_skill`"):
        sides_of(sen.load(path), ("iteration-3", OLD), NEW)


def test_a_workspace_is_its_with_skill_side(ws, path) -> None:
    other = sen.load(path).select(iteration="iteration-2")
    one, two = sides_of(ws, OLD, other)
    assert told(two)[:2] == (NEW, {"iteration-2"})
    assert one.label != two.label
    assert told(sides_of(ws, OLD, path)[1])[:2] == (NEW, {"iteration-10"})
    assert told(sides_of(ws, OLD, str(path))[1])[:2] == (NEW, {"iteration-10"})


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


def test_a_side_that_could_be_several_has_to_be_named(tmp_path) -> None:
    sides = ("new-way", "other-way", "baseline")
    ws = sen.load(workspace(tmp_path, evals=1, runs=1, sides=sides))
    with pytest.raises(Refused, match="say which one is meant"):
        sides_of(ws, "iteration-1", "iteration-2")
    assert sides_of(ws, "new-way", "baseline")[0].configuration == "new-way"
