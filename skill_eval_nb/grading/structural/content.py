"""The content of one file, as bytes to search and as text to show."""

from __future__ import annotations

import codecs

_HEAD = 8192
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE_BEGINS = frozenset(mark[:2] for mark, _ in _WIDE)


def searchable(data: bytes) -> bytes:
    """A file's bytes as UTF-8: those of UTF-16 and UTF-32 with a byte-order mark are turned.

    >>> searchable("héllo".encode("utf-16")).decode()
    'héllo'
    """
    for mark, name in _WIDE:
        if data.startswith(mark):
            return data.decode(name, "replace").encode("utf-8", "replace")
    return data


class Content:
    """What a file holds. `text` is made when it is first asked for."""

    __slots__ = ("_text", "data")

    def __init__(self, data: bytes) -> None:
        self.data = searchable(data) if data[:2] in _WIDE_BEGINS else data
        self._text: str | None = None

    @property
    def binary(self) -> bool:
        """Whether it is no text: a null byte stands in its head."""
        return self.data.find(b"\0", 0, _HEAD) >= 0

    @property
    def text(self) -> str:
        r"""The text: what is no UTF-8 replaced, no byte-order mark, line ends as `\n`."""
        if self._text is None:
            text = self.data.decode("utf-8", "replace").removeprefix("\ufeff")
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            self._text = text
        return self._text


def with_plain_ends(text: str) -> str:
    r"""A text with all its line ends as `\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def line_at(text: str, position: int) -> tuple[int, str]:
    r"""The number, from 1, and the content of the line at a position of a text.

    >>> line_at("one\ntwo\n", 5)
    (2, 'two')
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text.count("\n", 0, start) + 1, text[start : len(text) if end < 0 else end]


def near_by(text: str, start: int, end: int, near: int) -> str:
    r"""The lines from `near` lines before to `near` lines after a part of a text.

    >>> near_by("a\nb\nc\nd\ne", 4, 5, 1)
    'b\nc\nd'
    """
    first = text.rfind("\n", 0, start)
    for _ in range(near):
        if first < 0:
            break
        first = text.rfind("\n", 0, first)
    last = text.find("\n", max(end - 1, start))
    for _ in range(near):
        if last < 0:
            break
        last = text.find("\n", last + 1)
    return text[first + 1 : len(text) if last < 0 else last]
