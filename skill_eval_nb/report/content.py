"""What a report says, apart from how it looks: frozen values that Markdown and HTML draw.

All texts are plain. Whoever draws them escapes them, every one, so no text from a file
needs care anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from altair.typing import ChartType


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict, and the figures that it rests on."""

    says: str
    because: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short remarks, one a line."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its unit, and how many things it rests on where that stands beside it."""

    shown: str
    n: int | None = None


Cell = str | Figure


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first `labels` columns are texts, the others figures.

    The caption says what stands in it.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, drawn only where it can be shown; `alt` tells what it shows without it."""

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
