"""Which words of a changed line are other ones, and which two lines are one that changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Span = tuple[str, bool]
"""A piece of a line, and whether it is not in the other one."""

ALIKE = 0.4
"""Lines that share less than this of their words are two lines, not one that changed."""
MOST_WORDS = 1_500
"""Longer lines are compared as a whole."""
MOST_PAIRS = 2_500
"""Larger blocks of lines are paired in their order."""

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")


def marked(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both lines in pieces; where too little is shared, each is one piece, unmarked.

    >>> marked("at most 20 words", "at most 16 words")[1]
    (('at most ', False), ('16', True), (' words', False))
    """
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS or likeness(old, new) < ALIKE:
        return ((old, False),), ((new, False),)
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return (
        _spans(("".join(before[i:j]), tag == "equal") for tag, i, j, _, _ in blocks),
        _spans(("".join(after[i:j]), tag == "equal") for tag, _, _, i, j in blocks),
    )


def likeness(old: str, new: str) -> float:
    """How much of their words two lines share, from 0 to 1, wherever the words stand."""
    before, after = (Counter(re.findall(r"\w+", line)) for line in (old, new))
    words = before.total() + after.total()
    return 2 * (before & after).total() / words if words else float(old == new)


def paired(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """The lines of a changed block, those that are one that changed beside each other.

    Gives positions in either block, in order; None where a line has no other.

    >>> list(paired(["one two three", "x"], ["y", "one two four"]))
    [(None, 0), (0, 1), (1, None)]
    """
    if len(old) * len(new) > MOST_PAIRS:
        shorter = min(len(old), len(new))
        yield from ((at, at) for at in range(shorter))
        yield from ((at, None) for at in range(shorter, len(old)))
        yield from ((None, at) for at in range(shorter, len(new)))
        return
    i, j = 0, 0
    for one, other in _matches(old, new):
        yield from ((at, None) for at in range(i, one))
        yield from ((None, at) for at in range(j, other))
        yield one, other
        i, j = one + 1, other + 1
    yield from ((at, None) for at in range(i, len(old)))
    yield from ((None, at) for at in range(j, len(new)))


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs in order that are most alike in sum, none less alike than ALIKE."""
    alike = [[likeness(one, other) for other in new] for one in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            taken = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= ALIKE else 0.0
            best[i][j] = max(taken, best[i + 1][j], best[i][j + 1])
    found = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] >= ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _spans(pieces: Iterator[tuple[str, bool]]) -> tuple[Span, ...]:
    """Pieces with neighbours of a kind joined; blanks between two changed words are changed."""
    spans: list[Span] = []
    known = list(pieces)
    for at, (text, equal) in enumerate(known):
        changed = not equal or (text.isspace() and 0 < at < len(known) - 1)
        if not text:
            continue
        if spans and spans[-1][1] == changed:
            spans[-1] = (spans[-1][0] + text, changed)
        else:
            spans.append((text, changed))
    return tuple(spans)
