"""Workspaces made up for the tests of the charts: known figures, any size, any names."""

from __future__ import annotations

import random
from typing import Any

from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.frames import to_polars

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
    "Test first",
    "Clarity",
    "Edge cases",
    "Naming",
    "Evidence",
    "Scope",
    "Style",
    "Depth",
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
    known = {
        "workspace": "tdd-workspace",
        "skill": "tdd",
        "iteration": "iteration-1",
        "eval_id": "0",
        "eval_name": "eval-0",
        "configuration": "with_skill",
        "run_number": 1,
    }
    return known | given


def table(name: str, rows: list[dict[str, Any]]) -> Any:
    """Rows as the table `name`, columns that no row has being null."""
    return to_polars(
        TABLES[name], {key: [row.get(key) for row in rows] for key in TABLES[name].names}
    )


def workspace(**rows: list[dict[str, Any]]) -> Workspace:
    """A workspace of these rows; the tables that are not given are empty."""
    return Workspace.from_tables({name: table(name, given) for name, given in rows.items()})


def world(
    evals: int = 3,
    runs: int = 1,
    dimensions: int = 3,
    expectations: int = 4,
    iterations: int = 1,
    judgings: int = 1,
    configurations: tuple[str, ...] = SIDES,
    names: tuple[str, ...] = NAMES,
    cost: bool = True,
    seed: int = 1,
    workspaces: tuple[str, ...] = ("tdd-workspace",),
) -> Workspace:
    """A plausible workspace: the first configuration is somewhat better, slower and dearer."""
    rng = random.Random(seed)
    made: dict[str, list[dict[str, Any]]] = {"runs": [], "rubric_scores": [], "expectations": []}
    places = [
        (place, step, number, side, run)
        for place in workspaces
        for step in range(1, iterations + 1)
        for number in range(evals)
        for side in range(len(configurations))
        for run in range(1, runs + 1)
    ]
    for place, step, number, side, run in places:
        name = names[number % len(names)] + (f"-{number}" if number >= len(names) else "")
        keys = run_keys(
            workspace=place,
            iteration=f"iteration-{step}",
            eval_id=str(number),
            eval_name=name,
            configuration=configurations[side],
            run_number=run,
        )
        ease = 0.55 + 0.25 * (side == 0) * rng.random() + 0.04 * step + 0.15 * rng.random()
        verdicts = [rng.random() < ease for _ in range(expectations)]
        for check, verdict in enumerate(verdicts):
            made["expectations"].append(
                keys
                | {
                    "layer": "judged",
                    "text": f"The output of {name} meets requirement {check + 1} of the task, "
                    "and says so where a reader would look for it",
                    "passed": None if rng.random() < 0.04 else verdict,
                    "evidence": f"line {check + 3} of report.md",
                }
            )
        for place_of, dimension in enumerate(DIMENSIONS[:dimensions]):
            for judging in range(1, judgings + 1):
                centre = 2.6 + 0.15 * place_of + (0.25 * place_of if side == 0 else 0)
                score = min(5, max(1, round(rng.gauss(centre, 0.8))))
                made["rubric_scores"].append(
                    keys
                    | {
                        "judging": judging,
                        "dimension": dimension,
                        "score": float(score),
                        "weight": 1.0,
                        "evidence": "The summary names the failing test, but not why it failed.",
                    }
                )
        scored = [r["score"] for r in made["rubric_scores"][-max(dimensions * judgings, 1) :]]
        passed = sum(verdicts)
        mean = sum(scored) / len(scored) if dimensions else None
        rate = passed / expectations if expectations else None
        made["runs"].append(
            keys
            | {
                "status": "graded",
                "pass_rate": rate,
                "passed": passed,
                "failed": expectations - passed,
                "total": expectations,
                "rubric_weighted_mean": mean,
                "rubric_normalized": None if mean is None else mean / 5,
                "overall_efficiency": rate
                if mean is None or rate is None
                else (rate + mean / 5) / 2,
                "time_seconds": 60 + 60 * (side == 0) + 30 * rng.random() + 8 * number,
                "tokens": int(12000 + 9000 * (side == 0) + 4000 * rng.random() + 900 * number),
                "cost_usd": (0.05 + 0.04 * (side == 0) + 0.02 * rng.random()) if cost else None,
                "path": f"{place}/iteration-{step}/eval-{number}",
            }
        )
    return workspace(**made)
