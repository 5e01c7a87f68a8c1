"""What may turn a verdict is said in the same breath, and where it does there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from skill_eval_nb.charts import forest
from skill_eval_nb.report import markdown
from skill_eval_nb.stats import deltas, deltas_by_dimension, deltas_by_eval, notes
from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.explore import explore
from tests.golden import hold, lines_of
from tests.stats.made import SIDES, Row, plain, two_sides, world
from tests.widgets.trees import text

SIX = tuple(f"row {n} of the table is right" for n in range(1, 7))
BOTH = ("iteration-1", "iteration-2")
NEW, OLD = BOTH[::-1]
VERSUS: dict[str, Any] = {"versus": (NEW, OLD)}


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


def checked_by(others: Callable[[int], tuple[str, ...]]) -> Workspace:
    """The baseline's side of each eval has other checks than the skill's."""
    checks = lambda at, _, side: SIX if side == SIDES[0] else others(at)  # noqa: E731
    return made(better, checks, tokens=lambda *_: 9)


REWORDED = ("Row 1 of the table is right.", *SIX[1:5], "the 6 in its row is as it should be")
IN_ONE_EVAL = checked_by(lambda at: SIX[:1] if at == 0 else SIX)
TWO_ITERATIONS = made(better, iterations=BOTH)
CHANGED_CHECKS = made(
    better,
    lambda at, it, side: SIX[at == 0 and side == SIDES[0] :] if it == OLD else ("new", *SIX),
    iterations=BOTH,
)
BATCHES = made(better, evals={OLD: range(3), NEW: range(3, 8)}.__getitem__, iterations=BOTH)


def stamped(started: Any, judged: Any = None, evals: int = 6) -> Workspace:
    """A run a minute on these days of either side, judged on these."""

    def stamp(days: Any) -> Any:
        return lambda at, it, side, run: (
            (day := days[SIDES.index(side)]) and f"2026-05-{day}:{at}{run}:00Z"
        )

    more = {"started_at": stamp(started)} | ({"judged_at": stamp(judged)} if judged else {})
    return made(better, evals=range(evals), k=3 if judged is None else 1, **more)


def kin(more: Callable[[int], Row]) -> Workspace:
    """Six evals with these tags and files."""
    evals = [{"eval_id": str(at), **more(at)} for at in range(6)]
    return world(made(better).runs.to_dicts(), evals=evals)


OF_TWO_TAGS = kin(lambda at: {"tags": ["a" if at < 3 else "b"]})
OF_THREE_FILES = kin(lambda at: {"tags": ["all"], "files": [f"{at // 2}.csv"]})
WIDER: dict[str, Any] = {"scope": "population"}


def gated(lost: Callable[[int, int], bool] = lambda at, run: at >= 4 and run < 2) -> Workspace:
    """The skill lifts every bad output over the gate, where it is judged.

    By itself it changes nothing, and would seem to make outputs worse. Evals whose runs all
    passed are left.
    """
    rows, scores = [], []
    for at, side, run in product(range(8), SIDES, range(3)):
        key = {"eval_id": str(at), "configuration": side, "run_number": run + 1}
        bad = lost(at, run)
        passed = not bad or side == SIDES[0]
        rows.append(key | {"gate_passed": passed, "pass_rate": 0.5})
        if passed:
            scores.append(key | {"dimension": "d", "score": (2.0 if bad else 4.0) + run / 4})
    return world(rows, scores=scores)


def by_others(**columns: Any) -> Workspace:
    """Runs of which either side has its own value of a column."""
    rates = (lambda _, run: 0.8 + run / 20), (lambda _, run: 0.3 + run / 20)
    return world(two_sides(*rates, tokens=(9, 5), **columns))


TWO_JUDGES = by_others(judge_model=("a", "b"))
ONE_DAY = ("01T10", "01T10")
ERRED = two_sides(*(lambda _, run, on=on: (None, on, on + 0.1)[run] for on in (0.7, 0.3)))
"""One run of three errored on either side."""
CASES: dict[str, Callable[[], Any]] = {
    "the same checks": lambda: deltas(checked_by(lambda _: SIX)),
    "the same in other words": lambda: deltas(checked_by(lambda _: REWORDED)),
    "other checks in one eval": lambda: deltas(IN_ONE_EVAL),
    "eval by eval": lambda: deltas_by_eval(IN_ONE_EVAL),
    "which do not matter": lambda: deltas(IN_ONE_EVAL, other_checks=True),
    "which are not known of a table": lambda: deltas(IN_ONE_EVAL.runs),
    "tokens, which are not counted from checks": lambda: deltas(IN_ONE_EVAL, "tokens"),
    "turned checks in two": lambda: deltas(
        checked_by(lambda at: (*SIX[:5], "row 6 of the table is not right") if at < 2 else SIX)
    ),
    "other checks in each": lambda: deltas(checked_by(lambda _: SIX[:1])),
    "checks of one side alone": lambda: deltas(checked_by(lambda _: ())),
    "two iterations, which are two sessions": lambda: deltas(TWO_ITERATIONS, **VERSUS),
    "less the change of the baseline": lambda: deltas(TWO_ITERATIONS, baseline=SIDES[1], **VERSUS),
    "the same eval by eval": lambda: deltas_by_eval(TWO_ITERATIONS, baseline=SIDES[1], **VERSUS),
    "other checks in another iteration": lambda: deltas(CHANGED_CHECKS, **VERSUS),
    "which is no fault where a baseline has them as well": lambda: deltas(
        CHANGED_CHECKS, baseline=SIDES[1], **VERSUS
    ),
    "of one day": lambda: deltas(stamped(ONE_DAY)),
    "of two days": lambda: deltas(stamped(("02T10", "01T09"))),
    "of morning and evening": lambda: deltas(stamped(("01T10", "01T22"))),
    "of night and noon": lambda: deltas(stamped(("01T10", "01T03"))),
    "of the same morning": lambda: deltas(stamped(("01T10", "01T05"))),
    "of a day that one side says": lambda: deltas(stamped(("01T10", None))),
    "of no known day": lambda: deltas(stamped((None, None))),
    "judged in turn": lambda: deltas(stamped(ONE_DAY, ONE_DAY)),
    "judged one after the other": lambda: deltas(stamped(ONE_DAY, ("01T11", "01T10"))),
    "and so few that it may be chance": lambda: deltas(
        stamped(ONE_DAY, ("01T11", "01T10"), evals=2)
    ),
    "and just enough": lambda: deltas(stamped(ONE_DAY, ("01T11", "01T10"), evals=3)),
    "these evals, of two tags": lambda: deltas(OF_TWO_TAGS),
    "evals of two tags": lambda: deltas(OF_TWO_TAGS, **WIDER),
    "notes on evals of two tags": lambda: notes(OF_TWO_TAGS),
    "evals of three files": lambda: deltas(OF_THREE_FILES, **WIDER),
    "which are counted as one": lambda: deltas(OF_THREE_FILES, cluster="files", **WIDER),
    "evals with all in common": lambda: deltas(
        kin(lambda _: {"tags": ["all"], "files": ["all.csv"]}), **WIDER
    ),
    "evals with nothing in common": lambda: deltas(
        kin(lambda at: {"tags": [f"t{at}"], "files": []}), **WIDER
    ),
    "iterations without an eval in common": lambda: deltas(BATCHES),
    "answered as one": lambda: deltas(BATCHES, pool="iteration", **WIDER),
    "a table answered as one": lambda: deltas(BATCHES.runs, pool="iteration", **WIDER),
    # Without the runs that errored the skill helps; as failures they outweigh that.
    "errors that decide": lambda: deltas(
        world(two_sides(lambda _, run: None if run == 2 else 0.7 + run / 10, 0.6, evals=6))
    ),
    "errors alike on both sides": lambda: deltas(world(ERRED)),
    "as many errors of fewer runs": lambda: deltas(world(ERRED[:-1])),
    "errors where neither way is decided": lambda: deltas(
        world(two_sides(lambda at, run: (0.6 + at / 50, None)[run], 0.5, evals=4, k=2))
    ),
    "two judges": lambda: deltas(TWO_JUDGES),
    "tokens, in which no judge has a say": lambda: deltas(TWO_JUDGES, "tokens"),
    "two models": lambda: deltas(by_others(executor_model=("small", "large"))),
    "a gate that takes unequal parts": lambda: deltas_by_dimension(gated()),
    "a gate that takes one run more": lambda: deltas_by_dimension(
        gated(lambda at, run: (at, run) == (7, 0))
    ),
}
SHOWN = "configuration iteration baseline eval_id n_evals estimate low high p verdict".split()
SHOWN += "verdict_with_errors estimate_with_errors n_errored unpaired kind".split()


def test_what_is_said_with_the_verdict() -> None:
    lines: list[str] = []
    for name, work_out in CASES.items():
        rows = plain(work_out())
        lines += [f"# {name}", *lines_of([{one: row.get(one) for one in SHOWN} for row in rows])]
        said = [[row.get("reason"), row.get("text"), *row.get("warnings", ())] for row in rows]
        sentences = dict.fromkeys(one for own in said for one in own if one)
        lines += [f"  {one}" for one in sentences]
    hold("confounds", lines)


def test_iterations_with_evals_in_common_are_not_answered_as_one() -> None:
    with pytest.raises(ValueError, match="have evals in common"):
        deltas(TWO_ITERATIONS, pool="iteration")


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
        says = "No verdict: these runs come from the stand-in"
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
