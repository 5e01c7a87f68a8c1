"""The phrases of a text that a check could look for: runs of a few tokens of one line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

LONGEST = 4
"""Tokens of a phrase."""
FEWEST_LETTERS = 4
"""Letters and digits of a phrase: shorter ones are met by chance."""
MOST_CHARS = 60

COMMON = frozenset(
    "about also anything assertion been before being both check checked checks could does doe each "
    "else even every expectation expectations from have here into just less made make many more "
    "most much must missing none nothing once only other output outputs over passe passes same "
    "should some still such than that them then their there these they this those thi under until "
    "upon very well were what when where whether which while will with within without would "
    "your".split()
)
"""Words that name nothing."""

_TOKEN = re.compile(r"\w+|[^\w\s]+")
_WORD = re.compile(r"[^\W\d_]{3,}")


def tokens(text: str) -> set[str]:
    """The words and runs of signs of a text."""
    return set(_TOKEN.findall(text))


def phrases(text: str, often: Collection[str]) -> set[str]:
    r"""Every phrase of a text that is made of frequent tokens alone, as it stands there.

    A phrase begins and ends where a word or a run of signs does, stays on its line, and has a
    word in it.

    >>> sorted(phrases("# Rules of 2026\n", {"#", "Rules", "2026"}))
    ['# Rules', 'Rules']
    """
    lines = {line.strip() for line in text.splitlines()}
    return {phrase for line in lines for phrase in _of_line(line, often)}


def _of_line(line: str, often: Collection[str]) -> Iterator[str]:
    found = [(one.start(), one.end(), one[0] in often) for one in _TOKEN.finditer(line)]
    for at, (start, _, _) in enumerate(found):
        for _, end, is_often in found[at : at + LONGEST]:
            if not is_often or end - start > MOST_CHARS:
                break
            if tells(line[start:end]):
                yield line[start:end]


def tells(phrase: str) -> bool:
    """Whether a phrase says enough to be looked for."""
    return sum(map(str.isalnum, phrase)) >= FEWEST_LETTERS and bool(_WORD.search(phrase))


def words(text: str) -> set[str]:
    """The words of a text that can name something, in small letters, without a plural's s.

    >>> sorted(words("Name the Rules of lendBook"))
    ['lendbook', 'name', 'rule']
    """
    found = {one.casefold().removesuffix("s") for one in re.findall(r"[^\W_]{4,}", text)}
    return found - COMMON
