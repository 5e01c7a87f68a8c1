"""A search and a measurement whose folders an earlier version has written: `stored.json`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection, Usage
from skill_eval_nb.running import Execution, Limits, Task
from skill_eval_nb.triggers import Measured, Optimised, Query, measure, optimise
from tests.triggers.made import FLY, OPENED, ROW, Told, make_skill
from tests.triggers.test_optimising import PRESENT, routed

WANTED = {True: "invoice posting", False: "poem verse"}
QUERIES = [
    *(Query(f"For Belda: please do the {topic}", should) for should, topic in WANTED.items()),
    *(Query(f"For Dorka: please do the {topic}", should) for should, topic in WANTED.items()),
    Query("For Finmi: please do the bank reconciliation", should_trigger=True),
    Query("For Garno: please do the bank reconciliation", should_trigger=True),
]
HAIKU = "claude-haiku-4-5"
SPENT = Usage(output_tokens=1000, calls=1)
"""What each run of the measurement uses."""


def searched(root: Path, asked: Callable[[], object]) -> Optimised:
    """A search of one round, where no model can be asked; `asked` is called at every run."""
    skill = root / "books"
    if not skill.exists():
        make_skill(skill, description=PRESENT, body="# Books\n")

    def run(task: Task) -> Execution:
        asked()
        return routed(task)

    nobody = Connection(base_url="http://127.0.0.1:1")
    given = {"model": HAIKU, "others": "none", "runs": 1, "rounds": 1, "held_out": 0.5}
    return optimise(skill, QUERIES, executor=Told(run), connection=nobody, **given)


@dataclass(frozen=True)
class Paying:
    """An executor that pays for one call a run."""

    name: str = "paying"

    def why_not(self, sandbox: str) -> str | None:
        return None

    async def execute(self, task: Task, meter: Any) -> Execution:
        ticket = meter.reserve(task.model, SPENT)
        meter.settle(ticket, SPENT)
        return OPENED


def measured_once(root: Path) -> Measured:
    """A measurement of two queries under a ceiling; the stored one was killed in its second run."""
    if not (root / "kites").exists():
        make_skill(root / "kites")
    return measure(
        root / "kites",
        [FLY, ROW],
        runs=1,
        model=HAIKU,
        executor=Paying(),
        others="none",
        limits=Limits(turns=1, usd=0.02),
        budget_usd=1.0,
        concurrency=1,
        seed=0,
    )
