"""A question whose answer has a known form: asked, looked through, asked again where it is bad."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .client import Reply
from .meter import Meter
from .prompt import BadAnswer, parsed
from .usage import Usage, worst_case

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T")

ASKED = 3
"""How often a question is asked at most: once, and twice more where the answer is refused."""
FAULT_BYTES = 2000
"""Bytes of JSON that are said of a refused answer, at most."""
_WHOLE = frozenset(("end_turn", "stop_sequence"))
_STOPPED = {
    "refusal": "{who} refused to answer",
    "max_tokens": "the answer of {who} was cut off at max_tokens={max_tokens}; raise it",
    "model_context_window_exceeded": "what was shown is too long for {who}: lower shown_chars",
}


class Unanswered(Exception):
    """There is no answer, and `reason` says why."""

    def __init__(self, reason: str) -> None:
        """Keep the reason apart from the exception's own form."""
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What a model is asked, and how its answer is read.

    Attributes:
        key: an opaque name of the question, the same for the same question; it is sent as the
            session, so it must give nothing away.
        model: who is asked.
        system: the rules.
        content: the blocks of the user's message, plain JSON.
        schema: the JSON Schema of the answer.
        read: makes the value of the answer's JSON; raises `BadAnswer` with all its faults.
        max_tokens: the most tokens of one answer.
        effort: how much the model is to think, where it takes such a setting.
        deadline: seconds that one call may take, with all its retries.
        who: what the model is called in reasons.
    """

    key: str
    model: str
    system: str
    content: Sequence[Mapping[str, Any]]
    schema: Mapping[str, Any]
    read: Callable[[Any], T]
    max_tokens: int = 8_000
    effort: str | None = None
    deadline: float = 600.0
    who: str = "the model"

    def body(self, fault: str | None = None) -> dict[str, Any]:
        """The body of a call; `fault` is what was wrong with the last answer."""
        content = [dict(block) for block in self.content]
        if fault is not None:
            content.append({"type": "text", "text": anew(fault)})
        config: dict[str, Any] = {"format": {"type": "json_schema", "schema": self.schema}}
        if self.effort is not None:
            config["effort"] = self.effort
        return {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "system": self.system,
            "messages": [{"role": "user", "content": content}],
            "output_config": config,
            "metadata": {"user_id": self.key},
        }

    @property
    def worst(self) -> Usage:
        """The most that the question can use, with every time that it is asked anew."""
        return worst_case(self.body("?" * FAULT_BYTES)) * ASKED


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """An answer that can be used.

    Attributes:
        value: what it says.
        usage: what it used, refused answers included.
        refused: what was wrong with the answers that were refused.
        seconds: how long it took.
    """

    value: T
    usage: Usage
    refused: tuple[str, ...]
    seconds: float


async def ask(client: Client, question: Question[T], meter: Meter) -> Answered[T]:
    """Ask a question until its answer can be used, at most `ASKED` times.

    Raises:
        Unanswered: the model stopped early, or no answer could be used.
        ModelFault: no answer came.
        BudgetSpent: the meter allowed no further call.
    """

    def read(reply: Reply) -> T:
        whole(reply, question.who, question.max_tokens)
        return question.read(parsed(reply.text))

    return await until_usable(
        client, question.body, read, meter, deadline=question.deadline, who=question.who
    )


async def until_usable(
    client: Client,
    body: Callable[[str | None], Mapping[str, Any]],
    read: Callable[[Reply], T],
    meter: Meter,
    *,
    deadline: float,
    who: str,
) -> Answered[T]:
    """Send what `body` makes until `read` can use the reply, at most `ASKED` times.

    Args:
        client: how calls reach the model.
        body: the body of a call, given what was wrong with the last answer.
        read: makes the value of a reply; raises `BadAnswer` where it should be asked anew.
        meter: what every call goes through.
        deadline: seconds that one call may take, with all its retries.
        who: what the model is called in the reason.

    Raises:
        Unanswered: no answer could be used.
        ModelFault: no answer came.
        BudgetSpent: the meter allowed no further call.
    """
    began = time.monotonic()
    usage, refused = Usage(), []
    fault = None
    for _ in range(ASKED):
        reply = await client.send(body(fault), meter=meter, deadline=deadline)
        usage += reply.usage
        try:
            value = read(reply)
        except BadAnswer as bad:
            fault = fault_text(bad.faults)
            refused.append(fault)
        else:
            return Answered(value, usage, tuple(refused), time.monotonic() - began)
    raise Unanswered(f"{who} gave no usable answer in {ASKED} attempts; the last: {fault}")


def whole(reply: Reply, who: str, max_tokens: int) -> None:
    """See that a reply came to its end.

    Raises:
        Unanswered: the model stopped before it had answered; asking again would not help.
    """
    if reply.stop_reason not in _WHOLE:
        reason = _STOPPED.get(reply.stop_reason, "{who} stopped for {stop_reason}")
        raise Unanswered(
            reason.format(who=who, max_tokens=max_tokens, stop_reason=reply.stop_reason)
        )


def anew(fault: str) -> str:
    """How a model is told that its answer was refused."""
    return f"Your last answer could not be used: {fault}\nAnswer anew, in full, without that.\n"


def fault_text(faults: Sequence[str]) -> str:
    """What is said of a refused answer: all faults, as long as they fit."""
    text = "; ".join(faults)
    plain = text.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'")
    plain = " ".join(plain.split())
    return plain if len(plain) <= FAULT_BYTES else f"{plain[: FAULT_BYTES - 3]}..."
