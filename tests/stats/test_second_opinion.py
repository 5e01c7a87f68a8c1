"""What becomes of stated differences, held against the runs behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import skill_eval_nb as sen
from skill_eval_nb.stats import deltas, second_opinion
from skill_eval_nb.stats.second_opinion import OPINIONS
from tests.stats.made import SIDES, Row, examples, plain, run_rows, two_sides, workspace

SURVIVES, UNTOLD, OTHER_WAY = OPINIONS


def delta(printed: str, metric: str = "pass_rate", **more: Any) -> Row:
    """A stated difference."""
    about = {"configuration": "delta", "metric": metric, "statistic": "value"}
    return about | {"printed": printed} | more


def mean(configuration: str, printed: str, **more: Any) -> Row:
    """A stated mean."""
    return delta(printed, **{"configuration": configuration, "statistic": "mean", **more})


def spread(rate: float) -> Any:
    """Runs of an eval that scatter by ±.05 around a rate."""
    return lambda _, run: rate + 0.05 * (run % 3 - 1)


CLEAR = two_sides(spread(0.8), spread(0.4))
ONCE = two_sides(0.8, 0.4, evals=3, k=1)
ALIKE = two_sides(lambda at, run: (at + run) % 2, lambda at, run: (at + run + 1) % 2, evals=2, k=4)
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
    "of less": Case(
        two_sides(spread(0.4), spread(0.8)), [delta("-0.40")], [SURVIVES], "hurts", None
    ),
    "on tasks like these": Case(
        two_sides(0.8, 0.4, k=1), [delta("+0.40")], [SURVIVES], "helps on tasks like these"
    ),
    "of another size": Case(CLEAR, [delta("+0.90")], [SURVIVES], "The size does not: +90 pp"),
    "two means": Case(CLEAR, MEANS[:2], [SURVIVES], "+40 pp"),
    "its own difference before two means": Case(CLEAR, [*MEANS[:2], delta("-0.40")], [OTHER_WAY]),
    "what costs": Case(
        SLOWER, [delta("+9.0", "time_seconds")], [SURVIVES], "takes more time on these 8 evals"
    ),
    "what is said to save": Case(SLOWER, [delta("-9.0", "time_seconds")], [OTHER_WAY], "more time"),
    "too few runs": Case(ONCE, [delta("+0.40")], [UNTOLD], "Too few runs to say", "Next: "),
    "as likely luck": Case(ALIKE, [delta("+0.20")], [UNTOLD], "It is unclear", "Next: "),
    "of another size, not clear": Case(ONCE, [delta("+0.90")], [UNTOLD], "+90 pp is stated."),
    "a metric below the headline": Case(
        [row | {"tokens": at} for at, row in enumerate(ONCE)],
        [delta("-1", "tokens")],
        [UNTOLD],
        "Too few runs",
        'sen.stats.next_step(ws, "tokens") says',
    ),
    "errors": Case(ERRED, [delta("+0.50")], [UNTOLD], "errors decide", "Next: run those again"),
    "no runs of the other side": Case(
        two_sides(0.8, None), [delta("+0.40")], [UNTOLD], "No run with this", "Publish every run"
    ),
    "no figure on the other side": Case(
        [*CLEAR[:3], {"configuration": "without_skill", "eval_id": "0"}],
        [delta("+0.40")],
        [UNTOLD],
        "no run of without_skill has a pass_rate",
        "Publish every run",
    ),
    "a figure that no run has": Case(
        CLEAR, [delta("-0.1", "security")], [UNTOLD], "No run with this"
    ),
    "different judges": Case(
        two_sides(spread(0.8), spread(0.4), judge_model=["one", "other"]),
        [delta("+0.40")],
        [UNTOLD],
        "No verdict",
        "one judge",
    ),
    "no runs": Case([], [delta("+0.40")], [UNTOLD], "it cannot be checked."),
    "no runs, no rate": Case([], [delta("+9", "tokens")], [UNTOLD], "it cannot be checked."),
    "one side": Case(
        [], [mean("with_skill", "0.9")], [UNTOLD], "with_skill alone is stated", "of the other side"
    ),
    "two sides, none the baseline": Case(
        CLEAR, [mean("one", "0.9"), mean("other", "0.8")], [UNTOLD, UNTOLD], "alone is stated"
    ),
    "a verdict against it": Case(CLEAR, [delta("-0.40")], [OTHER_WAY], "with_skill helps", None),
    "a sign against it": Case(
        ONCE,
        [delta("-0.40")],
        [OTHER_WAY],
        "The runs differ the other way than −40 pp says. Too few runs",
        "Next: ",
    ),
    "within its rounding": Case(
        two_sides(0.4, 0.4004, evals=3, k=1), [delta("+0.01")], [UNTOLD], "+1 pp is stated."
    ),
    "paired, it is the other way": Case(
        [*two_sides(0.5, 0.6, k=1, evals=2), {"eval_id": "2", "pass_rate": 1.0}],
        [delta("+0.0667")],
        [OTHER_WAY],
        "The runs differ the other way than +6.67 pp says.",
    ),
    "nothing": Case(CLEAR, [delta("+0.00"), mean("with_skill", "0.6"), MEANS[0]], []),
    "equal means": Case(CLEAR, [mean(side, "0.6") for side in SIDES], []),
    "no figure": Case(CLEAR, [delta("1", value=None)], []),
    "one of one": Case(ONE_EVAL, MEANS[:2], [SURVIVES]),
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
    "of each model where it names none": Case(
        [
            *({**row, "executor_model": "a"} for row in CLEAR),
            *({**row, "executor_model": "b"} for row in two_sides(spread(0.4), spread(0.8))),
        ],
        [delta("+0.40")],
        [SURVIVES, OTHER_WAY],
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
    rows = plain(second_opinion(workspace(case.runs, stated=case.stated)))
    assert [row["opinion"] for row in rows] == case.opinions
    if case.why:
        assert case.why in rows[0]["why"]
    if rows and case.settle != "":
        assert (rows[0]["settle"] or "").startswith(case.settle or "") or case.settle in rows[0][
            "settle"
        ]
        assert (case.settle is None) == (rows[0]["settle"] is None)


@pytest.mark.parametrize("backend", ["polars", "pandas"])
def test_by_hand_in_either_kind(backend: Any) -> None:
    found = second_opinion(workspace(CLEAR, stated=[delta("+0.40")], backend=backend))
    assert isinstance(found, pd.DataFrame) == (backend == "pandas")
    (row,) = plain(found)
    (own,) = plain(deltas(workspace(CLEAR)))
    same = ("configuration", "baseline", "estimate", "low", "high", "p", "scope", "verdict")
    assert {name: row[name] for name in same} == {name: own[name] for name in same}
    stated = {"metric": "pass_rate", "claimed": 0.4, "printed": "+0.40", "path": "benchmark.json"}
    assert {name: row[name] for name in stated} == stated
    with pytest.raises(TypeError, match="not a table"):
        second_opinion(workspace(CLEAR).runs)


@examples
@given(run_rows(["pass_rate"]))
def test_a_claim_of_what_was_seen_is_as_good_as_its_verdict(runs: list[Row]) -> None:
    """The opposite of it goes the other way, whatever the verdict."""
    ws = workspace(runs)
    seen = deltas(ws).filter(pl.col("estimate").is_not_null() & (pl.col("estimate") != 0))
    for row in plain(seen)[:1]:
        own = [
            each
            for each in runs
            if each["iteration"] == row["iteration"]
            and each["configuration"] in (row["configuration"], row["baseline"])
        ]
        of = {"iteration": row["iteration"], "statistic": "mean"}
        for sign in (1, -1):
            sides = ((row["configuration"], sign * row["estimate"]), (row["baseline"], 0.0))
            stated = [
                delta("0.0000000001", **of | {"configuration": side, "value": value})
                for side, value in sides
            ]
            (found,) = plain(second_opinion(workspace(own, stated=stated)))
            decided = found["verdict"] in ("helps", "hurts")
            assert found["opinion"] == (OTHER_WAY if sign < 0 else SURVIVES if decided else UNTOLD)


def test_a_published_card_is_weighed(tmp_path: Any) -> None:
    (tmp_path / "BENCHMARK.md").write_text(
        "- Skill: `tidy`\n- Tasks: 3 tasks\n- Attempts per task: 2\n\n"
        "| Measure | Codex (Baseline → Skill Uplift) |\n|---|---:|\n"
        "| Overall | 20% → 60% (+40 points) |\n| Security | 90% → 90% (+0 points) |\n",
        encoding="utf-8",
    )
    (row,) = plain(second_opinion(sen.load(tmp_path)))
    assert (row["claimed"], row["opinion"]) == (pytest.approx(0.4), UNTOLD)
