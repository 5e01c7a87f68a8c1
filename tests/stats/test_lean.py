"""What a small benchmark leans to, and what would decide it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from skill_eval_nb.stats import deltas, deltas_by_eval, next_step
from tests.stats.made import SIDES, Row, plain, runs_table, world

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
        (_dated(CLEARLY, 1, 20), {}, False),
        (_dated(CLEARLY, 1), {}, False),
        (rows_of(CLEAR, judge_model="one", executor_model="one"), {}, True),
        (_other(rows_of(CLEAR, judge_model="one"), judge_model="other"), {}, False),
        (_other(rows_of(CLEAR, harness="one"), harness="other"), {}, False),
        (_other(CLEARLY, failed=9, total=10), {}, False),
        ([row | {"passed": None, "failed": None, "total": None} for row in CLEARLY], {}, False),
        ([row | {"pass_rate": 0.9 * row["pass_rate"]} for row in CLEARLY], {}, False),
        (CLEARLY, {"scope": "population"}, False),
        (rows_of(CLEAR, executor_model="stand-in"), {}, False),
        (rows_of([(own * 3, other * 3) for own, other in CLEAR]), {}, False),
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


# By the same implementation as above; its random futures are others than ours.
@pytest.mark.parametrize(
    ("evals", "runs", "more"),
    [
        (SINGLE, (3, 9), (9, 11)),
        (CLEAR, (2, 3), (6, 7)),
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


def test_a_lean_rests_on_checks_days_and_no_errors() -> None:
    """Errors take one that they would turn; iterations lean where stamps show them together."""
    gone = {"passed": None, "failed": None, "total": None, "pass_rate": None, "status": "errored"}
    sides = [(row["configuration"] == SIDES[0], row) for row in CLEARLY]
    lost = [row | gone if one and row["eval_id"] < "2" else row for one, row in sides]
    none = {"passed": 0, "pass_rate": 0.0}
    failed = [
        row | none | {"failed": row["total"]} if own != row else row
        for own, row in zip(lost, CLEARLY, strict=True)
    ]
    row, counted = (plain(deltas(runs_table(rows)))[0] for rows in (lost, failed))
    assert (row["n_errored"], row["lean"], row["lean_high"]) == (2, "no lean", 1.0)
    assert row["lean_low"] == pytest.approx(counted["lean_low"])
    assert row["lean_p"] == pytest.approx(counted["lean_p"])
    for stamp, word in ((None, None), ("2026-03-01T10:00:00Z", "leans up")):
        rows = [
            row | {"iteration": f"i{one:d}", "configuration": SIDES[0], "started_at": stamp}
            for one, row in sides
        ]
        assert deltas(runs_table(rows), versus=("i1", "i0"))["lean"].to_list() == [word]
    keys = ("eval_id", "configuration", "run_number")
    checks = [
        {key: row[key] for key in keys}
        | {"text": "is right" if one or row["eval_id"] != "0" else "counts all", "passed": True}
        for one, row in sides
    ]
    assert deltas(world(CLEARLY, checks))["lean"].to_list() == [None]


def test_a_next_step_in_words_keeps_to_the_level_and_to_families() -> None:
    """Of a figure that is no pass rate two evals say nothing but how many are needed."""
    for evals in (SINGLE, ALIKE):
        data = runs_table(rows_of(evals, time_seconds=30.0))
        for metric, scope in product(("pass_rate", "time_seconds"), ("suite", "population")):
            row = plain(deltas(data, metric, scope=scope))[0]
            assert row["verdict"].startswith("too few")
            assert row["next_step"].endswith(".")
            if metric == "time_seconds":  # only a second run of each shows how far they scatter
                assert row["next_runs"] == (2 if scope == "suite" else None)
    (row,) = plain(deltas(runs_table(rows_of(SINGLE, time_seconds=300.0, cost_usd=0.05))))
    assert row["next_step"] == (
        "2 more runs per eval and side (16 runs, about $0.80, about 1 h 20 min one at a "
        "time) would settle it in most cases; 8 would if the difference is half of this."
    )
    decided = plain(deltas(runs_table(rows_of([(own * 4, other * 4) for own, other in CLEAR]))))[0]
    assert (decided["verdict"], decided["next_step"], decided["lean"]) == ("helps", None, None)
    data = runs_table(
        row | {"time_seconds": 9.0 if row["configuration"] == SIDES[0] else 30.0}
        for row in rows_of(UNEVEN[:2])
    )
    for level, fewest in ((0.95, 6), (0.99, 8)):
        row = plain(deltas(data, "time_seconds", scope="population", level=level))[0]
        assert row["next_step"].startswith(f"At least {fewest} evals")
    families, single = {str(at): "one" for at in range(len(SINGLE))}, runs_table(rows_of(SINGLE))
    for scope in ("suite", "population"):
        row = plain(deltas(single, scope=scope, cluster=families))[0]
        assert (row["next_step"] is None) == (scope == "population")
