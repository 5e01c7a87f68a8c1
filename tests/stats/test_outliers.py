from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skill_eval_nb.stats import outliers
from tests.stats.made import Row, examples, plain, runs_table

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


def test_single_runs_are_held_against_the_configuration() -> None:
    rows = [{"eval_id": str(at), "time_seconds": 10.0 + at} for at in range(9)]
    [row] = found([*rows, {"eval_id": "slow", "time_seconds": 200.0}])
    assert (row["eval_id"], row["compared_with"], row["n"]) == ("slow", "configuration", 10)
    assert row["median"] == 14.5


def test_what_errored_or_has_no_figure_is_left_out_and_configurations_are_apart() -> None:
    fast, slow = ([more + at for at in range(10)] for more in (1.0, 901.0))
    rows = timed([*fast, None, float("inf")], configuration="a") + timed(slow, configuration="b")
    rows += timed(slow, configuration="a", iteration="iteration-2")
    errored = {"run_number": 13, "configuration": "a", "time_seconds": 1e9, "status": "errored"}
    assert found([*rows, errored]) == []
