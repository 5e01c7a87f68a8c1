"""The steps of a run, and the files that each writes: executed, checked, judged, graded.

If a model, a tool or an executor fails, the run is errored, with the reason; a workspace that
cannot be written ends the job.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import write_atomic
from skill_eval_nb.documents import Judging, Metrics, Structural, Timing, dump, to_json
from skill_eval_nb.documents.transcript import Step, Told, calls_once, read_steps

from .budget import Budget, Halted
from .files import (
    OF_MACHINE,
    Collected,
    call_writer,
    collect,
    make_ready,
    put_in_place,
    read_document,
    refuse_strangers,
    remove,
    work_folders,
    write,
    write_judging,
)
from .journal import Ended, notes_of
from .protocol import Execution, Executor, Refused, Task
from .spec import (
    CHECKED,
    DONE,
    ERRORED,
    EXECUTED,
    GRADED,
    JUDGINGS,
    Order,
    Run,
    Spec,
    reason_errored,
)
from .threads import cut_off, finish_work

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Case, Prepared
    from skill_eval_nb.models import Client, Meter


def check(order: Order) -> Ended:
    """Make the checks of layer 1 on a run, and write structural.json.

    If no judge will look at the run, its grading.json is written as well.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.structural import check as look

    run, plan = order.run, order.plan
    clock = time.perf_counter()
    structural = look(
        run.eval.checks,
        run.place / "outputs",
        run.place / "transcript.jsonl",
        allow_scripts=plan.allow_scripts,
        sandbox=plan.sandbox,
    )
    judged = plan.judgings > 0 and run.eval.has_judged
    if not judged or (plan.gate and structural.gate_passed is False):
        write(run.place / GRADED, unjudged_json(run.place, structural))
    write(run.place / CHECKED, structural_json(structural))
    return Ended(seconds=time.perf_counter() - clock)


def structural_json(structural: Structural) -> bytes:
    """The bytes of structural.json, as its dialect defines it."""
    from skill_eval_nb.documents.dialects import canonical

    return to_json(canonical(structural))


def unjudged_json(folder: Path, structural: Structural) -> bytes:
    """The bytes of grading.json for a run that no judge looks at."""
    from skill_eval_nb.grading.grades import grade_unjudged

    metrics = read_document(folder / "metrics.json", Metrics)
    timing = read_document(folder / EXECUTED, Timing)
    return to_json(dump(grade_unjudged(structural, metrics, timing)))


def timing_of(
    execution: Execution, began: float, seconds: float, model: str, executor: str
) -> Timing:
    """How long a run took and what it used.

    Args:
        execution: the executor's result.
        began: when the executor began, in seconds since 1970.
        seconds: how long it took, by a monotonic clock.
        model: the model that worked.
        executor: the executor's name.
    """
    usage = execution.usage
    seconds = max(round(seconds, 3), 0.001)  # a time of 0 would be read as not measured
    return Timing(
        total_tokens=usage.total or None,  # no tokens counted means not known
        duration_ms=round(seconds * 1000),
        total_duration_seconds=seconds,
        executor_start=_iso_time(began),
        executor_end=_iso_time(began + seconds),
        executor_duration_seconds=seconds,
        model=model,
        status=DONE if execution.status == "done" else ERRORED,
        reason=execution.reason,
        executor=executor,
        cost_usd=execution.cost_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        model_calls=usage.calls,
    )


def metrics_of(execution: Execution, collected: Collected, transcript: str) -> Metrics:
    """What a run did and produced.

    Args:
        execution: the executor's result.
        collected: the run's outputs.
        transcript: the transcript in Markdown; its characters are counted.
    """
    told = [*read_steps(execution.events)]
    steps = [step for one in told for step in one.steps]
    tools = Counter(call.text for call in calls_once(steps))
    return Metrics(
        tool_calls=dict(sorted(tools.items())),
        total_tool_calls=tools.total(),
        total_steps=max((one.turn for one in told), default=0),
        files_created=collected.files,
        errors_encountered=sum(step.failed for step in steps),
        output_chars=collected.chars,
        transcript_chars=len(transcript),
        cost_usd=execution.cost_usd,
        skill_used=execution.skill_used,
        left_out=collected.left_out,
    )


def _iso_time(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def failed_step(error: Exception) -> Ended:
    """The end of a step by an error of a program; call it where the error is handled."""
    return Ended(f"{type(error).__name__}: {error}", traceback.format_exc())


OVER = 30.0
"""Seconds beyond its limit after which an executor is cut off."""


class CannotRun(Exception):
    """The executor cannot run where the step was sent; that would hit every other run, too."""


async def execute(order: Order, meter: Meter, client: Client | None = None) -> Ended:
    """Execute a run outside the workspace, and move it into place when it is complete.

    Raises:
        InTheWay: something else is in its place; nothing was spent.
        CannotRun: the executor cannot run here; nothing was spent.
        Unwritable: the workspace cannot be written.
    """
    run, plan = order.run, order.plan
    refuse_strangers(run.place, plan.folder)
    why = plan.executor.why_not(plan.sandbox)
    if why is not None:
        raise CannotRun(f"executor `{plan.executor.name}` cannot run here: {why}")
    staging, scratch = work_folders(order.plan.folder, run.cell.key, order.launch)
    trace = None
    began, clock = time.time(), time.perf_counter()
    try:
        ready = asyncio.to_thread(call_writer, make_ready, staging, scratch, run.eval.inputs)
        await finish_work(ready, then_go=True)
        task = Task(
            prompt=run.eval.definition.prompt,
            folder=staging / "outputs",
            skill=order.skill,
            model=plan.executor_model,
            limits=plan.limits,
            key=run.cell.key,
            sandbox=plan.sandbox,
            connection=plan.connection,
            scratch=scratch,
            client=client,
        )
        began, clock = time.time(), time.perf_counter()
        execution, trace = await execute_bounded(plan.executor, task, meter)
    except Refused as error:
        execution = _empty_execution(str(error))
    seconds = time.perf_counter() - clock
    execution = call_writer(price_execution, execution, meter)
    done = asyncio.to_thread(call_writer, _put_in_place, order, execution, began, seconds)
    trace = await finish_work(done) or trace
    return Ended(reason_errored(run.place), trace, seconds)


async def execute_bounded(
    executor: Executor, task: Task, meter: Meter
) -> tuple[Execution, str | None]:
    """Let an executor work under a time limit; returns its result and the trace of its error."""
    working = asyncio.ensure_future(executor.execute(task, meter))
    most = task.limits.seconds + OVER
    try:
        await asyncio.wait((working,), timeout=most)
        if not working.done():
            return _empty_execution(
                f"the executor `{executor.name}` did not end within {most:g} s (its limit is "
                f"{task.limits.seconds:g} s), and was cut off"
            ), None
        execution = working.result()
    except asyncio.CancelledError:
        if not working.done() or not working.cancelled():
            raise
        return _empty_execution(f"the executor `{executor.name}` cancelled itself"), None
    except Exception as error:  # noqa: BLE001 -- it may be a third party's
        reason = f"the executor `{executor.name}` failed: {type(error).__name__}: {error}"
        return _empty_execution(reason), traceback.format_exc()
    finally:
        if not working.done():
            await cut_off(working)
    if not isinstance(execution, Execution):
        reason = f"the executor `{executor.name}` gave a {type(execution).__name__}, no Execution"
        return _empty_execution(reason), None
    return execution, None


def _empty_execution(reason: str) -> Execution:
    from skill_eval_nb.models import Usage

    return Execution("errored", reason, (), Usage(), None, None)


def price_execution(execution: Execution, meter: Meter) -> Execution:
    """An execution with the meter's cost, which uses the user's prices and counts cut-off calls.

    If its executor made no billed call through the meter, what it says itself is all that is known,
    and is counted: from now on it is spent, even if the run cannot be written.

    Raises:
        OSError: it cannot be noted.
    """
    if not isinstance(meter, Budget):
        return execution
    own_usd = execution.cost_usd
    if own_usd is not None and not meter.usage.calls and not meter.worst_usd:
        meter.count(own_usd)
        return execution
    usage = execution.usage if execution.usage.calls else meter.usage
    cost = None if meter.cost_usd is None else meter.worst_usd
    return replace(execution, usage=usage, cost_usd=cost)


def _put_in_place(order: Order, execution: Execution, began: float, seconds: float) -> str | None:
    """Write all files of a run and move it into place.

    If the agent's files cannot be collected, the run is errored, without outputs, and the trace
    is returned.
    """
    run = order.run
    staging, scratch = work_folders(order.plan.folder, run.cell.key, order.launch)
    trace = None
    try:
        _fill_staging(order, execution, staging, began, seconds)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in OF_MACHINE:
            raise
        _stop_if_given_up(order)
        trace = traceback.format_exc()
        remove(staging)
        (staging / "outputs").mkdir(parents=True)
        reason = f"its outputs could not be collected: {type(error).__name__}: {error}"
        failed = replace(execution, status="errored", reason=reason, events=())
        _fill_staging(order, failed, staging, began, seconds)
    if execution.status == "errored":
        _stop_if_given_up(order)
    put_in_place(staging, order.plan.folder, run.place)
    with contextlib.suppress(OSError):  # a process of the executor may still be writing there
        remove(scratch)
    return trace


def _stop_if_given_up(order: Order) -> None:
    """Stop a worker that continues after its job has ended: its errors are not the run's.

    Raises:
        Halted: the job has closed this launch.
    """
    if not notes_of(order.plan.folder, order.launch).exists():
        raise Halted


def _fill_staging(
    order: Order, execution: Execution, staging: Path, began: float, seconds: float
) -> None:
    run, plan = order.run, order.plan
    collected = collect(staging, run.eval.inputs)
    timing = timing_of(execution, began, seconds, plan.executor_model, plan.executor.name)
    transcript = as_markdown(run.eval.definition.prompt, execution, timing)
    # Transcripts are readable only by the user.
    write_atomic(staging / "transcript.jsonl", as_lines(execution.events), private=True)
    content = transcript.encode("utf-8", "backslashreplace")
    write_atomic(staging / "transcript.md", content, private=True)
    metrics = metrics_of(execution, collected, transcript)
    (staging / "metrics.json").write_bytes(to_json(dump(metrics)))
    (staging / EXECUTED).write_bytes(to_json(dump(timing)))


def grade(run: Run) -> None:
    """Combine a run's checks and judgings, and write grading.json.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.grades import grade as put_together

    judgings = (path for path in (run.place / JUDGINGS).glob("*.json") if path.stem.isdecimal())
    numbered = sorted(judgings, key=lambda path: int(path.stem))
    grading = put_together(
        read_document(run.place / CHECKED, Structural),
        [read_document(path, Judging) for path in numbered],
        read_document(run.place / "metrics.json", Metrics),
        read_document(run.place / EXECUTED, Timing),
        dimensions=run.eval.dimensions,
    )
    write(run.place / GRADED, to_json(dump(grading)))


def case_of(run: Run, plan: Spec) -> Case:
    """A run as its judge sees it."""
    from skill_eval_nb.grading.judge import Case

    definition = run.eval.definition
    return Case(
        prompt=definition.prompt,
        expected_output=definition.expected_output,
        expectations=run.eval.judged,
        dimensions=run.eval.dimensions,
        outputs=run.place / "outputs",
        transcript=run.place / "transcript.jsonl",
        key=run.cell.key,
        inputs=run.place / "inputs",
        hidden=plan.hidden,
        configurations=plan.configurations,
    )


async def judge(
    order: Order, meter: Meter, client: Client, prepared: Prepared | None = None
) -> Ended:
    """Judge a run once, and write its judgings/N.json at once.

    Args:
        order: what to judge, and how.
        meter: the meter for every call.
        client: how calls reach the model.
        prepared: the run prepared for judging; read from the disk if not given.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.judge import Unjudged, prepare
    from skill_eval_nb.grading.judge import judge as judge_it
    from skill_eval_nb.models import BudgetSpent, ModelFault

    run, plan = order.run, order.plan
    assert plan.judge is not None
    clock = time.perf_counter()
    try:
        ready = prepared or await asyncio.to_thread(prepare, plan.judge, case_of(run, plan))
        judging = await judge_it(client, ready, order.number, meter, prices=plan.prices)
    except (Unjudged, ModelFault, BudgetSpent) as error:
        return Ended(str(error), None, time.perf_counter() - clock)
    write_judging(run.place, order.number, judging)
    return Ended(seconds=time.perf_counter() - clock)


# ── the transcript ───────────────────────────────────────────────────────────────────────────────

LONGEST = 20_000
"""Characters of one piece of text in the Markdown; the lines of JSON have all of it."""

_TICKS = re.compile(r"`{3,}")

Event = Mapping[str, Any]


def fence_text(text: str, language: str = "text") -> str:
    """Text in a code fence that nothing inside can close; a long one is cut, and says so."""
    if len(text) > LONGEST:
        left_out = len(text) - LONGEST
        text = f"{text[:LONGEST]}\n({left_out:,} more characters: see transcript.jsonl)"
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 3)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def name_or_code(name: Any) -> str:
    r"""A name: unchanged if it is a plain one, else as code.

    >>> name_or_code("Bash"), name_or_code("a `b`\n# c")
    ('Bash', '`a b # c`')
    """
    return str(name) if re.fullmatch(r"[A-Za-z][\w.-]{0,79}", str(name), re.ASCII) else code(name)


def code(value: Any) -> str:
    """A short text as inline code."""
    plain = re.sub(r"[`\s]+", " ", str(value)).strip()[:100]
    return f"`{plain or '?'}`"


def _format_events(told: Iterable[Told]) -> Iterator[str]:
    """The events in Markdown, in their order, with a heading for each answer."""
    last = 0
    for _, at, steps, turn in told:
        if turn > last:
            last = turn
            yield f"## Turn {turn}{_format_since(at)}"
        for step in steps:
            yield from _format_step(step)


def _format_since(at: float | None) -> str:
    return "" if at is None else f" ({at:.1f} s)"


_HEADS = {
    "thinking": "Thinking:",
    "told": "### Instructions to the agent",
    "system": "From the executor:",
}
"""What stands above words, by whose they are."""


def _format_step(step: Step) -> Iterator[str]:
    if step.who == "call":
        yield from _call_lines(step.text, step.given)
        return
    if step.who == "other":
        yield f"A block of type {code(step.text)}."
        return
    if step.who == "result":
        tool = name_or_code(step.call.text) if step.call else "a tool"
        yield f"### Result of {tool}{', an error' * step.failed}{_format_since(step.at)}"
    elif step.who in _HEADS:
        yield _HEADS[step.who]
    yield fence_text(step.text)


def _call_lines(name: str, given: Any) -> Iterator[str]:
    """A call of a tool; commands and arguments with several lines have their own fence."""
    yield f"Calls {name_or_code(name)}:"
    fields = given if isinstance(given, Mapping) else {}
    long = {
        key: value
        for key, value in fields.items()
        if isinstance(value, str) and (key == "command" or "\n" in value)
    }
    rest = {key: fields[key] for key in fields if key not in long} if fields else given
    if rest:
        yield fence_text(json.dumps(rest, ensure_ascii=False), "json")
    for key, value in long.items():
        if key == "command":
            yield fence_text(value, "sh")
        else:
            yield f"{code(key)}:"
            yield fence_text(value)


def as_lines(events: Iterable[Event]) -> str:
    """`transcript.jsonl`: each event unchanged, one per line."""
    return "".join(json.dumps(event, ensure_ascii=True) + "\n" for event in events)


def as_markdown(prompt: str, execution: Execution, timing: Timing) -> str:
    """`transcript.md`: the prompt, what the agent said and did, and how it ended.

    It is for people; programs read the lines of JSON. All that was said, given and returned is in
    code fences. A piece longer than `LONGEST` is cut, with a note about the file that has all of
    it.

    Args:
        prompt: what the agent was asked.
        execution: how the run went.
        timing: its model, time and cost, for the lines at the top.
    """
    told = [*read_steps(execution.events, "({}, see transcript.jsonl)")]
    steps = [step for one in told for step in one.steps]
    pieces = ["# Transcript", "\n".join(_format_facts(steps, execution, timing))]
    pieces += ["## Prompt", fence_text(prompt), *_format_events(told)]
    if execution.status == "errored":
        pieces += ["## Errored", fence_text(execution.reason or "no reason was given")]
    return "\n\n".join(pieces) + "\n"


def _format_facts(steps: Sequence[Step], execution: Execution, timing: Timing) -> Iterator[str]:
    cost = timing.cost_usd
    used = Counter(call.text for call in calls_once(steps))
    tools = ", ".join(f"{name_or_code(tool)} {n}" for tool, n in used.items())
    yield f"- Model: {code(timing.model)}"
    yield f"- Executor: {name_or_code(timing.executor)}"
    yield f"- Took: {timing.total_duration_seconds or 0:,.1f} s"
    yield f"- Cost: {'not known' if cost is None else f'{cost:,.4f} USD'}"
    yield f"- Tools: {tools or 'none used'}"
    if execution.skill_used is not None:
        yield f"- Skill: on offer, {'' if execution.skill_used else 'not '}opened"
    if execution.status == "errored":
        yield "- Errored: the reason is at the end"
