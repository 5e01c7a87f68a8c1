"""Stated figures are recomputed, and a wrong one has its cause."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from statistics import fmean, pstdev, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.stats import audit, summarize
from skill_eval_nb.stats.audit import rounding_of
from tests.stats.made import Row, examples, plain, run_rows, runs_table, workspace

RUNS = [
    {"configuration": name, "pass_rate": rate}
    for name, rate in [("with_skill", 1.0), ("with_skill", 0.5), ("without_skill", 0.25)]
]
STATED = [
    {"configuration": name, "metric": "pass_rate", "statistic": statistic, "printed": printed}
    for name, statistic, printed in [
        ("delta", "value", "+0.50"),
        ("without_skill", "mean", "0.25"),
        ("with_skill", "mean", "0.75"),
        ("with_skill", "stddev", "0.25"),
    ]
]


def _stating(runs: list[Row], places: int, *, off: float = 0.0) -> list[Row]:
    """What a benchmark.json states of these runs as text of so many places, means off by `off`."""
    return [
        {
            **{name: row[name] for name in ("workspace", "iteration", "configuration", "metric")},
            "statistic": statistic,
            "printed": f"{row[statistic] + off:+.{places}f}",
        }
        for row in plain(summarize(runs_table(runs)))
        for statistic in (("mean",) if off else ("mean", "stddev", "min", "max", "n"))
        if row[statistic] is not None
    ]


@examples
@given(run_rows(), st.integers(0, 9))
def test_a_correct_benchmark_agrees_throughout(runs: list[Row], places: int) -> None:
    stated = _stating(runs, places)
    found = plain(audit(workspace(runs, stated=stated)))
    assert len(found) == len(stated)
    assert [row for row in found if not row["agrees"]] == []


@examples
@given(run_rows(), st.sampled_from([0.02, -0.3, 5.0]))
def test_a_figure_that_is_off_is_found_and_named(runs: list[Row], by: float) -> None:
    stated = _stating(runs, 6, off=by)
    found = plain(audit(workspace(runs, stated=stated)))
    assert len(found) == len(stated)
    for row in found:
        assert not row["agrees"]
        assert row["cause"]
        assert abs(row["difference"] - by) < 1e-5


@pytest.mark.parametrize("other", ["old_skill", "a_new_skill", "with_skill_2"])
def test_a_delta_is_held_against_the_sides_that_it_fits(other: str) -> None:
    runs = [*RUNS, {"configuration": other, "pass_rate": 0.875}]
    for printed in ("+0.50", "+0.625"):
        (row,) = plain(audit(workspace(runs, stated=[{**STATED[0], "printed": printed}])))
        assert (row["recomputed"], row["agrees"]) == (float(printed), True)


def test_a_run_without_a_score_is_told_from_one_of_0() -> None:
    scores = [
        {"configuration": "with_skill", "run_number": 1, "eval_name": "1"}
        | {"dimension": "clarity", "score": 5.0}
    ]
    stated = [{**STATED[2], "metric": "rubric:clarity", "printed": "2.5"}]
    runs = [*RUNS[:1], {**RUNS[1], "eval_id": "2"}]
    (row,) = plain(audit(workspace(runs, scores, stated)))
    assert (row["recomputed"], row["cause"]) == (5.0, "missing run counted as 0")


# ── printed ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("printed", "value", "half"),
    [
        ("0.85", 0.85, 0.005),
        ("+0.50", 0.5, 0.005),
        ("-45.6", -45.6, 0.05),
        ("−45.6", -45.6, 0.05),
        ("+1700", 1700, 0.5),
        ("1,700", 1700, 0.5),
        ("0,25", 0.25, 0.005),
        ("+38pp", 0.38, 0.005),
        ("+33.3%", 0.333, 0.0005),
        ("0%", 0, 0.005),
        ("78.3", 0.783, 0.0005),
        ("53821", 53.821, 0.0005),
        ("1.2k", 1200, 50),
        ("1e-05", 1e-05, 0.5e-5),
        ("-0.5s (3.9% faster)", -0.5, 0.05),
        ("3 evals fail to load; the delta is +0.382", 0.382, 0.0005),
        ("2/3", 2 / 3, 0),
        ("two thirds", 2 / 3, 0),
    ],
)
def test_half_a_unit_of_the_last_place(printed: str, value: float, half: float) -> None:
    assert rounding_of(printed, value).half == pytest.approx(half, rel=1e-12)


@given(st.floats(0, 1, allow_subnormal=False), st.integers(0, 3))
def test_a_printed_percentage_does_too(rate: float, places: int) -> None:
    printed = f"{100 * rate:.{places}f} %"
    value = float(printed[:-2]) / 100
    assert abs(value - rate) <= rounding_of(printed, value).half * (1 + 1e-6)


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
    | {"overall_efficiency": (1 + passed) / (2 + passed + failed)}
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
EFFICIENCY = _of(WITH, "overall_efficiency")


def _row(configuration: str, metric: str, statistic: str, figure: float, places: int = 6) -> Row:
    sign = "+" if configuration == "delta" else ""
    printed = f"{figure:{sign}.{places}f}"
    return {"configuration": configuration, "metric": metric, "statistic": statistic} | {
        "printed": printed
    }


def _audit(*stated: Row, runs: list[Row] = STATED_RUNS) -> list[Row]:
    return plain(audit(workspace(runs, stated=stated)))


DELTA = fmean(RATES) - fmean(BASE)
POPULATION, ZERO = "population standard deviation", "missing run counted as 0"
CHARACTERS, PER_EVAL = "characters counted as tokens", "per-eval mean"
ROUNDED, FEWER = "runs rounded before averaging", "another number of runs"


def _rounded(rates: list[float]) -> list[float]:
    return [round(rate, 2) for rate in rates]


@pytest.mark.parametrize(
    ("metric", "statistic", "figure", "cause"),
    [
        ("pass_rate", "stddev", pstdev(RATES), POPULATION),
        ("consistency", "value", 1 - pstdev(EFFICIENCY) / fmean(EFFICIENCY), POPULATION),
        ("tokens", "mean", fmean(_of(WITH, "output_chars")), CHARACTERS),
        ("tokens", "stddev", stdev(_of(WITH, "output_chars")), CHARACTERS),
        ("tokens", "mean", fmean(MIXED), CHARACTERS),
        ("tokens", "max", max(MIXED), CHARACTERS),
        ("tokens", "mean", fmean(TOKENS), ZERO),
        ("tokens", "min", 0, ZERO),
        ("tokens", "n", 6, ZERO),
        ("tokens", "stddev", pstdev(TOKENS), f"{ZERO}, {POPULATION}"),
        ("pass_rate", "mean", fmean(EVALS), PER_EVAL),
        ("pass_rate", "stddev", stdev(EVALS), PER_EVAL),
        ("pass_rate", "stddev", pstdev(EVALS), f"{PER_EVAL}, {POPULATION}"),
        ("pass_rate", "mean", PASSED, "pooled over expectations"),
        ("pass_rate", "mean", fmean([RATES[0], RATES[3], RATES[5]]), FEWER),
        ("pass_rate", "mean", fmean([*RATES[:2], *RATES[3:]]), FEWER),
        ("pass_rate", "n", 17, FEWER),
        ("pass_rate", "mean", fmean(_rounded(RATES)), ROUNDED),
        ("pass_rate", "stddev", pstdev(_rounded(RATES)), f"{ROUNDED}, {POPULATION}"),
        ("tokens", "mean", 4000, "rounded to fewer digits"),
        ("pass_rate", "mean", 0.123456, "unknown"),
        ("pass_rate", "delta", -DELTA, "sign of the delta turned"),
        ("pass_rate", "delta", DELTA / fmean(BASE), "relative change, not a difference"),
        ("tokens", "delta", fmean(MIXED) - fmean(MIXED_BASE), CHARACTERS),
        ("tokens", "delta", fmean(TOKENS) - sum(_of(WITHOUT, "tokens")) / len(WITHOUT), ZERO),
        ("pass_rate", "delta", 0.0, "missing summary read as 0"),
        ("pass_rate", "delta", fmean(_rounded(RATES)) - fmean(_rounded(BASE)), ROUNDED),
        ("pass_rate", "delta", 0.123456, "unknown"),
    ],
)
def test_a_wrong_figure_has_a_cause(metric: str, statistic: str, figure: float, cause: str) -> None:
    of = ("delta", metric, "value") if statistic == "delta" else ("with_skill", metric, statistic)
    (row,) = _audit(_row(*of, figure, 0 if isinstance(figure, int) else 6))
    assert (row["agrees"], row["cause"]) == (False, cause)
    assert row["difference"] == pytest.approx(row["stated"] - row["recomputed"])


def test_a_delta_may_only_follow_the_stated_means() -> None:
    stated = (("with_skill", "mean", 0.9), ("without_skill", "mean", 0.2), ("delta", "value", 0.7))
    rows = _audit(*(_row(side, "pass_rate", name, figure) for side, name, figure in stated))
    assert [row["cause"] for row in rows] == [*["unknown"] * 2, "difference of the stated means"]


@pytest.mark.parametrize(("characters", "cause"), [(None, ZERO), (4200, CHARACTERS)])
def test_characters_are_the_cause_only_where_runs_have_some(
    characters: int | None, cause: str
) -> None:
    runs = [{**run, "tokens": None, "output_chars": characters} for run in STATED_RUNS]
    stated = _row("with_skill", "tokens", "mean", characters or 0, 0)
    rows = _audit(stated, _row("delta", "tokens", "value", 0, 0), runs=runs)
    assert [row["cause"] for row in rows] == [cause, cause]


def _written(tmp_path: Path, sides: Row, benchmark: Row, timing: Row) -> dict[Any, Any]:
    """What is wrong in a benchmark beside runs: side, metric to stated, recomputed, cause."""
    for (side, evals), number in product(sides.items(), (1, 2)):
        for eval_, passed in enumerate(evals, 1):
            folder = tmp_path / f"iteration-1/eval-{eval_}-e/{side}/run-{number}"
            folder.mkdir(parents=True)
            verdicts = {"expectations": [{"text": "it is there", "passed": passed}]}
            (folder / "grading.json").write_text(json.dumps(verdicts), "utf-8")
            (folder / "timing.json").write_text(json.dumps(timing), "utf-8")
    (tmp_path / "iteration-1/benchmark.json").write_text(json.dumps(benchmark), "utf-8")
    rows = plain(audit(sen.load(tmp_path)))
    return {
        (row["configuration"], row["metric"]): (row["stated"], row["recomputed"], row["cause"])
        for row in rows
        if not row["agrees"]
    }


def test_a_delta_without_a_baseline_and_runs_that_were_not_made(tmp_path: Path) -> None:
    found = _written(
        tmp_path,
        {"with_skill": [True, False]},
        {
            "metadata": {"skill_name": "s", "runs_per_configuration": 5},
            "run_summary": {
                "with_skill": {"pass_rate": {"mean": 0.5}},
                "delta": {"pass_rate": "+0.50", "tokens": "+70"},
            },
        },
        {"total_tokens": 900},
    )
    assert found == {
        ("with_skill", "runs_per_configuration"): (5, 2, FEWER),
        ("delta", "pass_rate"): (0.5, None, "no run of a baseline: the mean of the only side"),
        ("delta", "tokens"): (70, None, "no run of a baseline"),
    }


@pytest.mark.parametrize("listed", [True, False])
def test_a_0_beside_what_timing_json_has(tmp_path: Path, listed: bool) -> None:
    """Whether the file lists runs with it, or sums it up."""
    keys = {"eval_id": 1, "configuration": "with_skill"}
    runs = [{**keys, "run_number": n, "result": {"pass_rate": 1.0, "tokens": 0}} for n in (1, 2)]
    summary = {"with_skill": {"tokens": {"mean": 0, "stddev": 0}}, "without_skill": {}}
    metadata = {"skill_name": "s", "runs_per_configuration": 2}
    found = _written(
        tmp_path,
        {"with_skill": [True], "without_skill": [False]},
        {"metadata": metadata, **({"runs": runs} if listed else {"run_summary": summary})},
        {"total_tokens": 900},
    )
    assert found == {("with_skill", "tokens"): (0, 900, "not read, counted as 0: the runs have it")}
