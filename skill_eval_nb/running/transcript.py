"""The transcript of a run, as lines of JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.transcript import Step, Told, calls_once, read_steps

if TYPE_CHECKING:
    from skill_eval_nb.documents import Timing

    from .protocol import Execution


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


def _of_events(told: Iterable[Told]) -> Iterator[str]:
    """The events in Markdown, in their order, with a heading for each answer."""
    last = 0
    for _, at, steps, turn in told:
        if turn > last:
            last = turn
            yield f"## Turn {turn}{_since(at)}"
        for step in steps:
            yield from _of_step(step)


def _since(at: float | None) -> str:
    return "" if at is None else f" ({at:.1f} s)"


_HEADS = {
    "thinking": "Thinking:",
    "told": "### Instructions to the agent",
    "system": "From the executor:",
}
"""What stands above words, by whose they are."""


def _of_step(step: Step) -> Iterator[str]:
    if step.who == "call":
        yield from _call_lines(step.text, step.given)
        return
    if step.who == "other":
        yield f"A block of type {code(step.text)}."
        return
    if step.who == "result":
        tool = name_or_code(step.call.text) if step.call else "a tool"
        yield f"### Result of {tool}{', an error' * step.failed}{_since(step.at)}"
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
    pieces = ["# Transcript", "\n".join(_about(steps, execution, timing))]
    pieces += ["## Prompt", fence_text(prompt), *_of_events(told)]
    if execution.status == "errored":
        pieces += ["## Errored", fence_text(execution.reason or "no reason was given")]
    return "\n\n".join(pieces) + "\n"


def _about(steps: Sequence[Step], execution: Execution, timing: Timing) -> Iterator[str]:
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
