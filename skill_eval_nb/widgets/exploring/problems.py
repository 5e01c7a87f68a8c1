"""The problems of the data: what could not be used as it is, and the runs that it touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import button, notice, pill

from .grid import grid, of_page, pager, row
from .look import Look
from .selection import of_path
from .words import called, count

if TYPE_CHECKING:
    import polars as pl

Row = Mapping[str, Any]
SEVERITIES = {"error": "bad", "warning": "odd", "info": ""}
"""Severities, the worst first, and how each stands out."""
PLURALS = {"error": "errors", "warning": "warnings", "info": "for information"}
COLUMNS = 4


def problems(look: Look) -> Node:
    """The view of problems: errors first."""
    every = of_workspace(look)
    if not every:
        return notice("Everything could be used as it is.", fine=True)
    counts = Counter(one["severity"] for _, one in every)
    chosen = look.seen.severity if look.seen.severity in counts else ""
    kept = [item for item in every if chosen in ("", item[1]["severity"])]
    runs = look.ws.polars("runs").filter(workspace=look.choice.workspace, skill=look.choice.skill)
    rows: list[Node] = []
    for number, one in of_page(kept, look.seen.page("problems")):
        at = ("problems", str(number))
        rows.append(_row(look, number, one, runs, at))
        rows += look.below(at, COLUMNS)
    return h(
        "div",
        _severities(counts, chosen),
        grid(
            "What was found in the files, and what to do",
            ["Problem", "Where", "What was found", "Runs"],
            rows,
            cls="sen-x-problems",
        ),
        pager(len(kept), look.seen.page("problems"), "problems", "problem"),
    )


def of_workspace(look: Look) -> list[tuple[int, Row]]:
    """The problems of the workspace that is looked at, and of none; each with its row's number."""
    worst = list(SEVERITIES)
    rows = [
        (number, one)
        for number, one in enumerate(look.ws.polars("problems").iter_rows(named=True))
        if one["workspace"] in (None, look.choice.workspace)
    ]
    return sorted(rows, key=lambda item: worst.index(item[1]["severity"]))


def _severities(counts: Counter[str], chosen: str) -> Node | None:
    if len(counts) < 2:
        return None
    names = [name for name in SEVERITIES if counts[name]]
    words = {name: PLURALS[name] if counts[name] > 1 else name for name in names}
    return h(
        "div",
        button(
            f"All {counts.total():,}",
            ("choose_severity", ""),
            aria_pressed="false" if chosen else "true",
        ),
        [
            button(
                f"{counts[name]:,} {words[name]}",
                ("choose_severity", name),
                aria_pressed="true" if name == chosen else "false",
            )
            for name in names
        ],
        cls="sen-row sen-x-filters",
        role="group",
        aria_label="Severity",
    )


def _row(look: Look, number: int, one: Row, runs: pl.DataFrame, at: tuple[str, ...]) -> Node:
    touched = of_path(runs, one["path"]).height
    found: Child = h("span", "of no run alone", cls="sen-soft sen-small")
    if touched:
        spoken = f"{called(one['code'])}: show the {count(touched, 'run')} it is about"
        found = button(count(touched, "run"), ("pick_problem", number), aria_label=spoken)
    return row(
        [pill(one["severity"], SEVERITIES[one["severity"]]), h("small", f" {called(one['code'])}")],
        [
            [
                h("code", called(one["path"], 400), cls="sen-x-path"),
                h("small", f" {called(one['where'], 200)}", cls="sen-soft")
                if one["where"]
                else None,
            ],
            called(one["message"], 600),
            found,
        ],
        key=str(at),
        chosen=look.is_at(at),
    )
