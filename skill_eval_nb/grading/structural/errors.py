"""`no_errors`: whether the transcript shows an error.

A transcript of messages says itself which tool calls failed, and only that counts. In one of
plain text a line counts that is an error message by its form; that a line merely holds the
word does not: "0 errors", "error handling" and "Errors: none" are no errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skill_eval_nb.disk import read_bytes

from .content import Content
from .error_lines import is_error
from .events import Event, failures, read_events
from .verdict import Verdict, counted, failed, passed, shown, unscored

MOST_SHOWN = 3
"""Errors that evidence shows."""


def no_errors(transcript: Path | None) -> Verdict:
    """The verdict on `no_errors`; None for a path means that no transcript was kept."""
    if transcript is None:
        return unscored("there is no transcript to look into")
    name = transcript.name
    try:
        data = read_bytes(transcript, transcript.parent)
    except FileNotFoundError:
        return unscored(f"there is no {name} to look into")
    except OSError as error:
        return unscored(f"{name} cannot be read: {error.strerror or error}")
    text = Content(data).text
    if not text.strip():
        return unscored(f"{name} is empty, so it shows nothing")
    events = read_events(text)
    found = list(_lines(text) if events is None else failures(events))
    if not found:
        return passed(f"No error in {name} ({_size(text, events)})")
    told = "; ".join(f"{name}:{line}: {shown(what)}" for line, what in found[:MOST_SHOWN])
    more = len(found) - MOST_SHOWN
    return failed(told + (f"; and {counted(more, 'more error')}" if more > 0 else ""))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if is_error(line):
            yield number, line


def _size(text: str, events: list[Event] | None) -> str:
    if events is None:
        return counted(len(text.rstrip("\n").split("\n")), "line")
    return counted(len(events), "message")
