"""What becomes of stated differences, held against the runs behind them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given

from skill_eval_nb.stats import deltas, second_opinion
from skill_eval_nb.stats.second_opinion import OPINIONS
from tests.golden import hold, lines_of
from tests.stats.made import SIDES, Row, examples, plain, run_rows, stating, two_sides, world

SURVIVES, UNTOLD, OTHER_WAY = OPINIONS


def delta(printed: str, metric: str = "pass_rate", configuration="delta", **more: Any) -> Row:
    """A stated difference."""
    return stating(printed, configuration, metric, "value", **more)


def mean(configuration: str, printed: str) -> Row:
    """A stated mean."""
    return stating(printed, configuration, "pass_rate", "mean")


def spread(rate: float) -> Any:
    """Runs of an eval that scatter by ±.05 around a rate."""
    return lambda _, run: rate + 0.05 * (run % 3 - 1)


CLEAR = two_sides(spread(0.8), spread(0.4))
ONCE = two_sides(0.8, 0.4, evals=3, k=1)
SLOWER = [
    row | {"time_seconds": 10.0 + 9 * (row["configuration"] == "with_skill") + at % 3}
    for at, row in enumerate(CLEAR)
]
ERRED = two_sides(lambda at, run: None if (at, run) > (0, 0) else 0.9, spread(0.4), evals=2, k=4)
ONE_EVAL = two_sides(spread(0.8), spread(0.4), evals=1, k=4)
OTHERS = [
    {"eval_id": "0", "configuration": f"variant-{at}", "pass_rate": 0.35 + 0.05 * (run % 3)}
    for at in range(2)
    for run in range(4)
]
SHARED = [*ONE_EVAL, *OTHERS]
MEANS = [mean("with_skill", "0.8"), mean("without_skill", "0.4"), mean("variant-0", "0.41")]


CASES: dict[str, tuple[list[Row], list[Row]]] = {
    "a verdict for it": (CLEAR, [delta("+0.40")]),
    "on tasks like these": (two_sides(0.8, 0.4, k=1), [delta("+0.40")]),
    "of another size": (CLEAR, [delta("+0.90")]),
    "what costs": (SLOWER, [delta("+9.0", "time_seconds")]),
    "a metric below the headline": (
        [row | {"tokens": at} for at, row in enumerate(ONCE)],
        [delta("-1", "tokens")],
    ),
    "errors": (ERRED, [delta("+0.50")]),
    "no figure on the other side": (
        [*CLEAR[:3], {"configuration": "without_skill", "eval_id": "0"}],
        [delta("+0.40")],
    ),
    "different judges": (
        two_sides(spread(0.8), spread(0.4), judge_model=["one", "other"]),
        [delta("+0.40")],
    ),
    "no runs": ([], [delta("+0.40")]),
    "one side": ([], [mean("with_skill", "0.9")]),
    "a sign against it": (ONCE, [delta("-0.40")]),
    "paired, it is the other way": (
        [*two_sides(0.5, 0.6, k=1, evals=2), {"eval_id": "2", "pass_rate": 1.0}],
        [delta("+0.0667")],
    ),
    "nothing": (CLEAR, [delta("+0.00"), mean("with_skill", "0.6"), MEANS[0]]),
    "each of several": (SHARED, MEANS),
    "of the harness that it names": (
        [
            *({**row, "harness": "codex"} for row in CLEAR),
            *({**row, "harness": "claude-code"} for row in two_sides(spread(0.4), spread(0.8))),
        ],
        [
            delta("+0.40", configuration=f"delta ({it})")
            for it in ("codex", "Claude Code", "gemini")
        ],
    ),
    "of the nearest where its sides are not named": (
        [
            *CLEAR,
            *({**row, "configuration": "b"} for row in CLEAR if row["configuration"] == SIDES[1]),
        ],
        [delta("+0.40")],
    ),
    "of several skills by one name": (
        [
            {**row, "skill": skill}
            for skill in ("one", "two")
            for row in two_sides(0.8, 0.4, k=1, evals=4)
        ],
        [delta("+0.40", skill="both")],
    ),
}


def test_opinions() -> None:
    lines: list[str] = []
    for name, (runs, stated) in CASES.items():
        lines.append(f"# {name}")
        for row in plain(second_opinion(world(runs, stated=stated))):
            lines += [f"{one}: {row.pop(one)}" for one in ("opinion", "why", "settle")]
            lines += lines_of(row)
    hold("second_opinions", lines)


def test_figures_are_those_of_deltas() -> None:
    (row,) = plain(second_opinion(world(CLEAR, stated=[delta("+0.40")])))
    (own,) = plain(deltas(world(CLEAR)))
    same = ("configuration", "baseline", "estimate", "low", "high", "p", "scope", "verdict")
    assert {name: row[name] for name in same} == {name: own[name] for name in same}
    stated = {"metric": "pass_rate", "claimed": 0.4, "printed": "+0.40", "path": "benchmark.json"}
    assert {name: row[name] for name in stated} == stated
    with pytest.raises(TypeError, match="give a Workspace"):
        second_opinion(world(CLEAR).runs)


@examples
@given(run_rows(["pass_rate"]))
def test_a_claim_of_what_was_seen_is_as_good_as_its_verdict(runs: list[Row]) -> None:
    """The opposite of it goes the other way, whatever the verdict."""
    ws = world(runs)
    seen = deltas(ws).filter(pl.col("estimate").is_not_null() & (pl.col("estimate") != 0))
    for row in plain(seen)[:1]:
        own = [
            each
            for each in runs
            if each["iteration"] == row["iteration"]
            and each["configuration"] in (row["configuration"], row["baseline"])
        ]
        for sign in (1, -1):
            sides = ((row["configuration"], sign * row["estimate"]), (row["baseline"], 0.0))
            stated = [
                mean(side, "0.0000000001") | {"iteration": row["iteration"], "value": value}
                for side, value in sides
            ]
            (found,) = plain(second_opinion(world(own, stated=stated)))
            decided = found["verdict"] in ("helps", "hurts")
            assert found["opinion"] == (OTHER_WAY if sign < 0 else SURVIVES if decided else UNTOLD)
