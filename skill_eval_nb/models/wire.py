"""JSON as it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as compact JSON in UTF-8; all in ASCII where it has lone surrogates.

    Raises:
        TypeError: for a value that is no plain JSON.
        ValueError: for a number that JSON lacks, such as NaN.
    """
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
