"""Bytes to text, where they are text."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_LOOKED_AT = 65_536
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")


def decoded(data: bytes, *, part: bool = False) -> str | None:
    r"""The text; None for what is no text.

    With `part`, the data may begin or end in the middle of a character.

    UTF-8 and whatever has a byte-order mark; UTF-16 without one where every other byte says
    so; else Windows-1252, as long as control characters are rare.

    >>> decoded("Ä".encode()), decoded(b"caf\xe9"), decoded(b"\x00\x01\x02")
    ('Ä', 'café', None)
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    start = data[:_LOOKED_AT]
    if b"\x00" in start:
        return _wide(data)
    if not _mostly_printed(start):
        return None
    try:
        return _utf8(data, part)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _utf8(data: bytes, part: bool) -> str:
    if not part:
        return data.decode()
    begins = next((n for n in range(min(4, len(data))) if data[n] & 0xC0 != 0x80), 0)
    return codecs.getincrementaldecoder("utf-8")().decode(data[begins:], final=False)


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: most characters have a zero on the same side."""
    start = data[: _LOOKED_AT - _LOOKED_AT % 2]
    for encoding, side in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros = start[side::2].count(0)
        others = start[1 - side :: 2]
        if len(others) > 1 and zeros > 0.8 * len(others) and 0 not in others:
            return data.decode(encoding, "replace")
    return None


def _mostly_printed(start: bytes) -> bool:
    controls = len(start) - len(start.translate(None, _CONTROL))
    return controls <= 0.02 * len(start)
