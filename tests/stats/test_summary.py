"""Each configuration by itself: mean and spread, pass@k and pass^k, runs that stand out."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skill_eval_nb.stats import outliers, pass_at_k, pass_at_k_by_eval, summarize
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import (
    FIGURES,
    Row,
    examples,
    near,
    plain,
    run_rows,
    runs_table,
    world,
)

COLUMNS = """workspace skill iteration executor_model harness configuration metric mean
stddev min max n n_runs n_errored""".split()


def _by(rows: list[Row], *keys: str) -> dict[Any, Row]:
    found = {tuple(row[key] for key in keys): row for row in rows}
    assert len(found) == len(rows)
    return found


@examples
@given(run_rows())
def test_agrees_with_pandas_on_any_runs(rows: list[Row]) -> None:
    """And consistency is 1 - the coefficient of variation of the efficiency."""
    summary = summarize(runs_table(rows))
    assert list(summary.columns) == COLUMNS
    found = _by(plain(summary), "iteration", "configuration", "metric")
    table = to_pandas(runs_table(rows)).astype(dict.fromkeys(FIGURES, float))
    metrics = [name for name in FIGURES if table[name].notna().any() or name == "pass_rate"]
    for group, runs in table.groupby(["iteration", "configuration"]):
        for metric in metrics:
            row, figures = found.pop((*group, metric)), runs[metric]
            expected = [figures.mean(), figures.std(), figures.min(), figures.max()]
            assert near([row[name] for name in ("mean", "stddev", "min", "max")], expected)
            assert (row["n"], row["n_runs"]) == (figures.count(), len(runs))
        if row := found.pop((*group, "consistency"), None):
            x = runs["overall_efficiency"]
            if x.count() > 1 and x.mean():
                expected = 1 - x.std() / x.mean()
                assert row["mean"] == pytest.approx(expected, rel=1e-6, abs=1e-6)
            else:
                assert row["mean"] is None
            assert (row["stddev"], row["min"], row["max"], row["n"]) == (*[None] * 3, x.count())
    assert not found


def test_a_run_judged_thrice_weighs_as_much_as_a_run_judged_once() -> None:
    runs = [{"configuration": name} for name in ("with_skill", "with_skill", "old")]
    judged = [(1, 1, 1.0), (1, 2, 1.0), (1, 3, 4.0), (2, 1, 5.0), (2, 2, None)]
    scores = [
        {"configuration": "with_skill", "run_number": run, "judging": judging, "score": score}
        | {"eval_name": "1", "dimension": "clarity"}
        for run, judging, score in judged
    ]
    found = _by(plain(summarize(world(runs, scores=scores))), "configuration", "metric")
    row = found["with_skill", "rubric:clarity"]
    assert (row["mean"], row["min"], row["max"], row["n"]) == (3.5, 2.0, 5.0, 2)
    assert (found["old", "rubric:clarity"]["n"], found["old", "rubric:clarity"]["n_runs"]) == (0, 1)


# ── pass at k ──────────────────────────────────────────────────────────────────────────────────


def runs(*rates: float | None, **more: Any) -> list[Row]:
    return [{"pass_rate": rate, **more} for rate in rates]


@examples
@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 8))
def test_all_ways_to_draw_k_runs(passes: list[bool], k: int) -> None:
    [row] = plain(pass_at_k_by_eval(runs_table(runs(*map(float, passes))), k=[k]))
    drawn = list(combinations(passes, k))
    expected = [sum(map(holds, drawn)) / len(drawn) if drawn else None for holds in (any, all)]
    assert (row["n_passed"], row["n_runs"]) == (sum(passes), len(passes))
    assert near([row["pass_at_k"], row["pass_hat_k"]], expected)


def test_the_mean_over_evals_that_have_k_runs() -> None:
    """By eval, as published: Chen et al. 2021 compute 1 - prod(1 - k / (n - c + 1 ... n))."""
    n, c, k = 200, 17, 100
    [row] = plain(pass_at_k_by_eval(runs_table(runs(*[1.0] * c, *[0.0] * (n - c))), k=[k]))
    assert row["pass_at_k"] == pytest.approx(1 - np.prod(1 - k / np.arange(n - c + 1, n + 1)))
    rows = runs(1.0, 0.5, 0.5, eval_id="1") + runs(1.0, 1.0, None, eval_id="2")
    rows += runs(1.0, eval_id="3") + runs(None, eval_id="4")
    found = plain(pass_at_k(runs_table(rows), k=[2, 1, 3]))
    assert [(row["k"], row["n_evals"], row["n_evals_all"]) for row in found] == [
        *((1, 3, 3), (2, 2, 3), (3, 1, 3)),
    ]
    assert [row["pass_at_k"] for row in found] == pytest.approx([7 / 9, (2 / 3 + 1) / 2, 1])
    assert [row["pass_hat_k"] for row in found] == pytest.approx([7 / 9, 0.5, 0])
    for threshold, rate in ((1, 1 / 3), (0.8, 2 / 3)):
        rows = runs_table(runs(0.8, 0.7, 0.1 + 0.2 + 0.7))
        [row] = plain(pass_at_k(rows, k=[1], threshold=threshold))
        assert row["pass_at_k"] == pytest.approx(rate)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        pass_at_k(rows, k=[1, 0])


# ── runs that stand out ────────────────────────────────────────────────────────────────────────

TIME = ["time_seconds"]


def timed(seconds: list[float | None], **more: Any) -> list[Row]:
    return [{"time_seconds": one, "run_number": n, **more} for n, one in enumerate(seconds, 1)]


def found(rows: list[Row], **options: Any) -> list[Row]:
    return plain(outliers(runs_table(rows), metrics=TIME, **options))


@examples
@given(st.lists(st.floats(0.1, 1e4), min_size=11, max_size=41).filter(lambda x: len(x) % 2))
def test_ten_runs_of_an_eval_are_judged_as_published(seconds: list[float]) -> None:
    """Iglewicz and Hoaglin 1993: 0.6745 (x - median) / MAD, of logarithms, by scipy's MAD."""
    x = np.array(seconds)
    away, mad = np.log(x / np.median(x)), scipy_stats.median_abs_deviation(np.log(x))
    mean = 1.253314 * np.abs(away).mean()
    z = 0.6745 * away / mad if mad > 0 else away / mean if mean > 0 else np.zeros(len(x))
    far = np.abs(away) >= np.log(1.5)
    expected = {
        n: score for n, score in enumerate(z.tolist(), 1) if abs(score) >= 3.5 and far[n - 1]
    }
    rows = found(timed(seconds))
    assert {row["run_number"]: row["modified_z"] for row in rows} == pytest.approx(expected)
    rest = [one for n, one in enumerate(seconds, 1) if n not in expected]
    for row in rows:
        assert (row["compared_with"], row["n"]) == ("eval", len(x))
        assert (row["median"], row["mean"]) == pytest.approx((np.median(x), x.mean()))
        assert row["mean_without"] == pytest.approx(np.mean(rest))
        assert row["n_outliers"] == len(expected)


def test_few_runs_of_an_eval_are_held_against_their_own_median() -> None:
    """An eval that takes long is no outlier; a run that does is."""
    rows = [row for at in range(4) for row in timed([10.0 + at, 11 + at, 13 + at], eval_id=str(at))]
    rows += timed([500, 501, 502], eval_id="slow") + timed([20, 21, 90], eval_id="odd")
    [row] = found(rows)
    assert (row["eval_id"], row["run_number"], row["median"]) == ("odd", 3, 21)
    assert (row["compared_with"], row["n"]) == ("evals", 18)
    away = [np.log((10.0 + at + more) / (11 + at)) for at in range(4) for more in (0, 3)]
    away += [np.log(500 / 501), np.log(502 / 501), np.log(20 / 21), np.log(90 / 21)]
    assert row["modified_z"] == pytest.approx(0.6745 * away[-1] / np.median(np.abs(away)))


def test_what_errored_or_has_no_figure_is_left_out_and_configurations_are_apart() -> None:
    fast, slow = ([more + at for at in range(10)] for more in (1.0, 901.0))
    rows = timed([*fast, None, float("inf")], configuration="a") + timed(slow, configuration="b")
    rows += timed(slow, configuration="a", iteration="iteration-2")
    errored = {"run_number": 13, "configuration": "a", "time_seconds": 1e9, "status": "errored"}
    assert found([*rows, errored]) == []
