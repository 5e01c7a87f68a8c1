"""What a workspace holds, at a glance: the facts that its notebook view and its text show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.workspace import UNSTATED, natural

if TYPE_CHECKING:
    import polars as pl

    from .workspace import Workspace

STATUSES = ("graded", "gated", "executed", "errored", "ungraded")
SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Line:
    """One workspace: its name, what is in it."""

    workspace: str
    skill: str
    iterations: tuple[str, ...]
    configurations: tuple[str, ...]
    n_evals: int
    statuses: dict[str, int]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: how often it was met, and the first one."""

    severity: str
    code: str
    count: int
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The facts of a workspace view."""

    path: str
    lines: tuple[Line, ...]
    severities: dict[str, int]
    problems: tuple[Kind, ...]
    next_steps: tuple[tuple[str, str], ...]


def overview(ws: Workspace) -> Overview:
    """Count what a workspace holds, and say what to look at next."""
    problems = ws.polars("problems")
    return Overview(
        ws.path,
        tuple(_lines(ws)),
        {one: problems.filter(problems["severity"] == one).height for one in SEVERITIES},
        tuple(_kinds(problems)),
        tuple(_next_steps(ws)),
    )


def _lines(ws: Workspace) -> list[Line]:
    runs, evals = ws.polars("runs"), ws.polars("evals")
    names = dict.fromkeys([*runs["workspace"].unique(), *evals["workspace"].unique()])
    lines = []
    for name in sorted(names, key=natural):
        mine = runs.filter(runs["workspace"] == name)
        defined = evals.filter(evals["workspace"] == name)
        skills = [*mine["skill"].head(1), *defined["skill"].head(1)]
        statuses = dict(mine["status"].value_counts().iter_rows())
        lines.append(
            Line(
                name,
                skills[0],
                tuple(sorted(mine["iteration"].unique(), key=natural)),
                tuple(mine["configuration"].unique(maintain_order=True)),
                len({*mine["eval_id"], *defined["eval_id"]}),
                {status: statuses[status] for status in STATUSES if status in statuses},
            )
        )
    return lines


def _kinds(problems: pl.DataFrame) -> list[Kind]:
    groups = problems.group_by("severity", "code", maintain_order=True)
    kinds = [
        Kind(str(severity), str(code), group.height, group["path"][0], group["message"][0])
        for (severity, code), group in groups
    ]
    return sorted(kinds, key=lambda kind: (SEVERITIES.index(kind.severity), -kind.count, kind.code))


def _next_steps(ws: Workspace) -> list[tuple[str, str]]:
    """What to look at next: code, and why."""
    runs, problems = ws.polars("runs"), ws.polars("problems")
    steps: list[tuple[str, str]] = []
    errors = problems.filter(problems["severity"] == "error").height
    if errors:
        steps.append(("ws.problems", f"{errors} things on disk could not be used"))
    waiting = runs.filter(runs["status"].is_in(["executed", "errored", "ungraded"])).height
    if waiting:
        steps.append(("ws.runs", f"{waiting} runs have no grading: they enter no rate"))
    sides = set(runs["configuration"].unique()) - {UNSTATED}
    if len(sides) > 1:
        steps.append(("sen.charts.deltas(ws)", "what the skill changes, eval by eval"))
    elif runs.height:
        only = next(iter(sides), UNSTATED)
        steps.append(
            ("ws.runs", f"every run is of {only}: without a baseline nothing can be compared")
        )
    if ws.polars("rubric_scores").height:
        steps.append(("sen.charts.rubric_dimensions(ws)", "how the rubric's dimensions vary"))
    if ws.polars("expectations").height:
        steps.append(("sen.charts.expectation_matrix(ws)", "which expectations tell something"))
    if ws.polars("stated").height:
        steps.append(("sen.stats.audit(ws)", "whether benchmark.json says what its runs give"))
    if not runs.height and ws.polars("evals").height:
        steps.append(("ws.evals", "there are evals here, and no runs yet"))
    return steps
