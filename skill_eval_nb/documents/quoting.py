"""Strings whose quotes went wrong: not escaped, or cut off at the end of a line."""

from __future__ import annotations

import re

_ENDS = re.compile(r"\s*(?:[,:}\]]|$)")
"""What follows the quote that really ends a string."""

_NEXT_MEMBER = re.compile(r'\s*\n\s*["}\]]')
"""What follows a string that was cut off: the next member, or the end of its parent."""


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
    inside, position = False, 0
    while position < len(text):
        character = text[position]
        if not inside:
            inside = character == '"'
        elif character == "\\":
            out.append(character)
            position += 1
            character = text[position : position + 1]
        elif character == '"':
            inside = not _ENDS.match(text, position + 1)
            if inside:
                character = '\\"'
                notes["quotes inside strings escaped"] = None
        elif character == "\n" and (following := _NEXT_MEMBER.match(text, position)):
            inside = False
            comma = "," if not following[0].rstrip().endswith(("}", "]")) else ""
            character = f'"{comma}\n'
            notes["strings without an end closed at the end of their line"] = None
        out.append(character)
        position += 1
    return "".join(out), list(notes)
