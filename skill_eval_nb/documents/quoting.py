"""Strings whose quotes went wrong: not escaped, or cut off at the end of a line."""

from __future__ import annotations

import re

_STEPS = re.compile(r'[^"\\\n]++|\\.?|"|\n\s*+', re.DOTALL)
"""A text in pieces: each begins or ends a string, may cut one off, or does none of it."""

_ENDS = re.compile(r"\s*+(?:[,:}\]]|\Z)")
"""What follows the quote that really ends a string."""


def close_strings(text: str) -> tuple[str, list[str]]:
    r"""Escape quotes inside strings, and close strings that a line's end cut off.

    A quote ends a string only where a comma, colon or closing bracket follows. A string
    whose line is followed by another string (or by a closing bracket) ends with its line.

    >>> close_strings('{"a": "say "hi" twice"}')[0]
    '{"a": "say \\"hi\\" twice"}'
    >>> print(close_strings('{"a": "cut o...\n "b": 1}')[0])
    {"a": "cut o...",
     "b": 1}
    """
    out: list[str] = []
    notes: dict[str, None] = {}
    inside = False
    for step in _STEPS.finditer(text):
        piece, after = step[0], text[step.end() : step.end() + 1]
        if not inside:
            inside = piece[-1] == '"'
        elif piece == '"':
            inside = not _ENDS.match(text, step.end())
            if inside:
                piece = '\\"'
                notes["quotes inside strings escaped"] = None
        elif piece[0] == "\n" and after in ('"', "}", "]"):  # the next member, or the end of all
            inside = False
            piece = ('",' if after == '"' else '"') + piece
            notes["strings without an end closed at the end of their line"] = None
        out.append(piece)
    return "".join(out), list(notes)
