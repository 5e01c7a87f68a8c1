"""Figures part by part, the same as the statistics give of the whole; and the axes they are on."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import polars as pl
from hypothesis import assume, given
from polars.testing import assert_frame_equal

from skill_eval_nb import stats
from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.stats.overview import overview, overview_by_eval
from skill_eval_nb.widgets.explore import choice
from skill_eval_nb.widgets.explore.choice import Part, select_parts
from skill_eval_nb.widgets.ui.track import axis_of, of_figures
from tests.widgets.explore.made import bundled

WS = bundled()
PARTS = [
    Part("tdd-workspace", "testing", (f"iteration-{n}",), "with_skill", "without_skill", ())
    for n in (1, 2)
]


def check_equal(found, wanted):
    """That rows, part by part, say the same but for rounding."""
    for both in zip(found, wanted, strict=True):
        frames = (pl.DataFrame(rows, infer_schema_length=None, strict=False) for rows in both)
        assert_frame_equal(*frames, rel_tol=1e-9, abs_tol=1e-12)


def test_iterations_have_the_figures_of_the_statistics_each_alone_and_counted_together():
    counts = [
        (choice.count_headline, overview(WS, others=False)),
        (choice.count_others, overview(WS, others=True)),
        (choice.count_headline_by_eval, overview_by_eval(WS, others=False)),
        (choice.count_others_by_eval, overview_by_eval(WS, others=True)),
        (choice.count_sources, stats.variance(WS).to_dicts()),
        (choice.count_checks, stats.discrimination(WS).to_dicts()),
        (choice.count_means, stats.summarize(WS).to_dicts()),
        (choice.count_notes, stats.notes(WS).to_dicts()),
    ]
    for count, rows in counts:
        wanted = [[row for row in rows if row["iteration"] == one.iteration] for one in PARTS]
        alone = [count(select_parts(WS, [part]), [part], "")[0] for part in PARTS]
        together = count(select_parts(WS, PARTS), PARTS, "")
        check_equal(alone, wanted)
        check_equal(together, wanted)


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
