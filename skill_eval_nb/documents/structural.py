"""structural.json: the verdicts of layer 1, the deterministic checks."""

from __future__ import annotations

from typing import Annotated

from .document import Document, says
from .grading import GradedExpectation, Summary

CHECK_FAILED = "Not scored: the check itself failed"
"""How the evidence begins where a check could not be carried out for no reason that is known."""


class Structural(Document):
    """What the structural checker found in one run, and whether the gate was passed."""

    expectations: Annotated[
        list[GradedExpectation], says("the verdicts", also=("assertions", "results", "checks"))
    ]
    summary: Annotated[Summary | None, says("the checker's own count", inline=True)] = None
    gate_passed: Annotated[
        bool | None,
        says(
            "false where a critical expectation failed: the judge is then skipped; null where "
            "none failed and one was not scored"
        ),
    ] = None
