"""What becomes of stated differences, held against the runs behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import given

from skill_eval_nb.stats import deltas, second_opinion
from skill_eval_nb.stats.second_opinion import OPINIONS
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
CODEX = "delta (codex)"
ERRED = two_sides(lambda at, run: None if (at, run) > (0, 0) else 0.9, spread(0.4), evals=2, k=4)
ONE_EVAL = two_sides(spread(0.8), spread(0.4), evals=1, k=4)
OTHERS = [
    {"eval_id": "0", "configuration": f"variant-{at}", "pass_rate": 0.35 + 0.05 * (run % 3)}
    for at in range(2)
    for run in range(4)
]
SHARED = [*ONE_EVAL, *OTHERS]
MEANS = [mean("with_skill", "0.8"), mean("without_skill", "0.4"), mean("variant-0", "0.41")]


class Case(NamedTuple):
    """Runs, what is stated of them, the opinions, and words of the reason and of the next step."""

    runs: list[Row]
    stated: list[Row]
    opinions: list[str]
    why: str = ""
    settle: str | None = ""


CASES = {
    "a verdict for it": Case(CLEAR, [delta("+0.40")], [SURVIVES], "helps on these 8 evals", None),
    "on tasks like these": Case(
        two_sides(0.8, 0.4, k=1), [delta("+0.40")], [SURVIVES], "helps on tasks like these"
    ),
    "of another size": Case(CLEAR, [delta("+0.90")], [SURVIVES], "The size does not: +90 pp"),
    "what costs": Case(
        SLOWER, [delta("+9.0", "time_seconds")], [SURVIVES], "takes more time on these 8 evals"
    ),
    "a metric below the headline": Case(
        [row | {"tokens": at} for at, row in enumerate(ONCE)],
        [delta("-1", "tokens")],
        [UNTOLD],
        "Too few runs",
        'sen.stats.next_step(ws, "tokens") says',
    ),
    "errors": Case(ERRED, [delta("+0.50")], [UNTOLD], "errors decide", "Next: run those again"),
    "no figure on the other side": Case(
        [*CLEAR[:3], {"configuration": "without_skill", "eval_id": "0"}],
        [delta("+0.40")],
        [UNTOLD],
        "no run of without_skill has a pass_rate",
        "Publish every run",
    ),
    "different judges": Case(
        two_sides(spread(0.8), spread(0.4), judge_model=["one", "other"]),
        [delta("+0.40")],
        [UNTOLD],
        "No verdict",
        "one judge",
    ),
    "no runs": Case([], [delta("+0.40")], [UNTOLD], "it cannot be checked.", "Publish every run"),
    "one side": Case(
        [], [mean("with_skill", "0.9")], [UNTOLD], "with_skill alone is stated", "of the other side"
    ),
    "a sign against it": Case(
        ONCE,
        [delta("-0.40")],
        [OTHER_WAY],
        "The runs differ the other way than −40 pp says. Too few runs",
        "Next: ",
    ),
    "paired, it is the other way": Case(
        [*two_sides(0.5, 0.6, k=1, evals=2), {"eval_id": "2", "pass_rate": 1.0}],
        [delta("+0.0667")],
        [OTHER_WAY],
        "The runs differ the other way than +6.67 pp says.",
    ),
    "nothing": Case(CLEAR, [delta("+0.00"), mean("with_skill", "0.6"), MEANS[0]], []),
    "each of several": Case(SHARED, MEANS, [SURVIVES, UNTOLD], "helps on this"),
    "of the harness that it names": Case(
        [
            *({**row, "harness": "codex"} for row in CLEAR),
            *({**row, "harness": "claude-code"} for row in two_sides(spread(0.4), spread(0.8))),
        ],
        [
            delta("+0.40", configuration=CODEX),
            delta("+0.40", configuration="delta (Claude Code)"),
            delta("+0.40", configuration="delta (gemini)"),
        ],
        [SURVIVES, OTHER_WAY, UNTOLD],
    ),
    "of the nearest where its sides are not named": Case(
        [
            *CLEAR,
            *({**row, "configuration": "b"} for row in CLEAR if row["configuration"] == SIDES[1]),
        ],
        [delta("+0.40")],
        [SURVIVES],
    ),
    "of several skills by one name": Case(
        [
            {**row, "skill": skill}
            for skill in ("one", "two")
            for row in two_sides(0.8, 0.4, k=1, evals=4)
        ],
        [delta("+0.40", skill="both")],
        [SURVIVES],
        "tasks like these (8 evals)",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_opinions(case: Case) -> None:
    rows = plain(second_opinion(world(case.runs, stated=case.stated)))
    assert [row["opinion"] for row in rows] == case.opinions
    if case.why:
        assert case.why in rows[0]["why"]
    if rows and case.settle != "":
        assert (case.settle or "") in (rows[0]["settle"] or "")
        assert (case.settle is None) == (rows[0]["settle"] is None)


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
