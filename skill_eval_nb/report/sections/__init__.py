"""The sections of a report, one module each: figures in, content out."""

from __future__ import annotations

from collections.abc import Callable

from ..content import Section
from ..measured import Measured
from . import audit, certainty, checks, cost, evals, judge, left_out, notes, rubric, variance

SECTIONS: tuple[Callable[[Measured], Section], ...] = (
    notes.section_of,
    certainty.section_of,
    evals.section_of,
    rubric.section_of,
    variance.section_of,
    judge.section_of,
    checks.section_of,
    left_out.section_of,
    audit.section_of,
    cost.section_of,
)
"""What follows the opening table, in order. A section with nothing in it is not shown."""

__all__ = ["SECTIONS"]
