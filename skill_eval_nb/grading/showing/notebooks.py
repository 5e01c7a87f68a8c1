"""A notebook as text: its cells, and what they put out as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebook_text(source: str) -> str | None:
    r"""The cells of a notebook, each with its source and its text outputs; None if it is none.

    >>> cell = {"cell_type": "code", "source": ["1 + 1"], "outputs": [
    ...     {"output_type": "execute_result", "data": {"text/plain": "2"}}]}
    >>> print(notebook_text(json.dumps({"cells": [cell]})))
    [cell 1: code]
    1 + 1
    [output of cell 1]
    2
    """
    try:
        raw = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    cells = raw.get("cells")
    if not isinstance(cells, list):
        return None
    return "\n".join(line for n, cell in enumerate(cells, 1) for line in _cell(n, cell))


def _cell(number: int, cell: Any) -> Iterator[str]:
    if not isinstance(cell, dict):
        yield f"[cell {number}: damaged]"
        return
    yield f"[cell {number}: {cell.get('cell_type', 'unknown')}]"
    yield _text(cell.get("source"))
    for output in _list(cell.get("outputs")):
        if isinstance(output, dict):
            yield f"[output of cell {number}]"
            yield _output(output)


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") == "error":
        trace = "\n".join(map(str, _list(output.get("traceback"))))
        told = f"{output.get('ename')}: {output.get('evalue')}"
        return _COLOURS.sub("", trace) or told
    if "text" in output:
        return _COLOURS.sub("", _text(output["text"]))
    data = output.get("data")
    if not isinstance(data, dict):
        return "(nothing)"
    if "text/plain" in data:
        others = [kind for kind in data if kind != "text/plain"]
        rest = f"\n(also as {', '.join(map(str, others))})" if others else ""
        return _text(data["text/plain"]) + rest
    return f"({', '.join(map(str, data))})"


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
