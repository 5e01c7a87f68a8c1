"""Workspaces made up for the tests of the report: rows as dicts, so that tests can count them."""

from __future__ import annotations

from typing import Any

from skill_eval_nb.tables import TABLES, Workspace
from tests.charts.worlds import SIDES, run_keys
from tests.tables.made import workspace

Rows = list[dict[str, Any]]

HOSTILE = (
    "a | b || c",
    "`code` ``more``",
    "<script>alert('x')</script>",
    "# not a heading #",
    "- no item\n\n1. nor this",
    "*stars* _under_ ~~gone~~ [link](https://example.org) ![image](x.png)",
    "&amp; &lt; \\ \\| $x$ $y$",
    "\N{GRINNING FACE} \N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER} \u202egnp.exe",
    "=====\r\nsetext",
    "'quotes' \"and\" </style></svg>]]>",
    "a name like a figure (n = 3)",
)
"""Texts that mean something to Markdown, to HTML, or to a reader's eye."""


def run(
    eval_id: str, configuration: str, number: int, rate: float | None, **more: Any
) -> dict[str, Any]:
    """A run that scored four expectations, or none where its rate is None."""
    known = run_keys(eval_id=eval_id, eval_name=f"eval {eval_id}", run_number=number)
    known |= {"configuration": configuration, "pass_rate": rate, "overall_efficiency": rate}
    known |= {"path": f"iteration-1/eval-{eval_id}/{configuration}/run-{number}"}
    if rate is None:
        return known | {"status": "errored"} | more
    passed = round(rate * 4)
    scored = {"status": "graded", "passed": passed, "failed": 4 - passed, "total": 4}
    return known | scored | more


def balanced(baseline: str = "without_skill", **more: Any) -> Rows:
    """Two evals, two runs on each side: +0.50 and +0.25."""
    rates = (("1", (1.0, 0.75), (0.5, 0.25)), ("2", (0.75, 0.75), (0.5, 0.5)))
    rows = []
    for eval_id, *both in rates:
        for at, pair in enumerate(both):
            for number, rate in enumerate(pair, 1):
                cost = {"time_seconds": 53.0 + 10 * number - 13 * at}
                cost |= {"tokens": 4700 + 100 * number - 1700 * at}
                name = baseline if at else "with_skill"
                rows.append(run(eval_id, name, number, rate, **cost, **more))
    return rows


def of_two_models(one: str = "large", other: str = "small") -> Rows:
    """The same of two models, the other of which is worse with the skill; a third has one side."""
    rows = balanced(executor_model=one)
    for row in balanced(executor_model=other):
        more = {"run_number": row["run_number"] + 2, "pass_rate": 1 - row["pass_rate"]}
        rows.append(row | more | {"path": f"{row['path']}-{other}"})
    return [*rows, run("1", "with_skill", 5, 1.0, executor_model="third")]


def keys(row: dict[str, Any]) -> dict[str, Any]:
    """The keys of a run, for rows of other tables."""
    names = TABLES["claims"].names[:7]
    return {name: row[name] for name in names}


def check(
    row: dict[str, Any], text: str, passed: bool | None, layer: str = "judged"
) -> dict[str, Any]:
    """An expectation of a run."""
    return {**keys(row), "layer": layer, "text": text, "passed": passed, "evidence": "line 3"}


def score(
    row: dict[str, Any], dimension: str, value: float | None, judging: int = 1
) -> dict[str, Any]:
    """A score of a run."""
    known = {"dimension": dimension, "score": value, "weight": 1.0, "evidence": "because"}
    return {**keys(row), "judging": judging, **known}


def problem(severity: str = "error", **more: Any) -> dict[str, Any]:
    """A problem with a file."""
    return {"severity": severity, "code": "c", "workspace": "tdd-workspace", **more}


def whole(**more: Any) -> dict[str, Rows]:
    """The tables of two evals, with a check of each run that tells nothing, and a score."""
    rows = balanced(**more)
    texts = ("is there", "is right")
    return {
        "runs": rows,
        "expectations": [check(row, text, text == "is there") for row in rows for text in texts],
        "rubric_scores": [score(row, "clarity", 3.0 + (row["run_number"] == 1)) for row in rows],
    }


def stated(*figures: tuple[str, str, str, float]) -> Rows:
    """What a benchmark.json states: configuration, metric, statistic, value."""
    names = ("configuration", "metric", "statistic", "value")
    place = {"workspace": "tdd-workspace", "skill": "tdd", "iteration": "iteration-1"}
    place |= {"path": "iteration-1/benchmark.json"}
    return [
        place | dict(zip(names, one, strict=True)) | {"printed": str(one[3])} for one in figures
    ]


def in_iterations(*numbers: int) -> Rows:
    """The same two evals in several iterations."""
    return [row | {"iteration": f"iteration-{n}"} for n in numbers for row in balanced()]


def one_side() -> Rows:
    """Of two evals the runs with the skill."""
    return [row for row in balanced() if row["configuration"] == "with_skill"]


def helping(evals: int, runs: int) -> Rows:
    """Evals on which the skill is always better by half."""
    return [
        run(str(at), side, number, (0.5 if side == "with_skill" else 0.0) + number / 10 + at / 40)
        for at in range(evals)
        for side in SIDES
        for number in range(1, runs + 1)
    ]


def hostile() -> Workspace:
    """A workspace in which every text is one of HOSTILE, but for the two usual configurations."""
    runs: Rows = []
    checks: Rows = []
    scores: Rows = []
    for place, text in enumerate(HOSTILE):
        for configuration in ("with_skill", "without_skill", HOSTILE[place % 3]):
            row = run(str(place), configuration, 1, 0.5, eval_name=text, executor_model=HOSTILE[2])
            row |= {"workspace": HOSTILE[0], "skill": HOSTILE[2], "iteration": HOSTILE[4]}
            row |= {"rubric_normalized": 0.6, "rubric_weighted_mean": 3.0, "tokens": 10}
            runs.append(row)
            checks.append(check(row, text, True) | {"evidence": text})
            scores.append(score(row, text, 3.0) | {"evidence": text})
    errored = runs[0] | {"run_number": 2, "status": "errored", "pass_rate": None}
    problems = [
        problem(path=text, where=text, message=text, workspace=HOSTILE[0]) for text in HOSTILE
    ]
    return workspace(
        runs=[*runs, errored], expectations=checks, rubric_scores=scores, problems=problems
    )
