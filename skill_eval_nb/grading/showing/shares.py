"""How room is shared out: short pieces whole, the others an equal share each."""

from __future__ import annotations

from collections.abc import Sequence

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
    for position, one in enumerate(wanted):
        room -= min(one, least)
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
