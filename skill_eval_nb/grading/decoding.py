"""Bytes to text, where they are text."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_WITHOUT_MARK = (
    ("utf-32-le", 4, 0),
    ("utf-32-be", 4, 3),
    ("utf-16-le", 2, 0),
    ("utf-16-be", 2, 1),
)
"""Encodings, how many bytes a character has, and which of them is hardly ever zero."""

_LOOKED_AT = 65_536
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")


def decoded(data: bytes, *, part: bool = False) -> str | None:
    r"""The text; None for what is no text.

    With `part`, the data may begin or end in the middle of a character.

    UTF-8; UTF-16 and UTF-32, as `wide` knows them; else Windows-1252, as long as control
    characters are rare.

    >>> decoded("Ä".encode()), decoded(b"caf\xe9"), decoded(b"\x00\x01\x02")
    ('Ä', 'café', None)
    """
    text = wide(data)
    if text is not None:
        return text
    start = data[:_LOOKED_AT]
    if b"\x00" in start or not _mostly_printed(start):
        return None
    try:
        return _utf8(data, part).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _utf8(data: bytes, part: bool) -> str:
    if not part:
        return data.decode()
    begins = next((n for n in range(min(4, len(data))) if data[n] & 0xC0 != 0x80), 0)
    return codecs.getincrementaldecoder("utf-8")().decode(data[begins:], final=False)


def wide(data: bytes) -> str | None:
    r"""The text of UTF-16 and UTF-32; None for all else.

    Without a byte-order mark it is known by its zeros: most characters have them on the same
    side, and what comes out is printed.

    >>> wide("Grüße".encode("utf-16-be")), wide("Grüße".encode()), wide(b"a\0\1\0" * 9)
    ('Grüße', None, None)
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    start = data[:_LOOKED_AT]
    if b"\x00" not in start:
        return None
    for encoding, size, low in _WITHOUT_MARK:
        units = len(start) // size
        zeros = [start[at : units * size : size].count(0) for at in range(size)]
        if units > 1 and all(
            zeros[at] == 0 if at == low else zeros[at] > 0.8 * units for at in range(size)
        ):
            text = data.decode(encoding, "replace")
            return text if _mostly_printed(text[:_LOOKED_AT].encode("utf-8", "replace")) else None
    return None


def _mostly_printed(start: bytes) -> bool:
    controls = len(start) - len(start.translate(None, _CONTROL))
    return controls <= 0.02 * len(start)
