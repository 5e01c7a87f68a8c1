"""The content of one file, as bytes to search and as text to show."""

from __future__ import annotations

from ..decoding import wide

_HEAD = 8192
_WIDE_BEGINS = (b"\xff\xfe", b"\xfe\xff")


class Content:
    """What a file holds. `text` is made when it is first asked for.

    `data` are its bytes as UTF-8, also where it is UTF-16 or UTF-32. It is `binary`, which is
    no text, where a null byte stands in its head then.

    >>> Content("héllo".encode("utf-16-le")).data.decode()
    'héllo'
    """

    __slots__ = ("_text", "binary", "data")

    def __init__(self, data: bytes) -> None:
        if data.startswith(_WIDE_BEGINS) or data.find(b"\0", 0, _HEAD) >= 0:
            text = wide(data)
            data = data if text is None else text.encode("utf-8", "replace")
        self.data = data
        self.binary = data.find(b"\0", 0, _HEAD) >= 0
        self._text: str | None = None

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
