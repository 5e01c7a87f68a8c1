"""The transcript of a run, as lines of JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.transcript import (
    Step,
    Told,
    calls_once,
    has_failed,
    read_steps,
)

if TYPE_CHECKING:
    from skill_eval_nb.documents import Timing


LONGEST = 20_000
"""Characters of one piece of text in the Markdown; the lines of JSON have all of it."""

_TICKS = re.compile(r"`{3,}")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_CODE = re.compile(r"(?<![`\\])(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")
_HARMFUL = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[|\$")
"""The beginning of a tag, a comment, an image that would be fetched, or a formula."""
_ESCAPED = {"<": "&lt;", "[": "&#91;", "$": r"\$"}


def fence_text(text: str, language: str = "text") -> str:
    """Text in a code fence that nothing inside can close."""
    text = cut(text)
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 3)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def quote_prose(text: str) -> str:
    r"""Prose as a block quote: its Markdown is shown, its HTML, images and formulas are not.

    Every code fence in it is closed, so it is certain what is code and can stay as it is.

    >>> print(quote_prose("I <b>wrote</b> `a.md`:\n\n~~~html\n<b>\n~~~\n"))
    > I &lt;b>wrote&lt;/b> `a.md`:
    >
    > ```html
    > <b>
    > ```
    """
    lines = re.sub(r"\r\n?", "\n", cut(text)).strip("\n").split("\n")
    return "\n".join(f"> {line}".rstrip() for piece in _pieces(lines) for line in piece.split("\n"))


def fold_text(summary: str, text: str) -> str:
    """Text that is shown when its summary is clicked; the summary must be safe text."""
    return f"<details><summary>{summary}</summary>\n\n{fence_text(text)}\n\n</details>"


def cut(text: str) -> str:
    """The beginning of a text, and where the rest of it is."""
    if len(text) <= LONGEST:
        return text
    left_out = len(text) - LONGEST
    return f"{text[:LONGEST]}\n({left_out:,} more characters: see transcript.jsonl)"


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


def _pieces(lines: list[str]) -> Iterator[str]:
    """Lines of prose, made harmless, and blocks of code in safe fences."""
    rest = iter(lines)
    for line in rest:
        opened = _FENCE.fullmatch(line)
        if opened is None:
            yield _harmless_line(line)
            continue
        mark, inside = opened["mark"], []
        closing = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*")
        for inner in rest:
            if closing.fullmatch(inner):
                break
            inside.append(inner)
        yield fence_text("\n".join(inside), re.split(r"[^\w+#.-]", opened["info"], maxsplit=1)[0])


def _harmless_line(line: str) -> str:
    """A line with only its Markdown; code in it is kept, as HTML if necessary."""
    shown, at = [], 0
    for span in _CODE.finditer(line):
        inside = span["code"]
        if _HARMFUL.search(inside):
            inside = "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in inside)
            shown += [_escape_harmful(line[at : span.start()]), f"<code>{inside.strip()}</code>"]
        else:
            shown += [_escape_harmful(line[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*shown, _escape_harmful(line[at:])])


def _escape_harmful(text: str) -> str:
    return _HARMFUL.sub(lambda found: _ESCAPED[found[0]], text)


_BASE = "Base directory for this skill:"
"""The text before a skill's body when an agent opens the skill."""
_WRITING = ("Write", "Edit", "MultiEdit")
_INLINE = 100
"""Characters of an argument that may be shown in the line of its call."""

Event = Mapping[str, Any]


def _of_events(told: Iterable[Told], final: Step | None) -> Iterator[str]:
    """The events in Markdown, in their order, with a heading for each answer."""
    last = 0
    for _, at, steps, turn in told:
        if turn > last:
            last = turn
            yield f"## Turn {turn}{_since(at)}"
        for step in steps:
            if step is final:
                yield "### Final message"
            yield from _of_step(step)


def _last_words(told: Iterable[Told]) -> Step | None:
    """The step with the agent's last words; None if it called a tool after them."""
    final = None
    for one in told:
        if any(step.who == "call" for step in one.steps):
            final = None
        else:
            final = next((step for step in one.steps if step.who == "agent"), final)
    return final


def _since(at: float | None) -> str:
    return "" if at is None else f" ({at:.1f} s)"


def _of_step(step: Step) -> Iterator[str]:
    if step.who == "agent":
        yield quote_prose(step.text)
    elif step.who == "thinking":
        yield "Thinking:"
        yield fence_text(step.text)
    elif step.who == "call":
        yield from _call_lines(step.text, step.given)
    elif step.who == "result":
        yield from _result(step)
    elif step.who == "told":
        yield "### Instructions to the agent"
        yield _body(step.text) if step.text.startswith(_BASE) else fence_text(step.text)
    elif step.who == "system":
        yield "Told by the executor:"
        yield quote_prose(step.text)
    else:
        yield f"A block of type {code(step.text)}."


def _call_lines(name: Any, given: Any) -> Iterator[str]:
    """A call of a tool; long arguments and those with several lines have their own fence."""
    if not isinstance(given, Mapping):
        yield f"Calls {name_or_code(name)}:"
        yield fence_text(json.dumps(given, ensure_ascii=False), "json")
        return
    rest = dict(given)
    command = rest.pop("command") if isinstance(rest.get("command"), str) else None
    long = {key: rest.pop(key) for key in [*rest] if "\n" in str(rest[key])}
    only = next(iter(rest.values())) if len(rest) == 1 else None
    if isinstance(only, str) and len(only) <= _INLINE and "`" not in only:
        yield f"Calls {name_or_code(name)}: {code(only)}"
        rest = {}
    else:
        yield f"Calls {name_or_code(name)}:"
    if command is not None:
        yield fence_text(command, "sh")
    if rest:
        yield fence_text(json.dumps(rest, ensure_ascii=False), "json")
    for key, value in long.items():
        yield f"{code(key)}:"
        yield fence_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _result(step: Step) -> Iterator[str]:
    tool = step.call.text if step.call else None
    error = ", an error" if step.failed else ""
    yield f"### Result of {name_or_code(tool) if tool else 'a tool'}{error}{_since(step.at)}"
    if tool == "Skill" and step.text.startswith(_BASE):
        yield _body(step.text)
    elif step.call and not error and tool not in _WRITING and "SKILL.md" in str(step.call.given):
        yield fold_text(f"what it showed of SKILL.md, {len(step.text):,} characters", step.text)
    else:
        yield fence_text(step.text)


def _body(text: str) -> str:
    body = text.partition("\n\n")[2]
    return fold_text(f"body of SKILL.md, {len(body):,} characters", text)


MOST = 1e12
"""A larger number in an event is not believed."""


def as_lines(events: Iterable[Event]) -> str:
    """`transcript.jsonl`: each event unchanged, one per line."""
    return "".join(json.dumps(event, ensure_ascii=True) + "\n" for event in events)


def as_markdown(
    prompt: str,
    events: Iterable[Event],
    reason: str | None = None,
    timing: Timing | None = None,
    skill_used: bool | None = None,
) -> str:
    """`transcript.md`: the prompt, what the agent said and did, and how it ended.

    It is for people; programs read the lines of JSON. What the agent said is quoted as Markdown
    without HTML, images and formulas; the input and output of tools are in code fences. A piece
    longer than `LONGEST` is cut, with a note about the file that has all of it.

    Args:
        prompt: what the agent was asked.
        events: what happened, in the form that `Execution` describes.
        reason: why the run errored, if it did.
        timing: time and cost for the lines at the top; if not given, they come from the events.
        skill_used: whether the skill was opened; None if none was on offer, or it is not known.
    """
    events = tuple(events)
    told = [*read_steps(events, "({}, see transcript.jsonl)")]
    steps = [step for one in told for step in one.steps]
    faults = _error_reasons(events, reason)
    pieces = ["# Transcript", "\n".join(_about(events, steps, timing, skill_used, bool(faults)))]
    pieces += ["## Prompt", fence_text(prompt), *_of_events(told, _last_words(told))]
    if faults:
        pieces += ["## Errored", *map(fence_text, faults)]
    return "\n\n".join(filter(None, pieces)) + "\n"


def _about(
    events: Sequence[Event],
    steps: Sequence[Step],
    timing: Timing | None,
    skill_used: bool | None,
    errored: bool,
) -> Iterator[str]:
    begun, ended = _last(events, "system", "model"), _last(events, "result", "subtype")
    model = timing.model if timing else begun.get("model")
    seconds = timing.total_duration_seconds if timing else _number(ended, "duration_ms", 1000)
    cost = timing.cost_usd if timing else _number(ended, "total_cost_usd")
    if isinstance(model, str):
        yield f"- Model: {code(model)}"
    if timing and timing.executor:
        yield f"- Executor: {name_or_code(timing.executor)}"
    if seconds is not None:
        yield f"- Took: {seconds:,.1f} s"
    if timing or cost is not None:
        yield f"- Cost: {'not known' if cost is None else f'{cost:,.4f} USD'}"
    if events:
        used = Counter(call.text for call in calls_once(steps))
        tools = ", ".join(f"{name_or_code(tool)} {n}" for tool, n in used.items())
        yield f"- Tools: {tools or 'none used'}"
    if (skill := _skill_line(steps, begun, skill_used)) is not None:
        yield f"- Skill: {skill}"
    if errored:
        yield "- Errored: the reason is at the end"


def _skill_line(steps: Iterable[Step], begun: Event, skill_used: bool | None) -> str | None:
    if skill_used is None and any(
        step.call and step.call.text == "Skill" and not step.failed for step in steps
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


def _error_reasons(events: Iterable[Event], reason: str | None) -> list[str]:
    """Why the run errored, each reason once; empty if it did not."""
    faults = [] if reason is None else [reason]
    for event in events:
        if event.get("type") != "result":
            continue
        text, subtype = event.get("result") or event.get("error"), event.get("subtype")
        failed = has_failed(event)
        if failed and text and not any(str(text) in fault for fault in faults):
            faults.append(str(text))
        elif failed and not text and not faults:
            faults.append(f"no reason was given ({subtype or 'no subtype'})")
    return faults
