"""The words of queries: when two say the same, and when one gives the skill's name away."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

NEARLY = 90
"""From this ratio of rapidfuzz (0-100) on, two queries say nearly the same."""

_LETTER = r"[^\W\u2e80-\U0010ffff]"
"""A letter, digit or `_` of a script that puts spaces between its words."""


def plain(query: str) -> str:
    """The words of a query without case and marks; empty where it has none.

    >>> plain("Sort  the table!") == plain("sort the table")
    True
    """
    folded = unicodedata.normalize("NFKC", query).casefold()
    return " ".join(re.findall(r"\w+", folded))


def alike(queries: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of queries that say nearly the same but not quite, by their places.

    The order of the words counts: what turns PDF into text is not what turns text into PDF.

    >>> alike(["Sort the rows of sales.csv", "Sort the rows of sale.csv", "Draw a cat"])
    [(0, 1)]
    """
    from rapidfuzz import fuzz, process

    texts = [plain(one) for one in queries]
    scores = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=NEARLY)
    pairs = zip(*(places.tolist() for places in scores.nonzero()), strict=True)
    return [(a, b) for a, b in pairs if a < b and texts[a] != texts[b]]


def gives_away(query: str, skill: str) -> bool:
    """Whether a query holds the skill's name as a word of its own, or as `/name`.

    A name inside of a path, a file's name or another word is none.

    >>> [gives_away(one, "pdf") for one in ("Use the PDF skill.", "/pdf split it", "用pdf技能")]
    [True, True, True]
    >>> [gives_away(one, "pdf") for one in ("ls /a/pdf/b", "open pdf/x", "see a.pdf", "my-pdf")]
    [False, False, False, False]
    """
    before, after = rf"(?<!{_LETTER})(?<![.\\/~-])", rf"(?!{_LETTER}|[\\/-]|\.\w)"
    return re.search(f"{before}/?{re.escape(skill)}{after}", query, re.IGNORECASE) is not None
