"""The rule by which it is chosen what a judge is shown, in figures.

1. There is room for a number of characters, for everything together.
2. All files are listed by name and size; the lists may take an eighth of the room.
3. The transcript may take a quarter of the room, and more where the outputs leave it. Its last
   message comes first and whole, where it fits.
4. The inputs (the files that the executor was given, as far as it left them unchanged) may take
   a quarter of the room, and more where outputs and transcript leave it.
5. The outputs take the rest. Inputs and outputs come in the natural order of their names: short
   files whole, the others an equal share each, of which half goes to the head and half to the
   tail.
6. Where the shares would be too short to be of use, the first files have one and the others
   are named only.
7. Pictures go as pictures, up to a number and a size, those of the outputs first; what is
   neither text nor picture is named.
"""

from __future__ import annotations

from collections.abc import Sequence

SHOWN_CHARS = 120_000
"""Room in characters; some 30,000 tokens of English."""

LIST_SHARE = 8
TRANSCRIPT_SHARE = 4
INPUTS_SHARE = 4
"""Shares of the room: one in so many."""

LEAST = 500
"""Shorter shares of a file are of no use."""

READ_WHOLE = 4 * 2**20
"""Bytes: larger text files are read at their head and tail only."""

READ_ENDS = 2**18
"""Bytes that are read at each end of such a file."""

READ_TOGETHER = 64 * 2**20
"""Bytes: once so much was read, what comes is read at its head and tail only."""

EXTRACTED = 40
"""Files whose text needs a library to be read: the others are named."""

EXTRACTING_SECONDS = 120.0
"""Seconds that reading them may take together, for one run."""

UNPACKED = 2**29
"""Bytes that pictures together may unpack to, to be looked through."""

IMAGES = 20
"""Pictures in one request; from the 21st on the API takes smaller ones only."""

IMAGE_BYTES = 3_750_000
"""Bytes of one picture: 5 MB once they are written in base64."""

IMAGES_BYTES = 18_000_000
"""Bytes of all pictures together: a request may have 32 MB."""


MARK = "\n[… {left:,} characters left out here …]\n"
MARK_ROOM = 60
"""Room that is kept for the line that says how much is left out."""


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """A fair share for each: none gets more than it wants, none loses to a larger one.

    >>> shares([10, 500, 300], 400)
    [10, 195, 195]
    >>> shares([10, 500, 30], 400)
    [10, 360, 30]
    """
    given = [0] * len(wanted)
    left = max(room, 0)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for position, index in enumerate(order):
        given[index] = min(wanted[index], left // (len(order) - position))
        left -= given[index]
    return given


def admitted(wanted: Sequence[int], room: int, least: int) -> int:
    """How many of the first pieces can have a share of `least`, or all that they want.

    >>> admitted([900, 20, 900, 900], 1300, 500)
    3
    """
    for position, wish in enumerate(wanted):
        room -= min(wish, least)
        if room < 0:
            return position
    return len(wanted)


def cut(text: str, room: int) -> tuple[str, int]:
    r"""The text within so many characters, head and tail, and how many are left out.

    >>> cut("short", 100)
    ('short', 0)
    >>> cut("a" * 60 + "b" * 60, 100)
    ('aaaaaaaaaaaaaaaaaaaa\n[… 80 characters left out here …]\nbbbbbbbbbbbbbbbbbbbb', 80)
    """
    if len(text) <= room:
        return text, 0
    kept = room - MARK_ROOM
    if kept <= 0:
        return "", len(text)
    tail = kept // 2
    head = kept - tail
    left = len(text) - kept
    return f"{text[:head]}{MARK.format(left=left)}{text[len(text) - tail :]}", left
