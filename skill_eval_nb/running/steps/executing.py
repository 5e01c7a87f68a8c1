"""The first step of a run: an executor works on its prompt.

What a model, a tool or an executor did wrong ends in an errored run with the reason; a
workspace that cannot be written ends the job.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from skill_eval_nb.disk import write_atomic
from skill_eval_nb.documents import dump, to_json

from ..executors.protocol import Execution, Executor, Task
from ..refused import Refused
from .collecting import collect
from .files import OF_MACHINE, writing
from .folders import made_by, make_ready, put_in_place, refuse_strangers, remove
from .metrics import metrics_of, timing_of
from .orders import Ended, Execute
from .state import EXECUTED, errored
from .transcripts import as_lines, as_markdown
from .waiting import cut_off, to_the_end

if TYPE_CHECKING:
    from pathlib import Path

    from skill_eval_nb.models import Meter

OVER = 30.0
"""Seconds that an executor may take beyond its limit before it is cut off."""


class CannotRun(Exception):
    """The executor cannot run where the step was sent to; no run would be spared it."""


async def execute(order: Execute, meter: Meter) -> Ended:
    """Execute a run far from its place, and put it there when it is whole.

    Raises:
        InTheWay: something else lies in its place; nothing was spent.
        CannotRun: the executor cannot run here; nothing was spent.
        Unwritable: the workspace cannot be written.
    """
    run, limits = order.run, order.limits
    refuse_strangers(run.place, run.iteration)
    why = order.executor.why_not(order.sandbox)
    if why is not None:
        raise CannotRun(f"executor `{order.executor.name}` cannot run here: {why}")
    staging, scratch = made_by(run.iteration, run.cell.key, order.launch)
    trace, own_usd = None, None
    began, clock = time.time(), time.perf_counter()
    try:
        folders = (staging, scratch, run.eval.inputs)
        if run.eval.inputs:
            ready = asyncio.to_thread(writing, make_ready, *folders)
            await to_the_end(ready, then_go=True)
        else:  # two folders are made sooner than a thread has its turn
            writing(make_ready, *folders)
        task = Task(
            prompt=run.eval.definition.prompt,
            folder=staging / "outputs",
            skill=order.skill,
            model=order.model,
            limits=limits,
            key=run.cell.key,
            sandbox=order.sandbox,
            connection=order.connection,
            scratch=scratch,
        )
        began, clock = time.time(), time.perf_counter()
        execution, trace = await bounded(order.executor, task, meter)
        own_usd = execution.cost_usd if unasked(meter) else None
    except Refused as error:
        execution = _nothing(str(error))
    seconds = time.perf_counter() - clock
    execution = priced(execution, meter)
    done = asyncio.to_thread(writing, _put, order, execution, began, seconds)
    trace = await to_the_end(done) or trace
    return Ended(errored(run.place), trace, seconds, own_usd=own_usd)


async def bounded(executor: Executor, task: Task, meter: Meter) -> tuple[Execution, str | None]:
    """Let an executor work, under a clock that it cannot stop; and the trace of its error."""
    working = asyncio.ensure_future(executor.execute(task, meter))
    most = task.limits.seconds + OVER
    try:
        await asyncio.wait((working,), timeout=most)
        if not working.done():
            return _nothing(
                f"the executor `{executor.name}` did not end within {most:g} s (its limit is "
                f"{task.limits.seconds:g} s), and was cut off"
            ), None
        execution = working.result()
    except asyncio.CancelledError:
        if not working.done() or not working.cancelled():
            raise
        return _nothing(f"the executor `{executor.name}` cancelled itself"), None
    except Exception as error:  # noqa: BLE001 -- anybody may have written it
        told = f"the executor `{executor.name}` failed: {type(error).__name__}: {error}"
        return _nothing(told), traceback.format_exc()
    finally:
        if not working.done():
            await cut_off(working)
    if not isinstance(execution, Execution):
        told = f"the executor `{executor.name}` gave a {type(execution).__name__}, no Execution"
        return _nothing(told), None
    return execution, None


def _nothing(reason: str) -> Execution:
    from skill_eval_nb.models import Usage

    return Execution("errored", reason, (), Usage(), None, None, "")


def priced(execution: Execution, meter: Meter) -> Execution:
    """The meter knows what every call cost by the user's prices, the cut off ones too."""
    purse = getattr(meter, "purse", None)
    if purse is None or (unasked(meter) and execution.cost_usd is not None):
        return execution  # what it says itself is all there is
    usage = execution.usage if execution.usage.calls else purse.usage
    cost = None if purse.cost_usd is None else purse.worst_usd
    return replace(execution, usage=usage, cost_usd=cost)


def unasked(meter: Meter) -> bool:
    """Whether an executor has asked no meter for anything that was billed."""
    purse = getattr(meter, "purse", None)
    return purse is not None and not purse.usage.calls and not purse.worst_usd


def _put(order: Execute, execution: Execution, began: float, seconds: float) -> str | None:
    """Write all of a run's files and put it in place.

    What an agent left behind may be such that it cannot be collected: then the run is
    errored, without outputs, and the trace is given.
    """
    run = order.run
    staging, scratch = made_by(run.iteration, run.cell.key, order.launch)
    trace = None
    try:
        _fill(order, execution, staging, began, seconds)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in OF_MACHINE:
            raise
        trace = traceback.format_exc()
        remove(staging)
        (staging / "outputs").mkdir(parents=True)
        reason = f"its outputs could not be collected: {type(error).__name__}: {error}"
        failed = Execution(
            "errored", reason, (), execution.usage, execution.cost_usd, execution.skill_used, ""
        )
        _fill(order, failed, staging, began, seconds)
    put_in_place(staging, run.iteration, run.place)
    with contextlib.suppress(OSError):  # something of the executor's may still be writing there
        remove(scratch)
    return trace


def _fill(
    order: Execute, execution: Execution, staging: Path, began: float, seconds: float
) -> None:
    run = order.run
    collected = collect(staging, run.eval.inputs)
    timing = timing_of(execution, began, seconds, order.model, order.executor.name)
    transcript = as_markdown(
        run.eval.definition.prompt,
        execution.events,
        execution.reason,
        timing,
        execution.skill_used,
    )
    # What was said and done is for the user's own eyes.
    write_atomic(staging / "transcript.jsonl", as_lines(execution.events), private=True)
    told = transcript.encode("utf-8", "backslashreplace")
    write_atomic(staging / "transcript.md", told, private=True)
    metrics = metrics_of(execution, collected, transcript)
    (staging / "metrics.json").write_bytes(to_json(dump(metrics)))
    (staging / EXECUTED).write_bytes(to_json(dump(timing)))
