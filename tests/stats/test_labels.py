"""Labels of checks: which are asked for, what they say of the judge, how they correct a delta."""

from __future__ import annotations

import json
import warnings
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skill_eval_nb.stats import agreement, deltas
from skill_eval_nb.stats.checks import BESIDE, LEAST, offer_checks
from skill_eval_nb.tables import Workspace
from tests.stats.made import SIDES, Row, examples, world

Verdicts = dict[tuple[str, str, int, int], bool]
"""By eval, side, run and check whether it passes."""
verdicts = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def drawn(random: np.random.Generator, evals: int = 3, runs: int = 3, checks: int = 4) -> Verdicts:
    cells = product(map(str, range(evals)), SIDES, range(1, runs + 1), range(checks))
    return {cell: bool(random.random() < 0.6) for cell in cells}


def judged(judge: Verdicts, human: Verdicts | None = None, **label: Any) -> Workspace:
    """What a judge says, and a human of as many of these checks as it has."""
    by_run: dict[tuple[str, str, int], list[int]] = {}
    for eval_id, side, run, check in judge:
        by_run.setdefault((eval_id, side, run), []).append(check)
    runs, checks, feedback = list[Row](), list[Row](), list[Row]()
    for run, own in by_run.items():
        keys = dict(zip(("eval_id", "configuration", "run_number"), run, strict=True))
        keys |= {"eval_name": run[0]}
        passed = [judge[*run, check] for check in own]
        runs.append(keys | {"pass_rate": fmean(passed), "judge_model": "j"})
        checks += [
            keys | {"text": f"check {check}", "passed": verdict, "layer": "judged"}
            for check, verdict in zip(own, passed, strict=True)
        ]
        given = [
            {"text": f"check {check}", "passed": human[*run, check], "sampled": True, **label}
            for check in own
            if human and (*run, check) in human
        ]
        feedback += [keys | {"feedback": "", "labels": json.dumps(given)}] if given else []
    return world(runs, checks, feedback=feedback)


def some(human: Verdicts, random: np.random.Generator, most: int) -> Verdicts:
    """So many of the verdicts of each side of each eval."""
    cells: dict[tuple[str, str], list[Any]] = {}
    for key in human:
        cells.setdefault(key[:2], []).append(key)
    places = [(own, at) for own in cells.values() for at in random.permutation(len(own))[:most]]
    return {own[at]: human[own[at]] for own, at in places}


@examples
@given(verdicts)
def test_where_all_is_labelled_the_judge_does_not_count(random) -> None:
    human = drawn(random)
    """And a judge who is right wherever it is labelled is not corrected."""
    found = deltas(judged(drawn(random), human), corrected=True)
    plain = deltas(judged(human))
    assert found["estimate"].item() == pytest.approx(plain["estimate"].item(), abs=1e-12)
    ws = judged(human, some(human, random, LEAST))
    for scope in ("suite", "population"):
        found, plain = deltas(ws, scope=scope, corrected=True), deltas(ws, scope=scope)
        assert found.drop("reason", *BESIDE).equals(plain.drop("reason", *BESIDE))
        assert found.select(pl.col(BESIDE).null_count()).row(0) == (1,) * len(BESIDE)


@examples
@given(verdicts)
def test_the_corrected_delta_of_one_eval_by_its_formula_and_its_interval_by_scipy(random) -> None:
    """Mean of f, and of y - f over the labelled; Welch over runs that have their labels' part."""
    human, judge = (drawn(random, evals=1, runs=4) for _ in "hj")
    labels = some(human, random, 6)
    means, runs = [], []
    for side in SIDES:
        own = {key: human[key] - judge[key] for key in labels if key[1] == side}
        off = fmean(own.values())
        rates = [fmean(judge["0", side, run, check] for check in range(4)) for run in range(1, 5)]
        means.append(fmean(rates) + off)
        parts = [sum(own[key] - off for key in own if key[2] == run) for run in range(1, 5)]
        wider = 4 / 6 * (6 / 5) ** 0.5
        runs.append([r + off + wider * p for r, p in zip(rates, parts, strict=True)])
    row = deltas(judged(judge, labels), corrected=True).row(0, named=True)
    assert row["estimate"] == pytest.approx(means[0] - means[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # runs of one side may all be alike
        interval = scipy_stats.ttest_ind(*runs, equal_var=False).confidence_interval(0.95)
    # an interval leaves 0 out exactly where the permutation does, and ends where nothing is beyond
    if row["p"] > 0.05 and interval.low < 0 < interval.high:
        low, high = max(interval.low, -1), min(interval.high, 1)
        inside = abs(row["estimate"]) <= 1
        assert not inside or (row["low"], row["high"]) == pytest.approx((low, high))
    assert "with_skill" in row["reason"]
    assert "(6 labels)" in row["reason"]


@pytest.mark.parametrize(
    ("most", "label", "more", "says"),
    [
        (0, {}, {}, "No check has a human label"),
        (4, {"sampled": False}, {}, "No labelled check was drawn at random .24 labels."),
        (LEAST - 1, {}, {}, "no eval has 3 labels"),
        (4, {}, {"metric": "tokens"}, "takes the pass rate"),
    ],
)
def test_what_cannot_be_corrected_says_why(most, label, more, says) -> None:
    """An eval with too few labels is unpaired; those that were chosen do not judge the judge."""
    random = np.random.default_rng(0)
    human = drawn(random)
    labels = some(human, random, most)
    ws = judged(human, labels, **label)
    if label:
        [row] = agreement(ws).to_dicts()
        assert (row["n_outputs"], row["exact"]) == (0, None)
        assert "24 labels left out" in row["note"]
    if most == LEAST - 1:
        more_of_others = some(human, random, LEAST)
        labels = {key: own for key, own in more_of_others.items() if key[0] != "1"}
        row = deltas(judged(human, labels), corrected=True)
        assert (row["n_evals"].item(), row["unpaired"].to_list()) == (2, [["1"]])
    with pytest.raises(ValueError, match=says):
        deltas(ws, corrected=True, **more)
    with pytest.raises(ValueError, match="of a Workspace"):
        deltas(ws.runs, corrected=True)


@examples
@given(verdicts)
def test_the_judge_on_find_judged_checks_with_scipys_exact_intervals(random) -> None:
    judge, human = drawn(random), drawn(random)
    picked = some(human, random, 4)
    [row] = agreement(judged(judge, picked)).to_dicts()
    assert (row["kind"], row["judge"], row["n_outputs"]) == ("judge against labels", "j", 24)
    of = {"exact": [*picked]}
    of["sensitivity"] = [key for key in picked if human[key]]
    of["specificity"] = [key for key in picked if not human[key]]
    for name, keys in of.items():
        right = sum(judge[key] == human[key] for key in keys)
        found = scipy_stats.binomtest(right, len(keys))
        interval = found.proportion_ci(0.95, method="exact")
        expected = (found.statistic, interval.low, interval.high)
        assert [row[f"{name}{end}"] for end in ("", "_low", "_high")] == pytest.approx(expected)


@examples
@given(verdicts)
def test_what_is_drawn_at_random_does_not_depend_on_any_verdict(random) -> None:
    first, second = (offer_checks(judged(drawn(random))).filter("sampled") for _ in "ab")
    assert first.equals(second)
    sides = first.group_by("eval_id", "configuration").len()["len"]
    assert set(sides) == {7}  # of 12 the first three, and then every other one
    turns = first.head(6).select("eval_id", "configuration")
    assert turns.is_unique().all()


def test_every_second_check_is_one_about_which_there_is_doubt() -> None:
    rows = [
        {"text": f"check {at}", "passed": True, "run_number": run, "expectation_id": f"E{at}"}
        for run in (1, 2)
        for at in range(12)
    ]
    rows += [{**rows[0], "layer": "structural", "text": "other", "passed": False}]
    for row in rows[:24]:
        row["confidence"] = {5: "low", 6: "medium"}.get(int(row["text"][6:]), "high")
    offered = offer_checks(world([{"run_number": 1}, {"run_number": 2}], rows))
    assert offered.select("run_number", "text").is_unique().all()
    chosen = offered.filter(~pl.col("sampled"))["text"].to_list()
    assert chosen
    assert set(chosen) <= {"check 0", "check 5", "check 6"}
    first = offered.head(2 * len(chosen))
    assert first["sampled"].to_list() == [False, True] * len(chosen)
    assert chosen == sorted(chosen)  # a script's word, then a tie, then a vote
