"""timing.json and metrics.json of a run, from what its executor gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents import Metrics, Timing

from .collecting import Collected
from .state import ERRORED
from .transcripts import blocks

if TYPE_CHECKING:
    from ..executors import Execution

DONE = "done"


def timing_of(
    execution: Execution, began: float, seconds: float, model: str, executor: str
) -> Timing:
    """How long a run took and what it used.

    Args:
        execution: what the executor gave.
        began: when the executor began, in seconds since 1970.
        seconds: how long it took, by a clock that is never put back.
        model: the model that worked.
        executor: the executor's name.
    """
    usage = execution.usage
    seconds = round(seconds, 3)
    return Timing(
        total_tokens=usage.total or None,  # none were counted: not known
        duration_ms=round(seconds * 1000),
        total_duration_seconds=seconds,
        executor_start=_instant(began),
        executor_end=_instant(began + seconds),
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
    """What a run did and made.

    Args:
        execution: what the executor gave.
        collected: its outputs.
        transcript: the Markdown, whose characters are counted.
    """
    events = execution.events
    calls = Counter(_calls(events))
    return Metrics(
        tool_calls=dict(sorted(calls.items())),
        total_tool_calls=calls.total(),
        total_steps=_answers(events),
        files_created=list(collected.files),
        errors_encountered=_errors(events),
        output_chars=collected.chars,
        transcript_chars=len(transcript),
        cost_usd=execution.cost_usd,
        skill_used=execution.skill_used,
        left_out=list(collected.left_out),
    )


def _instant(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _calls(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """The name of each tool call, once for each id."""
    seen: set[Any] = set()
    names = []
    for event in events:
        for block in blocks(event) if event.get("type") == "assistant" else ():
            if block.get("type") == "tool_use" and block.get("id") not in seen:
                if block.get("id") is not None:
                    seen.add(block["id"])
                names.append(str(block.get("name")))
    return names


def _answers(events: Iterable[Mapping[str, Any]]) -> int:
    """Answers of the model: blocks that come as events of their own share an id."""
    ids: set[str] = set()
    without = 0
    for event in events:
        if event.get("type") == "assistant":
            message = event.get("message")
            id_ = message.get("id") if isinstance(message, Mapping) else None
            if isinstance(id_, str):
                ids.add(id_)
            else:
                without += 1
    return len(ids) + without


def _errors(events: Iterable[Mapping[str, Any]]) -> int:
    """Tool calls that the tool itself called an error."""
    return sum(
        block.get("is_error") is True
        for event in events
        if event.get("type") == "user"
        for block in blocks(event)
        if block.get("type") == "tool_result"
    )
