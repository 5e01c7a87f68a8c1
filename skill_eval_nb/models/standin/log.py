"""The log of requests: one JSON line each, appended whole, so that processes may share a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

SECRET = ("authorization", "x-api-key", "cookie", "proxy-authorization")


def write(path: str | None, line: Mapping[str, Any]) -> None:
    """Append one line, with the time and the process before it; `path` None: do nothing.

    Raises:
        OSError: where the line cannot be written, or not as a whole.
    """
    if path is None:
        return
    stamped = {"time": datetime.now(UTC).isoformat(), "pid": os.getpid(), **line}
    data = json.dumps(stamped).encode() + b"\n"
    # One write on a file opened for appending: lines of several processes do not mix.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        written = os.write(file, data)
    finally:
        os.close(file)
    if written != len(data):
        raise OSError(f"{path}: only {written} of {len(data)} bytes of a line were written")


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, in lower case, without credentials.

    >>> without_secrets({"X-Api-Key": "secret", "Accept": "*/*"})
    {'accept': '*/*'}
    """
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name not in SECRET}
