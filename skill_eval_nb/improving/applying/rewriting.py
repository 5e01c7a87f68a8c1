"""Changes to a JSON text, by which nothing else in it changes by a byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from .layout import Layout, indent_after, sibling
from .positions import Node


@dataclass(slots=True)
class InList:
    """What becomes of a list: what comes in the place of its items, and behind the last."""

    instead: dict[int, list[Any]] = field(default_factory=dict)
    added: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class InObject:
    """What becomes of an object: members with new values, or new ones, and those that go."""

    put: dict[str, Any] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Instead:
    """What comes in the place of a value."""

    value: Any


Edits = dict[Node, InList | InObject | Instead]
"""What becomes of the values that change."""


def rewritten(layout: Layout, root: Node, edits: Edits) -> str:
    r"""The text with its changes.

    >>> from .habits import layout_of
    >>> from .positions import placed
    >>> text = '[1,\n 2]\n'
    >>> root = placed(text)
    >>> rewritten(layout_of(text, root), root, {root: InList({0: []}, [3, 4])})
    '[2,\n 3,\n 4]\n'
    """
    text = layout.text
    return text[: root.start] + _written(layout, root, edits) + text[root.end :]


def differing(node: Node, new: Any, edits: Edits) -> None:
    """Note what makes a value another one: of two objects only the members that differ."""
    if same(node.value, new):
        return
    if not (isinstance(node.value, dict) and isinstance(new, dict)):
        edits[node] = Instead(new)
        return
    edit = InObject(gone={name for name in node.value if name not in new})
    for name, value in new.items():
        member = node.member(name)
        if member is None:
            edit.put[name] = value
        else:
            differing(member, value, edits)
    if edit.put or edit.gone:
        edits[node] = edit


def same(one: Any, other: Any) -> bool:
    """Whether two plain values say the same; true is not 1.

    >>> same({"a": [1, 2.0]}, {"a": [1.0, 2]}), same(1, True)
    (True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _written(layout: Layout, node: Node, edits: Mapping[Node, Any]) -> str:
    text, edit = layout.text, edits.get(node)
    if isinstance(edit, Instead):
        return layout.render(edit.value, layout.indent(node.start), node)
    if not node.items and edit is None:
        return text[node.start : node.end]
    spans = layout.spans(node)
    kept = [
        text[start : item.start] + _written(layout, item, edits)
        for (start, _), item in zip(spans, node.items, strict=True)
    ]
    if edit is None:
        parts = [_Part(index, index, part) for index, part in enumerate(kept)]
    elif isinstance(edit, InList):
        parts = _in_list(layout, node, edit, kept)
    else:
        parts = _in_object(layout, node, edit, kept)
    opening, closing = text[node.start], text[node.end - 1]
    if not parts:
        return opening + closing
    if spans:
        lead, tail = text[node.start : spans[0][0]], text[spans[-1][1] : node.end]
        between = _new(layout, node, edit)[0]
    else:
        lead, between, tail = layout.around_first(node, _plain(edit))
        lead, tail = opening + lead, tail + closing
    written = lead + parts[0].text
    for before, after in pairwise(parts):
        if before.last is None or after.first is None:
            written += between
        else:
            written += text[spans[before.last][1] : spans[before.last + 1][0]]
        written += after.text
    return written + tail


class _Part(NamedTuple):
    """A part of what is written: the old ones whose places its first and last line have."""

    first: int | None
    last: int | None
    text: str


def _in_list(layout: Layout, node: Node, edit: InList, kept: list[str]) -> list[_Part]:
    _, base = _new(layout, node, edit)
    parts: list[_Part] = []
    for index, part in enumerate(kept):
        if index not in edit.instead:
            parts.append(_Part(index, index, part))
            continue
        was, values = node.items[index], edit.instead[index]
        for place, value in enumerate(values, 1):
            like = was if type(was.value) is type(value) else sibling(node, value)
            first = index if place == 1 else None
            last = index if place == len(values) else None
            parts.append(_Part(first, last, layout.render(value, base, like)))
    new = [layout.render(value, base, sibling(node, value)) for value in edit.added]
    return parts + [_Part(None, None, part) for part in new]


def _in_object(layout: Layout, node: Node, edit: InObject, kept: list[str]) -> list[_Part]:
    _, base = _new(layout, node, edit)
    parts = [
        _Part(index, index, part)
        for index, (key, part) in enumerate(zip(node.keys, kept, strict=True))
        if key.name not in edit.gone
    ]
    for name, value in edit.put.items():
        written = layout.render(value, base, None, name)
        parts.append(_Part(None, None, f"{layout.render(name, base)}{layout.colon}{written}"))
    return parts


def _new(layout: Layout, node: Node, edit: InList | InObject | None) -> tuple[str, str]:
    """What stands between a part and a new one, and the blanks that its line begins with."""
    if not node.items:
        base = layout.indent(node.start)
        lead = layout.around_first(node, _plain(edit)).lead
        return "", indent_after(lead, base)
    start, _ = layout.spans(node)[-1]
    frame = layout.frame(node)
    between = layout.comma if frame is None else frame.between
    if frame is None and "\n" in layout.text[node.start : start]:
        between = f",{layout.newline}{layout.indent(start)}"
    return between, indent_after(between, layout.indent(start))


def _plain(edit: InList | InObject | None) -> Any:
    """What an empty list or object is filled with."""
    if isinstance(edit, InObject):
        return edit.put
    return edit.added if isinstance(edit, InList) else []
