"""Two texts line by line: what is the same, what went, what came, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .words import Span, marked, paired

CONTEXT = 3
"""Unchanged lines that are shown around a change."""
THOROUGH = 250_000
"""Products of lines up to which lines that come often are compared, too."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one of the texts: its number there, and its pieces."""

    number: int
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(text for text, _ in self.spans)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the old text, one of the new, or both where they are the same or one changed."""

    old: Line | None
    new: Line | None
    same: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """Unchanged lines that are not shown: where among the rows they begin, and how many."""

    at: int
    count: int


def compared(old: str, new: str) -> tuple[Row, ...]:
    r"""The lines of two texts as rows; how lines end is not compared.

    >>> [(row.same, row.old and row.old.number, row.new and row.new.number)
    ...  for row in compared("a\nb\nc", "a\nc\nd")]
    [(True, 1, 1), (False, 2, None), (True, 3, 2), (False, None, 3)]
    """
    before, after = _lines(old), _lines(new)
    thorough = len(before) * len(after) <= THOROUGH
    blocks = SequenceMatcher(None, before, after, autojunk=not thorough).get_opcodes()
    rows: list[Row] = []
    for tag, i, j, start, end in blocks:
        if tag == "equal":
            pairs = zip(range(i, j), range(start, end), strict=True)
            rows += (Row(_line(before, at), _line(after, to), same=True) for at, to in pairs)
        else:
            rows += _changed(before, range(i, j), after, range(start, end))
    return tuple(rows)


def changes(rows: Sequence[Row]) -> tuple[int, int]:
    """How many lines came, and how many went; one that changed did both."""
    other = [row for row in rows if not row.same]
    return sum(row.new is not None for row in other), sum(row.old is not None for row in other)


def folded(rows: Sequence[Row], context: int = CONTEXT) -> Iterator[Row | Gap]:
    """The rows, with a gap for unchanged ones that are far from any change."""
    near = [False] * len(rows)
    for at, row in enumerate(rows):
        if not row.same:
            start, end = max(at - context, 0), min(at + context + 1, len(rows))
            near[start:end] = [True] * (end - start)
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and not near[end]:
            end += 1
        if end - at > 1:
            yield Gap(at, end - at)
            at = end
        else:  # a gap would take the room of the one line that it hides
            yield rows[at]
            at += 1


def _lines(text: str) -> list[str]:
    """The lines, as editors number them: nothing but a line feed ends one."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _line(lines: Sequence[str], at: int) -> Line:
    return Line(at + 1, ((lines[at], False),))


def _changed(before: Sequence[str], old: range, after: Sequence[str], new: range) -> Iterator[Row]:
    """The rows of a block of lines that became another block."""
    for i, j in paired([before[at] for at in old], [after[at] for at in new]):
        one = None if i is None else _line(before, old[i])
        other = None if j is None else _line(after, new[j])
        if one is not None and other is not None:
            gone, came = marked(one.text, other.text)
            one, other = Line(one.number, gone), Line(other.number, came)
        yield Row(one, other)
