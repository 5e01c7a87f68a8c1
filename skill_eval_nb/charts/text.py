"""Words and figures in a chart: text from files made fit to draw, and sentences of ours."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

TIE = "\xa0"
"""A space at which no line breaks."""
BROADEST = 20
"""Pixels that no character of a label is broader than."""
TOOLTIP = 1000
"""Characters of a text that a tooltip shows."""


def clean(text: object, characters: int = TOOLTIP) -> str:
    r"""Text from a file as one line that can be drawn: nothing invisible, not too long.

    >>> clean("two\nlines\u202e", 20), clean("far too long", 7)
    ('two lines', 'far to…')
    """
    line = " ".join("".join(map(_visible, str(text))).split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def _visible(character: str) -> str:
    """Controls become spaces and invisible marks nothing, but for the joiners scripts need."""
    kind = unicodedata.category(character)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    hidden = kind in ("Cf", "Cs") and character not in "\u200c\u200d"
    return "" if hidden or character in "\ufffe\uffff" else character


@lru_cache(maxsize=4096)
def called(name: object, characters: int = 90) -> str:
    r"""A name from a file as a label.

    >>> called("with_skill"), called("\t")
    ('with_skill', '(no name)')
    """
    return clean(name, characters) or "(no name)"


def brief(name: object) -> str:
    """A configuration's name inside a sentence of ours."""
    return called(name, 40)


def quoted(name: object) -> str:
    """Any other name from a file inside a sentence of ours."""
    return f"‘{called(name, 40)}’"


def count(number: int, noun: str) -> str:
    r"""The number and its noun, kept on one line.

    >>> count(1, "run"), count(3, "run")
    ('1\xa0run', '3\xa0runs')
    """
    return f"{number:,}{TIE}{noun}" + ("" if number == 1 else "s")


def n_of(*numbers: int, noun: str = "run") -> str:
    r"""How many, on each side, kept on one line.

    >>> n_of(15, 14).replace("\xa0", " "), n_of(1).replace("\xa0", " ")
    ('n = 15 and 14 runs', 'n = 1 run')
    """
    *first, last = numbers
    return TIE.join(["n", "=", *(f"{number:,}{TIE}and" for number in first), count(last, noun)])


def signed(number: float, digits: int = 2, before: str = "", after: str = "") -> str:
    """A difference with its sign (none where it rounds to zero) and its unit.

    >>> signed(0.25), signed(-1.5, 1, "$"), signed(-0.001)
    ('+0.25', '−$1.5', '0.00')
    """
    size = f"{abs(number):,.{digits}f}"
    sign = "" if not size.strip("0.") else "+" if number > 0 else "−"
    return f"{sign}{before}{size}{after}"


def listed(texts: Sequence[str]) -> str:
    """The texts as a sentence lists them.

    >>> listed(["tokens", "time", "cost"]), listed(["time"])
    ('tokens, time and cost', 'time')
    """
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def is_cuttable(text: str) -> bool:
    """Whether Vega can cut the text: it cuts between 16-bit units, and draws no half emoji."""
    return all(character <= "\uffff" for character in text)


def uncut(text: str, pixels: float) -> str:
    """The text so short that Vega need not cut it, where Vega could not.

    >>> uncut("plain, however long", 20), uncut("a\N{PARTY POPPER}b\N{PARTY POPPER}c", 60)
    ('plain, however long', 'a🎉…')
    """
    if is_cuttable(text):
        return text
    return clean(text, max(int(pixels // BROADEST), 1))


def breadth(text: str) -> int:
    """How many letters wide a text is: those of Chinese, Japanese and Korean count twice.

    >>> breadth("abc"), breadth("技能")
    (3, 4)
    """
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def wrapped(text: str, letters: int) -> list[str]:
    """The text in lines of so many letters; names with hyphens stay whole.

    >>> wrapped("技能技能", 4)
    ['技能', '技能']
    """
    characters = max(letters * len(text) // max(breadth(text), 1), 1)
    return textwrap.wrap(text, characters, break_on_hyphens=False)
