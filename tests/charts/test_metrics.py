from __future__ import annotations

import re

import pytest

from skill_eval_nb.charts.metrics import UNITS, metric
from skill_eval_nb.stats.values import METRICS


@pytest.mark.parametrize("column", METRICS)
def test_every_metric_of_a_run_has_a_unit_that_can_be_written(column) -> None:
    known = metric(column)
    assert known.unit in UNITS
    assert "_" not in known.name
    assert known.figure(0.25)
    assert known.difference(-0.25)


@pytest.mark.parametrize("column", ["time_seconds", "tokens", "cost_usd", "errors"])
def test_less_is_better_for_what_is_paid(column) -> None:
    assert metric(column).less_is_better


@pytest.mark.parametrize("column", ["pass_rate", "rubric_weighted_mean", "rubric:Clarity"])
def test_more_is_better_for_quality(column) -> None:
    assert not metric(column).less_is_better
    assert metric(column).range in ((0, 1), (1, 5))


def test_a_rate_is_not_rounded_to_what_it_is_not() -> None:
    assert metric("pass_rate").figure(0.996) == "99.6%"
    assert metric("pass_rate").figure(1.0) == "100%"
    assert metric("pass_rate").difference(0.004).replace("\xa0", " ") == "+0.4 pp"


def test_a_dimension_is_named_as_the_file_names_it() -> None:
    assert metric("rubric:a_b").name == "score on ‘a_b’"
    assert metric("rubric:a_b").title == "Score on ‘a_b’"
    assert re.fullmatch(r"score on ‘a_b’ \(1–5\)", metric("a_b").axis)
