"""The habits of a JSON text: how it is indented, and what goes over several lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .layout import Layout, is_blank, sort_of
from .positions import Node

_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")
"""A letter as an escape, where JSON does not demand one."""


def layout_of(text: str, root: Node) -> Layout:
    r"""The habits of a text.

    >>> from .positions import placed
    >>> text = '{\n    "evals": [{"id": 1}, {"id": 2}]\n}\n'
    >>> found = layout_of(text, placed(text))
    >>> found.unit, found.broken[dict], found.colon
    ('    ', False, ': ')
    """
    plain = Layout(text, newline="\r\n" if "\r\n" in text else "\n")
    units: Counter[str] = Counter()
    commas: Counter[str] = Counter()
    colons: Counter[str] = Counter()
    broken: dict[type, Counter[bool]] = {dict: Counter(), list: Counter(), str: Counter()}
    under: dict[str, Node] = {}
    names: dict[Node, str] = {}
    for node in _containers(root):
        for key, item in zip(node.keys, node.items, strict=False):  # lists have no keys
            colons[text[key.end : item.start]] += 1
            names[item] = key.name
            if item.items:
                under.setdefault(key.name, item)
        frame = plain.frame(node)
        if frame is None:
            continue
        broken[sort_of(node.value)]["\n" in frame.lead] += 1
        if "\n" in frame.lead:
            deeper = frame.lead.rpartition("\n")[2].removeprefix(plain.indent(node.start))
            units[deeper] += bool(deeper)
        elif len(node.items) > 1:
            commas[frame.between] += 1
    colon = _usual((one for one in colons.elements() if is_blank(one, ":")), ": ")
    usual = broken[dict] + broken[list]
    return Layout(
        text,
        plain.newline,
        _usual(units.elements(), "  "),
        _usual((one for one in commas.elements() if "\n" not in one), "," + " " * (colon != ":")),
        colon,
        text.isascii() and _ESCAPED.search(text) is not None,
        {
            kind: _usual((found or usual).elements(), otherwise=False)
            for kind, found in broken.items()
        },
        under,
        names,
    )


def _containers(node: Node) -> Iterator[Node]:
    if isinstance(node.value, (dict, list)):
        yield node
    for item in node.items:
        yield from _containers(item)


def _usual(found: Iterable[Any], otherwise: Any) -> Any:
    most = Counter(found).most_common(1)
    return most[0][0] if most else otherwise
