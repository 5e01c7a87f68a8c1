"""What may turn a verdict is said in the same breath, and where it does there is none."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from skill_eval_nb.charts import forest
from skill_eval_nb.report import markdown
from skill_eval_nb.stats import deltas, deltas_by_dimension, deltas_by_eval, notes
from skill_eval_nb.widgets.explore import explore
from tests.stats.made import SIDES, Row, plain, runs_table, two_sides, world
from tests.widgets.trees import text


def one(rows: list[Row], **options: Any) -> Row:
    (row,) = plain(deltas(runs_table(rows), **options))
    return row


def test_errors_on_one_side_that_decide_leave_it_unclear() -> None:
    """Without the runs that errored the skill helps; as failures they outweigh that."""
    row = one(two_sides(lambda _, run: None if run == 2 else 0.7 + run / 10, 0.6, evals=6))
    assert (row["estimate"], row["estimate_with_errors"]) == pytest.approx((0.15, -0.1))
    assert row["n_errored"] == 6
    assert (row["verdict"], row["verdict_with_errors"]) == ("unclear: errors decide", "unclear")
    assert "Errored, and so in no figure here: 6 runs of with_skill." in row["reason"]
    assert "Counted as failures: −10 pp" in row["reason"]
    assert row["low"] < row["estimate_with_errors"] < row["estimate"] < row["high"]
    assert (row["p"] > 0.05, row["low"] <= 0) == (True, True)


def test_two_judges_are_two_yardsticks_and_no_verdict() -> None:
    rates = (lambda _, run: 0.8 + run / 20), (lambda _, run: 0.3 + run / 20)
    row = one(two_sides(*rates, judge_model=("model-a", "model-b")))
    assert row["verdict"] is None
    assert "judged by model-a, without_skill was judged by model-b: two yardsticks" in row["reason"]
    assert one(two_sides(*rates, judge_model=("model-a", "model-a")))["verdict"] == "helps"
    costs = one(two_sides(*rates, judge_model=("a", "b"), tokens=(9, 5)), metric="tokens")
    assert costs["warnings"] == []  # which no judge has a say in


def test_sides_that_another_model_ran_or_weeks_apart_are_named() -> None:
    days = [f"2026-{month}T10:00:00Z" for month in ("01-01", "02-01", "01-01")]
    row = one(two_sides(0.9, 0.5, executor_model=("small", "large"), started_at=days[:2]))
    told = " ".join(row["warnings"])
    assert "with_skill was run by small, without_skill was run by large" in told
    assert "31 days apart" in told
    same = one(two_sides(0.9, 0.5, executor_model=("one", "one"), started_at=days[::2]))
    assert same["warnings"] == []


@pytest.mark.parametrize(
    ("evals", "takes", "score", "found", "said"),
    [
        # The skill lifts every bad output over the gate, where it is judged: by itself it changes
        # nothing, and would seem to make outputs worse. Evals whose runs all passed are left.
        (
            8,
            lambda at, own, run: at >= 4 and not own and run < 2,
            lambda at, own, run: (2.0 if at >= 4 and own and run < 2 else 4.0) + run / 4,
            ("unclear", 4, 4, 0),
            "The gate took 0 of 24 runs of with_skill and 8 of 24 runs of without_skill",
        ),
        # one run more is named, and decides nothing
        (
            6,
            lambda at, own, run: (at, own, run) == (0, True, 0),
            lambda _, own, run: 4.0 if own else 2.0 + run % 2,
            ("helps", 6, 0, 1.6666666),
            "The gate took 1 of 18 runs of with_skill and 0 of 18 runs of without_skill",
        ),
    ],
)
def test_a_gate_that_takes_unequal_parts_is_named(evals, takes, score, found, said) -> None:
    rows, scores = [], []
    for at, side, run in product(range(evals), SIDES, range(3)):
        place, key = (at, side == SIDES[0], run), {"eval_id": str(at), "configuration": side}
        key["run_number"] = run + 1
        rows.append(key | {"gate_passed": not takes(*place), "pass_rate": 0.5})
        if not takes(*place):
            scores.append(key | {"dimension": "d", "score": score(*place)})
    (row,) = plain(deltas_by_dimension(world(rows, scores=scores)))
    assert (row["verdict"], row["n_evals"], row["n_unpaired"]) == found[:3]
    assert row["estimate"] == pytest.approx(found[3])
    assert said in row["reason"] or row["warnings"][0].startswith(said)


BY = "executor_model harness judge_model".split()
MADE = [
    # who ran and judged either side, the metric, whether the stand-in made it
    (("stand-in", "offline", "stand-in-judge"),) * 2 + ("pass_rate", True),
    (("stand-in", "offline", "stand-in-judge"),) * 2 + ("tokens", True),
    (("a-model", "offline", None),) * 2 + ("pass_rate", True),
    (("stand-in", "messages-api", None), ("a-model", "messages-api", None), "tokens", True),
    (("a-model", "claude-code", "stand-in-judge"),) * 2 + ("pass_rate", True),
    (("a-model", "claude-code", "stand-in-judge"),) * 2 + ("tokens", False),
    (("a-model", "claude-code", "a-judge"),) * 2 + ("pass_rate", False),
    ((None, None, None),) * 2 + ("pass_rate", False),
]


@pytest.mark.parametrize(("own", "other", "metric", "made"), MADE)
def test_what_the_stand_in_made_has_no_verdict_wherever_it_is_shown(
    own, other, metric, made
) -> None:
    who: dict[str, Any] = dict(zip(BY, zip(own, other, strict=True), strict=True))
    rows = two_sides(0.9, lambda at, run: 0.4 + run / 10, evals=6, **who, tokens=(50, 90))
    ws = world(rows)
    for row in [*plain(deltas(ws, metric)), *plain(deltas(ws, metric, scope="population"))]:
        assert row["stand_in"] == made
        assert (row["verdict"] is None) == made
        assert row["p"] is not None or metric == "tokens"
        says = "The stand-in made this, and it is not a model"
        assert row["reason"].startswith(says) == made
        assert any(warning.startswith(says) for warning in row["warnings"]) == made
    for row in plain(deltas_by_eval(ws, metric)):
        assert (row["stand_in"], row["verdict"] is None) == (made, made)
    if metric != "pass_rate":
        return
    panel = explore(ws)
    assert panel.settle()
    pages = {
        "forest": str(forest(ws).to_dict()),
        "explore": text(panel._tree),
        "benchmark.md": markdown(ws),
        "notes": " ".join(notes(ws)["text"]),
    }
    for name, page in pages.items():
        assert ("stand-in" in page) == made, name
        claims = re.search(r"(?<!whether )with_skill helps on|\(helps", page)
        assert bool(claims) == (not made), name
