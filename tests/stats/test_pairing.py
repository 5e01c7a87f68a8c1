from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.documents.sides import likeness
from skill_eval_nb.stats.pairing import choose, side, sides
from skill_eval_nb.stats.values import runs_of
from tests.stats.made import CONFIGURATIONS, world


@pytest.mark.parametrize(
    ("configurations", "baseline"),
    [
        (["with_skill", "without_skill"], "without_skill"),
        (["with_skill", "old_skill"], "old_skill"),
        (["new_skill", "old_skill"], "old_skill"),
        (["with_skill", "baseline"], "baseline"),
        (["with_skill", "no_skill"], "no_skill"),
        (["with_skill", "no-skill"], "no-skill"),
        (["with_skill", "control"], "control"),
        (["with_skill", "Without Skill"], "Without Skill"),
        (["claude_with_skill", "claude_without_skill"], "claude_without_skill"),
        (["with_skill", "old_skill", "without_skill"], "without_skill"),
        (["without_skill", "without_skill (iter1)", "with_skill"], "without_skill"),
        (["with_skill"], None),
        (["with_skill", "unstated"], None),
        (["with_skill (iter4)", "with_skill (iter5)"], None),
        (["with_skill", "golden", "bold"], None),
        (["a_without_skill", "b_without_skill", "with_skill"], None),
        ([], None),
    ],
)
def test_the_baseline_is_told_by_its_name_in_any_order(
    configurations: list[str], baseline: str | None
) -> None:
    answers = {choose(order) for order in permutations(configurations)}
    assert len(answers) == 1
    chosen, why = answers.pop()
    assert chosen == baseline
    assert bool(why) == (baseline is None)


@given(st.lists(st.text() | st.sampled_from(CONFIGURATIONS), unique=True))
def test_sides_before_baselines_whatever_their_names(names: list[str]) -> None:
    likely = [likeness(name) is not None for name in sorted(names, key=side)]
    assert likely == sorted(likely)


def test_groups_choose_for_themselves() -> None:
    runs = runs_of(
        world(
            {"iteration": iteration, "configuration": name}
            for iteration, names in {
                "iteration-1": ("with_skill", "without_skill"),
                "iteration-2": ("with_skill", "old_skill"),
            }.items()
            for name in names
        )
    )
    with pytest.raises(ValueError, match=r"Did you mean `old_skill`\? There are: old_skill, with"):
        sides(runs, "old_skil")
    found = sides(runs).sort("iteration").select("iteration", "baseline").rows()
    assert found == [("iteration-1", "without_skill"), ("iteration-2", "old_skill")]
