"""What a workspace holds, at a glance: the facts that its notebook view and its text show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.workspace import NO_ITERATION, UNSTATED, natural

from .columns import TABLES

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
    """The facts of a workspace view.

    `statuses` and `severities` count the runs and the problems, `rows` the rows of the tables
    that have some. A step is code to run next, and why.
    """

    path: str
    lines: tuple[Line, ...]
    statuses: dict[str, int]
    severities: dict[str, int]
    problems: tuple[Kind, ...]
    next_steps: tuple[tuple[str, str], ...]
    rows: dict[str, int]


def overview(ws: Workspace) -> Overview:
    """Count what a workspace holds, and say what to look at next."""
    frames = {name: ws.polars(name) for name in TABLES}
    severities = dict(frames["problems"]["severity"].value_counts().iter_rows())
    return Overview(
        ws.path,
        tuple(_lines(frames)),
        _statuses(frames["runs"]),
        {one: severities.get(one, 0) for one in SEVERITIES},
        tuple(_kinds(frames["problems"])),
        tuple(_next_steps(frames)),
        {name: frame.height for name, frame in frames.items() if frame.height},
    )


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _lines(frames: dict[str, pl.DataFrame]) -> list[Line]:
    """A line a workspace that some table speaks of, the one with most graded runs first."""
    skills = {
        workspace: skill
        for frame in frames.values()
        if "skill" in frame.columns
        for workspace, skill in frame.select("workspace", "skill").unique().iter_rows()
    }
    runs, evals = frames["runs"], frames["evals"]
    lines = []
    for name in sorted(skills, key=natural):
        mine = runs.filter(runs["workspace"] == name)
        defined = evals.filter(evals["workspace"] == name)
        lines.append(
            Line(
                name,
                skills[name],
                tuple(sorted(set(mine["iteration"]) - {NO_ITERATION}, key=natural)),
                tuple(mine["configuration"].unique(maintain_order=True)),
                len({*mine["eval_id"], *defined["eval_id"]}),
                _statuses(mine),
            )
        )
    graded = STATUSES[:2]
    return sorted(  # otherwise they stay in the order of their names
        lines,
        key=lambda one: (
            -sum(one.statuses.get(each, 0) for each in graded),
            -sum(one.statuses.values()),
        ),
    )


def _statuses(runs: pl.DataFrame) -> dict[str, int]:
    counts = dict(runs["status"].value_counts().iter_rows())
    return {status: counts[status] for status in STATUSES if status in counts}


def _kinds(problems: pl.DataFrame) -> list[Kind]:
    groups = problems.group_by("severity", "code", maintain_order=True)
    kinds = [
        Kind(str(severity), str(code), group.height, group["path"][0], group["message"][0])
        for (severity, code), group in groups
    ]
    return sorted(kinds, key=lambda kind: (SEVERITIES.index(kind.severity), -kind.count, kind.code))


def _next_steps(frames: dict[str, pl.DataFrame]) -> list[tuple[str, str]]:
    """What to look at next, errors first."""
    runs, problems = frames["runs"], frames["problems"]
    steps: list[tuple[str, str]] = []
    if errors := problems.filter(problems["severity"] == "error").height:
        steps.append(("ws.problems", f"{counted(errors, 'thing')} on disk could not be used"))
    waiting = runs.filter(runs["status"].is_in(["executed", "errored", "ungraded"])).height
    if waiting:
        has, enter = ("has", "it enters") if waiting == 1 else ("have", "they enter")
        steps.append(("ws.runs", f"{counted(waiting, 'run')} {has} no grading: {enter} no rate"))
    sides = set(runs["configuration"]) - {UNSTATED}
    if len(sides) > 1:
        steps.append(("sen.charts.forest(ws)", "what the skill changes, and how sure that is"))
    elif runs.height:
        all_of = f"every run is of {sides.pop()}" if sides else "no run names its configuration"
        steps.append(("ws.runs", f"{all_of}: without a baseline nothing can be compared"))
    for table, code, why in _STEPS:
        if frames[table].height:
            steps.append((code, why))
    if not runs.height and frames["evals"].height:
        steps.append(("ws.evals", "there are evals here, and no runs yet"))
    return steps


_STEPS = (
    ("rubric_scores", "sen.charts.variance_components(ws)", "which dimensions vary, and why"),
    ("expectations", "sen.charts.discrimination(ws)", "which expectations tell something"),
    ("stated", "sen.stats.audit(ws)", "whether benchmark.json says what its runs give"),
)
"""A table, what to look at where it has rows, and why."""
