"""Workspaces made up for the tests of the charts: known figures, any size, any names."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from skill_eval_nb.tables import Workspace
from tests.tables.made import workspace

SIDES = ("with_skill", "without_skill")
NAMES = (
    "writes-the-failing-test-first",
    "refactors-without-changing-behaviour",
    "names-the-bug-before-fixing-it",
    "keeps-the-public-interface",
    "covers-the-edge-cases-of-dates",
    "explains-the-trade-off",
)
DIMENSIONS = (
    *("Test first", "Clarity", "Edge cases", "Naming"),
    *("Evidence", "Scope", "Style", "Depth"),
)
HOSTILE = (
    "<script>alert('x')</script>",
    "a.b[0]['c']:d\\e",
    'say "hi" \N{GRINNING FACE}\nand\tgo',
    "datum.x + 1",
    "\u202egnp.exe",
    "",
    "__proto__",
    "null",
)


def run_keys(**given: Any) -> dict[str, Any]:
    """The keys of a run, with defaults."""
    known = {"workspace": "tdd-workspace", "skill": "tdd", "iteration": "iteration-1"}
    known |= {"eval_id": "0", "eval_name": "eval-0", "configuration": "with_skill"}
    return known | {"run_number": 1} | given


def world(
    evals: int = 3,
    runs: int = 1,
    dimensions: int = 3,
    expectations: int = 4,
    iterations: int = 1,
    judgings: int = 1,
    configurations: tuple[str, ...] = SIDES,
    names: tuple[str, ...] = NAMES,
    workspaces: tuple[str, ...] = ("tdd-workspace",),
) -> Workspace:
    """A plausible workspace: the first configuration is somewhat better, slower and dearer."""
    rng = random.Random(1)
    made: dict[str, list[dict[str, Any]]] = {"runs": [], "rubric_scores": [], "expectations": []}
    sides, steps = range(len(configurations)), range(1, iterations + 1)
    for place, step, number, side, run in product(
        workspaces, steps, range(evals), sides, range(1, runs + 1)
    ):
        name = names[number % len(names)] + (f"-{number}" if number >= len(names) else "")
        keys = run_keys(workspace=place, iteration=f"iteration-{step}", run_number=run)
        keys |= {"eval_id": str(number), "eval_name": name, "configuration": configurations[side]}
        first = side == 0
        ease = 0.55 + 0.25 * first * rng.random() + 0.04 * step + 0.15 * rng.random()
        verdicts = [rng.random() < ease for _ in range(expectations)]
        for check, verdict in enumerate(verdicts):
            text = f"The output of {name} meets requirement {check + 1} of the task, "
            own = {"text": text + "and says so where a reader would look for it"}
            own["passed"] = None if rng.random() < 0.04 else verdict
            own |= {"layer": "judged", "evidence": f"line {check + 3} of report.md"}
            made["expectations"].append(keys | own)
        scored = []
        for at, judging in product(range(dimensions), range(1, judgings + 1)):
            centre = 2.6 + 0.15 * at + 0.25 * at * first
            scored.append(float(min(5, max(1, round(rng.gauss(centre, 0.8))))))
            own = {"judging": judging, "dimension": DIMENSIONS[at], "score": scored[-1]}
            own |= {"evidence": "The summary names the failing test, but not why it failed."}
            made["rubric_scores"].append(keys | own | {"weight": 1.0})
        passed = sum(verdicts)
        mean = sum(scored) / len(scored) if scored else None
        rate = passed / expectations if expectations else None
        both = rate if mean is None or rate is None else (rate + mean / 5) / 2
        figures = {"status": "graded", "path": f"{place}/iteration-{step}/eval-{number}"}
        figures |= {"passed": passed, "failed": expectations - passed, "total": expectations}
        figures |= {"rubric_weighted_mean": mean, "rubric_normalized": mean and mean / 5}
        figures |= {"pass_rate": rate, "overall_efficiency": both}
        figures["time_seconds"] = 60 + 60 * first + 30 * rng.random() + 8 * number
        figures["tokens"] = int(12000 + 9000 * first + 4000 * rng.random() + 900 * number)
        figures["cost_usd"] = 0.05 + 0.04 * first + 0.02 * rng.random()
        made["runs"].append(keys | figures)
    return workspace(**made)


@cache
def models(k: int = 3, evals: int = 8, column: str = "executor_model", **lifts: float):
    """Runs of models, each of which the skill lifts by so much; half of them in two harnesses."""
    rng = np.random.default_rng(evals)
    runs = [
        run_keys(eval_id=str(at), eval_name=f"eval-{at}", configuration=side)
        | {"run_number": run + 1 + 10 * place, column: model, "status": "graded", "path": "."}
        | {"pass_rate": 0.4 + lift * (side == SIDES[0]) + 0.05 * rng.standard_normal()}
        for (place, (model, lift)), at, side, run in product(
            enumerate(lifts.items()), range(evals), SIDES, range(k)
        )
    ]
    return workspace(runs=runs)
