"""What others wrote, in a page of Markdown that none of it can break."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

LONGEST = 20_000
"""Characters of one piece of text in the Markdown; the lines of JSON hold all of it."""

_TICKS = re.compile(r"`{3,}")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_CODE = re.compile(r"(?<![`\\])(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")
_HARMFUL = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[|\$")
"""Where a tag, a comment, an image that would be fetched, or a formula begins."""
_ESCAPED = {"<": "&lt;", "[": "&#91;", "$": r"\$"}


def fenced(text: str, language: str = "text") -> str:
    """Text in a fence that nothing inside can close."""
    text = cut(text)
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 3)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def quoted(text: str) -> str:
    r"""Prose as a block quote: its Markdown is shown, its HTML, images and formulas are not.

    Every fence in it is closed by one of the same length, so what stands in code is known for
    sure and may stay as it is.

    >>> print(quoted("I <b>wrote</b> `a.md`:\n\n~~~html\n<b>\n~~~\n"))
    > I &lt;b>wrote&lt;/b> `a.md`:
    >
    > ```html
    > <b>
    > ```
    """
    lines = re.sub(r"\r\n?", "\n", cut(text)).strip("\n").split("\n")
    return "\n".join(f"> {line}".rstrip() for piece in _pieces(lines) for line in piece.split("\n"))


def folded(summary: str, text: str) -> str:
    """Text that is shown once its summary is clicked; the summary is ours, not quoted."""
    return f"<details><summary>{summary}</summary>\n\n{fenced(text)}\n\n</details>"


def cut(text: str) -> str:
    """The beginning of a text, and where the rest of it is."""
    if len(text) <= LONGEST:
        return text
    left_out = len(text) - LONGEST
    return f"{text[:LONGEST]}\n({left_out:,} more characters: see transcript.jsonl)"


def named(name: Any) -> str:
    r"""A name: as it is where it is a plain one, else as code.

    >>> named("Bash"), named("a `b`\n# c")
    ('Bash', '`a b # c`')
    """
    return str(name) if re.fullmatch(r"[A-Za-z][\w.-]{0,79}", str(name), re.ASCII) else code(name)


def code(value: Any) -> str:
    """A short text as code in a line."""
    plain = re.sub(r"[`\s]+", " ", str(value)).strip()[:100]
    return f"`{plain or '?'}`"


def _pieces(lines: list[str]) -> Iterator[str]:
    """Lines of prose, made harmless, and blocks of code in fences of ours."""
    rest = iter(lines)
    for line in rest:
        opened = _FENCE.fullmatch(line)
        if opened is None:
            yield _harmless(line)
            continue
        mark, inside = opened["mark"], []
        closing = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*")
        for inner in rest:
            if closing.fullmatch(inner):
                break
            inside.append(inner)
        yield fenced("\n".join(inside), re.split(r"[^\w+#.-]", opened["info"], maxsplit=1)[0])


def _harmless(line: str) -> str:
    """A line without anything but Markdown; code in it is kept, as HTML where it must be."""
    shown, at = [], 0
    for span in _CODE.finditer(line):
        inside = span["code"]
        if _HARMFUL.search(inside):
            inside = "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in inside)
            shown += [_escaped(line[at : span.start()]), f"<code>{inside.strip()}</code>"]
        else:
            shown += [_escaped(line[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*shown, _escaped(line[at:])])


def _escaped(text: str) -> str:
    return _HARMFUL.sub(lambda found: _ESCAPED[found[0]], text)
