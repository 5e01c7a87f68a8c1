"""A run as it is reviewed: what it put out, what is to be said of it, what was judged of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.runs import RunKey, folder_of, run_row
from skill_eval_nb.widgets.showing import (
    show_checks,
    show_critique,
    show_figures,
    show_outputs,
    show_rubric,
    show_transcript,
)
from skill_eval_nb.widgets.showing.critique import summary_of
from skill_eval_nb.widgets.showing.rows import rows
from skill_eval_nb.widgets.showing.saying import name, soft
from skill_eval_nb.widgets.showing.transcripts import transcript_summary

from .form import Sheet, form

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs that are looked at.

    Attributes:
        key: the run.
        title: what it is called here.
        look: `with`, `base`, `other`, or `hidden` where nobody is to know.
        sheet: what is said of it.
        hidden: whether nothing may tell which run it is.
        unfolded: the parts that are open.
    """

    key: RunKey
    title: str
    look: str
    sheet: Sheet
    hidden: bool
    unfolded: frozenset[str]


def column(ws: Workspace, side: Side) -> Node:
    """A run and the form for it; the parts of two of them stand in line."""
    row = run_row(ws, side.key)
    folder = folder_of(ws, row)
    parts: list[Child] = [_head(ws, side), _outputs(side, folder), form(side.sheet)]
    if not side.hidden:
        parts += [_checks(ws, side), _rubric(ws, side), _critique(ws, side)]
        parts.append(_transcript(side, folder))
    return h(
        "section",
        [h("div", part) for part in parts],
        cls=f"sen-rv-side sen-rv-{side.look}",
        aria_label=side.title,
        key=side.sheet.token,
    )


def _head(ws: Workspace, side: Side) -> Child:
    title = h("h4", name(side.title), cls="sen-rv-title")
    return title if side.hidden else [title, show_figures(ws, side.key)]


def _outputs(side: Side, folder: Path | None) -> Child:
    if folder is None:
        return [h("h5", "Outputs"), soft("None are stored: this run has no folder of its own.")]
    return [h("h5", "Outputs"), show_outputs(folder, key=side.sheet.token)]


def _checks(ws: Workspace, side: Side) -> Child:
    return [h("h5", "Checks"), show_checks(ws, side.key)]


def _rubric(ws: Workspace, side: Side) -> Child:
    if not rows(ws, "rubric_scores", side.key):
        return None
    return [h("h5", "Rubric"), show_rubric(ws, side.key)]


def _critique(ws: Workspace, side: Side) -> Child:
    shown = show_critique(ws, side.key)
    if shown is None:
        return None
    return _folded(side, "critique", "The judge's critique", summary_of(ws, side.key), shown)


def _transcript(side: Side, folder: Path | None) -> Child:
    told = None if folder is None else transcript_summary(folder)
    if folder is None or told is None:
        return soft("There is no transcript.")
    shown = show_transcript(folder) if "transcript" in side.unfolded else None
    return _folded(side, "transcript", "Transcript", told, shown)


def _folded(side: Side, part: str, title: str, told: str, content: Child) -> Node:
    return h(
        "details",
        h("summary", h("span", title, cls="sen-strong"), " ", h("span", told, cls="sen-soft")),
        content,
        open=part in side.unfolded,
        on={"toggle": ("unfold", part)},
        cls="sen-part",
        key=f"{part}-{side.sheet.token}",
    )
