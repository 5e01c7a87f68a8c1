"""`no_errors`: whether the transcript shows an error.

A transcript of messages says itself which tool calls failed, and only that counts. In one of
plain text a line counts that is an error message by its form; that a line merely holds the
word does not: "0 errors", "error handling" and "Errors: none" are no errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skill_eval_nb.documents.transcript import Event, Told, has_failed
from skill_eval_nb.text import count

from .outputs import CheckVerdict, failed, passed, shown
from .record import Record

LONGEST = 400
"""An error message says that it is one at its beginning."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = re.compile(r"[\s>|*_`#$\-+•]*(?:\d{1,4}[.)]\s+)?[\s*_`]*(?=\S)")
"""What lists, quotes and bold put before a line."""

_MESSAGES = re.compile(
    r"""
      Traceback\ \(most\ recent\ call\ last\)
    | <tool_use_error>
    | "?is_error"?\s*[:=]\s*true\b
    | (?:Uncaught\s+|Unhandled\s+|E\s{3,})?
        (?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\s\[\w+\])?:\s+(?P<named>\S.*)
    | (?:Uncaught\s+)?(?:Error|ERROR|error|FATAL|fatal|fatal\ error|Fatal\ error|API\ Error)
        (?:\[\w+\]|\s[A-Z]+\d+)?(?:\*\*)?:(?:\*\*)?\s+(?P<plain>\S.*)
    | \[(?:ERROR|FATAL|error|fatal)\]\s*:?\s+(?P<tagged>\S.*)
    | (?:npm\s(?:ERR!|error)|ERR!|E:)\s+\S
    | (?:ERROR|FATAL)\s+(?P<logged>\S.*[a-z].*)
    | [❌✗✖✘]\s*(?:Error|ERROR|error)\b(?!\s+(?:handling|messages?\b))
    | \S+?[:(]\d+(?:[:,]\d+)?\)?:\s+(?:fatal\ )?error(?:\s[A-Z]+\d+)?:\s+\S
    | (?:/\S*/)?(?:ba|z|da|k)?sh:\s(?:line\s\d+:\s)?.+:\s
        (?:command\ not\ found|[Nn]ot\ found|[Nn]o\ such\ file\ or\ directory
        |[Pp]ermission\ denied|[Ss]yntax\ error.*)$
    | [\w./-]+:\s(?:.+:\s)?(?:No\ such\ file\ or\ directory|Permission\ denied|Is\ a\ directory
        |command\ not\ found)$
    | thread\s'.*'(?:\s\(\d+\))?\spanicked\sat
    | panic:\s+\S
    | Segmentation\ fault
    | (?:Process\s|Command\s(?:'.*'\s)?|Script\s)?
        (?:[Ee]xit(?:ed)?\s(?:with\s)?(?:exit\s)?(?:code|status)|returned\snon-zero\sexit\sstatus)
        \s?[:=]?\s*-?[1-9]\d*\.?$
    """,
    re.VERBOSE,
)

_NOTHING = re.compile(
    r"""(?:no(?:ne|thing|t\ applicable)?|n/a|null|nil|undefined|false|true|0|-|—
        |"{2}|'{2}|\{\}|\[\])
        [\s.,;]*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What follows where there was no error: `error: null`."""

_EXPLAINED = re.compile(
    r"(?:if|when|whenever|where|raised|thrown|for|on|in case|means|occurs)\b", re.IGNORECASE
)
"""What follows where an error is described: `ValueError: if the list is empty`."""

_CODE = re.compile(r"""["'\w\[\]<>|. ()$-]{0,80}[,;{]$""")
"""What follows where a line of code has a field of that name: `error: string;`."""


def is_error(line: str) -> bool:
    """Whether a line is an error message.

    >>> [is_error(line) for line in ("3. Error: Cannot find module './clock'", "Exit code 1")]
    [True, True]
    >>> [is_error(line) for line in ("Found 0 errors", "Error handling: done", "error: null,")]
    [False, False, False]
    """
    bare = _COLOURS.sub("", line[:LONGEST]).rstrip().rstrip("`")
    mark = _MARKS.match(bare)
    bare = bare[mark.end() :] if mark else bare
    found = _MESSAGES.match(bare)
    if found is None:
        return False
    message = next((group for group in found.groups() if group), None)
    if message is None:
        return True
    if _NOTHING.match(message) or _EXPLAINED.match(message):
        return False
    return found["plain"] is None or not _CODE.match(message)


TEXT_KEYS = ("text", "content", "output", "stdout", "stderr", "message", "error", "result")
_EXIT_CODE = re.compile(r"Exit code \d+")


def failures(events: Sequence[Event], told: Sequence[Told]) -> Iterator[tuple[int | str, str]]:
    """Each failure: where it is told (a line, or the number of the message), and what it says."""
    for number, (event, one) in enumerate(zip(events, told, strict=True), 1):
        where = event.line or f"message {number}"
        for step in one.steps:
            if step.who == "result" and step.failed:
                tool = step.call.text if step.call else "a tool"
                yield where, f"{tool} failed: {_first_line(step.given)}"
        if fault := _own_failure(event.value):
            yield where, fault


def _own_failure(event: Mapping[str, Any]) -> str | None:
    """What an event itself says of a failure: the run's end, an API's error, a tool's answer."""
    kind = event.get("type")
    if kind == "result" and (has_failed(event)):
        why = _first_line(event.get("result") or event.get("errors") or "")
        return f"the run ended with {event.get('subtype') or 'an error'}{f': {why}' if why else ''}"
    if kind == "error":
        return f"an error was reported: {_first_line(event.get('error') or event.get('message'))}"
    if event.get("role") in ("tool", "function"):
        lines = _text(event.get("content")).split("\n")
        error = next((line for line in lines if is_error(line)), None)
        return None if error is None else f"{event.get('name') or 'a tool'} failed: {error}"
    return None


def _text(value: Any, depth: int = 8) -> str:
    """The text in a value, also where it is wrapped in others, up to a depth."""
    if isinstance(value, str) or value is None:
        return value or ""
    if depth == 0:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_text(part, depth - 1) for part in value)))
    if isinstance(value, dict):
        return next((_text(value[key], depth - 1) for key in TEXT_KEYS if value.get(key)), "")
    return str(value)


def _first_line(value: Any) -> str:
    lines = [bare for line in _text(value).split("\n") if (bare := line.strip())]
    at = next((place for place, line in enumerate(lines) if is_error(line)), 0)
    # Claude Code puts the exit code before what the command said.
    last = at + 2 if lines[at : at + 1] and _EXIT_CODE.fullmatch(lines[at]) else at + 1
    return ": ".join(lines[at:last]) or "without a word"


MOST_SHOWN = 3
"""Errors that evidence shows."""


def no_errors(record: Record) -> CheckVerdict:
    """The verdict on `no_errors`."""
    name, text, events = record.name, record.text, record.events
    found = list(_lines(text) if events is None else failures(events, record.told))
    if not found:
        lines = text.rstrip("\n").split("\n")
        of = count(len(lines), "line") if events is None else count(len(events), "message")
        verdict = passed(f"No error in {name} ({of})")
        return verdict if events is None else record.unless_a_gap(verdict)
    errors = "; ".join(f"{name}:{line}: {shown(what)}" for line, what in found[:MOST_SHOWN])
    more = len(found) - MOST_SHOWN
    return failed(errors + (f"; and {count(more, 'more error')}" if more > 0 else ""))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if is_error(line):
            yield number, line
