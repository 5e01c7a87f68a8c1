"""The steps of a run, each whole in itself: execute, check, judge, grade.

A step takes a value that says everything (it may be sent to another process or machine that
shares the workspace's folder), writes its files in one piece, and tells how it ended. What a
model, a tool or an executor did wrong ends in an errored run with the reason; a workspace
that cannot be written ends the job.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from skill_eval_nb.documents import (
    Faults,
    Judging,
    Metrics,
    Structural,
    Timing,
    dump,
    mend,
    parse,
    to_json,
)
from skill_eval_nb.workspace import write_atomic

from ..driving.loops import cut_off, to_the_end
from ..executors.protocol import Execution, Executor, Limits, SandboxKind, Skill, Task
from ..given.suite import PlannedEval
from ..planning.cells import Cell
from ..refused import Refused
from .collecting import collect
from .folders import (
    Unwritable,
    made_by,
    make_ready,
    put_in_place,
    refuse_strangers,
    remove,
)
from .metrics import DONE, metrics_of, timing_of
from .state import CHECKED, ERRORED, EXECUTED, GRADED, JUDGINGS, OF_JUDGE, errored
from .transcripts import as_lines, as_markdown

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Case, Judge, Prepared
    from skill_eval_nb.models import Client, Connection, Meter, Prices

OVER = 30.0
"""Seconds that an executor may take beyond its limit before it is cut off."""

OF_MACHINE = frozenset(
    (
        errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
        errno.EMFILE, errno.ENFILE, errno.ESTALE,
    )
)  # fmt: skip
"""Errors that no other run would be spared."""


_DECODERS = {kind: msgspec.json.Decoder(kind) for kind in (Judging, Metrics, Structural, Timing)}
"""Made here, while this module is imported, by one thread: two that ask msgspec for the first
decoder of a type at the same time crash the process."""


class CannotRun(Exception):
    """The executor cannot run where the step was sent to; no run would be spared it."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is to be made: its cell, its eval, the iteration's folder and its own."""

    cell: Cell
    eval: PlannedEval
    iteration: Path
    place: Path


@dataclass(frozen=True, slots=True)
class Execute:
    """Everything that executing a run takes."""

    run: Run
    executor: Executor
    skill: Skill | None
    model: str
    limits: Limits
    sandbox: SandboxKind
    connection: Connection
    launch: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """Everything that checking a run takes."""

    run: Run
    allow_scripts: bool
    sandbox: SandboxKind


@dataclass(frozen=True, slots=True)
class JudgeOnce:
    """Everything that one judging of a run takes; `hidden` are names that tell the side."""

    run: Run
    judge: Judge
    number: int
    hidden: tuple[str, ...]
    connection: Connection
    prices: Prices | None = None


Order = Execute | Check | JudgeOnce
"""A step that is to be done."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended.

    Attributes:
        reason: why it errored, in words for the user; None where it did not.
        trace: where in the code, if it was an error of a program and not of a model.
        seconds: wall clock.
        gate_passed: what a check found of the gate.
        own_usd: what the executor says it cost, in US dollars, where it asked no meter.
    """

    reason: str | None = None
    trace: str | None = None
    seconds: float = 0.0
    gate_passed: bool | None = None
    own_usd: float | None = None


async def execute(order: Execute, meter: Meter) -> Ended:
    """Execute a run in the staging folder, and put it in its place when it is whole.

    Raises:
        InTheWay: something else lies in its place; nothing was spent.
        CannotRun: the executor cannot run here; nothing was spent.
        Unwritable: the workspace cannot be written.
    """
    run, limits = order.run, order.limits
    refuse_strangers(run.place)
    why = order.executor.why_not(order.sandbox)
    if why is not None:
        raise CannotRun(f"executor `{order.executor.name}` cannot run here: {why}")
    staging, scratch = made_by(run.iteration, run.cell.key, order.launch)
    trace, own_usd = None, None
    began, clock = time.time(), time.perf_counter()
    try:
        ready = asyncio.to_thread(_writing, make_ready, staging, scratch, run.eval.inputs)
        await to_the_end(ready, then_go=True)
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
        execution, trace = await _bounded(order.executor, task, meter)
        own_usd = execution.cost_usd if _unasked(meter) else None
    except Refused as error:
        execution = _nothing(str(error))
    seconds = time.perf_counter() - clock
    execution = _priced(execution, meter)
    done = asyncio.to_thread(_writing, _put, order, execution, began, seconds)
    trace = await to_the_end(done) or trace
    return Ended(errored(run.place), trace, seconds, own_usd=own_usd)


async def _bounded(executor: Executor, task: Task, meter: Meter) -> tuple[Execution, str | None]:
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


def _priced(execution: Execution, meter: Meter) -> Execution:
    """The meter knows what every call cost by the user's prices, the cut off ones too."""
    from dataclasses import replace

    purse = getattr(meter, "purse", None)
    if purse is None or (_unasked(meter) and execution.cost_usd is not None):
        return execution  # what it says itself is all there is
    usage = execution.usage if execution.usage.calls else purse.usage
    cost = None if purse.cost_usd is None else purse.worst_usd
    return replace(execution, usage=usage, cost_usd=cost)


def _unasked(meter: Meter) -> bool:
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
    put_in_place(staging, run.place)
    with contextlib.suppress(OSError):  # something of the executor's may still be writing there
        remove(scratch)
    return trace


def _fill(
    order: Execute, execution: Execution, staging: Path, began: float, seconds: float
) -> None:
    run = order.run
    collected = collect(staging, run.eval.inputs)
    transcript = as_markdown(run.eval.definition.prompt, execution.events, execution.reason)
    timing = timing_of(execution, began, seconds, order.model, order.executor.name)
    (staging / "transcript.jsonl").write_text(as_lines(execution.events), "utf-8")
    (staging / "transcript.md").write_bytes(transcript.encode("utf-8", "backslashreplace"))
    metrics = metrics_of(execution, collected, transcript)
    (staging / "metrics.json").write_bytes(to_json(dump(metrics)))
    (staging / EXECUTED).write_bytes(to_json(dump(timing)))


def check(order: Check) -> Ended:
    """Check a run's structural expectations, and write structural.json.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.structural import check as look

    run = order.run
    clock = time.perf_counter()
    structural = look(
        run.eval.definition.structural_expectations,
        run.place / "outputs",
        run.place / "transcript.jsonl",
        allow_scripts=order.allow_scripts,
        sandbox=order.sandbox,
    )
    _writing(write_atomic, run.place / CHECKED, to_json(dump(structural)))
    return Ended(seconds=time.perf_counter() - clock, gate_passed=structural.gate_passed)


def case_of(run: Run, hidden: tuple[str, ...]) -> Case:
    """A run as its judge is to see it."""
    from skill_eval_nb.grading.judge import Case

    one = run.eval.definition
    return Case(
        prompt=one.prompt,
        expected_output=one.expected_output,
        expectations=one.expectations,
        dimensions=run.eval.dimensions,
        outputs=run.place / "outputs",
        transcript=run.place / "transcript.jsonl",
        key=run.cell.key,
        hidden=hidden,
    )


async def judge(
    order: JudgeOnce, meter: Meter, client: Client, prepared: Prepared | None = None
) -> Ended:
    """Judge a run once, and write its judgings/N.json at once.

    Args:
        order: the run, the judge and the number.
        meter: what every call goes through.
        client: how calls reach the model.
        prepared: the run made ready to be judged; read from the disk where it is not given.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.judge import Unjudged
    from skill_eval_nb.grading.judge import judge as judge_it
    from skill_eval_nb.models import BudgetSpent, ModelFault

    run = order.run
    clock = time.perf_counter()
    case = case_of(run, order.hidden)
    try:
        judging = await judge_it(
            client, order.judge, case, order.number, meter, prices=order.prices, prepared=prepared
        )
    except Unjudged as error:
        return Ended(error.reason, None, time.perf_counter() - clock)
    except (ModelFault, BudgetSpent) as error:
        return Ended(str(error), None, time.perf_counter() - clock)
    write_judging(run, order.number, judging)
    return Ended(seconds=time.perf_counter() - clock)


def write_judging(run: Run, number: int, judging: Judging) -> None:
    """Write judgings/N.json.

    Raises:
        Unwritable: it cannot be written.
    """
    _writing(write_atomic, run.place / JUDGINGS / f"{number}.json", to_json(dump(judging)))


def grade(run: Run) -> Ended:
    """Put a run's checks and judgings together, and write grading.json.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.judge import grade as put_together

    clock = time.perf_counter()
    numbered = sorted(
        (int(path.stem), path)
        for path in (run.place / JUDGINGS).glob("*.json")
        if path.stem.isdecimal()
    )
    grading = put_together(
        _read(run.place / CHECKED, Structural),
        [_read(path, Judging) for _, path in numbered],
        _read(run.place / "metrics.json", Metrics),
        _read(run.place / EXECUTED, Timing),
        dimensions=run.eval.dimensions,
    )
    _writing(write_atomic, run.place / GRADED, to_json(dump(grading)))
    return Ended(seconds=time.perf_counter() - clock)


def mark_errored(run: Run, reason: str) -> None:
    """Write into timing.json that a run is errored; one that was never executed gets a folder.

    Raises:
        Unwritable: it cannot be written.
    """
    timing = _read(run.place / EXECUTED, Timing) or Timing()
    timing.status, timing.reason = ERRORED, reason
    _writing(write_atomic, run.place / EXECUTED, to_json(dump(timing)))


def clear_error(run: Run) -> None:
    """Take back what `mark_errored` wrote of a judge: the run itself is fine, and is judged anew.

    Raises:
        Unwritable: it cannot be written.
    """
    timing = _read(run.place / EXECUTED, Timing)
    if timing is not None and (timing.reason or "").startswith(OF_JUDGE):
        timing.status, timing.reason = DONE, None
        _writing(write_atomic, run.place / EXECUTED, to_json(dump(timing)))


def _read(path: Path, kind: type[Any]) -> Any:
    """A document, or None where there is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return _DECODERS[kind].decode(data)  # as we wrote it
    except msgspec.DecodeError:
        return mend(parse(data, Faults()), kind)[0]


T = TypeVar("T")


def _writing(function: Callable[..., T], *given: Any) -> T:
    """Call what writes files: an error of the machine is told as one.

    Raises:
        Unwritable: no room, no permission, or a disk that fails.
    """
    try:
        return function(*given)
    except OSError as error:
        if error.errno not in OF_MACHINE:
            raise
        raise Unwritable(unwritable(error)) from error


def unwritable(error: OSError) -> str:
    """What to say where a workspace cannot be written."""
    at = f" at {error.filename}" if error.filename else ""
    return (
        f"the workspace cannot be written{at}: {error.strerror}. Nothing that was finished is "
        "lost: see to it, and start the plan again"
    )
