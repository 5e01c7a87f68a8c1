"""Two texts beside each other: which lines or paragraphs differ, and which words in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

THOROUGH = 250_000
"""Products of lines up to which lines that come often are compared, too."""


def lines_of(text: str | None) -> list[str] | None:
    """The lines, as editors number them: nothing but a line feed ends one."""
    if text is None:
        return None
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def blocks_of(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """The blocks of lines that are the same in two texts, and those that differ, as difflib has."""
    thorough = len(old) * len(new) <= THOROUGH
    return SequenceMatcher(None, old, new, autojunk=not thorough).get_opcodes()


Span = tuple[str, bool]
"""A piece of a line, and whether it is not in the other one."""

ALIKE = 0.4
"""Lines that share less than this of their words are two lines, not one that changed."""
MOST_WORDS = 1_500
"""Longer lines are compared as a whole."""
MOST_PAIRS = 2_500
"""Larger blocks of lines are paired in their order."""

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")


@lru_cache(maxsize=4_096)
def mark_changes(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both lines in pieces; where too little is shared, each is one piece, unmarked.

    >>> mark_changes("at most 20 words", "at most 16 words")[1]
    (('at most ', False), ('16', True), (' words', False))
    """
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS or words_shared(old, new) < ALIKE:
        return ((old, False),), ((new, False),)
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return (
        _spans(("".join(before[i:j]), tag == "equal") for tag, i, j, _, _ in blocks),
        _spans(("".join(after[i:j]), tag == "equal") for tag, _, _, i, j in blocks),
    )


def words_shared(old: str, new: str) -> float:
    """How much of their words two lines share, from 0 to 1, wherever the words stand."""
    before, after = (Counter(re.findall(r"\w+", line)) for line in (old, new))
    words = before.total() + after.total()
    return 2 * (before & after).total() / words if words else float(old == new)


def pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """The lines of a changed block, those that are one that changed beside each other.

    Gives positions in either block, in order; None if a line has no other.

    >>> list(pair_lines(["one two three", "x"], ["y", "one two four"]))
    [(None, 0), (0, 1), (1, None)]
    """
    at = 0
    bounded = len(old) * len(new) <= MOST_PAIRS
    for i, line in enumerate(old):
        ahead = range(at, len(new)) if bounded else range(at, min(at + 1, len(new)))
        j = next((j for j in ahead if not bounded or words_shared(line, new[j]) >= ALIKE), None)
        if j is None:
            yield i, None
            continue
        yield from ((None, between) for between in range(at, j))
        yield i, j
        at = j + 1
    yield from ((None, rest) for rest in range(at, len(new)))


def _spans(pieces: Iterable[tuple[str, bool]]) -> tuple[Span, ...]:
    """Pieces with neighbours of a kind joined; blanks between two changed words are changed."""
    known = list(pieces)
    inner = range(1, len(known) - 1)
    changed = (
        (text, not equal or (text.isspace() and at in inner))
        for at, (text, equal) in enumerate(known)
        if text
    )
    kinds = groupby(changed, lambda piece: piece[1])
    return tuple(("".join(text for text, _ in block), kind) for kind, block in kinds)


CONTEXT = 3
"""Unchanged lines that are shown around a change."""

Line = tuple[int, str]
"""A line of one of the texts: its number there, and what it says."""


class Row(NamedTuple):
    """A line of the old text, one of the new, or both if they are the same or one changed."""

    old: Line | None
    new: Line | None
    same: bool = False


class Gap(NamedTuple):
    """Unchanged lines that are not shown: where among the rows they begin, and how many."""

    at: int
    n: int


def compare_lines(old: str, new: str, *, prose: bool = False) -> tuple[Row, ...]:
    r"""The lines of two texts as rows; how lines end is not compared.

    Of prose the paragraphs are compared, wherever their lines break.

    >>> [(row.same, row.old, row.new) for row in compare_lines("a\nb", "a\nc")]
    [(True, (1, 'a'), (1, 'a')), (False, (2, 'b'), None), (False, None, (2, 'c'))]
    >>> [row.same for row in compare_lines("one two\nthree", "one\ntwo three", prose=True)]
    [True]
    """
    before, after = (
        _paragraphs(text) if prose else list(enumerate(lines_of(text) or [], 1))
        for text in (old, new)
    )
    texts = [line for _, line in before], [line for _, line in after]
    rows: list[Row] = []
    for tag, i, j, start, end in blocks_of(*texts):
        if tag == "equal":
            pairs = zip(before[i:j], after[start:end], strict=True)
            rows += (Row(gone, arrived, same=True) for gone, arrived in pairs)
        else:
            for at, to in pair_lines(texts[0][i:j], texts[1][start:end]):
                gone = None if at is None else before[i + at]
                rows.append(Row(gone, None if to is None else after[start + to]))
    return tuple(rows)


_APART = re.compile(r"\s*(?:[#|>]|[-*+] |\d+[.)] |```|~~~)|\s{4}")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def _paragraphs(text: str) -> list[Line]:
    """The lines, those that go on with a paragraph or an item of a list put to its first one."""
    found: list[Line] = []
    fenced = goes_on = False
    for number, line in enumerate(lines_of(text) or [], 1):
        if not fenced and not line.strip():
            goes_on = False
            continue
        if goes_on and not _APART.match(line):
            first, before = found[-1]
            found[-1] = first, f"{before} {line.strip()}"
            continue
        found.append((number, line))
        fenced ^= bool(_FENCE.match(line))
        goes_on = not fenced and not re.match(r"\s*[#|`~]", line)
    return found


def fold_rows(rows: Sequence[Row]) -> Iterator[Row | Gap]:
    """The rows, with a gap for unchanged ones that are far from any change."""
    changes = [at for at, row in enumerate(rows) if not row.same]
    near = {at + by for at in changes for by in range(-CONTEXT, CONTEXT + 1)}
    for is_near, block in groupby(range(len(rows)), near.__contains__):
        places = list(block)
        if is_near or len(places) == 1:  # a gap would take the room of the one line that it hides
            yield from (rows[at] for at in places)
        else:
            yield Gap(places[0], len(places))


LINES, CHARACTERS = 2_000, 200_000
"""Of each text so much is compared: more takes seconds, and no reader."""


@lru_cache(maxsize=64)
def compare_texts(old: str, new: str, *, prose: bool) -> tuple[tuple[Row, ...], str]:
    r"""Two texts as rows, and what to say where only their beginnings were compared, else "".

    >>> compare_texts("a", "a\n", prose=False)
    ((Row(old=(1, 'a'), new=(1, 'a'), same=True),), '')
    """
    bound = ["\n".join(text[:CHARACTERS].split("\n", LINES)[:LINES]) for text in (old, new)]
    limits = f"{LINES:,} lines, {CHARACTERS:,} characters"
    left_out = "" if bound == [old, new] else f"Only the beginning of each was compared: {limits}."
    return compare_lines(*bound, prose=prose), left_out
