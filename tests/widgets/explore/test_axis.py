"""Axes: what is on them, and where."""

from __future__ import annotations

import math

import hypothesis.strategies as st
from hypothesis import assume, given

from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.widgets.ui.track import axis_of, of_figures

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


@given(METRICS, st.lists(SIZES, max_size=5), st.lists(SIZES, max_size=5))
def test_zero_and_every_estimate_are_on_the_axis_of_differences_and_far_ends_squeeze_none(
    name, estimates, ends
):
    if name == "pass_rate":
        estimates = [math.tanh(one) for one in estimates]
    whole = [{"estimate": one, "low": None, "high": None, "worth": None} for one in estimates]
    rows = whole + [{"estimate": 0.0, "low": one, "high": one, "worth": None} for one in ends]
    axis = axis_of(rows, metric(name))
    slack = 1e-8 * (axis.high - axis.low)
    assert axis.low <= 0 <= axis.high
    assert all(axis.low - slack <= one <= axis.high + slack for one in estimates)
    if estimates and any(estimates):
        assert axis.high - axis.low <= 8 * (max(0, *estimates) - min(0, *estimates))
