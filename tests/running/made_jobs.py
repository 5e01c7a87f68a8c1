"""Skills and suites, executors without a model, and plans and jobs made with them."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection, Prices, StandIn, Usage
from skill_eval_nb.models.usage import Rates
from skill_eval_nb.running import Execution, Plan, Task, plan_runs
from skill_eval_nb.running.journal import Record, read_journal
from skill_eval_nb.running.spec import Missing
from tests.corpus.build import lay

SKILL = "---\nname: notes\ndescription: Writes notes.\n---\n\n# Notes\n\nWrite them.\n"

EVALS: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "Short log",
        "prompt": "Write notes of evals/files/log.txt",
        "expected_output": "one note",
        "files": ["evals/files/log.txt"],
        "expectations": ["It has one note"],
        "structural_expectations": [{"type": "file_exists", "pattern": "*.md", "critical": True}],
        "quality_rubric": {"dimensions": [{"name": "plain", "weight": 1.0}]},
    },
    {"id": 2, "name": "No log", "prompt": "Write notes", "expectations": ["It asks for a log"]},
    {"id": 3, "prompt": "Write notes about everything", "expectations": ["Notes are short"]},
]


def steps_of(missing: Missing) -> tuple[str, ...]:
    """The steps that a run lacks, in words: execute, check, judge 1, …, grade."""
    judged = [f"judge {number}" for number in missing.judgings]
    first = [name for name in ("execute", "check") if getattr(missing, name)]
    return (*first, *judged, *(["grade"] if missing.grade else []))


ONE_CENT = Usage(output_tokens=10_000, calls=1)
"""A usage that costs one cent with `PRICES`."""

PRICES = Prices(
    "2026-01", {"worker": Rates(1, 1, 1, 1, 1, 0.5), "judge": Rates(1, 1, 1, 1, 1, 0.5)}
)
"""A dollar for a million tokens, of whatever kind."""


@dataclass(frozen=True)
class Writer:
    """Writes one note and says so; may take its time, spend, fail or hang."""

    seconds: float = 0.0
    calls: int = 0
    seed: int = 0
    raises: str | None = None
    hangs: bool = False
    deaf: bool = False
    name: str = "writer"
    stand_in: StandIn | None = None
    reason: str | None = field(default=None, compare=False)

    def why_not(self, sandbox: str) -> str | None:
        return self.reason

    async def execute(self, task: Task, meter: Any) -> Execution:
        rng = random.Random(f"{self.seed} {task.key}")
        used = Usage()
        for _ in range(self.calls):
            worst = Usage(output_tokens=rng.randint(1, 10_000), calls=1)
            ticket = meter.reserve(task.model, worst)
            await asyncio.sleep(rng.random() * self.seconds)
            kind = rng.random()
            if kind < 0.1:
                meter.release(ticket)
            elif kind < 0.2:
                meter.settle(ticket, None)
            else:
                answer = Usage(output_tokens=rng.randint(0, worst.output_tokens), calls=1)
                meter.settle(ticket, answer)
                used += answer
        if not self.calls:
            await asyncio.sleep(self.seconds)
        if self.raises is not None:
            raise ZeroDivisionError(self.raises)
        while self.hangs:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if not self.deaf:
                    raise
        (task.folder / "notes.md").write_text("# Notes\n\n- a note\n")
        says = {"id": f"msg_{task.key}", "content": [{"type": "text", "text": "Done."}]}
        event = {"type": "assistant", "message": says, "timestamp": "2026-01-01T00:00:00Z"}
        return Execution("done", None, (event,), used, None, None)


OFFLINE = Writer(name="offline", stand_in=StandIn())


def make_skill(folder: Path, evals: list[dict[str, Any]] | None = None, **suite: Any) -> Path:
    """A skill with its evals, and things beside it that are no part of it."""
    files = {
        "SKILL.md": SKILL,
        "scripts/help.py": "print('help')\n",
        "evals/evals.json": {"evals": EVALS if evals is None else evals, **suite},
        "evals/files/log.txt": "fix: clocks\n",
        "trigger-eval-set.json": "[]",
        "notes-workspace/iteration-1/benchmark.json": "{}",
        "__pycache__/x.pyc": "",
    }
    return lay(folder, files)


def plan(folder: Path, **options: Any) -> Plan:
    """A plan of the skill in `folder`/skill, which is made where it is not there."""
    skill = folder / "skill"
    if not skill.exists():
        make_skill(skill)
    given = {"executor": OFFLINE, "workspace": folder / "ws", **options}
    return plan_runs(skill, **given)


def job_plan(folder: Path, executor: Any | None = None, **options: Any) -> Plan:
    """A plan of three evals on two sides, judged by the stand-in within the process."""
    if not (folder / "skill").exists():
        make_skill(folder / "skill", skill_name="notes")
    given: dict[str, Any] = {
        "executor": Writer() if executor is None else executor,
        "executor_model": "worker",
        "judge_model": "stand-in-judge",
        "connection": Connection(stand_in=StandIn()),
        "prices": PRICES,
        "runs": 1,
        **options,
    }
    return plan(folder, **given)


def journal(folder: Path) -> Record:
    """What the journal of a job of `job_plan` tells."""
    return read_journal(folder / "ws" / "iteration-1")


def until(condition: Any, seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not so after {seconds} s"
        time.sleep(0.005)
