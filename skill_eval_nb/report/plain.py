"""Texts from files as one clean line."""

from __future__ import annotations

import unicodedata

CLIP = 160
"""The longest text a report shows, in characters: enough to know which one is meant."""

_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that turn the direction of what stands around them."""


def line(text: str, clip: int = CLIP) -> str:
    r"""`text` on one line, without control characters, cut after `clip` characters.

    >>> line("two\nlines\x07  here"), line("abcdef", clip=4)
    ('two lines here', 'abc…')
    """
    shown = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character
        for character in text
        if character not in _TURNS
    )
    joined = " ".join(shown.split())
    return joined if len(joined) <= clip else joined[: clip - 1].rstrip() + "…"
