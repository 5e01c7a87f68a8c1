"""The text of a file, as far as it is read, and how much there is."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skill_eval_nb.grading.decoding import decoded

from ..found import OutputFile
from ..sheet import NotDrawn

WHOLE = 4 * 2**20
"""Bytes: of a larger file the beginning is read."""
HEAD = 2**18
"""Bytes that are read of it."""
COUNTED = 2**29
"""Bytes in which ends of lines are counted."""
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file.

    Attributes:
        text: its text, or the beginning of that.
        whole: whether that is all.
        lines: how many lines the file has; None where they are too many to be counted.
        note: what is odd about its bytes; None where nothing is.
    """

    text: str
    whole: bool
    lines: int | None
    note: str | None = None


def read(file: OutputFile) -> Reading:
    """Read a file as text.

    Raises:
        NotDrawn: it is no text.
        OSError: it cannot be read.
    """
    with file.open() as opened:
        now = os.fstat(opened.fileno()).st_size
        whole = now <= WHOLE
        data = opened.read(WHOLE if whole else HEAD)
        text, note = as_text(data, part=not whole)
        if whole:
            return Reading(text, whole, lines_in(text), note)
        if now > COUNTED:
            return Reading(text, whole, None, note)
        counted = data.count(b"\n")
        while chunk := opened.read(_CHUNK):
            counted += chunk.count(b"\n")
            data = chunk
    return Reading(text, whole, counted + (not data.endswith(b"\n")), note)


def whole_text(file: OutputFile) -> Reading:
    """Read a file as text, where a part of it would be of no use.

    Raises:
        NotDrawn: it is no text, or too large.
        OSError: it cannot be read.
    """
    reading = read(file)
    if not reading.whole:
        raise NotDrawn(f"more than {WHOLE >> 20} MB, of which the beginning is shown as it is")
    return reading


def as_text(data: bytes, *, part: bool = False) -> tuple[str, str | None]:
    r"""Bytes as text, and what is odd about them.

    >>> as_text(b"caf\xc3\xa9"), as_text(b"caf\xe9")[0]
    (('café', None), 'café')
    >>> as_text(b"\xc3\xa4\xc3\xb6\xc3\xbc \xff")[0]
    'äöü �'

    Raises:
        NotDrawn: they are no text.
    """
    text = decoded(data, part=part)
    if text is None:
        raise NotDrawn("its bytes are no text")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data:
        return text, "UTF-16 or UTF-32"
    rough = data.decode("utf-8-sig", "replace")
    damaged, others = rough.count("\ufffd"), sum(one > "\x7f" for one in rough)
    if part and rough[:-1].count("\ufffd") == 0:
        return text, None
    if damaged == 0:
        return rough, None
    if damaged * 4 <= others:
        return rough, f"not all of it is UTF-8: {damaged:,} of its bytes stand as �"
    return text, "not UTF-8: it was read as Windows-1252"


def lines_in(text: str) -> int:
    r"""How many lines a text has.

    >>> lines_in(""), lines_in("a"), lines_in("a\nb\n")
    (0, 1, 2)
    """
    return text.count("\n") + bool(text and not text.endswith("\n"))
