"""What is looked at: from what was asked for to what can be met."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

import skill_eval_nb as sen
from skill_eval_nb.widgets.explore import explore
from skill_eval_nb.widgets.explore.choice import Choice, SkillRuns, settle_choice
from tests.corpus.build import graded, lay

NAMES = st.sampled_from(["with_skill", "without_skill", "old_skill", "red", "blue", "unstated"])
SIDES = st.sets(NAMES, min_size=1).map(lambda names: tuple(sorted(names)))
SUITES = st.builds(
    SkillRuns,
    workspace=st.just("w"),
    skill=st.just("s"),
    iterations=st.dictionaries(st.sampled_from(["i-1", "i-2", "i-10"]), SIDES, min_size=1),
    evals=st.dictionaries(st.sampled_from("123"), st.sampled_from(["a", "b"]), min_size=1),
    metrics=st.sampled_from([("pass_rate", "tokens"), ("tokens",), ()]),
    dimensions=st.sampled_from([(), ("clarity",)]),
    n_runs=st.just(3),
)
CHOICES = st.builds(
    Choice,
    iterations=st.lists(st.sampled_from(["i-1", "i-2", "gone"])).map(tuple),
    configuration=st.none() | NAMES,
    baseline=st.none() | NAMES,
    evals=st.lists(st.sampled_from(["1", "2", "gone"])).map(tuple),
    metric=st.sampled_from(["pass_rate", "clarity", "rubric:clarity", "cost_usd", "gone"]),
)


@given(SUITES, CHOICES)
def test_a_settled_choice_can_be_met_keeps_what_is_there_and_stays_as_it_is(suite, choice):
    found = settle_choice(suite, choice)
    there = {name for one in found.iterations for name in suite.iterations[one]}
    assert found.iterations
    assert found.sides
    assert set(found.sides) <= there
    assert len(set(found.sides)) == len(found.sides)
    assert found.baseline != "unstated" or len(there) == 1
    assert set(found.evals) < set(suite.evals)
    assert found.metric != "gone"
    assert settle_choice(suite, found) == found
    assert set(choice.iterations) & set(suite.iterations) in (set(), set(found.iterations))
    if choice.configuration in there:
        assert found.configuration == choice.configuration
    if choice.baseline in there - {choice.configuration, "unstated"}:
        assert found.baseline == choice.baseline


def test_what_compares_something_is_looked_at_first_whatever_the_order(tmp_path):
    """The first skill and the last iteration are not graded; the others are."""
    files = {"a/iteration-1/eval-1/with_skill/run-1/outputs/x.md": "x"}
    for at in (1, 2):
        for side, marks in (("with_skill", "pp"), ("without_skill", "pf")):
            files[f"b/iteration-{at}/eval-1/{side}/run-1/grading.json"] = graded(marks)
    files["b/iteration-3/eval-1/with_skill/run-1/outputs/x.md"] = "x"
    panel = explore(sen.load(lay(tmp_path, files)))
    assert (panel.choice.workspace, panel.choice.iterations) == ("b", ("iteration-2",))
