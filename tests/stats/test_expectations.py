"""Expectations: outcomes on both sides, and their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import stats

from skill_eval_nb.stats import discrimination, discrimination_by_eval
from skill_eval_nb.stats.expectations import BOTH
from tests.stats.made import (
    SIDES,
    Row,
    examples,
    near,
    plain,
    sides,
    verdict_rows,
    verdicts_table,
    world,
)

T, F = True, False


def only(rows: list[Row], **options: Any) -> Row:
    """The row of the only expectation."""
    [row] = plain(discrimination(verdicts_table(rows), **options))
    return row


@examples
@given(verdict_rows())
def test_p_by_eval_is_fishers_and_is_adjusted_as_scipy_does(rows: list[Row]) -> None:
    found = plain(discrimination_by_eval(verdicts_table(rows)))
    families: dict[Any, list[Row]] = {}
    for row in found:
        table = [[row[f"n_{x}{end}"] for x in ("passed", "failed")] for end in ("", "_baseline")]
        if all(map(sum, table)):
            assert row["p"] == pytest.approx(stats.fisher_exact(table).pvalue, abs=1e-9)
            families.setdefault((row["iteration"], row["configuration"]), []).append(row)
        else:
            assert row["p"] is row["p_adjusted"] is row["estimate"] is None
    for family in families.values():
        expected = stats.false_discovery_control([row["p"] for row in family])
        assert near([row["p_adjusted"] for row in family], expected)


@examples
@given(verdict_rows())
def test_counts_and_rates_agree_with_pandas(rows: list[Row]) -> None:
    """Evals first, then their mean; over the evals that both sides have, else over all."""
    columns = ["iteration", "layer", "text", "configuration", "eval_id", "run_number", "passed"]
    verdicts = pd.DataFrame(rows, columns=columns)
    scored = verdicts.dropna().astype({"passed": float})
    cells = scored.groupby(columns[:5])["passed"]
    rates = scored.pivot_table("passed", columns[:4], "eval_id")
    runs = verdicts.groupby(["iteration", "eval_id", "configuration"])["run_number"].nunique()
    for row in plain(discrimination_by_eval(verdicts_table(rows))):
        for name, end in (("configuration", ""), ("baseline", "_baseline")):
            at = (*(row[key] for key in columns[:3]), row[name], row["eval_id"])
            passed, known = (found.get(at, 0) for found in (cells.sum(), cells.count()))
            of_all = runs.get((row["iteration"], row["eval_id"], row[name]), 0)
            expected = (passed, known - passed, of_all - known, 0)
            outcomes = ("passed", "failed", "unscored", "errored")
            assert tuple(row[f"n_{one}{end}"] for one in outcomes) == expected

    for row in plain(discrimination(verdicts_table(rows))):
        one, other = (
            rates.reindex([tuple(row[key] for key in [*columns[:3], name])]).iloc[0].dropna()
            for name in ("configuration", "baseline")
        )
        both = one.index.intersection(other.index)
        if row["baseline"] is None:
            assert near([row["pass_rate"], row["n_evals"]], [one.mean(), len(one)])
            continue
        assert row["n_evals"] == len(both)
        one, other = (one[both], other[both]) if len(both) else (one, other)
        assert near([row["pass_rate"], row["baseline_pass_rate"]], [one.mean(), other.mean()])
        assert near([row["estimate"]], [(one[both] - other[both]).mean() if len(both) else None])


def test_a_direction_that_the_test_does_not_share_is_no_proof() -> None:
    """Many runs of one eval say yes; two evals of one run, that weigh as much each, say no."""
    rows = sides([T] * 16, [F] * 12 + [T] * 4)
    rows += [row for name in "23" for row in sides([F], [T], eval_id=name)]
    row = only(rows)
    assert row["estimate"] < 0
    assert row["p_adjusted"] < 0.05
    assert row["class"] not in ("hurts", "separates")


# ── classes ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_always_takes_one_run_and_as_many_repeats_as_a_coin_needs(level: float) -> None:
    needed = next(n for n in range(1, 99) if stats.binom.pmf(n, n, 0.5) <= 1 - level + 1e-12)
    found = [only(sides([T] * n, []), level=level)["class"] for n in (needed, needed + 1)]
    assert found == ["too little data", "always passes"]


@pytest.mark.parametrize(
    ("passes", "others", "expected"),
    [
        ([T] * 4, [F] * 4, "separates"),
        ([F] * 4, [T] * 4, "hurts"),
        ([T] * 3, [F] * 3, "too little data"),  # p = .1
        ([T] * 3, [T] * 3, "always passes"),
        ([F] * 3, [F] * 3, "always fails"),
        ([T] * 2, [T] * 9, "too little data"),
        ([F] * 9, [F] * 2, "too little data"),
        ([None], [None], "too little data"),
        ([T] * 6, [], "always passes"),
        ([T] * 5, [], "too little data"),
        ([T, T, T, T, T, F], [T, T, T, F, F, F], "flaky"),  # flakiness .19 against a quarter of .11
        ([T, T, T], [T, F, F, F], "too little data"),  # .09 against a quarter of .56
    ],
)
def test_the_class_of_verdicts_of_one_eval(passes, others, expected) -> None:
    row = only(sides(passes, others))
    assert row["class"] == expected
    for end, own in (("flakiness", passes), ("baseline_flakiness", others)):
        spread = np.var(own) if len(own) > 1 else None
        assert row[end] == (None if spread is None else pytest.approx(spread))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # which are steady inside their evals, and single runs tell nothing of that
        (sides([T, T], [F, F]) + sides([F, F], [F, F], eval_id="2"), {"flakiness": 0}),
        ([row for at in "123" for row in sides([T], [F], eval_id=at)], {"flakiness": None}),
        # sides that never met are not compared
        (
            sides([T, T, T], []) + sides([], [F, F, F], eval_id="2"),
            {"class": "too little data", "n_evals": 0, "estimate": None},
        ),
        # better on both evals, and worse over all runs (Simpson's paradox)
        (
            sides([T] * 2, [T] * 8 + [F] * 2) + sides([T] * 2 + [F] * 8, [F] * 2, eval_id="2"),
            {"estimate": pytest.approx(0.2), "n_passed": 4, "n_passed_baseline": 8},
        ),
    ],
)
def test_verdicts_of_several_evals(rows, expected) -> None:
    row = only(rows)
    assert {name: row[name] for name in expected} == expected
    assert row["reason"].endswith(".")


def test_a_difference_is_proven_up_to_alpha_and_not_beyond() -> None:
    """4 against 4 runs give p = 2 / 70; what an adjusted p alone leaves open is not flaky."""
    rows = sides([T] * 4, [F] * 4)
    assert only(rows, level=1 - 2 / 70)["class"] == "separates"
    assert only(rows, level=1 - 2 / 70 + 1e-4)["class"] == "too little data"
    rows = sides([T] * 31 + [F] * 9, [T] * 21 + [F] * 19)
    assert (only(rows)["p"] < 0.05, only(rows)["class"]) == (True, "separates")
    others = sides([T, F] * 20, [T, F] * 20, text="is so, too")
    first, _ = plain(discrimination(verdicts_table(rows + others)))
    assert (first["p_adjusted"] > 0.05, first["class"]) == (True, "too little data")


# ── outcomes ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("lost", "verdicts", "expected"),
    [
        (
            ((0, 4, "errored"), (1, 3, "gated"), (1, 4, "errored"), (1, 5, "errored")),
            sides([T, F, None], [T, T]),
            [(1, 1, 1, 1, 2, 0, 2, 1)],
        ),
        # what an errored run lists is no verdict
        (((0, 1, "errored"), (1, 1, "errored")), sides([T], [T]), []),
        (((0, 1, "errored"),), sides([T, F], [F]), [(0, 1, 1, 0, 0, 1, 0, 0)]),
    ],
)
def test_each_run_has_one_of_four_outcomes(lost, verdicts, expected) -> None:
    known = {(row["configuration"], row["run_number"]): "graded" for row in verdicts}
    known |= {(SIDES[side], run): status for side, run, status in lost}
    rows = [
        {"configuration": side, "run_number": run, "status": status}
        for (side, run), status in known.items()
    ]
    found = plain(discrimination_by_eval(world(rows, verdicts)))
    assert [tuple(row[name] for name in BOTH) for row in found] == expected


def test_an_id_is_the_same_expectation_whatever_its_text() -> None:
    verdicts = sides([True], [], expectation_id="a", text="is right (not just nearly)")
    verdicts += sides([], [False], expectation_id="a", text="is right")
    verdicts += sides([True], [True], expectation_id="b", text="is right")
    found = plain(discrimination_by_eval(verdicts_table(verdicts)))
    assert {row["expectation_id"]: (row["text"], *(row[n] for n in BOTH)) for row in found} == {
        "a": ("is right", 1, 0, 0, 0, 0, 1, 0, 0),
        "b": ("is right", 1, 0, 0, 0, 1, 0, 0, 0),
    }
