"""What stands out: the analyst's notes, by rule."""

from __future__ import annotations

from ..content import Bullets, Section, section
from ..measured import Measured
from ..plain import line

ELSEWHERE = ("left out", "unpaired")
"""Kinds of notes whose story a section of its own tells."""


def sentences(measured: Measured) -> list[str]:
    """The notes on an iteration, those that matter most first."""
    return [line(row["text"], 2000) for row in measured.notes if row["kind"] not in ELSEWHERE]


def section_of(measured: Measured) -> Section:
    """What to look at first."""
    told = sentences(measured)
    return section("What stands out", [Bullets(tuple(told))] if told else [])
