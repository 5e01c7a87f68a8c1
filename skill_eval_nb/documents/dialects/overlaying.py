"""Writing changes into the value that a file held, and leaving the rest of it as it was."""

from __future__ import annotations

from typing import Any

from .comparing import NOTHING, pairs


def overlay(held: Any, before: Any, after: Any) -> Any:
    """The value that a file held, with what changed from `before` to `after` written into it.

    `before` and `after` are the document as the dialect writes it, when it was read and now;
    `held` may differ from `before` in whatever was repaired or not known. Nothing changed:
    the same value comes back.

    >>> overlay({"n": "7", "note": "mine"}, {"n": 7}, {"n": 7, "m": 1})
    {'n': '7', 'note': 'mine', 'm': 1}
    >>> overlay([{"id": 1, "x": "?"}, {"id": 2}], [{"id": 1}, {"id": 2}], [{"id": 1}])
    [{'id': 1, 'x': '?'}]
    """
    if before == after:
        return held
    if isinstance(held, dict) and isinstance(before, dict) and isinstance(after, dict):
        return _object(held, before, after)
    if isinstance(held, list) and isinstance(before, list) and isinstance(after, list):
        return _list(held, before, after)
    return after


def _object(held: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    out = {}
    for key, value in held.items():
        if key in after:
            out[key] = overlay(value, before.get(key), after[key])
        elif key not in before:
            out[key] = value
    for key, value in after.items():
        if key not in out and before.get(key) != value:
            out[key] = value
    return out


def _list(held: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    if len(held) != len(before):
        return after
    places = [(index, item) for index, item in enumerate(before)]
    origin: list[int | None] = [None] * len(after)
    for (index, _), (_, partner) in zip(places, pairs(before, after), strict=True):
        place = next((n for n, item in enumerate(after) if item is partner), None)
        if partner is not NOTHING and place is not None and origin[place] is None:
            origin[place] = index
    return [
        item if place is None else overlay(held[place], before[place], item)
        for place, item in zip(origin, after, strict=True)
    ]
