"""What happened in a run, as lines of JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .quoting import LONGEST, code, fenced, named
from .telling import Course, Event, blocks, told, tool_of

if TYPE_CHECKING:
    from skill_eval_nb.documents import Timing

__all__ = ["LONGEST", "as_lines", "as_markdown", "blocks"]

MOST = 1e12
"""Beyond which a number of somebody else's is not believed."""


def as_lines(events: Iterable[Event]) -> str:
    """`transcript.jsonl`: each event as it came, one a line."""
    return "".join(json.dumps(event, ensure_ascii=True) + "\n" for event in events)


def as_markdown(
    prompt: str,
    events: Iterable[Event],
    reason: str | None = None,
    timing: Timing | None = None,
    skill_used: bool | None = None,
) -> str:
    """`transcript.md`: the prompt, what the agent said and did, and how it ended.

    For people; programs read the lines of JSON. What the agent said is quoted as Markdown
    without HTML, images and formulas; what tools took and gave stands in fences. A piece that
    is longer than `LONGEST` is cut, which is said, with the file that holds all of it.

    Args:
        prompt: what the agent was asked.
        events: what happened, in the form that `Execution` describes.
        reason: why the run errored, where it did.
        timing: what the run took, for the lines at the top; where it is not given, they say
            what the events tell.
        skill_used: whether the skill was opened; None where none was on offer, or where it
            is not known.
    """
    run = Course.of(tuple(events))
    pieces = ["# Transcript", "\n".join(_about(run, reason, timing, skill_used))]
    pieces += ["## Prompt", fenced(prompt)]
    for event in run.events:
        pieces += told(event, run)
    if faults := _faults(run.events, reason):
        pieces += ["## Errored", *map(fenced, faults)]
    return "\n\n".join(filter(None, pieces)) + "\n"


def _about(
    run: Course, reason: str | None, timing: Timing | None, skill_used: bool | None
) -> Iterator[str]:
    begun, ended = _last(run.events, "system", "model"), _last(run.events, "result", "subtype")
    model = timing.model if timing else begun.get("model")
    seconds = timing.total_duration_seconds if timing else _number(ended, "duration_ms", 1000)
    cost = timing.cost_usd if timing else _number(ended, "total_cost_usd")
    if isinstance(model, str):
        yield f"- Model: {code(model)}"
    if timing and timing.executor:
        yield f"- Executor: {named(timing.executor)}"
    if seconds is not None:
        yield f"- Took: {seconds:,.1f} s"
    if timing or cost is not None:
        yield f"- Cost: {'not known' if cost is None else f'{cost:,.4f} USD'}"
    if run.events:
        used = Counter(str(call.get("name")) for call in run.calls.values())
        yield f"- Tools: {', '.join(f'{named(one)} {n}' for one, n in used.items()) or 'none used'}"
    if (skill := _skill(run, begun, skill_used)) is not None:
        yield f"- Skill: {skill}"
    if _faults(run.events, reason):
        yield "- Errored: the reason stands at the end"


def _skill(run: Course, begun: Event, skill_used: bool | None) -> str | None:
    if skill_used is None and any(
        tool_of(run, block) == "Skill" and not block.get("is_error")
        for event in run.events
        for block in (blocks(event) if event.get("type") == "user" else ())
    ):
        skill_used = True
    if skill_used is not None:
        return "on offer, and opened" if skill_used else "on offer, not opened"
    return "none on offer" if begun.get("skills") == [] else None


def _last(events: Iterable[Event], kind: str, key: str) -> Event:
    found = [event for event in events if event.get("type") == kind and key in event]
    return found[-1] if found else {}


def _number(event: Event, key: str, unit: int = 1) -> float | None:
    value = event.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > MOST:
        return None
    return value / unit


def _faults(events: Iterable[Event], reason: str | None) -> list[str]:
    """Why the run errored, each reason once; empty where it did not."""
    faults = [] if reason is None else [reason]
    for event in events:
        if event.get("type") != "result":
            continue
        said, subtype = event.get("result") or event.get("error"), event.get("subtype")
        failed = bool(event.get("is_error")) or subtype not in (None, "success")
        if failed and said and not any(str(said) in fault for fault in faults):
            faults.append(str(said))
        elif failed and not said and not faults:
            faults.append(f"no reason was given ({subtype or 'no subtype'})")
    return faults
