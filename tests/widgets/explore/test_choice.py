"""What is looked at, from what was asked for to what can be met; and the runs behind a click."""

from __future__ import annotations

import hypothesis.strategies as st
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings

import skill_eval_nb as sen
from skill_eval_nb import load
from skill_eval_nb.stats.values import RUN
from skill_eval_nb.widgets.explore import explore
from skill_eval_nb.widgets.explore.choice import (
    Choice,
    SkillRuns,
    runs_of,
    select_runs,
    settle_choice,
    suites_of,
)
from tests.charts.worlds import run_keys, workspace
from tests.corpus.build import graded, lay
from tests.widgets.explore.made import TDD, after, bundled, explorer

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
ASKED = st.builds(
    Choice,
    iterations=st.lists(st.sampled_from(["i-1", "i-2", "gone"])).map(tuple),
    configuration=st.none() | NAMES,
    baseline=st.none() | NAMES,
    evals=st.lists(st.sampled_from(["1", "2", "gone"])).map(tuple),
    metric=st.sampled_from(["pass_rate", "clarity", "rubric:clarity", "cost_usd", "gone"]),
)


@given(SUITES, ASKED)
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


WS = bundled()
SUITE = suites_of(WS)[0]
EVALS = tuple(SUITE.evals)
CHECKS = WS.expectations.select("layer", "text").unique().rows()
CHOICES = st.builds(
    Choice,
    iterations=st.lists(st.sampled_from(list(SUITE.iterations)), unique=True).map(tuple),
    configuration=st.none() | st.sampled_from(SUITE.configurations),
    evals=st.lists(st.sampled_from(EVALS), unique=True).map(tuple),
    metric=st.sampled_from(["pass_rate", "tokens", "rubric:isolation"]),
).map(lambda choice: settle_choice(SUITE, choice))


def keys(runs):
    """Which runs they are; the same one twice counts twice."""
    return sorted(runs.select(RUN).rows())


def chosen(choice):
    """The runs that are looked at, by hand."""
    return WS.runs.filter(
        pl.col("iteration").is_in(list(choice.iterations))
        & pl.col("configuration").is_in(list(choice.sides))
        & (pl.lit(not choice.evals) | pl.col("eval_id").is_in(list(choice.evals)))
    )


@given(CHOICES, st.data())
@settings(max_examples=25)
def test_every_click_selects_what_a_filter_does(choice, data):
    every = chosen(choice)
    assert keys(runs_of(WS, choice, None)) == keys(every)
    iteration = data.draw(st.sampled_from(choice.iterations))
    own = every.filter(pl.col("iteration") == iteration)
    eval_id = data.draw(st.sampled_from(EVALS))
    name = data.draw(st.sampled_from(choice.sides))
    numbers = tuple(data.draw(st.lists(st.integers(1, 4), unique=True)))
    layer, text = data.draw(st.sampled_from(CHECKS))
    side = data.draw(st.none() | st.just(name))
    of_side = own if side is None else own.filter(pl.col("configuration") == side)
    verdicts = WS.expectations.filter((pl.col("layer") == layer) & (pl.col("text") == text))
    scores = WS.rubric_scores.filter(pl.col("dimension") == "isolation").drop_nulls("score")
    of_eval = own.filter(pl.col("eval_id") == eval_id)
    numbered = pl.lit(not numbers) | pl.col("run_number").is_in(list(numbers))
    for click, wanted in (
        (("iteration", iteration), own),
        (("eval", iteration, eval_id, "x"), of_eval),
        (
            ("runs", iteration, eval_id, "x", name, *numbers),
            of_eval.filter((pl.col("configuration") == name) & numbered),
        ),
        (("check", iteration, layer, text, side), of_side.join(verdicts, on=RUN, how="semi")),
        (("dimension", iteration, "isolation", side), of_side.join(scores, on=RUN, how="semi")),
    ):
        assert keys(runs_of(WS, choice, select_runs(*click))) == keys(wanted)


def test_an_expectation_with_two_texts_for_its_id_is_one():
    check = {"layer": "structural", "expectation_id": "S1", "passed": True}
    texts = ("a file is there", "the file is there", "something else")
    every = [
        run_keys(run_number=1),
        run_keys(run_number=2),
        run_keys(eval_id="1", eval_name="other"),
    ]
    checks = [run | check | {"text": text} for run, text in zip(every, texts, strict=True)]
    runs = [run | {"path": "x", "status": "graded"} for run in every]
    panel = explorer(workspace(runs=runs, expectations=checks))
    after(panel, "see", "tab", "checks")
    after(panel, "pick", "check", "iteration-1", "structural", "a file is there")
    assert panel.selection["run_number"].to_list() == [1, 2]
    assert panel.selection["eval_id"].to_list() == ["0", "0"]


@pytest.mark.parametrize("backend", ["polars", "pandas"])
def test_the_selection_is_in_the_backend_of_the_workspace(backend):
    panel = explorer(load(TDD, backend))
    frame = {"polars": pl.DataFrame, "pandas": pd.DataFrame}[backend]
    assert isinstance(panel.selection, frame)
    assert list(panel.selection.columns) == WS.runs.columns
    after(panel, "pick", "runs", "iteration-2", EVALS[0], SUITE.evals[EVALS[0]], "with_skill", 2)
    assert list(panel.selection["run_number"]) == [2]
    after(panel, "clear")
    assert len(panel.selection) == 36
