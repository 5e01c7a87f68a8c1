"""What may turn a verdict is said in the same breath, and where it does there is none."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from skill_eval_nb.charts import forest
from skill_eval_nb.report import markdown
from skill_eval_nb.stats import deltas, deltas_by_dimension, deltas_by_eval, notes
from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.explore import explore
from tests.stats.made import SIDES, Row, only, plain, runs_table, two_sides, world
from tests.widgets.trees import text

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
    named = [own for own in row["warnings"] if "graded on other checks" in own]
    assert bool(named) == (left < 6 or verdict is None)
    assert all(own in row["reason"] for own in named)
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


# ── days, families, batches ────────────────────────────────────────────────────────────────────

ONE_DAY = ("01T10", "01T10")


@pytest.mark.parametrize(
    ("started", "judged", "evals", "says"),
    [
        (ONE_DAY, None, 6, None),
        (
            ("02T10", "01T09"),
            None,
            6,
            "The sides were run 24 hours apart: what changed in between counts",
        ),
        (("01T10", "01T22"), None, 6, "run 11 hours apart"),
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
    noted = [row["text"] for row in plain(notes(ws)) if row["kind"] == "families"]
    assert [f"`cluster={cluster}`" in text for text in noted] == ([True] if cluster else [])
    if cluster == '"files"':
        row = only(deltas(ws, scope="population", cluster="files"))
        assert "belong together" not in row["reason"]


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


# ── errors, judges, gates, the stand-in ────────────────────────────────────────────────────────


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


@pytest.mark.parametrize(
    ("columns", "metric", "says", "verdict"),
    [
        ({"judge_model": ("a", "b")}, "pass_rate", "judged by b: two yardsticks", None),
        ({"judge_model": ("a", "b")}, "tokens", "", "hurts"),  # in which no judge has a say
        (
            {"executor_model": ("small", "large")},
            "pass_rate",
            "with_skill was run by small, without_skill was run by large",
            "helps",
        ),
    ],
)
def test_sides_that_others_ran_or_judged_are_named(columns, metric, says, verdict) -> None:
    rates = (lambda _, run: 0.8 + run / 20), (lambda _, run: 0.3 + run / 20)
    row = one(two_sides(*rates, tokens=(9, 5), **columns), metric=metric)
    assert row["verdict"] == verdict
    assert says in row["reason"]
    assert bool(row["warnings"]) == bool(says)


def test_a_gate_that_takes_unequal_parts_is_named() -> None:
    """The skill lifts every bad output over the gate, where it is judged.

    By itself it changes nothing, and would seem to make outputs worse. Evals whose runs all
    passed are left.
    """
    rows, scores = [], []
    for at, side, run in product(range(8), SIDES, range(3)):
        key = {"eval_id": str(at), "configuration": side, "run_number": run + 1}
        bad = at >= 4 and run < 2
        passed = not bad or side == SIDES[0]
        rows.append(key | {"gate_passed": passed, "pass_rate": 0.5})
        if passed:
            scores.append(key | {"dimension": "d", "score": (2.0 if bad else 4.0) + run / 4})
    (row,) = plain(deltas_by_dimension(world(rows, scores=scores)))
    assert (row["verdict"], row["n_evals"], row["n_unpaired"]) == ("unclear", 4, 4)
    assert row["estimate"] == 0
    said = "The gate took 0 of 24 runs of with_skill and 8 of 24 runs of without_skill"
    assert said in row["reason"] or row["warnings"][0].startswith(said)


BY = "executor_model harness judge_model".split()
MADE = [
    # who ran and judged either side, the metric, whether the stand-in made it
    (("stand-in", "offline", "stand-in-judge"),) * 2 + ("pass_rate", True),
    (("a-model", "offline", None),) * 2 + ("pass_rate", True),
    (("stand-in", "messages-api", None), ("a-model", "messages-api", None), "tokens", True),
    (("a-model", "claude-code", "stand-in-judge"),) * 2 + ("pass_rate", True),
    (("a-model", "claude-code", "stand-in-judge"),) * 2 + ("tokens", False),
    (("a-model", "claude-code", "a-judge"),) * 2 + ("pass_rate", False),
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
