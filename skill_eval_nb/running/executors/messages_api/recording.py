"""What happened in a run, in the form of Claude Code's stream-json lines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from skill_eval_nb.models import Reply, Usage
from skill_eval_nb.running.executors.protocol import Skill


class Recording:
    """The events of a run as they come, each with its time."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []
        self.turns = 0
        self._begun = time.monotonic()

    def begin(self, model: str, tools: list[dict[str, Any]], skills: Iterable[Skill]) -> None:
        """What the run begins with."""
        self._add(
            "system",
            subtype="init",
            model=model,
            tools=[tool["name"] for tool in tools],
            skills=[one.name for one in skills],
        )

    def answer(self, reply: Reply) -> None:
        """An answer of the model."""
        self.turns += 1
        message = {
            "id": reply.id,
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": reply.content,
            "stop_reason": reply.stop_reason,
            "usage": _usage(reply.usage),
        }
        self._add("assistant", message=message)

    def results(self, blocks: list[dict[str, Any]]) -> None:
        """The results of tools that go back to the model."""
        self._add("user", message={"role": "user", "content": blocks})

    def end(self, reason: str | None, text: str, usage: Usage, cost_usd: float | None) -> None:
        """How the run ended."""
        self._add(
            "result",
            subtype="success" if reason is None else "error_during_execution",
            is_error=reason is not None,
            result=text if reason is None else reason,
            num_turns=self.turns,
            duration_ms=round((time.monotonic() - self._begun) * 1000),
            total_cost_usd=cost_usd,
            usage=_usage(usage),
        )

    def _add(self, kind: str, **rest: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.events.append({"type": kind, **rest, "timestamp": now})


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    }
