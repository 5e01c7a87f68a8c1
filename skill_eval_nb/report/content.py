"""What a report says, apart from how it looks: frozen values that Markdown and HTML draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.text import brief

if TYPE_CHECKING:
    from altair.typing import ChartType


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences, and a command that they speak of last."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict, and the figures that it rests on."""

    claim: str
    because: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short remarks, one a line."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its unit, and the number of things that it rests on, if that is shown."""

    shown: str
    n: int | None = None


Cell = str | Figure


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first `labels` columns are texts, the others figures.

    The caption says what stands in it. Rows with `anchors` can be linked to one by one; Markdown
    has no such links, and leaves the table out.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, drawn only if it can be shown; `alt` tells what it shows without it."""

    alt: str
    draw: Callable[[], ChartType]


Part = Paragraph | Verdict | Bullets | Table | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what stands below it, and the sections inside it."""

    heading: str
    parts: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()


def section(heading: str, parts: Iterable[Part], sections: Iterable[Section] = ()) -> Section:
    """A section of whatever the parts and the sections come from."""
    return Section(heading, tuple(parts), tuple(sections))


def cut_table(
    caption: str,
    header: tuple[str, ...],
    rows: Iterable[tuple[Cell, ...]],
    labels: int,
    most: int,
    name_more: Callable[[int], str],
) -> Iterator[Part]:
    """The first `most` rows of a table, and in words how many more there are; none without rows."""
    every = tuple(rows)
    if every:
        yield Table(caption, header, every[:most], labels)
    if len(every) > most:
        yield Paragraph(name_more(len(every) - most))


CLIP = 160
"""The longest text a report shows, in characters: enough to know which one is meant."""


def line(text: str, clip: int = CLIP) -> str:
    r"""`text` on one line, without control characters, cut after `clip` characters.

    >>> line("two\nlines\x07  here"), line("abcdef", clip=4)
    ('two lines here', 'abc…')
    """
    return brief(text, clip)
