"""What a small benchmark leans to, and what would decide it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats as oracle

from skill_eval_nb.stats import deltas, deltas_by_eval, next_step
from skill_eval_nb.tables import Workspace
from tests.stats.made import SIDES, Row, plain, runs_table
from tests.stats.verdicts import verdicts_table

Passed = list[tuple[int, int]]
"""Each run of an eval on a side: checks passed, and all of them."""
Evals = list[tuple[Passed, Passed]]

SINGLE: Evals = [
    ([(5, 5)], [(3, 5)]),
    ([(4, 4)], [(2, 4)]),
    ([(6, 6)], [(3, 6)]),
    ([(5, 5)], [(5, 5)]),
]
CLEAR: Evals = [
    ([(5, 5)], [(1, 5)]),
    ([(4, 4)], [(1, 4)]),
    ([(6, 6)], [(2, 6)]),
    ([(4, 5)], [(1, 5)]),
]
WORSE: Evals = [([(own, 8)], [(own + 5, 8)]) for own in (1, 2, 3)]
UNEVEN: Evals = [
    ([(5, 5), (4, 5)], [(2, 5)]),
    ([(3, 4)], [(1, 4), (2, 4)]),
    ([(6, 6)], [(3, 6)]),
]
ALIKE: Evals = [([(3, 5)], [(3, 5)]), ([(2, 4)], [(2, 4)])]


def rows_of(evals: Evals, **both: Any) -> list[Row]:
    return [
        {"eval_id": str(at), "configuration": side, "run_number": number}
        | {"pass_rate": passed / n, "passed": passed, "failed": n - passed, "total": n}
        | both
        for at, pair in enumerate(evals)
        for side, runs in zip(SIDES, pair, strict=True)
        for number, (passed, n) in enumerate(runs)
    ]


# The figures of another implementation of the same formulas (moderated variances, Welch and
# Satterthwaite's degrees of freedom, half a step of the checks), which shares no code with ours.
@pytest.mark.parametrize(
    ("evals", "word", "figures", "improved"),
    [
        (SINGLE, "no lean", (0.35, -0.0517, 0.7517, 0.1019), "3 of 4"),
        (CLEAR, "leans up", (0.7042, 0.2916, 1.0, 0.0003), "4 of 4"),
        (WORSE, "leans down", (-0.625, -0.9771, -0.2729, 0.0004), "0 of 3"),
        (UNEVEN, "leans up", (0.4583, 0.0084, 0.9083, 0.0453), "3 of 3"),
        ([([(9, 10)], [(2, 10)])], "leans up", (0.7, 0.1909, 1.0, 0.0096), "1 of 1"),
        (ALIKE, "no lean", (0.0, -0.7088, 0.7088, 1.0), "0 of 2"),
    ],
)
def test_borrowed_noise_by_another_implementation(evals, word, figures, improved) -> None:
    (row,) = plain(deltas(runs_table(rows_of(evals))))
    assert (row["verdict"], row["lean"]) == ("too few runs", word)
    assert tuple(row[name] for name in ("estimate", "lean_low", "lean_high", "lean_p")) == (
        pytest.approx(figures, abs=5e-5)
    )
    assert row["improved"] == improved
    each = plain(deltas_by_eval(runs_table(rows_of(evals))))
    assert all(row["lean"] is not None for row in each)
    if len(evals) == 1:
        assert each[0]["lean_p"] == pytest.approx(row["lean_p"])


def _dated(rows: list[Row], *days: int) -> list[Row]:
    stamps = {side: f"2026-03-{day:02}T10:00:00Z" for side, day in zip(SIDES, days, strict=False)}
    return [row | {"started_at": stamps.get(row["configuration"])} for row in rows]


def _other(rows: list[Row], **own: Any) -> list[Row]:
    """With something else on the baseline's side."""
    return [row | own if row["configuration"] == SIDES[1] else row for row in rows]


CLEARLY = rows_of(CLEAR)


@pytest.mark.parametrize(
    ("rows", "how", "leans"),
    [
        (CLEARLY, {}, True),
        (_dated(CLEARLY, 1, 6), {}, True),
        (_dated(CLEARLY, 1, 20), {}, False),
        (_dated(CLEARLY, 1), {}, False),
        (rows_of(CLEAR, judge_model="one", executor_model="one"), {}, True),
        (_other(rows_of(CLEAR, judge_model="one"), judge_model="other"), {}, False),
        (_other(rows_of(CLEAR, harness="one"), harness="other"), {}, False),
        (_other(CLEARLY, failed=9, total=10), {}, False),
        ([row | {"passed": None, "failed": None, "total": None} for row in CLEARLY], {}, False),
        (CLEARLY, {"scope": "population"}, False),
        (rows_of(CLEAR, executor_model="stand-in"), {}, False),
        (rows_of([(own * 3, other * 3) for own, other in CLEAR]), {}, False),
        (rows_of([(own * 4, other * 4) for own, other in CLEAR[:1]]), {}, False),
        (rows_of([(own * 2, other * 2) for own, other in CLEAR[:1]]), {}, True),
        (CLEARLY, {"metric": ["pass_rate", "total"]}, False),
    ],
)
def test_noise_is_borrowed_only_between_runs_that_were_made_alike(rows, how, leans) -> None:
    row = plain(deltas(runs_table(rows), **how))[0]
    assert (row["lean"] == "leans up") == leans
    if not leans:
        assert {row[name] for name in ("lean", "lean_low", "lean_high", "lean_p", "improved")} == {
            None
        }


def test_iterations_lean_only_where_time_stamps_show_that_they_were_run_together() -> None:
    rows = [
        row
        | {"iteration": f"iteration-{2 - (row['configuration'] == SIDES[1])}"}
        | {"configuration": SIDES[0]}
        for row in CLEARLY
    ]
    versus = ("iteration-2", "iteration-1")
    for stamp, word in ((None, None), ("2026-03-01T10:00:00Z", "leans up")):
        found = deltas(runs_table([row | {"started_at": stamp} for row in rows]), versus=versus)
        assert found["lean"].to_list() == [word]


def test_errors_take_a_lean_that_they_would_turn() -> None:
    rows = rows_of(CLEAR)
    lost = [row for row in rows if row["configuration"] == SIDES[0]][:3]
    gone = {"passed": None, "failed": None, "total": None, "pass_rate": None, "status": "errored"}
    (row,) = plain(deltas(runs_table([row | gone if row in lost else row for row in rows])))
    assert row["n_errored"] == 3
    assert row["lean"] == "no lean"
    assert row["lean_low"] < 0 < row["lean_high"]


# By the same implementation as above; its random futures are others than ours.
@pytest.mark.parametrize(
    ("evals", "runs", "more"),
    [
        (SINGLE, (3, 9), (9, 11)),
        (CLEAR, (2, 3), (6, 7)),
        (WORSE, (2, 3), (7, 7)),
        (UNEVEN, (3, 10), (7, 8)),
        (ALIKE, (None, None), (None, None)),
    ],
)
def test_next_steps_by_another_implementation(evals, runs, more) -> None:
    data = runs_table(rows_of(evals, cost_usd=0.05, time_seconds=60.0))
    found = plain(next_step(data))
    by_runs, by_evals = found[:2], found[2:]
    assert [row["difference"] for row in found] == ["as seen", "half"] * 2
    assert tuple(row["n_runs"] for row in by_runs) == runs
    for row, expected in zip(by_evals, more, strict=True):
        assert (row["n_evals"] is None) == (expected is None)
        assert expected is None or abs(row["n_evals"] - expected) <= 1
    for row in found:
        assert (row["what"] == "none") == (row["new_runs"] is None)
        if row["new_runs"] is not None:
            assert row["price_usd"] == pytest.approx(0.05 * row["new_runs"])
            assert row["seconds"] == pytest.approx(60 * row["new_runs"])


def _drawn(random: np.random.Generator, effects: np.ndarray, runs: int, checks: int) -> Evals:
    """Evals of binomial checks, whose baseline passes 40 %."""
    return [
        tuple(
            [(int(random.binomial(checks, rate)), checks) for _ in range(runs)]
            for rate in (min(0.4 + effect, 1.0), 0.4)
        )
        for effect in effects
    ]  # type: ignore[misc]


def test_the_proposed_runs_decide_in_most_cases() -> None:
    """Where the truth is what was seen, of benchmarks run once that propose a number."""
    random, decided = np.random.default_rng(1), []
    while len(decided) < 60:
        effects = random.normal(0.35, 0.15, 5)
        first = _drawn(random, effects, 1, 6)
        step = plain(next_step(runs_table(rows_of(first))))[0]
        if step["n_runs"] is None:
            continue
        seen = np.array([own[0][0] / 6 - other[0][0] / 6 for own, other in first])
        again = _drawn(random, seen, step["n_runs"], 6)
        (row,) = plain(deltas(runs_table(rows_of(again))))
        decided.append(row["verdict"] in ("helps", "hurts"))
    assert oracle.binomtest(sum(decided), len(decided), 0.8, "less").pvalue > 0.01


def test_every_undecided_comparison_has_a_next_step_in_words() -> None:
    for evals in (SINGLE, CLEAR, ALIKE, UNEVEN):
        for metric in ("pass_rate", "time_seconds"):
            data = runs_table(rows_of(evals, time_seconds=30.0))
            for scope in ("suite", "population"):
                row = plain(deltas(data, metric, scope=scope))[0]
                assert row["verdict"].startswith("too few")
                assert row["next_step"].endswith(".")
    decided = plain(deltas(runs_table(rows_of([(own * 4, other * 4) for own, other in CLEAR]))))[0]
    assert (decided["verdict"], decided["next_step"], decided["lean"]) == ("helps", None, None)


def test_evals_with_other_checks_lend_no_noise() -> None:
    runs = runs_table(CLEARLY)
    texts = {SIDES[0]: "names the port", SIDES[1]: "counts every row of the table"}
    verdicts = verdicts_table(
        {key: row[key] for key in ("eval_id", "configuration", "run_number")}
        | {"text": texts[row["configuration"]] if row["eval_id"] == "0" else "is right"}
        | {"passed": True}
        for row in CLEARLY
    )
    found = deltas(Workspace.from_tables({"runs": runs, "expectations": verdicts}))
    assert found["lean"].to_list() == [None]


def test_a_next_step_keeps_to_the_level_and_to_families() -> None:
    """Of a figure that is no pass rate two evals say nothing but how many are needed."""
    data = runs_table(
        row | {"time_seconds": 9.0 if row["configuration"] == SIDES[0] else 30.0}
        for row in rows_of(UNEVEN[:2])
    )
    for level, fewest in ((0.95, 6), (0.99, 8)):
        row = plain(deltas(data, "time_seconds", scope="population", level=level))[0]
        assert row["next_step"].startswith(f"At least {fewest} evals")
    families = {str(at): "one" for at in range(len(SINGLE))}
    single = runs_table(rows_of(SINGLE))
    assert plain(deltas(single, cluster=families))[0]["next_step"] is not None
    assert plain(deltas(single, scope="population", cluster=families))[0]["next_step"] is None
