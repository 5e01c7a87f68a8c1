"""Where one plain JSON value holds something that another does not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_IDENTITY = (
    "eval_id",
    "test_case_id",
    "configuration",
    "iteration",
    "run_id",
    "version",
    "query",
    "id",
    "name",
    "text",
    "prompt",
)
"""Keys that tell the elements of a list apart."""


def differences(before: Any, after: Any, where: str = "$") -> Iterator[tuple[str, str]]:
    """Each place where `before` has something that `after` lacks or has otherwise.

    Gives its JSON path in `before`, and what became of it. What only `after` has is no
    difference.

    >>> list(differences({"a": 1, "b": [{"id": 1}, {"id": 2}]}, {"a": 2, "b": [{"id": 2}]}))
    [('$.a', '1 became 2'), ('$.b[0]', 'left out')]
    """
    if _is_empty(before):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, item in before.items():
            if not _is_empty(item) and key not in after:
                yield f"{where}.{key}", "left out"
            else:
                yield from differences(item, after.get(key), f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        for index, (item, other) in enumerate(pairs(before, after)):
            if other is NOTHING:
                yield f"{where}[{index}]", "left out"
            else:
                yield from differences(item, other, f"{where}[{index}]")
    elif after is None:
        yield where, "left out"
    elif not _alike(before, after):
        yield where, f"{_show(before)} became {_show(after)}"


NOTHING: Any = object()
"""The partner of an element that has none."""


def pairs(before: list[Any], after: list[Any]) -> list[tuple[Any, Any]]:
    """Each element of `before` with the one of `after` that is the same thing, or `NOTHING`.

    Objects are matched by the names and ids that both lists have, other elements by place.
    """
    shared = [
        key
        for key in _IDENTITY
        if all(isinstance(item, dict) and key in item for item in [*before, *after])
    ]
    if not shared or not after:
        return [
            (item, after[index] if index < len(after) else NOTHING)
            for index, item in enumerate(before)
        ]
    waiting: dict[tuple[str, ...], list[Any]] = {}
    for item in reversed(after):
        waiting.setdefault(tuple(str(item[key]) for key in shared), []).append(item)
    found = []
    for item in before:
        same = waiting.get(tuple(str(item[key]) for key in shared))
        found.append((item, same.pop() if same else NOTHING))
    if all(partner is NOTHING for _, partner in found) and len(before) == len(after):
        return list(zip(before, after, strict=True))  # the names themselves were changed
    return found


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other or (not isinstance(one, (dict, list)) and str(one) == str(other))


def _show(value: Any) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "…"
