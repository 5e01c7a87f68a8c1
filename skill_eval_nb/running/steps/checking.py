"""The second step of a run: its deterministic checks."""

from __future__ import annotations

import time

from skill_eval_nb.documents import Structural, to_json

from .files import write
from .orders import Check, Ended
from .state import CHECKED


def check(order: Check) -> Ended:
    """Check what layer 1 checks of a run, and write structural.json.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.structural import check as look

    run = order.run
    clock = time.perf_counter()
    structural = look(
        run.eval.checks,
        run.place / "outputs",
        run.place / "transcript.jsonl",
        allow_scripts=order.allow_scripts,
        sandbox=order.sandbox,
    )
    write(run.place / CHECKED, structural_json(structural))
    return Ended(seconds=time.perf_counter() - clock, gate_passed=structural.gate_passed)


def structural_json(structural: Structural) -> bytes:
    """The bytes of structural.json, in the form of the dialect that has it."""
    from skill_eval_nb.documents.dialects import write as in_dialect

    return to_json(in_dialect("structural", structural, "skill-evaluator")[0])
