"""What tests ask of a widget's tree: its text, and the elements with given attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.widgets.ui.tree import _NAMES, _aria_name, _plain_value, flatten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skill_eval_nb.widgets.ui import Child, Node


def text(node: Child, cells: str = "\n") -> str:
    """The text of a tree, as somebody reads it: a line for each block, and for each cell."""
    words = "".join(_words(list(flatten(node)), cells))
    return "\n".join(line for line in words.splitlines() if line.strip(" |"))


def find(node: Child, **attributes: Any) -> list[list[Any]]:
    """The elements of a tree that have these attributes, in order; `tag` is the element's."""
    tag = attributes.pop("tag", None)
    named = ((_NAMES.get(name) or _aria_name(name), value) for name, value in attributes.items())
    wanted = {name: _plain_value(name, value) for name, value in named}
    return [
        element
        for element in elements(node)
        if tag in (None, element[0])
        and all(element[1].get(name) == value for name, value in wanted.items())
    ]


def elements(node: Child) -> Iterator[list[Any]]:
    """Every element of a tree, each before what is in it."""
    for child in flatten(node):
        if not isinstance(child, str):
            yield child
            yield from elements(child[2])


_INLINE = frozenset(
    "a b button code del em i ins kbd label mark s small span strong sub sup".split()
)

_CELLS = frozenset("td th option".split())


def _words(nodes: Sequence[Node], cells: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
            continue
        ends = "" if node[0] in _INLINE else cells if node[0] in _CELLS else "\n"
        yield ends.strip(" |")
        yield from _words(node[2], cells)
        yield ends
