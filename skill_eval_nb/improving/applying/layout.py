"""How a JSON text is laid out, and new values written like those beside them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .positions import Node


class Frame(NamedTuple):
    """What stands in a list or an object before, between and behind its parts."""

    lead: str
    between: str
    tail: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The habits of a text.

    Attributes:
        text: the text.
        newline: how its lines end.
        unit: by what a level is indented.
        comma: what stands between parts on one line.
        colon: what stands between a name and its value.
        escaped: whether letters beyond ASCII are written as escapes.
        broken: whether objects (`dict`), lists of texts and numbers (`str`) and other lists
            (`list`) go over several lines, where nothing beside them tells.
        under: a filled list or object under each name.
        names: the name that a value stands under.
    """

    text: str
    newline: str = "\n"
    unit: str = "  "
    comma: str = ", "
    colon: str = ": "
    escaped: bool = False
    broken: dict[type, bool] = field(default_factory=dict)
    under: dict[str, Node] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)

    def indent(self, at: int) -> str:
        """The blanks that the line of a place begins with."""
        start = self.text.rfind("\n", 0, at) + 1
        line = self.text[start:at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def spans(self, node: Node) -> list[tuple[int, int]]:
        """Where the parts of a list or an object stand, names included."""
        starts = [key.start for key in node.keys] or [item.start for item in node.items]
        return [(start, item.end) for start, item in zip(starts, node.items, strict=True)]

    def frame(self, node: Node) -> Frame | None:
        """What stands around the parts of a container; None where it has none, or comments."""
        spans = self.spans(node)
        if not spans:
            return None
        lead = self.text[node.start + 1 : spans[0][0]]
        tail = self.text[spans[-1][1] : node.end - 1].replace(",", "")
        between = f",{lead}" if "\n" in lead else self.comma
        if len(spans) > 1:
            between = self.text[spans[-2][1] : spans[-1][0]]
        return Frame(lead, between, tail) if is_blank(lead + between + tail) else None

    def render(
        self,
        value: Any,
        base: str,
        like: Node | None = None,
        name: str = "",
        *,
        inline: bool = False,
    ) -> str:
        """A value as it would be written here.

        Args:
            value: what is written.
            base: the blanks that its line begins with.
            like: a value beside it, whose layout it takes over.
            name: the name that it stands under.
            inline: whether what it stands in is on one line.
        """
        if not isinstance(value, (dict, list)):
            return self._scalar(value)
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        if not value:
            return opening + closing
        beside = _filled(like, type(value)) or _filled(self.under.get(name), type(value))
        lead, between, tail = self.around(value, base, beside, inline=inline)
        inner, flat = indent_after(lead, base), "\n" not in lead
        if isinstance(value, dict):
            parts = [
                f"{self._scalar(key)}{self.colon}"
                + self.render(item, inner, beside and beside.member(key), key, inline=flat)
                for key, item in value.items()
            ]
        else:
            parts = [
                self.render(item, inner, beside and sibling(beside, item), name, inline=flat)
                for item in value
            ]
        return opening + lead + between.join(parts) + tail + closing

    def around_first(self, node: Node, value: Any) -> Frame:
        """The frame of an empty container that is filled."""
        beside = _filled(self.under.get(self.names.get(node, "")), type(value))
        return self.around(value, self.indent(node.start), beside)

    def around(self, value: Any, base: str, beside: Node | None, *, inline: bool = False) -> Frame:
        """The frame of a new container: as that of the one beside it, else as usual here."""
        frame = self.frame(beside) if beside is not None else None
        if frame is not None and beside is not None and not (inline and "\n" in frame.lead):
            old = self.indent(beside.start)
            return Frame(*(_moved(blank, old, base, self.unit) for blank in frame))
        if inline or not self.broken.get(sort_of(value), False):
            return Frame("", self.comma, "")
        lead = f"{self.newline}{base}{self.unit}"
        return Frame(lead, f",{lead}", f"{self.newline}{base}")

    def _scalar(self, value: Any) -> str:
        if isinstance(value, float) and not math.isfinite(value):
            return "null"
        text = json.dumps(value, ensure_ascii=self.escaped)
        try:
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return json.dumps(value)
        return text


def sibling(node: Node, value: Any) -> Node | None:
    """The last part of a list that is of the same sort as a value, a filled one if there is one."""
    same = [one for one in node.items if type(one.value) is type(value)]
    return next((one for one in reversed(same) if one.items), same[-1] if same else None)


def sort_of(value: Any) -> type:
    """Which habit a value follows: `dict`, `list`, or `str` for a list of plain values."""
    if isinstance(value, dict):
        return dict
    return list if any(isinstance(item, (dict, list)) for item in value) else str


def _filled(node: Node | None, kind: type) -> Node | None:
    return node if node is not None and node.items and isinstance(node.value, kind) else None


def is_blank(text: str, sign: str = ",") -> bool:
    """Whether a text has nothing but blanks, line ends and a sign."""
    return not text.strip(f" \t\r\n{sign}")


def indent_after(blank: str, otherwise: str) -> str:
    r"""The blanks that the line begins with which a separator ends in.

    >>> indent_after("\n  , ", ""), indent_after(", ", "    ")
    ('  ', '    ')
    """
    _, end, line = blank.rpartition("\n")
    return line[: len(line) - len(line.lstrip(" \t"))] if end else otherwise


def _moved(blank: str, old: str, new: str, unit: str) -> str:
    """A separator that holds line ends, for another depth."""
    head, end, line = blank.rpartition("\n")
    if not end:
        return blank
    indent = indent_after(blank, "")
    moved = new + indent[len(old) :] if indent.startswith(old) else new + unit
    return head + end + moved + line[len(indent) :]
