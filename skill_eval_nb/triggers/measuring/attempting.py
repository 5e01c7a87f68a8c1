"""One attempt: a query, put to an agent in a place of its own."""

from __future__ import annotations

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.running.executors import Execution, Task
from skill_eval_nb.running.steps.executing import bounded, priced, unasked
from skill_eval_nb.running.steps.folders import remove
from skill_eval_nb.running.steps.waiting import to_the_end

from ..values import Attempt
from .filing import Cell
from .outcome import instead_of, opened_in, outcome_of
from .setting import Setting, mark

if TYPE_CHECKING:
    from skill_eval_nb.running.money.spending import Noted

PREFIX = "run-"
"""What the folder of an attempt begins with; an agent may see it, so it says nothing."""


@dataclass(frozen=True, slots=True)
class Made:
    """An attempt and how it went.

    Attributes:
        attempt: what came of it.
        execution: the run.
        own_usd: what the executor says it cost, in US dollars, where it asked no meter.
    """

    attempt: Attempt
    execution: Execution
    own_usd: float | None


def new_place() -> Path:
    """A new folder for an attempt, outside of all others."""
    return Path(tempfile.mkdtemp(prefix=PREFIX))


async def make_attempt(cell: Cell, setting: Setting, root: Path, meter: Noted) -> Made:
    """Put a query to an agent, with a working folder, a home and a configuration of its own.

    Args:
        cell: the query, and which run of it this is.
        setting: under what it is asked.
        root: the folder that `new_place` made; it is taken away.
        meter: what each call goes through.
    """
    folder, scratch = root / "work", root / "scratch"
    folder.mkdir()
    scratch.mkdir()
    task = Task(
        prompt=cell.query.query,
        folder=folder,
        skill=setting.offered.skill,
        model=setting.model,
        limits=setting.limits,
        key=mark([setting.fingerprint, cell.key]),
        sandbox=setting.sandbox,
        connection=setting.connection,
        scratch=scratch,
        others=setting.offered.others,
        until_opened=True,
    )
    clock = time.perf_counter()
    try:
        execution, _ = await bounded(setting.executor, task, meter)
        seconds = time.perf_counter() - clock
    finally:
        await to_the_end(asyncio.to_thread(remove, root))
    own_usd = execution.cost_usd if unasked(meter) else None
    execution = priced(execution, meter)
    outcome, reason = outcome_of(execution)
    offered = set(setting.offered.digests)
    opened = opened_in(execution, setting.offered.skill.name, offered)
    missed = outcome == "not triggered"
    attempt = Attempt(
        cell.query,
        cell.run,
        outcome,
        reason=reason,
        instead=instead_of(execution, opened) if missed else None,
        opened=opened,
        seconds=round(seconds, 3),
        cost_usd=execution.cost_usd,
    )
    return Made(attempt, execution, own_usd)
