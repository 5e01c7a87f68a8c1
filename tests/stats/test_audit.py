"""Stated figures are recomputed, and a wrong one has its cause."""

from __future__ import annotations

import math
from statistics import fmean, pstdev, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.stats import audit, summarize
from skill_eval_nb.stats.audit import rounding_of
from tests.stats.made import Row, examples, pair, plain, run_rows, runs_table, stating, world


def told(runs: list[Row], *stated: Row, scores: list[Row] = ()) -> list[Row]:
    return plain(audit(world(runs, scores=scores, stated=stated)))


@examples
@given(run_rows(), st.integers(0, 9), st.sampled_from([0.02, -0.3, 5.0]))
def test_a_correct_benchmark_agrees_throughout_and_what_is_off_is_named(runs, places, by) -> None:
    for off in (0.0, by):
        stated = [
            stating(f"{row[name] + off:+.{9 if off else places}f}", side, row["metric"], name)
            | {"iteration": row["iteration"]}
            for row in plain(summarize(runs_table(runs)))
            for side in [row["configuration"]]
            for name in ("mean", "stddev", "min", "max", "n")[: 1 if off else 5]
            if row[name] is not None
        ]
        found = told(runs, *stated)
        assert [row["agrees"] for row in found] == [not off] * len(stated)
        assert all(row["cause"] and abs(row["difference"] - by) < 1e-5 for row in found if off)


# ── printed ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("printed", "value", "half"),
    [
        ("+0.50", 0.5, 0.005),
        ("−45.6", -45.6, 0.05),
        ("1,700", 1700, 0.5),
        ("0,25", 0.25, 0.005),
        ("+38pp", 0.38, 0.005),
        ("78.3", 0.783, 0.0005),
        ("53821", 53.821, 0.0005),
        ("1.2k", 1200, 50),
        ("1e-05", 1e-05, 0.5e-5),
        ("-0.5s (3.9% faster)", -0.5, 0.05),
        ("3 evals fail to load; the delta is +0.382", 0.382, 0.0005),
        ("two thirds", 2 / 3, 0),
        ("beyond 1e999999999", 5, math.inf),
    ],
)
def test_half_a_unit_of_the_last_place(printed: str, value: float, half: float) -> None:
    assert rounding_of(printed, value).half == pytest.approx(half, rel=1e-12)


# ── causes ───────────────────────────────────────────────────────────────────────────────────────


# eval, configuration, (passed, failed), tokens, output_chars: runs in their order.
DATA = [
    ("1", "with_skill", (1, 0), 3000, 9100),
    ("1", "with_skill", (9, 1), None, 9300),
    ("1", "with_skill", (8, 1), 3500, 8200),
    ("2", "with_skill", (3, 4), 4100, 9900),
    ("2", "with_skill", (5, 6), 4203, 7300),
    ("3", "with_skill", (1, 12), 5107, 6100),
    ("1", "without_skill", (0, 3), 2050, 5100),
    ("1", "without_skill", (1, 7), 1803, 4300),
    ("2", "without_skill", (2, 5), None, 4707),
    ("3", "without_skill", (5, 2), 2111, 5003),
]
STATED_RUNS = [
    {"eval_id": eval_id, "configuration": name, "tokens": tokens, "output_chars": chars}
    | {"passed": passed, "failed": failed, "pass_rate": passed / (passed + failed)}
    for eval_id, name, (passed, failed), tokens, chars in DATA
]
WITH = [run for run in STATED_RUNS if run["configuration"] == "with_skill"]
WITHOUT = [run for run in STATED_RUNS if run["configuration"] == "without_skill"]


def _of(runs: list[Row], column: str) -> list[float]:
    return [run[column] for run in runs if run[column] is not None]


RATES, BASE = _of(WITH, "pass_rate"), _of(WITHOUT, "pass_rate")
TOKENS = [run["tokens"] or 0 for run in WITH]
EVALS = [fmean(RATES[:3]), fmean(RATES[3:5]), RATES[5]]
PASSED = sum(_of(WITH, "passed")) / sum([*_of(WITH, "passed"), *_of(WITH, "failed")])
MIXED = [run["tokens"] or run["output_chars"] for run in WITH]
MIXED_BASE = [run["tokens"] or run["output_chars"] for run in WITHOUT]


DELTA = fmean(RATES) - fmean(BASE)
POPULATION, ZERO = "population standard deviation", "missing run counted as 0"
CHARACTERS, PER_EVAL = "characters counted as tokens", "per-eval mean"
ROUNDED, FEWER = "runs rounded before averaging", "another number of runs"


def rounded(rates: list[float]) -> list[float]:
    return [round(rate, 2) for rate in rates]


@pytest.mark.parametrize(
    ("metric", "statistic", "figure", "cause"),
    [
        ("pass_rate", "stddev", pstdev(RATES), POPULATION),
        ("tokens", "stddev", stdev(_of(WITH, "output_chars")), CHARACTERS),
        ("tokens", "min", 0, ZERO),
        ("tokens", "n", 6, ZERO),
        ("tokens", "stddev", pstdev(TOKENS), f"{ZERO}, {POPULATION}"),
        ("pass_rate", "mean", fmean(EVALS), PER_EVAL),
        ("pass_rate", "mean", PASSED, "pooled over expectations"),
        ("pass_rate", "mean", fmean([RATES[0], RATES[3], RATES[5]]), FEWER),
        ("pass_rate", "n", 17, FEWER),
        ("pass_rate", "mean", fmean(rounded(RATES)), ROUNDED),
        ("tokens", "mean", 4000, "rounded to fewer digits"),
        ("pass_rate", "mean", 0.123456, "unknown"),
        ("pass_rate", "delta", -DELTA, "sign of the delta reversed"),
        ("tokens", "delta", fmean(MIXED) - fmean(MIXED_BASE), CHARACTERS),
        ("tokens", "delta", fmean(TOKENS) - sum(_of(WITHOUT, "tokens")) / len(WITHOUT), ZERO),
        ("pass_rate", "delta", 0.0, "missing summary read as 0"),
    ],
)
def test_a_wrong_figure_has_a_cause(metric: str, statistic: str, figure: float, cause: str) -> None:
    of = ("delta", metric, "value") if statistic == "delta" else ("with_skill", metric, statistic)
    sign, places = "+" * (statistic == "delta"), 0 if isinstance(figure, int) else 6
    (row,) = told(STATED_RUNS, stating(f"{figure:{sign}.{places}f}", *of))
    assert (row["agrees"], row["cause"]) == (False, cause)
    assert row["difference"] == pytest.approx(row["stated"] - row["recomputed"])


EACH = "runs_per_configuration"
ONE_SIDE = [{"eval_id": at, "pass_rate": rate} for at, rate in (("1", 1.0), ("2", 0.0))]
OF_OTHERS: dict[str, tuple[list[Row], list[Row], list[tuple[float | None, str | None]]]] = {
    "a delta that follows the stated means": (
        STATED_RUNS,
        [
            stating("0.900000", "with_skill", "pass_rate", "mean"),
            stating("0.200000", "without_skill", "pass_rate", "mean"),
            stating("0.700000", "delta", "pass_rate", "value"),
        ],
        [*[(0.1, "unknown")] * 2, (0.1, "difference of the stated means")],
    ),
    **{
        f"{characters} characters and no tokens": (
            [{**run, "tokens": None, "output_chars": characters} for run in STATED_RUNS],
            [
                stating(str(characters or 0), "with_skill", "tokens", "mean"),
                stating("0", "delta", "tokens", "value"),
            ],
            [(None, cause)] * 2,
        )
        for characters, cause in ((None, ZERO), (4200, CHARACTERS))
    },
    "no baseline, and runs that were not made": (
        ONE_SIDE,
        [
            stating("5", "with_skill", EACH, "value"),
            stating("+0.50", "delta", "pass_rate", "value"),
            stating("+70", "delta", "tokens", "value"),
        ],
        [(1, FEWER), (None, "no run of a baseline"), (None, "no run of a baseline")],
    ),
    "a 0 beside what the runs have": (
        [row | {"tokens": 900} for row in ONE_SIDE],
        [stating("0", "with_skill", "tokens", "mean")],
        [(900, "not read, counted as 0: the runs have it")],
    ),
    **{
        f"the sides that fit {printed}": (
            [*pair([1.0, 0.5], [0.25]), {"configuration": "with_skill_2", "pass_rate": 0.875}],
            [stating(printed, "delta", "pass_rate", "value")],
            [(found, None)],
        )
        for printed, found in (("+0.50", 0.5), ("+0.625", 0.625))
    },
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_what_several_figures_or_runs_say_of_one(name: str) -> None:
    runs, stated, expected = OF_OTHERS[name]
    for row, (recomputed, cause) in zip(told(runs, *stated), expected, strict=True):
        assert row["cause"] == cause
        if name.startswith(("no", "a 0", "the sides")):
            assert row["recomputed"] == recomputed
