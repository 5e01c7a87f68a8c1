"""The executor `messages-api`: a model and a few tools, with nothing in between; and `offline`.

A plain loop over `/v1/messages`: the model asks for tools, these run in the sandbox, and their
results go back to the model, until it says that it is done. Both sides have the same tools; with a
skill, its name and description are listed, and the model gets its body when it opens it.

`offline` is another executor with the stand-in model, without network or key.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from skill_eval_nb.grading.sandbox import BoxLimits, SandboxMissing
from skill_eval_nb.grading.sandbox import why_not as no_sandbox
from skill_eval_nb.models import (
    BudgetSpent,
    Meter,
    ModelFault,
    Reply,
    StandIn,
    Tally,
    Usage,
    connect,
    load_prices,
)

from ..protocol import ON_EVENTS, Execution, Executor, Limits, Task
from .toolbox import SYSTEM, Toolbox, stage_for_agent, tools


class Recording:
    """Collects the events of a run, each with its time."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []

    def add(self, kind: str, **rest: Any) -> None:
        """Add an event."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.events.append({"type": kind, **rest, "timestamp": now})

    def add_answer(self, reply: Reply) -> None:
        """Add an answer of the model."""
        message = {
            "id": reply.id,
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": reply.content,
            "stop_reason": reply.stop_reason,
            "usage": _usage(reply.usage),
        }
        self.add("assistant", message=message)


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    }


_MARK = {"cache_control": {"type": "ephemeral"}}


class AgentStopped(Exception):
    """The run cannot be graded; the message says why."""


class OutOfTurns(AgentStopped):
    """The model was not done within the limit of turns."""


async def work_on(
    task: Task,
    request: Mapping[str, Any],
    send: Callable[..., Awaitable[Reply]],
    toolbox: Toolbox,
    recording: Recording,
) -> str:
    """Work on a task to the end, or until the skill is opened if that is enough.

    Args:
        task: what to do.
        request: the part that all requests of the run share: model, tools and options.
        send: sends a request through the run's meter.
        toolbox: the tools of the model.
        recording: collects the events.

    Returns:
        The model's last words.

    Raises:
        AgentStopped: if the run ends in a way that cannot be graded.
        ModelFault, BudgetSpent: as for `Client.send`.
        SandboxMissing, OSError: as for `Toolbox.use`.
    """
    limits, until = task.limits, time.monotonic() + task.limits.seconds
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": task.prompt}]}
    ]
    for _ in range(limits.turns):
        asked, left = {**request, "messages": mark_for_cache(messages)}, _time_left(until, limits)
        try:
            reply = await send(asked, deadline=left)
        except ValueError as fault:  # the model's last answer cannot be sent back as JSON
            raise AgentStopped(f"The next request could not be made: {fault}") from fault
        recording.add_answer(reply)
        if not _wants_turn(reply):
            return reply.text
        messages.append({"role": "assistant", "content": reply.content})
        results = [
            await _use_tool(toolbox, block, _time_left(until, limits))
            for block in reply.content
            if block.get("type") == "tool_use"
        ]
        if results:
            messages.append({"role": "user", "content": results})
            recording.add("user", message=messages[-1])
        if task.until_opened and toolbox.skill_used:
            return reply.text
    raise OutOfTurns(
        f"The model did not finish within {limits.turns} answers, the limit per run. A higher "
        "one is set with Limits(turns=…)."
    )


async def _use_tool(toolbox: Toolbox, block: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    result = await toolbox.use(block.get("name"), block.get("input"), seconds)
    return {
        "type": "tool_result",
        "tool_use_id": block.get("id"),
        "content": [{"type": "text", "text": result.text}],
        "is_error": result.is_error,
    }


def _time_left(until: float, limits: Limits) -> float:
    left = until - time.monotonic()
    if left > 0:
        return left
    raise AgentStopped(
        f"The run took longer than {limits.seconds:g} s, the limit per run. A higher one is set "
        "with Limits(seconds=…)."
    )


def mark_for_cache(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages, with cache marks on the user's last two.

    The last mark writes the cache for the next request; the one before lets this request read what
    the previous one wrote. With the system prompt's mark these are three; four are allowed.
    """
    numbers = [number for number, message in enumerate(messages) if message["role"] == "user"][-2:]
    return [
        {**message, "content": [*message["content"][:-1], message["content"][-1] | _MARK]}
        if number in numbers
        else message
        for number, message in enumerate(messages)
    ]


def _wants_turn(reply: Reply) -> bool:
    """Whether the model wants another turn; False if it is done.

    Raises:
        AgentStopped: if it stopped for a reason that leaves nothing to grade.
    """
    reason, uses = reply.stop_reason, (block.get("type") == "tool_use" for block in reply.content)
    if reason in ("end_turn", "stop_sequence"):
        return False
    if reason == "pause_turn" or (reason == "tool_use" and any(uses)):
        return True
    said = reply.text
    if reason == "max_tokens":
        said = "Raise the limit with Limits(output_tokens=…)."
    stopped = f"The model stopped before it was done, with stop_reason {reason}. {said}"
    raise AgentStopped(stopped.rstrip())


@dataclass(frozen=True)
class MessagesApi:
    """Runs tasks with a plain tool loop over the Messages API.

    Attributes:
        effort: how much effort the model is told to make (`low` to `max`); None for the model's
            default.
        thinking: whether the model may think before it answers.
        command: what each command of the agent may use; its `disk_bytes` are for the whole run.
        result_chars: the most characters of a tool's result that the model sees; a note says how
            much is left out.
    """

    effort: str | None = None
    thinking: bool = False
    command: BoxLimits = field(default_factory=lambda: BoxLimits(seconds=120.0))
    result_chars: int = 30_000

    name = "messages-api"
    """Its name, as stated in a run's files."""

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        return no_sandbox("none" if sandbox == "none" else "bubblewrap")

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; see `Executor.execute`."""
        tally, recording, began = Tally(within=meter), Recording(), time.monotonic()
        ON_EVENTS.get()(recording.events)
        reason, text, toolbox, out_of_turns = None, "", None, False
        listed = tools(task.skills, self.command.seconds)
        names = [tool["name"] for tool in listed]
        skills = [skill.name for skill in task.skills]
        recording.add("system", subtype="init", model=task.model, tools=names, skills=skills)
        try:
            toolbox = self._make_toolbox(task)
            connected = nullcontext(task.client) if task.client else connect(task.connection)
            async with connected as client:
                request = self._common_fields(task, listed)
                send = partial(client.send, meter=tally)
                text = await work_on(task, request, send, toolbox, recording)
        except (AgentStopped, BudgetSpent, ModelFault, SandboxMissing) as fault:
            reason = str(fault)
            out_of_turns = isinstance(fault, OutOfTurns)
        except OSError as fault:
            reason = f"The run's folders cannot be used: {fault}"
        cost = tally.cost(load_prices())
        recording.add(
            "result",
            subtype="success" if reason is None else "error_during_execution",
            is_error=reason is not None,
            result=text if reason is None else reason,
            num_turns=sum(event["type"] == "assistant" for event in recording.events),
            duration_ms=round((time.monotonic() - began) * 1000),
            total_cost_usd=cost,
            usage=_usage(tally.usage),
        )
        return Execution(
            status="done" if reason is None else "errored",
            reason=reason,
            events=tuple(recording.events),
            usage=tally.usage,
            cost_usd=cost,
            skill_used=None if task.skill is None else bool(toolbox and toolbox.skill_used),
            out_of_turns=out_of_turns,
        )

    def _common_fields(self, task: Task, tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The part that all requests of a run share."""
        return {
            "model": task.model,
            "max_tokens": task.limits.output_tokens,
            "system": [{"type": "text", "text": SYSTEM, **_MARK}],
            "tools": tools,
            "metadata": {"user_id": task.key},
            **({} if self.effort is None else {"output_config": {"effort": self.effort}}),
            **({"thinking": {"type": "adaptive"}} if self.thinking else {}),
        }

    def _make_toolbox(self, task: Task) -> Toolbox:
        if (reason := self.why_not(task.sandbox)) is not None:
            raise SandboxMissing(reason)
        skills = [stage_for_agent(skill, task.sandbox, task.scratch) for skill in task.skills]
        for skill in skills:
            skill.text  # noqa: B018 (read it now: if that fails, it is not the agent's fault)
        return Toolbox(task, skills, self.command, self.result_chars)


@dataclass(frozen=True)
class Offline:
    """Runs tasks like another executor, with the stand-in instead of a model.

    Attributes:
        stand_in: how the stand-in answers.
        through: the executor that works: "messages-api", or "claude-code", the real harness.
    """

    stand_in: StandIn = field(default_factory=StandIn)
    through: Literal["messages-api", "claude-code"] = "messages-api"

    def __post_init__(self) -> None:
        if self.through not in ("messages-api", "claude-code"):
            raise ValueError(
                f"through={self.through!r} is not an executor that can run offline; choose "
                "'messages-api' or 'claude-code'."
            )

    name = "offline"
    """Its name, as stated in a run's files."""

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        return self._inner().why_not(sandbox)

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; see `Executor.execute`."""
        connection = replace(task.connection, base_url=None, stand_in=self.stand_in)
        client = task.client if connection == task.connection else None
        own = replace(task, connection=connection, client=client)
        return await self._inner().execute(own, meter)

    def _inner(self) -> Executor:
        if self.through == "claude-code":
            from .claude_code import ClaudeCode

            return ClaudeCode()
        return MessagesApi()
