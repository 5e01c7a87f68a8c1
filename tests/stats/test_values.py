import math

import pytest

from skill_eval_nb.stats.values import METRICS, runs_of, scores_of, values_of
from tests.stats.made import plain, runs_table, scores_table, workspace

RUNS = [
    {"eval_id": "1", "tokens": 10, "pass_rate": math.nan},
    {"eval_id": "1", "tokens": None, "pass_rate": math.inf},
    {"eval_id": "2", "tokens": 30, "pass_rate": 0.5},
]
JUDGINGS = [
    {"eval_id": "1", "eval_name": "1", "configuration": "with_skill", "run_number": 1, "judging": n}
    | {"dimension": "clarity", "score": score}
    for n, score in enumerate([3, 4, None], start=1)
]


def test_metrics_are_the_number_columns_of_runs() -> None:
    assert {"pass_rate", "tokens", "cost_usd", "errors"} <= set(METRICS)
    assert not {"run_number", "status", "gate_passed", "eval_id"} & set(METRICS)


def test_what_is_no_finite_number_is_missing() -> None:
    assert runs_of(runs_table(RUNS))["pass_rate"].to_list() == [None, None, 0.5]


def test_a_metric_has_one_value_a_run() -> None:
    found = plain(values_of(workspace(RUNS), "tokens"))
    assert [(row["eval_id"], row["value"]) for row in found] == [("1", 10), ("1", None), ("2", 30)]


@pytest.mark.parametrize("name", ["clarity", "rubric:clarity"])
def test_a_score_is_the_mean_over_judgings_and_null_for_runs_not_judged(name: str) -> None:
    found = plain(values_of(workspace(RUNS, JUDGINGS), name))
    by_run = {(row["eval_id"], row["run_number"]): row["value"] for row in found}
    assert by_run == {("1", 1): 3.5, ("1", 2): None}


def test_a_table_of_scores_knows_its_runs() -> None:
    scores = scores_table(JUDGINGS)
    assert plain(scores_of(scores))[0]["value"] == 3.5
    assert runs_of(scores).height == 1
    assert plain(values_of(scores, "clarity"))[0]["value"] == 3.5


def test_a_column_hides_a_dimension_of_its_name_but_not_under_rubric() -> None:
    scores = [{**row, "dimension": "tokens"} for row in JUDGINGS]
    ws = workspace(RUNS, scores)
    assert plain(values_of(ws, "tokens"))[0]["value"] == 10
    assert {row["value"] for row in plain(values_of(ws, "rubric:tokens"))} == {3.5, None}


@pytest.mark.parametrize("name", ["clarty", "rubric:clarty"])
def test_an_unknown_metric_is_answered_with_those_that_exist(name: str) -> None:
    with pytest.raises(ValueError, match=r"no metric `.*clarty`\. Did you mean `rubric:clarity`"):
        values_of(workspace(RUNS, JUDGINGS), name)


def test_a_table_without_the_column_has_no_such_metric() -> None:
    table = runs_table(RUNS).select("eval_id", "configuration", "tokens")
    with pytest.raises(ValueError, match=r"There are: tokens\."):
        values_of(table, "pass_rate")


@pytest.mark.parametrize("data", [None, "a/path", {"runs": []}, 3])
def test_anything_else_is_a_type_error(data: object) -> None:
    with pytest.raises(TypeError):
        runs_of(data)
