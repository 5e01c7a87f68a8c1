"""Rows of known figures for single charts: verdicts, scores, costs, versions, rounds, queries."""

from __future__ import annotations

from typing import Any

import polars as pl

from skill_eval_nb import stats
from skill_eval_nb.tables import Workspace
from tests.charts.worlds import SIDES, run_keys
from tests.stats.made import attempts
from tests.tables.made import workspace

Row = dict[str, Any]
GRADED = {"status": "graded", "path": "."}


def checked(*told: Any) -> Workspace:
    """A workspace of verdicts: eval, text, configuration and a mark a run (p, f or ?); or rows."""
    bare = {"eval_id": "1", "text": "reads", "configuration": "with_skill", "run_number": 1}
    rows = []
    for one in told:
        if isinstance(one, dict):
            rows.append(bare | one)
            continue
        *names, marks = one.split()
        own = dict(zip(("eval_id", "text", "configuration"), names, strict=False))
        rows += [
            bare | own | {"run_number": run, "passed": {"p": True, "f": False, "?": None}[mark]}
            for run, mark in enumerate(marks, 1)
        ]
    named = (run_keys(eval_name=f"e{row['eval_id']}", layer="judged") | row for row in rows)
    return workspace(expectations=[*named])


def runs_of(*rows: Row) -> Workspace:
    """A workspace of runs with these figures, numbered."""
    numbered = enumerate(rows, 1)
    return workspace(runs=[run_keys(run_number=at, **GRADED) | row for at, row in numbered])


def rated(evals: dict[str, tuple], metric: str = "pass_rate", **more: Any) -> Workspace:
    """A workspace of runs: of each eval the figures of its runs, a side after the other."""
    return runs_of(
        *(
            {"eval_id": name, "eval_name": f"eval-{name}", "configuration": side, metric: value}
            | more
            for name, both in evals.items()
            for side, values in zip((*SIDES, "old_skill"), both, strict=False)
            for value in values
        )
    )


def steps(*rates: tuple, workspaces: Any = ("w",), names: Any = None, **more: Any) -> Workspace:
    """A workspace of a run an iteration and side: (0.5, 0.25), (0.6, None)."""
    names = names or [f"iteration-{at}" for at in range(1, len(rates) + 1)]
    return workspace(
        runs=[
            run_keys(workspace=place, iteration=name, configuration=side, **GRADED)
            | {"pass_rate": rate, **more}
            for place in workspaces
            for name, both in zip(names, rates, strict=True)
            for side, rate in zip(SIDES, both, strict=True)
            if rate is not None
        ]
    )


def judged(rows: list[Row]) -> Workspace:
    """A workspace of these judgings, counted, and of the runs that they are of."""
    bare = {"eval_id": "1", "run_number": 1, "dimension": "Clarity", "weight": 1.0}
    made = [run_keys(**bare | {"judging": at} | row) for at, row in enumerate(rows)]
    made = [row | {"eval_name": f"e{row['eval_id']}"} for row in made]
    runs = {(row["eval_id"], row["configuration"], row["run_number"]): row for row in made}
    return workspace(rubric_scores=made, runs=[row | GRADED for row in runs.values()])


def of_sides(**both: tuple) -> list[Row]:
    """A judging of each side on each dimension."""
    return [
        {"configuration": side, "dimension": name, "score": float(score)}
        for name, scores in both.items()
        for side, score in zip(SIDES, scores, strict=True)
    ]


def given_to(side: str, *scores: float, dimension: str = "Clarity") -> list[Row]:
    return [{"configuration": side, "dimension": dimension, "score": score} for score in scores]


def grid(scores: list[list[float]], judging: int = 1) -> list[Row]:
    """Rows of scores: one list an eval, of its runs."""
    return [
        {"eval_id": str(at), "run_number": run, "score": float(score), "judging": judging}
        for at, runs in enumerate(scores)
        for run, score in enumerate(runs, 1)
    ]


def version(name: str, mean: float | None, parent: Any = None, result: Any = "tie", **more: Any):
    """A row of the table of versions; a tie with an interval of ten points unless told."""
    number = int(name[1:]) + 1
    known = {"workspace": "w", "skill": "s", "metric": "pass_rate", "n_evals": 6, "n_runs": 18}
    known |= {"version": name, "iteration": f"iteration-{number}", "parent": parent}
    known |= {"mean": mean, "expectation_pass_rate": mean, "estimate": None, "low": None}
    known |= {"high": None, "grading_result": result, "reason": "as planted"}
    changed = {"what_changed": "SKILL.md +3 −1 lines"}
    known |= {"is_current_best": False} | (changed if parent else dict.fromkeys(changed))
    return known | more


def against(parent: str, estimate: float, spread: float = 0.05) -> Row:
    """What a version has against its parent."""
    ends = {"low": estimate - spread, "high": estimate + spread}
    return {"parent": parent, "estimate": estimate} | ends


def versions(*rows: Row) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


WON = versions(
    version("v0", 0.3, result="baseline"),
    version("v1", 0.8, result="won", is_current_best=True, **against("v0", 0.5)),
    version("v2", 0.82, result="tie", **against("v1", 0.02)),
    version("v3", 0.4, result="lost", **against("v1", -0.4)),
)


def rounds(*scores: tuple[float, float], best: int | None = None) -> pl.DataFrame:
    """Rounds of train and held-out scores, each with an interval of 20 points."""
    rows = [
        {"round": n, "description": f"description {n}", "is_best": n == best}
        | {
            f"{side}_{end}": value
            for side, score in (("train", train), ("test", test))
            for end, value in (("score", score), ("low", score - 0.1), ("high", score + 0.1))
        }
        for n, (train, test) in enumerate(scores, 1)
    ]
    return pl.DataFrame(rows)


FOUND = rounds((0.5, 0.4), (0.7, 0.8), (0.9, 0.7), best=2)
ASKED = attempts(
    (True, "ttt", {"query": "fill in this form"}),
    (True, "ttn", {"query": "sign it"}),
    (True, "nnn", {"query": "read it", "instead": "answered at once"}),
    (True, "e--", {"query": "split it", "reason": "timed out"}),
    (False, "nnn", {"query": "what is a form?"}),
    (False, "ttt", {"query": "merge my branches", "tags": ["near miss"]}),
)
ZERO = attempts((True, "nnn"), (False, "nnn"))
QUERY = {"workspace": "w", "skill": "s", "should_trigger": True, "query": "q"}


PLAN = stats.plan(
    components={"effect": 0.012, "run": 0.02, "judge": 0.01},
    effect=0.2,
    price_per_run=0.2,
    price_per_judging=0.05,
    seconds_per_run=20,
    max_evals=12,
)
"""The cheapest design, and those with more of one."""


def planned(*rows: Row) -> pl.DataFrame:
    """The first row of PLAN, changed to each of these."""
    known = PLAN.row(0, named=True) | {"metric": "pass_rate"}
    return pl.DataFrame([known | row for row in rows], infer_schema_length=None)
