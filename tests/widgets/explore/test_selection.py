"""What a click selects: the same runs as a filter written by hand."""

from __future__ import annotations

import hypothesis.strategies as st
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings

from skill_eval_nb import load
from skill_eval_nb.stats.values import RUN
from skill_eval_nb.widgets.explore.choice import (
    Choice,
    runs_of,
    select_runs,
    settle_choice,
    suites_of,
)
from tests.charts.worlds import run_keys, workspace
from tests.widgets.explore.made import TDD, after, bundled, explorer

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
