"""Executors without a model, and jobs made with them."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection, Prices, StandIn, Usage
from skill_eval_nb.models.usage import Rates
from skill_eval_nb.running import Execution, Plan, Task
from tests.running.made_plans import make_skill, plan

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

    def why_not(self, sandbox: str) -> str | None:
        return None

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


def until(condition: Any, seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not so after {seconds} s"
        time.sleep(0.005)
