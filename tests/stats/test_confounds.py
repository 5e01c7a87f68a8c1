"""What may turn a verdict beside errors, judges and gates: checks, sessions, days, families."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import skill_eval_nb as sen
from bench.sessions import claims, worlds
from skill_eval_nb.stats import deltas, deltas_by_eval
from skill_eval_nb.tables import Workspace
from tests.stats.made import SIDES, only, plain, world

SIX = tuple(f"row {n} of the table is right" for n in range(1, 7))


def made(
    rate, checks=lambda *_: SIX, evals=range(6), iterations=("iteration-1",), k=3, **more
) -> Workspace:
    """A workspace by rules: the rate of a run, the checks of a side of an eval, other columns."""
    runs, verdicts = [], []
    for iteration, side in product(iterations, SIDES):
        for at, run in product(evals(iteration) if callable(evals) else evals, range(1, k + 1)):
            place = (at, iteration, side)
            key = {"eval_id": str(at), "iteration": iteration, "configuration": side}
            runs.append(
                key
                | {"pass_rate": rate(*place, run), "run_number": run}
                | {name: value(*place, run) for name, value in more.items()}
            )
            verdicts += [
                key | {"run_number": run, "text": text, "passed": True} for text in checks(*place)
            ]
    return world(runs, verdicts)


def better(at: int, iteration: str, side: str, run: int) -> float:
    """The skill lifts each eval, more in the second iteration."""
    lift = {"iteration-1": 0.2, "iteration-2": 0.4}[iteration] if side == SIDES[0] else 0.0
    return 0.3 + lift + at / 100 + run / 50


# ── checks ─────────────────────────────────────────────────────────────────────────────────────

REWORDED = ("Row 1 of the table is right.", *SIX[1:5], "the 6 in its row is as it should be")


@pytest.mark.parametrize(
    ("other", "left", "verdict"),
    [
        (lambda at: SIX, 6, "helps"),
        (lambda at: REWORDED, 6, "helps"),
        (lambda at: SIX[:1] if at == 0 else SIX, 5, "helps"),
        (lambda at: (*SIX[:5], "row 7 of the table is right") if at < 2 else SIX, 4, "helps"),
        (lambda at: (*SIX[:5], "row 6 of the table is not right") if at < 2 else SIX, 4, "helps"),
        (lambda at: SIX[:1], 6, None),
        (lambda at: (), 6, "helps"),
    ],
)
def test_evals_whose_sides_had_other_checks_are_left_out(other, left, verdict) -> None:
    ws = made(
        better, lambda at, _, side: SIX if side == SIDES[0] else other(at), tokens=lambda *_: 9
    )
    tokens = only(deltas(ws, "tokens"))  # which is not counted from checks
    assert (tokens["n_evals"], "checks" in " ".join(tokens["warnings"])) == (6, False)
    row = only(deltas(ws))
    assert (row["n_evals"], row["verdict"]) == (left, verdict)
    assert row["estimate"] == pytest.approx(0.2)
    named = [text for text in row["warnings"] if "graded on other checks" in text]
    assert bool(named) == (left < 6 or verdict is None)
    assert all(text in row["reason"] for text in named)
    alone = plain(deltas_by_eval(ws))
    assert sum("other checks" in (one["unpaired"] or "") for one in alone) == 6 - left
    assert only(deltas(ws, other_checks=True))["n_evals"] == 6
    assert only(deltas(ws, other_checks=True))["verdict"] == "helps"
    assert only(deltas(ws.runs))["verdict"] == "helps", "of a table no check is known"


# ── sessions ───────────────────────────────────────────────────────────────────────────────────

BOTH = ("iteration-1", "iteration-2")
NEW, OLD = BOTH[::-1]


def test_two_iterations_are_two_sessions_and_the_baselines_change_can_be_taken_off() -> None:
    ws = made(better, iterations=BOTH)
    row = only(deltas(ws, versus=(NEW, OLD)), configuration=SIDES[0])
    assert "Two iterations are two sessions" in row["reason"]
    assert '`baseline="without_skill"`' in row["reason"]
    less = only(deltas(ws, baseline=SIDES[1], versus=(NEW, OLD)))
    assert (less["configuration"], less["iteration"], less["baseline"]) == (SIDES[0], NEW, OLD)
    assert (less["estimate"], less["verdict"]) == (pytest.approx(0.2), "helps")
    assert "less that of without_skill" in less["reason"]
    own = only(deltas_by_eval(ws, baseline=SIDES[1], versus=(NEW, OLD)), eval_id="3")
    assert [own[name] for name in ("mean", "baseline_mean", "estimate")] == pytest.approx(
        [0.4, 0.2, 0.2]
    )


def test_a_shift_between_sessions_is_no_change_and_its_interval_reaches_two_rates() -> None:
    noise = np.random.default_rng(1)
    ws = made(
        lambda at, it, side, run: 0.5 + 0.3 * (it == NEW) + noise.normal(0, 0.05), iterations=BOTH
    )
    assert only(deltas(ws, versus=(NEW, OLD)), configuration=SIDES[0])["verdict"] == "helps"
    less = only(deltas(ws, baseline=SIDES[1], versus=(NEW, OLD)))
    assert less["verdict"] not in ("helps", "hurts")
    assert less["low"] < 0 < less["high"]
    turned = made(
        lambda at, it, side, run: float((it == NEW) == (side == SIDES[0])), iterations=BOTH
    )
    assert only(deltas(turned, baseline=SIDES[1], versus=(NEW, OLD)))["estimate"] == 2.0


def test_the_change_of_a_baseline_is_of_evals_with_its_checks() -> None:
    """Other checks in another iteration are no fault then, others on a side are."""
    ws = made(
        better,
        lambda at, it, side: SIX[at == 0 and side == SIDES[0] :] if it == OLD else ("new", *SIX),
        iterations=BOTH,
    )
    plainly = only(deltas(ws, versus=(NEW, OLD)), configuration=SIDES[0])
    assert (plainly["verdict"], plainly["n_evals"]) == (None, 6)
    less = only(deltas(ws, baseline=SIDES[1], versus=(NEW, OLD)))
    assert (less["verdict"], less["n_evals"], less["unpaired"]) == ("helps", 5, ["0"])


@pytest.mark.parametrize(("scope", "evals", "k"), [("suite", 5, 3), ("population", 8, 2)])
def test_of_twins_the_difference_of_differences_claims_by_chance_alone(scope, evals, k) -> None:
    runs = worlds(150, evals, k, shift=0.2)
    assert claims(runs, scope, None) > 0.3, "which a session alone claims"
    assert claims(runs, scope, SIDES[1]) <= 0.1


# ── days, families, batches ────────────────────────────────────────────────────────────────────

ONE_DAY = ("01T10", "01T10")


@pytest.mark.parametrize(
    ("started", "judged", "evals", "says"),
    [
        (ONE_DAY, None, 6, None),
        (("01T10", "01T11"), None, 6, None),
        (
            ("02T10", "01T09"),
            None,
            6,
            "The sides were run 24 hours apart: what changed in between counts",
        ),
        (("01T10", "01T22"), None, 6, "run 11 hours apart"),
        (("01T10", "28T10"), None, 6, "27 days apart"),
        (("01T10", None), None, 6, "Only the runs of with_skill say when"),
        ((None, None), None, 6, "No run says when it was made"),
        (ONE_DAY, ONE_DAY, 6, None),
        (ONE_DAY, ("01T11", "01T10"), 6, "All judgings of without_skill were made before those"),
        (ONE_DAY, ("01T11", "01T10"), 2, None),
    ],
)
def test_sides_of_other_days_and_missing_stamps_are_named(started, judged, evals, says) -> None:
    def stamped(days: Any) -> Any:
        return lambda at, it, side, run: (
            (stamp := days[SIDES.index(side)]) and f"2026-05-{stamp}:{at}{run}:00Z"
        )

    more = {"started_at": stamped(started)} | ({"judged_at": stamped(judged)} if judged else {})
    ws = made(better, evals=range(evals), k=3 if judged is None else 1, tokens=lambda *_: 9, **more)
    assert [says in text for text in only(deltas(ws))["warnings"]] == [True] * (says is not None)
    assert not any("judgings" in told for told in only(deltas(ws, "tokens"))["warnings"])


@pytest.mark.parametrize(
    ("more", "cluster"),
    [
        (lambda at: {"tags": ["a" if at < 3 else "b"]}, '"tags"'),
        (lambda at: {"tags": ["all"], "files": [f"{at // 2}.csv"]}, '"files"'),
        (lambda at: {"tags": ["all"], "files": ["all.csv"]}, None),
        (lambda at: {"tags": [f"t{at}"], "files": []}, None),
    ],
)
def test_evals_that_belong_together_are_named_where_a_claim_reaches_beyond(more, cluster) -> None:
    runs = made(better).runs.to_dicts()
    ws = world(runs, evals=[{"eval_id": str(at), **more(at)} for at in range(6)])
    said = {scope: only(deltas(ws, scope=scope))["reason"] for scope in ("suite", "population")}
    assert "belong together" not in said["suite"]
    assert (f"`cluster={cluster}`" in said["population"]) == (cluster is not None)
    noted = [row["text"] for row in plain(sen.stats.notes(ws)) if row["kind"] == "families"]
    assert [f"`cluster={cluster}`" in text for text in noted] == ([True] if cluster else [])
    if cluster == '"files"':
        row = only(deltas(ws, scope="population", cluster="files"))
        assert "belong together" not in row["reason"]


def test_names_that_begin_alike_are_families_unless_they_only_say_what_they_are() -> None:
    names = {"refund-late": "a", "refund-part": "a", "login-new": "b", "login-old": "b"}
    for form, families in (("{}", 1), ("eval-{}", 0)):
        rows = [
            row | {"eval_name": form.format([*names][int(row["eval_id"])])}
            for row in made(better, evals=range(4)).runs.to_dicts()
        ]
        kinds = [row["kind"] for row in plain(sen.stats.notes(world(rows)))]
        assert kinds.count("families") == families


def test_iterations_without_an_eval_in_common_can_be_answered_as_one() -> None:
    batches = {OLD: range(3), NEW: range(3, 8)}
    ws = made(better, evals=batches.__getitem__, iterations=BOTH)
    rows = plain(deltas(ws))
    assert [row["n_evals"] for row in rows] == [3, 5]
    assert all(
        "iteration-1 and iteration-2 have no eval in common" in row["reason"] for row in rows
    )
    for data in (ws, ws.runs):
        row = only(deltas(data, pool="iteration", scope="population"))
        assert (row["iteration"], row["n_evals"]) == ("iteration-1, iteration-2", 8)
        assert "in common" not in row["reason"]
        assert row["estimate"] == pytest.approx((3 * 0.2 + 5 * 0.4) / 8)
    with pytest.raises(ValueError, match="have evals in common"):
        deltas(made(better, iterations=BOTH), pool="iteration")
