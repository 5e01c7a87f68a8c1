"""The executor `claude-code`: the real harness, started through `claude-agent-sdk`.

The harness runs as a whole in the sandbox, with no network but a relay to the model's API and
with no key: the relay outside adds it, and reserves and settles every call with the meter.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from skill_eval_nb import skill_md
from skill_eval_nb.documents.transcript import read_steps, skill_asked_for
from skill_eval_nb.grading.sandbox import Box, Watch
from skill_eval_nb.models import Meter, Tally, load_prices
from skill_eval_nb.models.client import ON_RETRY, Retry
from skill_eval_nb.text import clip, count

from ..protocol import ON_EVENTS, Execution, Task
from . import harness as program
from .harness import Process, handed_over, make_place
from .relay import Relay

_LONGEST = 600


def reason_of(process: Process, task: Task, calls: int) -> str | None:
    """Why a run cannot be graded after its harness has ended; None if it can.

    Args:
        process: the harness.
        task: what it had to do.
        calls: how many answers of the model there were.
    """
    result, limits = find_result(process.lines), task.limits
    if not result:
        output = f" It said: {clip(process.complaint, _LONGEST)}" if process.complaint else ""
        return f"The harness ended with code {process.exit_code} and without a result.{output}"
    kind = result.get("subtype")
    if kind == "error_max_turns":
        return f"The agent did not finish within its limit of {limits.turns} turns."
    if kind == "error_max_budget_usd":
        return f"The run did not finish within its limit of ${limits.usd}."
    if result.get("stop_reason") == "refusal":
        return f"The model refused. {_result_text(result)}"
    if result.get("api_error") == "max_output_tokens":
        return f"An answer was longer than {limits.output_tokens} tokens, the limit (max_tokens)."
    # If the API refuses a request, the subtype is still `success`.
    if result.get("is_error") or kind != "success":
        return f"The harness gave up: {_result_text(result) or kind}"
    if calls == 0:
        return f"The harness answered without asking a model: {_result_text(result)}"
    begun = (line for line in process.lines if line.get("subtype") == "init")
    there = next((line["skills"] for line in begun if isinstance(line.get("skills"), list)), [])
    missing = [f"`{skill.name}`" for skill in task.skills if skill.name not in there]
    if missing:
        return f"The harness did not offer the skill {', '.join(missing)}; it could not read it."
    return None


def find_result(lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The harness's last result; empty if there is none."""
    return next((line for line in reversed(lines) if line.get("type") == "result"), {})


def retry_of(lines: Sequence[Mapping[str, Any]]) -> Retry | None:
    """The call that the harness is about to retry; None if its last message is something else.

    >>> print(retry_of([{"subtype": "api_retry", "error_status": 529, "error": "overloaded"}]))
    The model could not be reached: 529 overloaded. Retry 1, now
    """
    last = lines[-1] if lines else {}
    if last.get("subtype") != "api_retry":
        return None
    error = " ".join(str(last[name]) for name in ("error_status", "error") if last.get(name))
    at = time.monotonic() + last.get("retry_delay_ms", 0) / 1000
    return Retry(last.get("attempt", 1), at, f"The model could not be reached: {error}.")


def _result_text(result: Mapping[str, Any]) -> str:
    errors = result.get("errors")
    text = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return clip(str(result.get("result") or text), _LONGEST)


_EVERY = 0.25
"""Seconds between two looks at what the processes use."""
_GRACE = 1.0
"""Seconds that the SDK has to end after the harness has ended."""


async def converse(
    process: Process,
    prompt: str,
    box: Box,
    stopped: asyncio.Future[str | None],
    enough: Callable[[], bool] = lambda: False,
) -> str | None:
    """Start the harness, give it the prompt, and wait; at the end none of its processes is left.

    Args:
        process: the harness, not started yet.
        prompt: passed word for word: commands and file names in it are just text.
        box: its limits are watched, including the time.
        stopped: done, with the reason, if the run must be ended from outside; with None, if it
            may end now.
        enough: called after each message: whether the run may end now.

    Returns:
        Why it was ended, in words; None if it ended by itself, or `enough` ended it.
    """
    watch = await asyncio.to_thread(Watch, box)  # first, to see what is there before the harness
    talking = asyncio.create_task(_talk(process, prompt, enough, stopped))
    watching = asyncio.create_task(_watch_limits(process, watch))
    waiting = asyncio.ensure_future(asyncio.shield(stopped))
    ending = asyncio.create_task(process.silent.wait())
    tasks = (talking, watching, waiting, ending)
    try:
        await asyncio.wait(tasks, timeout=box.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
        if stopped.done():
            return stopped.result()
        if ending.done():  # the SDK notices that at once, unless it waits for an answer
            await asyncio.wait((talking,), timeout=_GRACE)
            return talking.result() if talking.done() else process.fault
        if talking.done():
            return talking.result()
        if watching.done():
            return watching.result()
        limit = f"The run did not finish within its limit of {box.limits.seconds:g} seconds."
        retry = retry_of(process.lines)
        return f"{limit} {retry.reason}" if retry is not None else limit
    finally:
        await process.close()
        # Its messages have ended, so the SDK usually ends by itself.
        await asyncio.wait((talking,), timeout=_GRACE)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _talk(
    process: Process, prompt: str, enough: Callable[[], bool], stopped: asyncio.Future[str | None]
) -> str | None:
    """Let the SDK lead the conversation; the process keeps the messages."""
    from claude_agent_sdk import ClaudeAgentOptions, query

    options = ClaudeAgentOptions(verbatim_prompts=True)
    try:
        async for _ in query(prompt=prompt, options=options, transport=cast("Any", process)):
            ON_RETRY.get()(retry_of(process.lines))
            if enough() and not stopped.done():
                stopped.set_result(None)  # `converse` ends the harness, and this conversation
    except Exception as fault:  # noqa: BLE001 -- the SDK raises plain ones, too
        if process.over:  # its messages and its exit code say more
            return None
        return (
            process.fault
            or f"The conversation with the harness failed: {type(fault).__name__}: {fault}"
        )
    return process.fault


async def _watch_limits(process: Process, watch: Watch) -> str:
    """Watch what the run uses; returns once a limit is exceeded, with the reason."""
    while True:
        await asyncio.sleep(_EVERY)
        first = process.pid if sys.platform == "linux" else None
        passed = await asyncio.to_thread(watch.find_limit, first)
        if passed is not None:
            return f"The run was ended: {passed[1]}."


_INIT = "cwd tools model permissionMode skills mcp_servers plugins claude_code_version".split()
_RESULT = (
    "subtype is_error result errors stop_reason terminal_reason api_error api_error_status "
    "num_turns duration_ms duration_api_ms usage permission_denials"
).split()
_MESSAGE = "id type role model content stop_reason".split()
_NOTICE = ("attempt", "max_retries", "retry_delay_ms", "error_status", "error", "content", "level")


def events_of(lines: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Lines of stream-json as events: each message once, and nothing about this machine.

    The harness writes an answer of the model as one line per content block, each with the
    message's id and the usage at its beginning. They become one event without usage, as the
    result's line has the usage of all. Parts of other lines that no reader needs are left out.

    >>> lines = [
    ...     {"type": "assistant", "timestamp": "t1", "uuid": "u",
    ...      "message": {"id": "m", "content": [{"type": "text", "text": "Hi"}], "usage": {}}},
    ...     {"type": "assistant", "timestamp": "t2", "message": {"id": "m", "content": [{}]}},
    ...     {"type": "rate_limit_event", "timestamp": "t3"},
    ... ]
    >>> events_of(lines)
    ({'type': 'assistant', 'timestamp': 't1',
      'message': {'id': 'm', 'content': [{'type': 'text', 'text': 'Hi'}, {}]}},)
    """
    events: list[dict[str, Any]] = []
    answers: dict[str, list[Any]] = {}
    for line in lines:
        kind = line.get("type")
        event = {name: line[name] for name in ("type", "subtype", "timestamp") if name in line}
        if kind == "system":
            event |= _of(line, _INIT if line.get("subtype") == "init" else _NOTICE)
            if len(event) == 3:  # nothing to keep: a signal between programs
                continue
        elif kind == "result":
            event |= _of(line, _RESULT)
        elif kind in ("assistant", "user") and isinstance(line.get("message"), dict):
            message = _of(line["message"], _MESSAGE)
            if kind == "assistant" and isinstance(message.get("content"), list):
                message["content"] = content = list(message["content"])
                known = answers.setdefault(str(message.get("id")), content)
                if known is not content:
                    known.extend(content)
                    continue
            event |= _of(line, ("isSynthetic", "parent_tool_use_id")) | {"message": message}
        else:
            continue
        events.append(event)
    return tuple(events)


def events_of_end(turned_away: Sequence[str], left: int) -> tuple[dict[str, Any], ...]:
    """Events about requests that the relay refused, and processes that were left behind.

    >>> events_of_end(["GET /secret"], 1)[0]["content"]
    'Not passed on to the model: GET /secret.'
    """
    refused = f"Not passed on to the model: {', '.join(turned_away)}." if turned_away else ""
    were = f"{count(left, 'process')} it left behind {'was' if left == 1 else 'were'} stopped."
    notices = {"turned_away": refused, "left_behind": were if left else ""}
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return tuple(
        {"type": "system", "subtype": subtype, "timestamp": now, "content": content}
        for subtype, content in notices.items()
        if content
    )


def _of(value: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value[name] for name in names if value.get(name) is not None}


def was_opened(name: str, body: str, events: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the tool Skill opened a skill, or a tool showed its body.

    Args:
        name: the skill's name.
        body: the skill's body.
        events: the events of the run.
    """
    for step in (step for told in read_steps(events) for step in told.steps):
        asked = step.call and skill_asked_for(step.call)
        shows = step.who == "result" and not step.failed
        if shows and (asked == name or skill_md.shows_body(step.text, body)):
            return True
    return False


@dataclass(frozen=True)
class ClaudeCode:
    """Runs tasks with Claude Code itself.

    Attributes:
        program: a harness other than the one in claude-agent-sdk: the path of a native `claude`.
    """

    program: str | None = None

    name = "claude-code"
    """Its name, as stated in a run's files."""

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        return program.why_not(self.program, sandbox)

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; see `Executor.execute`."""
        tally = Tally(within=meter)
        ran = _Ran()
        prices, body = None, ""
        try:
            prices = load_prices()
            if task.skill is not None:
                body = skill_md.body(skill_md.read_text(task.skill.folder))
            reason = self.why_not(task.sandbox)
            if reason is None:
                reason = await self._run_harness(task, body, tally, ran)
        except (OSError, LookupError, ValueError) as fault:
            reason = f"The run could not be prepared: {fault}"
        process = ran.process
        lines, left = (process.lines, process.left) if process is not None else ([], 0)
        if reason is None and process is not None and not ran.enough:
            reason = reason_of(process, task, tally.usage.calls)
        events = events_of(lines)
        skill = task.skill
        return Execution(
            status="done" if reason is None else "errored",
            reason=reason,
            events=(*events, *events_of_end(ran.turned_away, left)),
            usage=tally.usage,
            cost_usd=tally.cost(prices) if prices is not None else None,
            skill_used=was_opened(skill.name, body, events) if skill is not None else None,
            out_of_turns=find_result(lines).get("subtype") == "error_max_turns",
        )

    async def _run_harness(self, task: Task, body: str, meter: Meter, ran: _Ran) -> str | None:
        """Run the harness to its end, or until the skill is opened if that is enough.

        Returns:
            Why it was ended early; None if it was not.

        Raises:
            OSError: if the place cannot be prepared, or the harness cannot be started.
            LookupError: if a key is needed and there is none.
            ValueError: if the table of prices cannot be used.
        """
        found = program.program(self.program)
        assert found is not None
        # The first import is slow: it must not count as this run's time, nor block other runs.
        for library in ("anthropic", "claude_agent_sdk"):
            await asyncio.to_thread(importlib.import_module, library)
        async with AsyncExitStack() as stack:
            at = stack.enter_context(make_place(task))
            relay, port = await stack.enter_async_context(
                Relay.listen(
                    task.connection, task.model, task.limits.output_tokens, meter, at.socket
                )
            )
            stack.enter_context(handed_over(at))
            process = ran.process = at.process(found, port)
            ON_EVENTS.get()(process.lines)

            def has_opened() -> bool:
                if task.until_opened and task.skill is not None:
                    ran.enough = was_opened(task.skill.name, body, events_of(process.lines))
                return ran.enough

            try:
                return await converse(process, task.prompt, at.box(found), relay.ended, has_opened)
            finally:
                ran.turned_away = tuple(relay.turned_away)


class _Ran:
    """What is known about a run, whether or not it ended; `enough`: it was ended on purpose."""

    process: Process | None = None
    turned_away: tuple[str, ...] = ()
    enough: bool = False
