"""Axes: what is on them, and where."""

from __future__ import annotations

import math

import hypothesis.strategies as st
from hypothesis import assume, given

from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.widgets.ui.track import Axis, axis_of, of_figures

SIZES = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False).filter(
    lambda size: size == 0 or abs(size) > 1e-9
)
METRICS = st.sampled_from(["pass_rate", "tokens", "time_seconds", "cost_usd", "rubric:clarity"])


@given(METRICS, SIZES, SIZES)
def test_all_figures_lie_on_their_axis_in_order(name, one, other):
    low, high = sorted((one, other))
    assume(high - low == 0 or high - low > 1e-6 * max(abs(low), abs(high)))
    axis = of_figures(metric(name), low, high)
    slack = 1e-8 * (axis.high - axis.low)  # less than anybody could see
    assert axis.low - slack <= low <= high <= axis.high + slack
    assert 0 <= axis.place(low) <= axis.place(high) <= 100
    assert list(axis.marks) == sorted(set(axis.marks))
    assert 2 <= len(axis.marks) <= 8
    assert (axis.marks[0], axis.marks[-1]) == (axis.low, axis.high)


def test_rates_and_scores_have_all_that_they_can_be():
    assert of_figures(metric("pass_rate"), 0.4, 0.6).marks == (0, 0.25, 0.5, 0.75, 1)
    assert of_figures(metric("rubric:clarity"), 3.0, 3.0).marks == (1, 2, 3, 4, 5)
    assert of_figures(metric("rubric:clarity"), 0.0, 9.0).high >= 9
    assert of_figures(metric("tokens"), None, None).holds(0)


def _rows(estimates, ends):
    whole = [{"estimate": one, "low": None, "high": None, "worth": None} for one in estimates]
    return whole + [{"estimate": 0.0, "low": one, "high": one, "worth": None} for one in ends]


@given(METRICS, st.lists(SIZES, max_size=5), st.lists(SIZES, max_size=5))
def test_zero_and_every_estimate_are_on_the_axis_of_differences(name, estimates, ends):
    meant = metric(name)
    if meant.unit == "rate":
        estimates = [math.tanh(one) for one in estimates]
    axis = axis_of(_rows(estimates, ends), meant)
    slack = 1e-8 * (axis.high - axis.low)
    assert axis.low <= 0 <= axis.high
    assert all(axis.low - slack <= one <= axis.high + slack for one in estimates)


def test_an_interval_that_goes_far_beyond_does_not_squeeze_the_others():
    axis = axis_of(_rows([100.0, 200.0], [-1e6, 1e6]), metric("tokens"))
    assert axis.low >= -150
    assert axis.high <= 400
    assert axis_of(_rows([0.9], [1.8]), metric("pass_rate")).high == 1


def test_what_lies_outside_is_at_the_end():
    assert [Axis(0, 10, ()).at(value) for value in (-1, 0, 5, 11)] == ["0%", "0%", "50%", "100%"]
