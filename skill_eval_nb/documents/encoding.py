"""Plain JSON values to the bytes of a file."""

from __future__ import annotations

import json
import math
from typing import Any


def to_json(value: Any) -> bytes:
    r"""The bytes of a JSON file: indented by two, UTF-8, with a newline at the end.

    A number that is not finite becomes null, which JSON readers everywhere understand;
    a lone surrogate stays an escape, so the bytes are always valid UTF-8.

    >>> to_json({"score": float("nan"), "text": "é"}).decode()
    '{\n  "score": null,\n  "text": "é"\n}\n'
    """
    text = json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value
