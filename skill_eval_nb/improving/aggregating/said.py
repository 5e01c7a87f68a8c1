"""What the graders of a workspace said, one by one, and what each is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skill_eval_nb.stats.names import natural
from skill_eval_nb.tables.frames import frame_of

from ..values import RunRef, Source
from .assertions import About, Finder, finder

KINDS = ("critique", "vague", "missing_coverage", "suggested")
"""Suggestions for a change; `overall` is none, and `aggregate` is a collection already."""
LONGEST = 4000
"""Characters of what a grader said that are looked at."""
VAGUE = "The grader calls it vague."


@dataclass(frozen=True, slots=True)
class Said:
    """A source, and the expectation that it is about; None: a missing or an unknown one."""

    source: Source
    about: About | None

    @property
    def suite(self) -> tuple[str, str]:
        """The workspace and the skill, across which nothing is the same."""
        return self.source.run.workspace, self.source.run.skill

    @property
    def text(self) -> str:
        """What is compared: with the grader's name of an expectation that is not known."""
        named = self.source.expectation if self.about is None else None
        return f"{named}: {self.source.reason}" if named else self.source.reason


def said(data: Any) -> tuple[Said, ...]:
    """Every suggestion for a change, in the order of its run's keys; each once a run."""
    import polars as pl

    frame = frame_of(data, "suggestions").filter(pl.col("kind").is_in(KINDS))
    find = finder(data)
    sources = {
        _source(RunRef(*run), kind, expectation, reason[:LONGEST])
        for *run, kind, expectation, reason in frame.select(
            *RunRef._fields, "kind", "expectation", "reason"
        ).iter_rows()
    }
    return tuple(Said(one, _about(one, find)) for one in sorted(sources, key=_order))


def runs_read(data: Any) -> int:
    """The number of runs that a grader looked at."""
    return int((frame_of(data, "runs")["status"] == "graded").sum())


def _source(run: RunRef, kind: str, expectation: str | None, reason: str) -> Source:
    if kind == "vague":  # what `test-cases` has is the expectation's text alone
        return Source(run, kind, reason, VAGUE)
    return Source(run, kind, (expectation or "").strip() or None, reason)


def _about(source: Source, find: Finder) -> About | None:
    about = find(source.run, source.expectation, source.reason)
    if about is None and source.kind == "vague":
        text = source.expectation or ""
        return About(text, text)
    return about


def _order(one: Source) -> tuple[Any, ...]:
    run = [natural(str(key)) for key in one.run]
    return (run, KINDS.index(one.kind), one.expectation or "", one.reason)
