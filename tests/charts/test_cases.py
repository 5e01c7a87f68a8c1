"""What each chart says and draws of rows of known make: titles, notes, data, and their look."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from skill_eval_nb import charts, stats
from skill_eval_nb.charts import (
    discrimination,
    expectation_matrix,
    factors,
    forest,
    iterations,
    judge_confusion,
    lineage,
    plan_curve,
    quality_against_cost,
    rubric_dimensions,
    score_distributions,
    trigger_confusion,
    trigger_rates,
    trigger_rounds,
    variance_components,
)
from skill_eval_nb.charts.checks import MOST
from skill_eval_nb.stats.agreement import HUMAN, ITSELF
from skill_eval_nb.tables import Workspace
from tests.charts.made import (
    ASKED,
    FOUND,
    PLAN,
    QUERY,
    WON,
    ZERO,
    against,
    checked,
    given_to,
    grid,
    judged,
    of_sides,
    planned,
    rated,
    rounds,
    runs_of,
    steps,
    version,
    versions,
)
from tests.charts.specs import (
    axes_of,
    headings_of,
    marks_of,
    spec_of,
    subtitle_of,
    title_of,
    tooltips_of,
)
from tests.charts.worlds import SIDES, models, run_keys, workspace, world
from tests.golden import NAMED, fingerprint, hold, lines_of
from tests.stats.made import attempts

Cases = dict[str, "Callable[[], Any]"]
FOUR = checked(
    *("1 tells with_skill pppppp", "1 tells without_skill ffffff"),
    *("1 against with_skill ffffff", "1 against without_skill pppppp"),
    *("1 easy with_skill pppppp", "1 easy without_skill pppppp"),
    *("1 hard with_skill ffffff", "1 hard without_skill ffffff"),
    *("1 coin with_skill pppfff", "1 coin without_skill ppffff"),
    *("1 unknown with_skill p", "1 unknown without_skill f"),
)
OF_CHECKS: Cases = {
    "counts of what was scored": lambda: expectation_matrix(
        checked(
            "1 reads with_skill pf?",
            "1 reads without_skill ff",
            "1 writes with_skill ??",
            "2 reads with_skill p",
        )
    ),
    "of sixty those that differ most": lambda: expectation_matrix(
        checked(
            *(
                {"text": f"check {at}", "configuration": side}
                | {"passed": side == SIDES[0] or at % 2 == 0}
                for at in range(60)
                for side in SIDES
            )
        )
    ),
    "not scored": lambda: expectation_matrix(checked("?")),
    "a dot of each class": lambda: discrimination(FOUR),
    "one too many for a dot each": lambda: discrimination(
        checked(
            *(
                f"1 check-{at} {side} {'ppp'[:n]}{'fff'[n:]}"
                for at in range(MOST + 1)
                for side, n in zip(SIDES, (at % 3, at % 2), strict=True)
            )
        )
    ),
    "several comparisons": lambda: discrimination(
        world(
            runs=2, configurations=(SIDES[0], "old_skill", SIDES[1]), workspaces=("tdd", "review")
        )
    ),
    "no baseline": lambda: discrimination(world(configurations=("red", "blue"))),
}

SKILL = {"configuration": "with_skill", "tokens": 30, "cost_usd": 0.03, "pass_rate": 1.0}
BARE = {"configuration": "without_skill", "tokens": 10, "cost_usd": 0.0, "pass_rate": 0.5}
OF_COST: Cases = {
    "both sides, of which one is free": lambda: quality_against_cost(
        runs_of(SKILL, BARE | {"run_number": 1})
    ),
    "two workspaces": lambda: quality_against_cost(world(evals=2, workspaces=("tdd", "review"))),
    "all for nothing": lambda: quality_against_cost(
        runs_of({"pass_rate": 1.0, "tokens": 0, "cost_usd": 0.0})
    ),
}

SIX = {
    str(at): [[rate + more + by for more in (0.0, 0.01, 0.03)] for by in (0.3, 0.0)]
    for at, rate in enumerate((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 1)
}
"""Six evals of three runs a side, the skill always 30 points above."""
OF_DELTAS: Cases = {
    "means of both sides, sorted": lambda: charts.deltas(
        rated(
            {
                "1": ((0.5, 0.7), (0.4,)),
                "2": ((0.9, None), (0.1, 0.3)),
                "3": ((0.2,), (0.5,)),
                "4": ((None,), (0.5,)),
                "5": ((0.5,), ()),
            }
        )
    ),
    "below": lambda: charts.deltas(rated({"1": ([0.0], [0.5]), "2": ([0.75], [0.5])})),
    "equal but for rounding": lambda: charts.deltas(rated({"1": ([0.1 + 0.2], [0.3])})),
    "no pair": lambda: charts.deltas(rated({"1": ([1.0], []), "2": ([], [1.0])})),
    "fewer are better": lambda: charts.deltas(rated({"1": ([1], [0])}, "tokens"), metric="tokens"),
    "evals without a pair": lambda: charts.deltas(
        rated({"1": ([1.0], [1.0])} | dict.fromkeys("23456789", ([1.0], [])))
    ),
    "two comparisons": lambda: charts.deltas(rated(dict.fromkeys("12", ([1.0], [0.5], [0.75])))),
    "two models": lambda: charts.deltas(models(evals=2, large=0.4, small=0.0)),
    "of many evals the largest": lambda: forest(world(evals=100, runs=2)),
    "helps": lambda: forest(rated(SIX)),
    "the same": lambda: forest(rated(dict.fromkeys(SIX, [[0.5] * 3] * 2))),
    "dimensions": lambda: forest(world(evals=6, runs=3, dimensions=4), by="dimension"),
    "two iterations": lambda: forest(
        world(evals=6, runs=2, iterations=2), versus=("iteration-2", "iteration-1")
    ),
    "one": lambda: iterations(steps((0.5, 0.5))),
    "workspaces": lambda: iterations(steps((0.5, 0.5), (0.6, 0.5), workspaces="ab")),
    "workspaces of one": lambda: iterations(steps((0.5, 0.5), workspaces="ab")),
    "a rubric alone": lambda: iterations(
        workspace(
            runs=[
                run_keys(iteration=step, status="graded", path=".", rubric_normalized=score)
                for step, score in (("a", 0.5), ("b", 0.8))
            ]
        )
    ),
    "natural order, and a side that is lacking": lambda: iterations(
        steps(
            *((0.5, 0.5), (0.6, None), (0.7, 0.4), (0.7, 0.4)),
            names=[f"iteration-{at}" for at in (10, 9, 2, 1)],
        )
    ),
}

TWO = [
    {"run_number": run, "judge_model": name, "score": float(score)}
    for run, scores in enumerate([(5, 4), (3, 3), (4, 2)], 1)
    for name, score in zip("ab", scores, strict=True)
]
TWICE = [row | {"judging": at} for row in TWO for at in (1, 2)]
HUMANS = pl.DataFrame(
    {"eval_id": ["1"] * 2, "run_number": [1, 2], "dimension": ["Clarity"] * 2, "score": [5, 1]}
)
BY_HAND = HUMANS.with_columns(run_number=1, judging=pl.Series([1, 2]))
LADDER = [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
OF_JUDGES: Cases = {
    "a human": lambda: judge_confusion(judged(TWICE), HUMANS),
    "itself, though there is a human": lambda: judge_confusion(judged(TWICE), HUMANS, kind=ITSELF),
    "not whole, not on the scale": lambda: judge_confusion(
        judged([{"judging": at, "score": score} for at, score in enumerate([3.5, 9.0, 4.0], 1)])
    ),
    "no human": lambda: judge_confusion(judged(TWO), kind=HUMAN),
    "a table by hand with a gap": lambda: judge_confusion(
        BY_HAND.with_columns(score=pl.Series([3.0, math.nan]))
    ),
    "the judge": lambda: variance_components(
        judged([row | {"score": row["score"] + at} for at in (0, 4) for row in grid(LADDER, at)])
    ),
    "not to be told apart": lambda: variance_components(judged(grid([[1], [4], [5]]))),
    "one eval": lambda: variance_components(judged(grid([[1, 5]]))),
    "iterations": lambda: variance_components(
        world(evals=4, runs=2, iterations=2), iteration=["iteration-1", "iteration-2"]
    ),
}

OF_VERSIONS: Cases = {
    "the best": lambda: lineage(WON),
    "an interval that is cut off": lambda: lineage(
        versions(
            version("v0", 0.9, result="baseline"),
            version("v1", 0.95, **against("v0", 0.05, 0.3)),
        )
    ),
    "without a figure": lambda: lineage(
        versions(
            version("v0", 0.5, result="baseline", is_current_best=True),
            version("v1", None, "v0", None),
        )
    ),
    "several skills": lambda: lineage(pl.concat([WON, WON.with_columns(workspace=pl.lit("x"))])),
    "as history.json states it": lambda: lineage(
        Workspace.from_tables({"history": STATED_VERSIONS})
    ),
    "no history": lambda: lineage(runs_of({})),
}
STATED_VERSIONS = WON.select(
    *("workspace", "skill", "version", "parent", "grading_result", "is_current_best"),
    expectation_pass_rate="mean",
)

WORLD = world(evals=8, runs=3, judgings=2)
ASSUMED = {"eval": 0.64, "run": 0.25, "judge": 0.16}
UNPAID = {"price_usd": None, "seconds": None}
PLANS: dict[str, list[dict[str, Any]]] = {
    "in hours": [{"price_usd": None, "seconds": 7200.0}],
    "unpaid, with judgings": [UNPAID, UNPAID | {"changed": "judgings"}],
    "a time": [{"metric": "time_seconds", "wanted": 12.0}],
    "nothing to detect": [{"mde": None, "chosen": False}],
}
OF_PLANS: Cases = {
    **{name: lambda rows=rows: plan_curve(planned(*rows)) for name, rows in PLANS.items()},
    "one more of each": lambda: plan_curve(PLAN),
    "of a dimension, timed": lambda: plan_curve(
        WORLD, "Clarity", target_se=0.3, seconds_per_judging=10
    ),
    "too small an effect": lambda: plan_curve(WORLD, effect=0.001),
    "assumed": lambda: plan_curve(stats.plan(components=ASSUMED, target_se=0.2, max_evals=20)),
    "no baseline": lambda: plan_curve(world(configurations=("red", "blue"))),
}

OF_RUBRIC: Cases = {
    "differ": lambda: rubric_dimensions(judged(of_sides(Clarity=(4, 3.2), Scope=(2, 3.25)))),
    "another scale": lambda: rubric_dimensions(
        judged([{"score": 95.0}, {"score": 1e6, "run_number": 2}])
    ),
    "many dimensions": lambda: rubric_dimensions(
        judged(of_sides(**{f"D{number}": (3 + number / 50, 3) for number in range(50)}))
    ),
    "very many runs": lambda: rubric_dimensions(
        world(evals=100, runs=30, dimensions=1, expectations=0)
    ),
    "shares": lambda: score_distributions(
        judged(
            given_to(SIDES[0], 5, 5, 4, math.nan, math.inf)
            + given_to(SIDES[1], 2)
            + [{"score": None}, *given_to(SIDES[0], 1, 3, dimension="Scope")]
        )
    ),
    "six configurations": lambda: score_distributions(
        judged([row for at in range(6) for row in given_to(f"c{at}", *[3.0] * (at + 1))])
    ),
    "the nearest place": lambda: score_distributions(
        judged(given_to("with_skill", *(1, 5, 2.5, 3.49, 0.5, 5.49, 0.4, 5.5, -9)))
    ),
    "a whole score": lambda: score_distributions(judged(given_to("with_skill", 3))),
}

BETTER = ASKED.with_columns(
    description=pl.lit("better"),
    outcome=pl.when("should_trigger").then(pl.lit("triggered")).otherwise("outcome"),
)
TRIGGERED: dict[str, Callable[[], Any]] = {
    "asked": lambda: ASKED,
    "broken": lambda: ZERO,
    "one that nobody labelled": lambda: attempts((True, "t"), (False, "n"), (None, "t")),
    "two descriptions": lambda: pl.concat(
        [ASKED.with_columns(description=pl.lit("plain")), BETTER], how="diagonal"
    ),
    "very many": lambda: attempts(*((at % 2 == 0, "tn" if at < 20 else "tt") for at in range(200))),
    "an empty workspace": workspace,
    "a set that was never run": lambda: workspace(triggers=[QUERY]),
    "a rate without counts": lambda: workspace(triggers=[QUERY | {"trigger_rate": 0.25}]),
    "a workspace": lambda: workspace(
        triggers=[
            QUERY | {"triggered": 2, "runs": 3},
            QUERY | {"query": "r", "trigger_rate": 0.25},
            QUERY | {"skill": "t", "query": "x"},
        ]
    ),
}
SEARCHED: list[dict[str, Any]] = [
    {"workspace": "w", "skill": "s", "is_best": n == 2, "iteration": n, "description": name}
    | scores
    for n, name, scores in (
        (1, "a", {"train_score": 0.5, "test_score": 0.5}),
        (2, "b", {"train_score": 0.6}),
        (3, "c", {}),
    )
]
OF_TRIGGERS: Cases = {
    **{
        f"{chart.__name__}, {name}": lambda chart=chart, made=made: chart(made())
        for name, made in TRIGGERED.items()
        for chart in (trigger_rates, trigger_confusion)
    },
    "the best of three rounds": lambda: trigger_rounds(FOUND),
    "none is chosen": lambda: trigger_rounds(rounds((0.5, 0.4), (0.7, 0.3))),
    "rounds of two": lambda: trigger_rounds(
        workspace(optimizations=[row | {"workspace": of} for of in "wx" for row in SEARCHED])
    ),
    "no search": lambda: trigger_rounds(workspace()),
}

MODELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "three models": ({"large": 0.4, "middle": 0.2, "small": 0.0}, {}),
    "single runs": ({"k": 1, "large": 0.3, "small": 0.3}, {}),
    "one model": ({"large": 0.4}, {}),
}
OF_MODELS: Cases = {
    name: lambda made=made, how=how: factors(models(**made), **how)
    for name, (made, how) in MODELS.items()
}
CASES = {
    "checks": OF_CHECKS,
    "cost": OF_COST,
    "deltas": OF_DELTAS,
    "judges": OF_JUDGES,
    "lineage": OF_VERSIONS,
    "plans": OF_PLANS,
    "rubric": OF_RUBRIC,
    "triggers": OF_TRIGGERS,
    "models": OF_MODELS,
}


def lines_of_chart(chart: Any) -> Iterator[str]:
    """What it says and draws; how all of it looks is a digest."""
    spec = spec_of(chart)
    yield from (title_of(spec), subtitle_of(spec))
    drawn = {"marks": sorted(marks_of(spec)), "axes": [*dict.fromkeys(axes_of(spec))]}
    drawn |= {"tooltips": sorted(tooltips_of(spec)), "part": headings_of(spec)}
    yield from lines_of(drawn)
    yield from lines_of([*spec.get("datasets", {}).values()], "data")
    look = json.dumps({**spec, "datasets": [], "config": []}, sort_keys=True)
    yield f"look: {fingerprint(NAMED.sub('…', look))}"


@pytest.mark.parametrize("of", CASES)
def test_what_is_said_and_drawn(of: str) -> None:
    lines: list[str] = []
    for name, made in CASES[of].items():
        lines += [f"# {name}", *lines_of_chart(made())]
    hold(f"charts_{of}", lines)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: discrimination(FOUR, baseline="withskill"), "Did you mean `with_skill`"),
        (lambda: quality_against_cost(WORLD, quality="pas_rate"), "Did you mean `pass_rate`"),
        (lambda: charts.deltas(WORLD, metric="pas_rate"), "Did you mean `pass_rate`"),
        (lambda: forest(WORLD, by="dimensions"), "Did you mean `dimension`"),
        (lambda: factors(WORLD, factor="judge"), "no factor `judge`"),
        (lambda: judge_confusion(judged(TWO), kind=f"{HUMAN}s"), f"Did you mean `{HUMAN}`"),
        (lambda: plan_curve(WORLD, iteration="iteration-l"), "Did you mean `iteration-1`"),
    ],
)
def test_what_is_not_there_names_the_nearest(wrong: Callable[[], Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        wrong()
