"""What a suggestion names word for word: code, file names, globs, and whether it is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST = 60
MOST_WORDS = 3
"""Code in backticks may have more; a quotation of more words is a sentence, one of a single
plain word a word that is spoken of."""

_TICKED = re.compile(r"`([^`\n]+)`")
_QUOTED = re.compile(r"“([^”\n]+)”|‘([^’\n]+)’|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_CODE = re.compile(
    r"(?<![\w`\"'“‘/.*-])(?:"
    r"[*\w./-]*\*[\w./*-]*\.\w+"  # *.test.ts
    r"|[\w-]+(?:/[\w.-]+)*\.(?:[a-z]{2,4}|ipynb|jsonl)(?![\w(])"  # notes.md
    r"|(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\("  # call(
    r"|[a-z]+(?:[A-Z][a-z0-9]*)+"  # camelCase
    r"|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+"  # snake_case
    r")"
)
_FILE = re.compile(r"[\w*?{},\[\]/.-]*\.[A-Za-z]\w{0,5}")
_ID = re.compile(r"[A-Z]{1,3}-?\d{1,3}")
_NO_NAME = re.compile(
    r"(?:e\.g|i\.e|etc|vs|cf)\.?|(?-i:[A-Z]\w*\.js)|(?:camel|pascal|snake|kebab)[_-]?case",
    re.IGNORECASE,
)
"""Abbreviations, frameworks that are called like files, and ways of writing names."""
_ASKS = re.compile(
    r"\b(?:no(?:thing|ne|t)?|never|n't|neither)\b.{0,60}?"
    r"\b(?:check|assert|verif|look|test|cover|ensur|requir|ask)\w*|"
    r"n't (?:check|verify|look|test|ensure|require)|"
    r"\b(?:add|assert|check|ensur|look|requir|verif|consider|want|count)(?:s|e|es|y|ing|ed)? "
    r"(?:\w+ )?(?:for|that|whether|if|of|in|a|an|the|also|adding|checking|asserting|requiring)\b|"
    r"\b(?:should|must|needs? to|has to|have to|may not|is missing|use|avoid)\b",
    re.IGNORECASE,
)
"""Words after which a suggestion says what it would have checked."""
_ABOUT_SUITE = re.compile(
    r"\b(?:evals?|prompts?|fixtures?|scenario|task|graders?|convention|ambiguous|conflicts?)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_ABOUT_CHECKS = re.compile(
    r"\b(?:no(?:thing| (?:check|assertion|expectation|test)s?)|does(?: not|n't)|do(?: not|n't)|"
    r"never|not) (?:that|whether|if|(?:\w+ )?(?:check|verif|look|test|cover|assert|ask|requir)\w*)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|no|without|avoid\w*|forbid\w*|instead of|rather than|free of|absen\w+|"
    r"nor|n't|remov\w+|lacks?|exclud\w+)\b|n't\b",
    re.IGNORECASE,
)
_IS_NOT = re.compile(
    r"\s*+(?:(?:is|are|was|were|must|should|may)\s*+)?(?:be\s++)?(?:not|never|absent|gone)\b"
)
_WRONGLY_PASSES = re.compile(
    r"\b(?:would|could|can|still|also|even)\b[^.;]*\bpass(?:es)?\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.;:!?](?:\s|$)|,\s|\s(?:but|and use|use)\s")
_OWN_WORDS = frozenset(
    "file_exists file_contains file_not_contains no_errors file_count custom_script "
    "match_any match_regex except_context file_not_exists with_skill without_skill".split()
)


@dataclass(frozen=True, slots=True)
class Literal:
    """What a text names.

    Attributes:
        text: the name, as it stands there.
        wanted: whether it is to be there, or not to be.
        is_file: whether it looks like a file's name or a glob.
    """

    text: str
    wanted: bool
    is_file: bool


def literals(text: str) -> list[Literal]:
    """What a text wants checked word for word, each once, in its order.

    Only sentences that ask for something count, and in them what follows the asking. What
    stands in backticks or quotes counts, else what is written as code is. A negation in the
    same clause before it makes it unwanted; that something is *not checked* does not.

    >>> [(one.text, one.wanted) for one in literals("Use `Map` instead of `vi.fn(`.")]
    [('Map', True), ('vi.fn(', False)]
    >>> [(one.text, one.is_file) for one in literals("Nothing checks that notes.md is there")]
    [('notes.md', True)]
    >>> literals("The output calls `main()`, and the prompt should say so.")
    []
    """
    found: dict[str, Literal] = {}
    for sentence in _SENTENCE.split(text):
        asks = _ASKS.search(sentence)
        prose = _QUOTED.sub(" ", _TICKED.sub(" ", sentence))
        if asks is None or _ABOUT_SUITE.search(prose):
            continue
        before = 0
        for start, end, name in _named(sentence):
            if start >= asks.start():
                wanted = _wanted(sentence, before, start, end)
                found.setdefault(name, Literal(name, wanted, _is_file(name)))
            before = end
    return list(found.values())


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    found = [(*one.span(), one[1].strip()) for one in _TICKED.finditer(text)]
    for one in _QUOTED.finditer(text):
        name = next(filter(None, one.groups())).strip()
        plain = re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)*", name) is not None and name.islower()
        short = len(name.split()) <= MOST_WORDS and not plain
        if short and not _within(one.start(), found):
            found.append((*one.span(), name))
    quotations = [one.span() for one in _QUOTED.finditer(text)]
    for one in _CODE.finditer(text):
        if not _within(one.start(), found) and not _within(one.start(), quotations):
            found.append((*one.span(), one[0]))
    return (one for one in sorted(found) if _tells(one[2]))


def _within(at: int, spans: Sequence[tuple[Any, ...]]) -> bool:
    return any(span[0] <= at < span[1] for span in spans)


def _tells(name: str) -> bool:
    return (
        len(name) <= LONGEST
        and any(map(str.isalnum, name))
        and len(name) > 1
        and ".." not in name
        and name not in _OWN_WORDS
        and not _ID.fullmatch(name)
        and not _NO_NAME.fullmatch(name)
    )


def _wanted(text: str, before: int, start: int, end: int) -> bool:
    """Whether what stands from `start` to `end` is wanted, by the words around it."""
    clause = _CLAUSE.split(text[before:start])[-1]
    said = _ABOUT_CHECKS.sub(" ", clause)
    sentence_end = re.search(r"[.;!?](?:\s|$)", text[end:])
    rest = text[end : end + sentence_end.start()] if sentence_end else text[end:]
    if _IS_NOT.match(rest):
        return False
    return not _NOT.search(said) and not _WRONGLY_PASSES.match(rest.strip())


def _is_file(name: str) -> bool:
    return bool(_FILE.fullmatch(name)) and not name.endswith("(")
