"""The loop: an answer, the tools it asks for, their results, until the model is done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Meter, Reply
from skill_eval_nb.running.executors.protocol import Task

from .prompts import SYSTEM
from .recording import Recording
from .toolbox import Toolbox

if TYPE_CHECKING:
    from skill_eval_nb.models import Client

_MARK = {"cache_control": {"type": "ephemeral"}}


class Stopped(Exception):
    """The run cannot be graded; the message says why."""


class OutOfTurns(Stopped):
    """The model was not done within the limit of turns."""


@dataclass(frozen=True)
class Work:
    """One run.

    Attributes:
        task: what is to be done.
        request: what is the same in each request of the run: model, tools and options.
        client: what the model is asked through.
        meter: what each call goes through.
        toolbox: what the model works with.
        recording: takes what happens.
    """

    task: Task
    request: Mapping[str, Any]
    client: Client
    meter: Meter
    toolbox: Toolbox
    recording: Recording

    async def done(self) -> str:
        """Work to the end, or until the skill was opened where that is enough.

        Returns:
            what the model said at last.

        Raises:
            Stopped: where it does not come to an end that can be graded.
            ModelFault, BudgetSpent: as of `Client.send`.
            SandboxMissing, OSError: as of `Toolbox.use`.
        """
        limits = self.task.limits
        until = time.monotonic() + limits.seconds
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": [{"type": "text", "text": self.task.prompt}]}
        ]
        for _ in range(limits.turns):
            reply = await self._sent(messages, self._left(until))
            self.recording.answer(reply)
            if not _goes_on(reply):
                return reply.text
            messages.append({"role": "assistant", "content": reply.content})
            uses = [block for block in reply.content if block.get("type") == "tool_use"]
            if uses:
                results = [await self._used(block, until) for block in uses]
                self.recording.results(results)
                messages.append({"role": "user", "content": results})
            if self.task.until_opened and self.toolbox.skill_used:
                return reply.text
        raise OutOfTurns(
            f"The model was not done after {limits.turns} answers, the limit of a run. A higher "
            "one is set with Limits(turns=…)."
        )

    async def _sent(self, messages: list[dict[str, Any]], seconds: float) -> Reply:
        request = {**self.request, "messages": marked(messages)}
        try:
            return await self.client.send(request, meter=self.meter, deadline=seconds)
        except ValueError as fault:  # what the model said last is no JSON, though it came as such
            raise Stopped(f"The next request could not be made: {fault}") from fault

    async def _used(self, block: Mapping[str, Any], until: float) -> dict[str, Any]:
        left = self._left(until)
        result = await self.toolbox.use(block.get("name"), block.get("input"), left)
        return {
            "type": "tool_result",
            "tool_use_id": block.get("id"),
            "content": [{"type": "text", "text": result.text}],
            "is_error": result.is_error,
        }

    def _left(self, until: float) -> float:
        left = until - time.monotonic()
        if left > 0:
            return left
        raise Stopped(
            f"The run took longer than {self.task.limits.seconds:g} s, the limit of a run. A "
            "higher one is set with Limits(seconds=…)."
        )


def common(
    task: Task, tools: list[dict[str, Any]], *, effort: str | None, thinking: bool
) -> dict[str, Any]:
    """What is the same in each request of a run."""
    return {
        "model": task.model,
        "max_tokens": task.limits.output_tokens,
        "system": [{"type": "text", "text": SYSTEM, **_MARK}],
        "tools": tools,
        "metadata": {"user_id": task.key},
        **({} if effort is None else {"output_config": {"effort": effort}}),
        **({"thinking": {"type": "adaptive"}} if thinking else {}),
    }


def marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with marks for the cache on the last two of the user's.

    The last is written for the next request to read, the one before is where this request
    finds what the last one wrote. With the system prompt's that makes three; four may be set.
    """
    told = [number for number, one in enumerate(messages) if one["role"] == "user"][-2:]
    return [
        {**one, "content": [*one["content"][:-1], one["content"][-1] | _MARK]}
        if number in told
        else one
        for number, one in enumerate(messages)
    ]


def _goes_on(reply: Reply) -> bool:
    """Whether the model wants another turn; False where it is done.

    Raises:
        Stopped: where it stopped for a reason that leaves nothing to grade.
    """
    reason = reply.stop_reason
    if reason in ("end_turn", "stop_sequence"):
        return False
    if reason == "pause_turn":
        return True
    if reason == "tool_use":
        if any(block.get("type") == "tool_use" for block in reply.content):
            return True
        raise Stopped("The model stopped to use a tool, and named none (stop_reason tool_use).")
    words = {
        "max_tokens": (
            "An answer of the model was cut at its limit of tokens (stop_reason max_tokens). A "
            "higher one is set with Limits(output_tokens=…)."
        ),
        "refusal": "The model refused (stop_reason refusal)",
        "model_context_window_exceeded": (
            "The conversation no longer fits the model's context (stop_reason "
            "model_context_window_exceeded)."
        ),
    }
    said = words.get(reason, f"The model stopped for a reason that is not known here: {reason!r}.")
    if reason == "refusal":
        said += f": {reply.text}" if reply.text.strip() else ", and said nothing."
    raise Stopped(said)
