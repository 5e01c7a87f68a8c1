"""What may turn a verdict is said in the same breath, and where it does there is none."""

from __future__ import annotations

import random
from typing import Any

import pytest

from skill_eval_nb.stats import deltas, deltas_by_dimension
from tests.stats.made import Row, plain, runs_table, workspace

SIDES = ("with_skill", "without_skill")


def runs(own: Any, other: Any, evals: int = 6, k: int = 3, **by_side: Any) -> list[Row]:
    """Runs of two sides; `own` and `other` give a rate, or None for a run that errored."""
    rows: list[Row] = []
    for at in range(evals):
        for side, rate in zip(SIDES, (own, other), strict=True):
            for run in range(k):
                value = rate(at, run) if callable(rate) else rate
                more = {name: pair[side == SIDES[1]] for name, pair in by_side.items()}
                row = {"eval_id": str(at), "configuration": side, "pass_rate": value, **more}
                rows.append(row | ({"status": "errored"} if value is None else {}))
    return rows


def one(rows: list[Row], **options: Any) -> Row:
    (row,) = plain(deltas(runs_table(rows), **options))
    return row


def test_errors_on_one_side_that_decide_leave_it_unclear() -> None:
    """Without the runs that errored the skill helps; as failures they outweigh that."""
    row = one(runs(lambda at, run: None if run == 2 else 0.7 + run / 10, lambda at, run: 0.6))
    assert (row["estimate"], row["estimate_with_errors"]) == pytest.approx((0.15, -0.1))
    assert row["n_errored"] == 6
    assert (row["verdict"], row["verdict_with_errors"]) == ("unclear: errors decide", "unclear")
    assert "Errored, and so in no figure here: 6 runs of with_skill." in row["reason"]
    assert "Counted as failures: −10 pp" in row["reason"]


def test_two_judges_are_two_yardsticks_and_no_verdict() -> None:
    rates = (lambda at, run: 0.8 + run / 20), (lambda at, run: 0.3 + run / 20)
    row = one(runs(*rates, judge_model=("model-a", "model-b")))
    assert row["verdict"] is None
    assert "judged by model-a, without_skill was judged by model-b: two yardsticks" in row["reason"]
    assert one(runs(*rates, judge_model=("model-a", "model-a")))["verdict"] == "helps"
    costs = one(runs(*rates, judge_model=("a", "b"), tokens=(9, 5)), metric="tokens")
    assert costs["warnings"] == []  # which no judge has a say in


def test_sides_that_another_model_ran_or_weeks_apart_are_named() -> None:
    days = ("2026-01-01T10:00:00Z", "2026-02-01T10:00:00Z")
    row = one(runs(0.9, 0.5, executor_model=("small", "large"), started_at=days))
    told = " ".join(row["warnings"])
    assert "with_skill was run by small, without_skill was run by large" in told
    assert "31 days apart" in told
    same = ("2026-01-01T10:00:00Z", "2026-01-03T10:00:00Z")
    assert one(runs(0.9, 0.5, executor_model=("one", "one"), started_at=same))["warnings"] == []


def test_a_gate_that_takes_unequal_parts_leaves_evals_whose_runs_all_passed() -> None:
    """The skill lifts every bad output over the gate, where it is judged: by itself it changes
    nothing, and would seem to make outputs worse."""
    rows, scores = [], []
    for at in range(8):
        bad = at >= 4
        for side in SIDES:
            for run in range(3):
                gated = bad and side == "without_skill" and run < 2
                key = {"eval_id": str(at), "configuration": side, "run_number": run + 1}
                rows.append(key | {"gate_passed": not gated, "pass_rate": 0.5})
                if not gated:
                    low = bad and side == "with_skill" and run < 2
                    scores.append(
                        key | {"dimension": "d", "score": (2.0 if low else 4.0) + run / 4}
                    )
    (row,) = plain(deltas_by_dimension(workspace(rows, scores)))
    assert row["estimate"] == 0
    assert (row["n_evals"], row["n_unpaired"]) == (4, 4)
    assert (
        "The gate took 0 of 24 runs of with_skill and 8 of 24 runs of without_skill"
        in row["reason"]
    )


def test_of_twins_errors_claim_no_more_than_chance() -> None:
    """A/A, where bad runs error: left out they make a side look better than it is."""
    noise = random.Random(4)

    def rate(at: int, run: int) -> float | None:
        value = noise.random()
        return None if value < 0.3 else value

    rows = [
        row | {"iteration": f"iteration-{pair}"}
        for pair in range(100)
        for row in runs(lambda at, run: noise.random(), rate, evals=5)
    ]
    found = deltas(runs_table(rows))
    assert found.height == 100
    assert found["verdict"].is_in(["helps", "hurts"]).sum() <= 12


def test_where_errors_decide_the_interval_holds_both_answers() -> None:
    row = one(
        runs(lambda at, run: None if (at + run) % 3 == 0 else 0.7 + run / 20, lambda at, run: 0.55)
    )
    assert row["verdict"] == "unclear: errors decide"
    assert row["low"] < row["estimate_with_errors"] < row["estimate"] < row["high"]
    assert row["low"] <= 0
    assert row["p"] > 0.05


def test_a_gate_that_took_one_run_more_is_named_and_decides_nothing() -> None:
    keys = [
        {"eval_id": str(at), "configuration": side, "run_number": run + 1}
        for at in range(6)
        for side in SIDES
        for run in range(3)
    ]
    rows = [key | {"gate_passed": at > 0, "pass_rate": 0.5} for at, key in enumerate(keys)]
    scores = [
        key | {"dimension": "d", "score": 4.0 if key["configuration"] == SIDES[0] else 2.0 + at % 2}
        for at, key in enumerate(keys)
        if at
    ]
    (row,) = plain(deltas_by_dimension(workspace(rows, scores)))
    assert (row["verdict"], row["n_evals"]) == ("helps", 6)
    (warning,) = row["warnings"]
    assert warning.startswith("The gate took 1 of 18 runs of with_skill and 0 of 18 runs of")
    assert warning.endswith("which were not judged.")
