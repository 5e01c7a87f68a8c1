"""A run's transcript: who said what, and each call of a tool with what it gave."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from skill_eval_nb.documents.transcript import (
    blocks,
    instant,
    message_of,
    read_events,
    role_of,
    text_of,
)
from skill_eval_nb.text import count, size

from ..ui import Child, Node, h
from ..ui.parts import between, body, first, line, name, soft
from .documents import bounded, notes, rendered, source
from .files import (
    Drawn,
    NotDrawn,
    OutputFile,
    Reading,
    as_text,
    keep,
    lines_in,
    transcript_files,
    weight,
)
from .outputs import download_of, soft_size

Who = Literal["agent", "thinking", "call", "result", "told", "system", "end"]
Event = Mapping[str, Any]


@dataclass
class Step:
    """One thing that was said or done.

    Attributes:
        who: who said or did what.
        text: the words; of a call, the name of the tool.
        given: what a call was given.
        result: what a call gave; None where nothing is known of it.
        failed: whether it is an error.
        at: seconds since the first step; None where that is not known.
    """

    who: Who
    text: str
    given: Any = None
    result: str | None = None
    failed: bool = False
    at: float | None = None


@dataclass
class Transcript:
    """The steps in order, and what is not among them.

    Attributes:
        steps: what was said and done.
        others: events that are no steps, by type.
        damaged: lines that are no JSON object.
    """

    steps: list[Step] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    damaged: int = 0


def transcript_of(text: str) -> Transcript | None:
    """The steps that a transcript in JSON tells; None where it tells none."""
    read = read_events(text)
    if read is None:
        return None
    transcript = Transcript(damaged=read.damaged)
    calls: dict[str, Step] = {}
    start: datetime | None = None
    for _, event in read.events:
        now = instant(event)
        start = start or now
        at = (now - start).total_seconds() if now is not None and start is not None else None
        steps = list(_steps(event, calls))
        for step in steps:
            step.at = at
            if step.who != "result" or not _answered(step, calls):
                transcript.steps.append(step)
        if not steps and not _is_answer(event):
            transcript.others[str(event.get("type") or event.get("role") or "unnamed")[:60]] += 1
    return transcript if transcript.steps else None


def _steps(event: Event, calls: dict[str, Step]) -> Iterator[Step]:
    role = role_of(event)
    if event.get("type") == "result":
        yield _end(event)
    elif event.get("type") == "system" or role == "system":
        yield from _system(event, message_of(event))
    elif role in ("assistant", "user"):
        for block in blocks(event):
            yield from _of_block(block, role, calls)


def _of_block(block: Event, role: Any, calls: dict[str, Step]) -> Iterator[Step]:
    kind = block.get("type")
    if kind in ("text", "output_text", "input_text"):
        if str(block.get("text", "")).strip():
            yield Step("agent" if role == "assistant" else "told", str(block["text"]))
    elif kind == "thinking":
        if str(block.get("thinking", "")).strip():
            yield Step("thinking", str(block["thinking"]))
    elif kind in ("tool_use", "server_tool_use"):
        step = Step("call", str(block.get("name")), block.get("input"))
        calls[str(block.get("id"))] = step
        yield step
    elif isinstance(kind, str) and kind.endswith("tool_result"):
        output = text_of(block.get("content"))
        of = str(block.get("tool_use_id"))
        yield Step("result", of, result=output, failed=bool(block.get("is_error")))
    else:
        yield Step("system", f"A block of type {kind}")


def _answered(step: Step, calls: dict[str, Step]) -> bool:
    """Put a result to its call, where that is known and has none."""
    call = calls.get(step.text)
    if call is None or call.result is not None:
        return False
    call.result, call.failed = step.result, step.failed
    return True


def _is_answer(event: Event) -> bool:
    message = message_of(event)
    return message.get("content") in ("", [], None) and "role" in message


def _system(event: Event, message: Event) -> Iterator[Step]:
    text = message.get("content")
    if isinstance(text, str) and text.strip():
        yield Step("system", text)
    elif event.get("subtype") == "init" or "model" in event:
        facts = [f"Model {event['model']}"] if isinstance(event.get("model"), str) else []
        for key in ("tools", "skills"):
            names = event.get(key)
            if isinstance(names, list):
                facts.append(f"{key}: {', '.join(map(str, names)) or 'none'}")
        yield Step("system", "; ".join(facts) or "Begun")


def _end(event: Event) -> Step:
    failed = bool(event.get("is_error")) or event.get("subtype") not in (None, "success")
    facts = [str(event.get("subtype") or ("error" if failed else "success"))]
    milliseconds, cost = event.get("duration_ms"), event.get("total_cost_usd")
    if isinstance(milliseconds, int | float):
        facts.append(f"{milliseconds / 1000:,.1f} s")
    if isinstance(cost, int | float):
        facts.append(f"${cost:,.4f}")
    result = event.get("result") or event.get("error")
    return Step("end", ", ".join(facts), result=str(result) if result else None, failed=failed)


FIRST, LAST = 150, 50
"""Steps that are shown of each end, where there are more."""
CHARS = 6_000
"""Characters of one piece that are shown at most."""
LINE = 90
"""Characters of what a call was given that stand in its line."""
WEIGHT = 300_000
"""Characters of all steps that are shown."""
_WHO = {
    "agent": "Agent",
    "thinking": "Thinking",
    "call": "Call",
    "result": "Result",
    "told": "Told to the agent",
    "system": "System",
    "end": "End",
}
_CODE = {"Bash": "bash", "bash": "bash", "PowerShell": "powershell"}


def steps_view(transcript: Transcript) -> Child:
    """The steps of a transcript, within bounds, and what is not shown of it."""
    steps = transcript.steps
    all_ = list(enumerate(steps))
    parts = [all_] if len(steps) <= FIRST + LAST else [all_[:FIRST], all_[-LAST:]]
    final = next((at for at, step in reversed(all_) if step.who == "agent"), None)
    left = WEIGHT
    rows: list[Node] = []
    for part in parts:
        if rows:
            missing = count(len(steps) - FIRST - LAST, "step")
            rows.append(h("li", soft(f"{missing} between them not shown."), cls="sen-step"))
        for at, step in part:
            rows.append(_step(step, final=at == final, room=left))
            left -= min(len(step.text) + len(step.result or ""), 2 * CHARS)
    return [*map(soft, _lacking(transcript)), h("ol", rows, cls="sen-steps")]


def _lacking(transcript: Transcript) -> Iterator[str]:
    if transcript.damaged:
        yield f"{count(transcript.damaged, 'line')} that could not be read as JSON."
    if transcript.others:
        kinds = ", ".join(f"{line(kind)} {n:,}" for kind, n in transcript.others.most_common(8))
        yield f"{count(transcript.others.total(), 'event')} of other types not shown: {kinds}."


def _step(step: Step, *, final: bool, room: int) -> Node:
    who = "Final message" if final else _WHO[step.who]
    since = None if step.at is None else f"{step.at:,.1f} s"
    head = h("div", h("span", who, cls="sen-who"), since and h("span", since, cls="sen-at"))
    look = f"sen-step sen-by-{step.who}{' sen-final' if final else ''}"
    return h("li", head, h("div", _content(step, room)), cls=look)


def _content(step: Step, room: int) -> Child:
    if room <= 0:
        return soft("Not shown: the steps before it fill the page.")
    if step.who == "call":
        return _call(step)
    if step.who == "agent":
        shown, note = bounded_piece(step.text)
        return [rendered(shown), note]
    if step.who in ("thinking", "told", "result"):
        return _folded(step)
    if step.who == "end":
        mark = h("span", f"Ended: {line(step.text)}", cls="sen-bad-ink" if step.failed else None)
        note = _box(step.result or "", "what it said") if step.failed else None
        return [h("p", mark), note]
    shown, note = bounded_piece(step.text)
    return [h("p", line(shown), cls="sen-soft", dir="auto"), note]


def _folded(step: Step) -> Child:
    words = step.result or "" if step.who == "result" else step.text
    if len(words) <= 2 * LINE and "\n" not in words.strip():
        return h("p", line(words.strip()), dir="auto")
    start = h("span", brief(words), cls="sen-soft", dir="auto")
    return h("details", h("summary", start), _box(words, _WHO[step.who]))


def _call(step: Step) -> Node:
    given = _brief_of(step.given)
    failed = h("span", " failed", cls="sen-pill sen-bad") if step.failed else None
    summary = h(
        "summary",
        between([h("code", line(step.text), cls="sen-strong"), given], " "),
        failed,
    )
    result = soft("No result is known.")
    if step.result is not None:
        what = "Its error" if step.failed else "Its result"
        result = [soft(what), _box(step.result, what) if step.result else soft("(nothing)")]
    return h("details", summary, _given(step), result)


def _brief_of(given: Any) -> Node | None:
    """What a call is about: its only or first text."""
    texts = [given] if isinstance(given, str) else []
    if isinstance(given, Mapping):
        texts = [value for value in given.values() if isinstance(value, str)]
    words = next((brief(text) for text in texts if text.strip()), None)
    return None if words is None else h("code", words, cls="sen-soft")


def brief(text: str) -> str:
    r"""The first line of a text.

    >>> brief("\n ls -la\ncat x")
    'ls -la …'
    """
    head, _, rest = text.strip()[: 4 * LINE].partition("\n")
    cut = len(head) > LINE or rest or len(text.strip()) > 4 * LINE
    return f"{line(head[:LINE].rstrip())} …" if cut else line(head)


def _given(step: Step) -> Child:
    if not isinstance(step.given, Mapping):
        text = step.given if isinstance(step.given, str) else _written(step.given)
        return _box(text, "what it was given")
    return [_argument(step.text, str(key), value) for key, value in step.given.items()]


def _argument(tool: str, key: str, value: Any) -> Child:
    text = value if isinstance(value, str) else _written(value)
    named = h("span", line(key), cls="sen-key", dir="auto")
    if len(text) <= LINE and "\n" not in text:
        return h("p", named, ": ", h("code", line(text)))
    shown, note = bounded_piece(text)
    language = _CODE.get(tool) if key == "command" else None
    label = f"{line(key)} of a call of {line(tool)}"
    box = source(shown, language, label=label) if language else body(shown, label=label)
    return [h("p", named, ":"), box, note]


def _written(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deep to be shown)"


def _box(text: str, label: str) -> Child:
    shown, note = bounded_piece(text)
    return [body(shown, label=label), note]


def bounded_piece(text: str) -> tuple[str, Node | None]:
    """So much of a piece as is shown, and what that is."""
    if len(text) <= CHARS:
        return text, None
    return text[:CHARS], soft(f"{first(CHARS, len(text), 'character')}: download it for the rest.")


MOST = 64 * 2**20
"""Bytes of a transcript that is read."""

_KEEP = keep()


def show_transcript(folder: Path) -> Node:
    """The transcript of a run, from the file that says most; all its files can be downloaded."""
    files = transcript_files(folder)
    if not files:
        return h("div", soft("There is no transcript."), cls="sen-transcript")
    drawn = next((candidate for file in files if (candidate := _drawn(file)).kind), None)
    if drawn is None:
        drawn = _drawn(files[0])
    return h(
        "div",
        h(
            "div",
            [[name(file.name), " ", soft_size(file), " ", download_of(file)] for file in files],
            cls="sen-row sen-middle sen-small",
        ),
        drawn.view,
        cls="sen-transcript",
    )


def transcript_summary(folder: Path) -> str | None:
    """What there is of a transcript, in a word or two; None where there is none."""
    files = transcript_files(folder)
    if not files:
        return None
    drawn = next((candidate for file in files if (candidate := _drawn(file)).kind), None)
    return drawn.kind if drawn is not None else size(files[0].size)


def _drawn(file: OutputFile) -> Drawn:
    """What is to be seen of a transcript; its kind is empty where nothing could be read."""
    kept = _KEEP.get(file)
    if kept is not None:
        return kept
    kind, view = _view(file)
    return _KEEP.put(file, Drawn(kind, view, weight([view]), 0, {}))


def _view(file: OutputFile) -> tuple[str, Child]:
    if file.size > MOST:
        return "", soft(f"A transcript of {size(file.size)}: up to {size(MOST)} are read here.")
    try:
        text, odd = as_text(file.read())
    except (NotDrawn, OSError) as why:
        return "", soft(f"{file.name} cannot be shown: {why}.")
    if not text.strip():
        return "", soft(f"{file.name} is empty.")
    if file.suffix.startswith("json"):
        transcript, why = _transcript(text)
        if transcript is not None:
            return count(len(transcript.steps), "step"), [
                odd and soft(odd, "."),
                steps_view(transcript),
            ]
        odd = f"{why}; it stands as it is"
    reading = Reading(text, whole=True, lines=lines_in(text), note=odd)
    shown, note = bounded(reading)
    if file.suffix == "md":
        return count(reading.lines or 0, "line"), [notes(reading, note), rendered(shown)]
    label = f"text of {line(file.name)}"
    return count(reading.lines or 0, "line"), [notes(reading, note), body(shown, label=label)]


def _transcript(text: str) -> tuple[Transcript | None, str]:
    """The steps that a text tells, or why there are none."""
    try:
        return transcript_of(text), "it holds no messages that could be read"
    except Exception as error:  # noqa: BLE001 -- what others call a transcript
        return None, f"its reader broke on it ({type(error).__name__})"
