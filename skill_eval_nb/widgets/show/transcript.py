"""A run's transcript: who said what, and each call of a tool with what it gave."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_eval_nb.documents.transcript import (
    Step,
    Told,
    has_failed,
    message_of,
    read_events,
    read_steps,
    role_of,
)
from skill_eval_nb.text import count, size

from ..ui import Child, Node, h
from ..ui.parts import copy_button, details, join_parts, line, note, say_first, text_box
from .documents import code_block, excerpt, render_markdown
from .files import DRAWN, NotDrawn, OutputFile, Reading, Sheet, as_text, lines_in, transcript_files
from .outputs import file_line


@dataclass
class Transcript:
    """The steps in order, and what is not among them.

    Attributes:
        steps: what was said and done.
        others: events that are no steps, by type.
        damaged: lines that are not JSON objects.
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
    for told in read_steps(event.value for event in read.events):
        event, steps = told.event, _event_steps(told)
        for step in steps:
            if step.who == "other":
                step.who, step.text = "system", f"A block of type {step.text}"
            if step.call is not None and step.call.result is None:
                step.call.result, step.call.failed = step.text, step.failed
            else:
                transcript.steps.append(step)
        if not steps and not _says_nothing(event):
            transcript.others[str(event.get("type") or event.get("role") or "unnamed")[:60]] += 1
    return transcript if transcript.steps else None


def _says_nothing(event: Mapping[str, Any]) -> bool:
    message = message_of(event)
    return message.get("content") in ("", [], None) and "role" in message


def _event_steps(told: Told) -> list[Step]:
    """The steps of an event, the run's begin and end among them."""
    event, role = told.event, role_of(told.event)
    if event.get("type") == "result":
        return [_end_step(event, told.at)]
    if event.get("type") == "system" or role == "system":
        words = _system_words(event, message_of(event).get("content"))
        return [Step("system", words, at=told.at)] if words else []
    return told.steps if role in ("assistant", "user") else []


def _system_words(event: Mapping[str, Any], text: Any) -> str | None:
    if isinstance(text, str) and text.strip():
        return text
    if event.get("subtype") != "init" and "model" not in event:
        return None
    facts = [f"Model {event['model']}"] if isinstance(event.get("model"), str) else []
    lists = {key: event[key] for key in ("tools", "skills") if isinstance(event.get(key), list)}
    facts += [f"{key}: {', '.join(map(str, names)) or 'none'}" for key, names in lists.items()]
    return "; ".join(facts) or "Begun"


def _end_step(event: Mapping[str, Any], at: float | None) -> Step:
    failed = has_failed(event)
    facts = [str(event.get("subtype") or ("error" if failed else "success"))]
    milliseconds, cost = event.get("duration_ms"), event.get("total_cost_usd")
    if isinstance(milliseconds, int | float):
        facts.append(f"{milliseconds / 1000:,.1f} s")
    if isinstance(cost, int | float):
        facts.append(f"${cost:,.4f}")
    result = event.get("result") or event.get("error")
    words = str(result) if result else None
    return Step("end", ", ".join(facts), result=words, failed=failed, at=at)


FIRST, LAST = 150, 50
"""Steps that are shown of each end, where there are more."""
CHARS = 6_000
"""Characters of one piece that are shown at most."""
LINE = 90
"""Characters of what a call was given that stand in its line."""
WEIGHT = 300_000
"""Characters of all steps that are shown."""
_CODE = {"Bash": "bash", "bash": "bash", "PowerShell": "powershell"}


def _steps_view(transcript: Transcript) -> Child:
    """The steps of a transcript, within bounds, and what is not shown of it."""
    steps = transcript.steps
    final = next((step for step in reversed(steps) if step.who == "agent"), None)
    missing = len(steps) - FIRST - LAST
    room = WEIGHT
    rows: list[Node] = []
    for at, step in enumerate(steps):
        if missing > 0 and FIRST <= at < FIRST + missing:
            if at == FIRST:
                why = note(f"{count(missing, 'step')} in between not shown.")
                rows.append(h("li", why, cls="sen-step"))
            continue
        full = note("Not shown: the page is full.")
        rows.append(_step_row(step, _step_content(step) if room > 0 else full, final=step is final))
        room -= min(len(step.text) + len(step.result or ""), 2 * CHARS)
    return [*map(note, _not_shown(transcript)), h("ol", rows, cls="sen-steps")]


def _not_shown(transcript: Transcript) -> Iterator[str]:
    if transcript.damaged:
        yield f"{count(transcript.damaged, 'line')} not readable as JSON."
    if transcript.others:
        kinds = ", ".join(f"{line(kind)} {n:,}" for kind, n in transcript.others.most_common(8))
        yield f"{count(transcript.others.total(), 'event')} of other types not shown: {kinds}."


def _step_row(step: Step, content: Child, *, final: bool) -> Node:
    who = h("span", "Final message" if final else _speaker(step), cls="sen-who")
    since = None if step.at is None else h("span", f"{step.at:,.1f} s", cls="sen-at")
    look = f"sen-step sen-by-{step.who}{' sen-final' if final else ''}"
    return h("li", h("div", who, since), h("div", content), cls=look)


def _speaker(step: Step) -> str:
    return "Instructions to the agent" if step.who == "told" else step.who.capitalize()


def _step_content(step: Step) -> Child:
    if step.who == "call":
        return _call_view(step)
    if step.who == "agent":
        return [render_markdown(step.text[:CHARS]), _left_out_note(step.text)]
    if step.who == "end":
        mark = h("span", f"Ended: {line(step.text)}", cls="sen-bad-ink" if step.failed else None)
        return [h("p", mark), _box(step.result or "", "message") if step.failed else None]
    if step.who == "system":
        return [
            h("p", line(step.text[:CHARS]), cls="sen-soft", dir="auto"),
            _left_out_note(step.text),
        ]
    words = step.text
    if len(words) <= 2 * LINE and "\n" not in words.strip():
        return h("p", line(words.strip()), dir="auto")
    summary = h("span", first_line(words), cls="sen-soft", dir="auto")
    return details(summary, _box(words, _speaker(step)))


def show_last_steps(events: Iterable[Mapping[str, Any]], most: int) -> Node | None:
    """The last steps of a run in flight, a line each; None where there is none yet.

    Each says who, of a call which tool and with what, else how the words begin.
    """
    steps = [step for told in read_steps(events) for step in _event_steps(told)]
    rows = [
        h(
            "li",
            h("span", _speaker(step), cls="sen-who"),
            " ",
            _call_line(step)
            if step.who == "call"
            else h("span", first_line(step.text), dir="auto"),
            cls="sen-bad-ink" if step.failed else None,
        )
        for step in [step for step in steps if step.who != "system"][-most:]
    ]
    return h("ol", rows, cls="sen-last-steps") if rows else None


def _call_line(step: Step) -> Child:
    """The tool that is called, and the first words that it was given."""
    texts = step.given.values() if isinstance(step.given, Mapping) else [step.given]
    about = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    given = None if about is None else h("code", first_line(about), cls="sen-soft")
    return join_parts([h("code", line(step.text), cls="sen-strong"), given], " ")


def _call_view(step: Step) -> Node:
    failed = h("span", " failed", cls="sen-pill sen-bad") if step.failed else None
    summary = _call_line(step)
    result: Child = note("No result recorded.")
    if step.result is not None:
        what = "Error" if step.failed else "Result"
        result = [note(what), _box(step.result, what) if step.result else note("(nothing)")]
    return details([summary, failed], [_given_view(step), result])


def first_line(text: str) -> str:
    r"""The first line of a text.

    >>> first_line("\n ls -la\ncat x")
    'ls -la …'
    """
    head, _, rest = text.strip()[: 4 * LINE].partition("\n")
    cut = len(head) > LINE or rest or len(text.strip()) > 4 * LINE
    return f"{line(head[:LINE].rstrip())} …" if cut else line(head)


def _given_view(step: Step) -> Child:
    if isinstance(step.given, Mapping):
        return [_argument_view(step.text, str(key), value) for key, value in step.given.items()]
    return _box(_value_as_text(step.given), "input")


def _argument_view(tool: str, key: str, value: Any) -> Child:
    text = _value_as_text(value)
    named = h("span", line(key), cls="sen-key", dir="auto")
    if len(text) <= LINE and "\n" not in text:
        return h("p", named, ": ", h("code", line(text)))
    label = f"{line(key)} of a call of {line(tool)}"
    if key == "command" and tool in _CODE:
        return [
            h("p", named, ": ", copy_button(text, "the command")),
            code_block(text[:CHARS], _CODE[tool], label=label),
            _left_out_note(text),
        ]
    return [h("p", named, ":"), _box(text, label)]


def _value_as_text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply to show)"


def _box(text: str, label: str) -> Child:
    return [text_box(text[:CHARS], label=label), _left_out_note(text)]


def _left_out_note(text: str) -> Node | None:
    """What is said where not all of a piece is shown."""
    if len(text) <= CHARS:
        return None
    return note(f"{say_first(CHARS, len(text), 'character')}: download it for the rest.")


MOST = 64 * 2**20
"""Bytes of a transcript that is read."""


def show_transcript(folder: Path) -> Node:
    """The transcript of a run, from the file that says most; all its files can be downloaded."""
    files = transcript_files(folder)
    if not files:
        return h("div", note("No transcript."), cls="sen-transcript")
    names = h("div", map(file_line, files), cls="sen-row sen-middle sen-small")
    return h("div", names, _sheet_of(files).view, cls="sen-transcript")


def transcript_summary(folder: Path) -> str | None:
    """What there is of a transcript, in a word or two; None where there is none."""
    files = transcript_files(folder)
    return (_sheet_of(files).kind or size(files[0].size)) if files else None


def _sheet_of(files: list[OutputFile]) -> Sheet:
    """What is to be seen of the first that can be read, else of the first."""
    sheets = map(_draw_transcript, files)
    return next((sheet for sheet in sheets if sheet.kind), None) or _draw_transcript(files[0])


def _draw_transcript(file: OutputFile) -> Sheet:
    """What is to be seen of a transcript; its kind is empty where nothing could be read."""

    def draw_sheet() -> Sheet:
        kind, view = _read_transcript(file)
        return Sheet(file, kind=kind, view=view)

    return DRAWN.get_or_make(("transcript", file), draw_sheet)


def _read_transcript(file: OutputFile) -> tuple[str, Child]:
    if file.size > MOST:
        return "", note(f"A transcript of {size(file.size)}: up to {size(MOST)} are read here.")
    try:
        text, odd = as_text(file.read())
    except (NotDrawn, OSError) as why:
        return "", note(f"{file.name} cannot be shown: {why}.")
    if not text.strip():
        return "", note(f"{file.name} is empty.")
    if file.suffix.startswith("json"):
        try:
            transcript, why = transcript_of(text), "it holds no readable messages"
        except Exception as error:  # noqa: BLE001 -- what others call a transcript
            transcript, why = None, f"its reader failed on it ({type(error).__name__})"
        if transcript is not None:
            return count(len(transcript.steps), "step"), _steps_view(transcript)
        odd = f"{why}; shown as text"
    shown, remarks = excerpt(Reading(text, note=odd))
    label = f"text of {line(file.name)}"
    content = render_markdown(shown) if file.suffix == "md" else text_box(shown, label=label)
    return count(lines_in(text), "line"), [remarks, content]
