"""What an answer used, read from its bytes as they pass."""

from __future__ import annotations

import json
from typing import Any, Protocol

from skill_eval_nb.models import Usage


class Reader(Protocol):
    """Looks at an answer's bytes, in whatever pieces they come."""

    def feed(self, data: bytes) -> None:
        """Look at the next piece."""
        ...

    def usage(self) -> Usage | None:
        """What the answer used; None where it is not whole, or does not say so."""
        ...


class Whole:
    """Reads an answer that is one JSON object.

    >>> reader = Whole()
    >>> reader.feed(b'{"usage": {"input_tokens": 3, ')
    >>> reader.usage() is None
    True
    >>> reader.feed(b'"output_tokens": 7}}')
    >>> reader.usage().total
    10
    """

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Look at the next piece."""
        self._data += data

    def usage(self) -> Usage | None:
        """What the answer used; None where it is not whole, or does not say so."""
        return _usage(_object(self._data).get("usage"))

    def error(self) -> str:
        """The message, where the answer is one of the API's errors; else empty."""
        error = _object(self._data).get("error")
        return str(error.get("message", "")) if isinstance(error, dict) else ""


class Streamed:
    """Reads an answer that comes as events (SSE).

    The first event states the input's tokens, the last but one the output's, counted from
    the beginning; an answer is whole with the event `message_stop`.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._counts: dict[str, Any] = {}
        self._whole = False

    def feed(self, data: bytes) -> None:
        """Look at the next piece."""
        self._line += data
        *lines, rest = self._line.split(b"\n")
        self._line = bytearray(rest)
        for line in lines:
            # Deltas of text are most of the lines, and none of them is needed.
            if line.startswith(b"data:") and b'"message_' in line:
                self._event(_object(line[5:]))

    def usage(self) -> Usage | None:
        """What the answer used; None where it is not whole, or does not say so."""
        return _usage(self._counts) if self._whole else None

    def _event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start" and isinstance(event.get("message"), dict):
            self._count(event["message"].get("usage"))
        elif kind == "message_delta":
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self._whole = True

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._counts |= {name: value for name, value in usage.items() if value is not None}


def reader_of(content_type: str) -> Reader:
    """The reader for an answer of this type.

    >>> type(reader_of("text/event-stream; charset=utf-8")).__name__
    'Streamed'
    """
    return Streamed() if content_type.startswith("text/event-stream") else Whole()


def _object(data: bytes | bytearray) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _usage(counts: Any) -> Usage | None:
    try:
        return Usage.of(counts) if isinstance(counts, dict) else None
    except ValueError:  # counts that cannot be understood are taken at their worst
        return None
