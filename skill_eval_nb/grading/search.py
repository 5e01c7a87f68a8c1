r"""What a content check searches for, and what it finds in one file.

Regular expressions have Python's meaning, but a time limit. Python's `re` has no such limit; the
`regex` module has one, but reads some patterns differently: `\${e}` is the text `${e}` in Python
and a fuzzy match in `regex`, and they disagree about `\w` outside of ASCII. So Python decides
whether a pattern is valid, and the few things that `regex` would read differently are rewritten.
"""

from __future__ import annotations

import re
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skill_eval_nb.text import count

from .outputs import Content, line_at, near_by, quote_text, show_line, with_plain_ends

LONGEST = 50_000
"""Characters of an expression."""
MOST_PARTS = 200_000
"""The most parts of an expression; a repeated part counts as often as it is required."""
MOST_BRANCHES = 16
"""Searching for more alternatives than this is as slow as the expression itself."""

_WARNINGS = threading.Lock()

_TOKEN = re.compile(
    r"""
    (?P<comment> \(\?\# [^)]* \) )
  | (?P<set> \[ \^? \]? (?: \\. | [^\]\\] )* \] )
  | (?P<open> \( (?: \? (?: P?<\w+> | P=\w+ (?=\)) | <?[=!] | [:>] | \(\w+\) | -?[a-zA-Z-]*:? ) )? )
  | (?P<close> \) )
  | (?P<either> \| )
  | (?P<times> [*+?] | \{ (?!\}) (?P<least>\d*) (?: (?P<comma>,) (?P<most>\d*) )? \} )
  | (?P<named> \\N \{ [^}]* \} )
  | (?P<escaped> \\ . )
  | (?P<place> [.^$] )
  | (?P<literal> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORD, _SPACE = r"\p{L}\p{N}_", r"\s\x1c-\x1f"
_NOT_EMPTY = r"(?!\A\Z)" if sys.version_info < (3, 14) else ""
r"""Until Python 3.14, `\B` does not match in an empty text."""
_ESCAPED = {
    "w": f"[{_WORD}]",
    "W": f"[^{_WORD}]",
    "s": f"[{_SPACE}]",
    "S": f"[^{_SPACE}]",
    "b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    "B": f"{_NOT_EMPTY}(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
    "z": r"\Z",
}


class BadPattern(ValueError):
    """The pattern cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, multi-line, ready to search.

    Attributes:
        source: the expression as given.
        needed: texts in UTF-8, at least one of which is in every match; empty if unknown.
        compiled: the compiled expression.
    """

    source: str
    needed: tuple[bytes, ...]
    compiled: Any


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    r"""Read a pattern as `re.compile(source, re.MULTILINE)` does.

    >>> compile_pattern(r"^function \w+Fixture\(").needed
    (b'function ',)
    >>> compile_pattern(r"it\(|test\(").needed, compile_pattern(r"(?i)error").needed
    ((b'it(', b'test('), ())

    Raises:
        BadPattern: if it is not a valid regular expression in Python, or too large.
    """
    import regex

    if len(source) > LONGEST:
        raise BadPattern(f"it has {len(source):,} characters; at most {LONGEST:,} are allowed")
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = re.compile(source, re.MULTILINE).flags
        tokens = list(_tokens(source, flags))
        _check_bounds(tokens)
        written = "".join(_rewrite_token(token, flags) for token in tokens)
        compiled = regex.compile(written, regex.MULTILINE | regex.VERSION0)
        return Pattern(source, () if flags & re.IGNORECASE else _needed_texts(tokens), compiled)
    except (OverflowError, RecursionError) as error:
        raise BadPattern(f"it is too large or too deeply nested: {error}") from error
    except regex.error as error:
        raise BadPattern(f"it cannot be searched for under a time limit: {error}") from error
    except (re.error, ValueError) as error:  # ValueError: flags that exclude each other
        raise BadPattern(f"it is not a valid regular expression: {error}") from error


def _tokens(source: str, flags: int) -> Iterator[re.Match[str]]:
    """The tokens of a valid pattern, without the spaces and comments of a verbose one."""
    verbose = bool(flags & re.VERBOSE)
    at = 0
    while at < len(source):
        if verbose and (blank := re.compile(r"\s+|#[^\n]*").match(source, at)):
            at = blank.end()
            continue
        token = _TOKEN.match(source, at)
        assert token is not None
        if token["open"] and re.match(r"\(\?[a-z]*-?[a-z]*[axu][a-z-]*:", token["open"]):
            raise ValueError("flags of a part of it alone can be i, m and s")
        at = token.end()
        yield token


def _rewrite_token(token: re.Match[str], flags: int) -> str:
    """A token, rewritten so that `regex` reads it like Python."""
    text = token[0]
    match token.lastgroup:
        case "escaped" if not flags & re.ASCII or text[1] == "z":
            return _ESCAPED.get(text[1], text)
        case "set" if not flags & re.ASCII:
            return _rewrite_set(text)
        case "set":
            return re.sub(r"(?<!^)\[", r"\[", text)
        case "literal" if text in "{}":
            return f"\\{text}"
    if token["comma"]:
        return f"{{{token['least'] or 0},{token['most']}}}"
    return text


def _rewrite_set(text: str) -> str:
    """A set of characters, with the complements in it written as alternatives."""
    negated = text.startswith("[^")
    inside, others = "", []
    for part in re.findall(r"\\.|.", text[1 + negated : -1], re.DOTALL):
        match part:
            case r"\w":
                inside += _WORD
            case r"\s":
                inside += _SPACE
            case r"\W" | r"\S":
                others.append(_ESCAPED[part[1]])
            case "[" | "]" | "^":
                inside += f"\\{part}"
            case _:
                inside += part
    if not others:
        return f"[{'^' if negated else ''}{inside}]"
    either = "|".join([f"[{inside}]", *others] if inside else others)
    return f"(?:(?!{either})(?s:.))" if negated else f"(?:{either})"


def _check_bounds(tokens: list[re.Match[str]]) -> None:
    sizes, last = [0], 0  # sizes of the open groups, and of the part before
    for token in tokens:
        if token["open"]:
            sizes.append(0)
        elif token["times"]:
            sizes[-1] += last * (max(int(token["least"] or 0), 1) - 1)
        else:
            last = max(sizes.pop(), 1) if token["close"] else 1
            sizes[-1] += last
    if sizes[0] > MOST_PARTS:
        raise OverflowError(
            f"its repeats add up to {sizes[0]:,} parts; at most {MOST_PARTS:,} are allowed"
        )


def _needed_texts(tokens: list[re.Match[str]]) -> tuple[bytes, ...]:
    """Texts in UTF-8, at least one of which is in every match; () if unknown.

    A search for bytes is thirty times as fast as one for an expression, so files without any of
    these texts need no further search.
    """
    branches, depth = [[""]], 0  # for each branch, the texts outside of groups
    for token in tokens:
        text, runs = token[0], branches[-1]
        if token["escaped"]:
            text = text[1]
        plain = token["literal"] or (token["escaped"] and not text.isalnum())
        if plain and not depth and _is_unchanged(text):
            runs[-1] += text
            continue
        if token["times"] and not (text == "+" or int(token["least"] or 0)):
            runs[-1] = runs[-1][:-1]
        depth += bool(token["open"]) - bool(token["close"])
        runs.append("")
        if token["either"] and not depth:
            branches.append([""])
    best = {max(runs, key=len) for runs in branches}
    if "" in best or len(best) > MOST_BRANCHES:
        return ()
    return tuple(sorted(text.encode() for text in best))


def _is_unchanged(text: str) -> bool:
    """Whether a character is the same in a file's bytes as in the expression.

    Line ends may be written differently, and the replacement character can stand for anything.
    """
    return text not in "\n\r\ufeff\ufffd" and not "\ud800" <= text <= "\udfff"


FIRST_SECONDS = 0.3
SECONDS_PER_MIB = 0.25
MOST_SECONDS = 5.0
LEAST_SECONDS = 0.005
"""How long one check may search all files closely: 0.3 s, and more if there is much text."""


class OutOfTime(Exception):
    """A close search took too long."""


class Clock:
    """The time that one check has left for searching all its files closely.

    It is CPU time of this thread, so a busy machine does not change a verdict.
    """

    __slots__ = ("_begun", "_more", "left")

    def __init__(self) -> None:
        self.left = FIRST_SECONDS
        self._more = MOST_SECONDS - FIRST_SECONDS
        self._begun = 0.0

    def start(self) -> None:
        """Begin a file."""
        self._begun = time.thread_time()

    def end(self, text: str) -> None:
        """A file was searched to its end: more text may take more time."""
        self.left -= time.thread_time() - self._begun
        more = min(SECONDS_PER_MIB * len(text) / 2**20, self._more)
        self._more -= more
        self.left += more

    def remaining(self) -> float:
        """The seconds that are left.

        Raises:
            OutOfTime: if there are none.
        """
        left = self.left - (time.thread_time() - self._begun)
        if left <= 0:
            raise OutOfTime
        return left

    def search(self, pattern: Pattern, text: str, start: int = 0) -> Any:
        """The first match at or after `start`, or None.

        Raises:
            OutOfTime: if the time is up.
        """
        while True:  # `regex` also counts other threads' time; then there is time left
            try:
                return pattern.compiled.search(text, start, timeout=self.remaining())
            except TimeoutError:
                self.left -= LEAST_SECONDS


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """What to search for: any of these counts.

    Attributes:
        texts: texts, case-sensitive.
        needles: the same texts in UTF-8.
        pattern: a regular expression.
        exempt: texts that exempt a match near them.
        near: how many lines above and below a match count as near.
    """

    texts: tuple[str, ...]
    needles: tuple[bytes, ...]
    pattern: Pattern | None
    exempt: tuple[str, ...]
    near: int

    def __str__(self) -> str:
        """The terms as shown in evidence: 'a' or 'b' or /c/."""
        names = [quote_text(text) for text in self.texts]
        regex = [] if self.pattern is None else [f"/{show_line(self.pattern.source, 80)}/"]
        return " or ".join([*names, *regex])


@dataclass(frozen=True, slots=True)
class Match:
    """A match: its start and end in the text, and the text of `exempt` that exempts it.

    `text` is None for a match in a binary file, where `start` counts bytes.
    """

    text: str | None
    start: int
    end: int
    exempted_by: str | None = None

    def place(self, name: str) -> str:
        """Its place, and the line there."""
        if self.text is None:
            return f"{show_line(name)}, at byte {self.start} of a binary file"
        start, end = _without_blanks(self.text, self.start, self.end)
        number, line = line_at(self.text, start)
        column = start - (self.text.rfind("\n", 0, start) + 1)
        if column >= 120:  # a very long line: only the part around the match
            line = f"…{line[column - 40 : max(column, end - start + column) + 200]}"
        return f"{show_line(name)}:{number}: {show_line(line)}"


def make_terms(
    texts: Sequence[str], regex: str | None, exempt: Sequence[str], near: int
) -> SearchTerms:
    """What to search for; empty texts do not count.

    Raises:
        BadPattern: if `regex` is not a regular expression.
    """
    wanted = tuple(dict.fromkeys(with_plain_ends(text) for text in texts if text))
    return SearchTerms(
        wanted,
        tuple(text.encode("utf-8", "surrogatepass") for text in wanted),
        compile_pattern(regex) if regex else None,
        tuple(with_plain_ends(text) for text in exempt if text),
        near,
    )


def matches_of_texts(what: SearchTerms, content: Content, clock: Clock) -> Iterator[Match]:
    """The matches of the texts, one text after the other, in their order.

    Raises:
        OutOfTime: if so many are exempt that it takes too long.
    """
    data = content.data
    for text, needle in zip(what.texts, what.needles, strict=True):
        place = data.find(needle)
        if place >= 0 and content.binary:
            yield Match(None, place, place + len(needle))
        if content.binary or (place < 0 and not (b"\n" in needle and b"\r" in data)):
            continue
        clock.start()
        whole = content.text
        start = whole.find(text)
        while start >= 0:
            clock.remaining()
            end = start + len(text)
            yield _make_match(what, whole, start, end)
            start = whole.find(text, end)
        clock.end(whole)


def matches_of_pattern(what: SearchTerms, content: Content, clock: Clock) -> Iterator[Match]:
    """The matches of the regular expression, in their order; none in a binary file.

    Raises:
        OutOfTime: if it takes too long.
    """
    pattern, data = what.pattern, content.data
    if pattern is None or content.binary:
        return
    if pattern.needed and not any(needle in data for needle in pattern.needed):
        return
    text = content.text
    clock.start()
    found = clock.search(pattern, text)
    while found is not None:
        start, end = found.span()
        yield _make_match(what, text, start, end)
        if end >= len(text):
            break
        found = clock.search(pattern, text, end if end > start else end + 1)
    clock.end(text)


def _make_match(what: SearchTerms, text: str, start: int, end: int) -> Match:
    exempted_by = None
    if what.exempt:
        around = near_by(text, start, end, what.near)
        exempted_by = next((text for text in what.exempt if text in around), None)
    return Match(text, start, end, exempted_by)


def _without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """A match without its leading blanks, so that it has the line of its first character."""
    blanks = end - start - len(text[start:end].lstrip())
    return (start + blanks, end) if blanks < end - start else (start, end)


class TextSearch:
    """The search of one content check through all files.

    Attributes:
        what: what to search for.
        n_files: how many files were searched.
        seen: the names of the first of them.
        n_found: how many of them have a match that is not exempt.
        found: the first of these matches in words, with file and line.
        exempted: the first exempt matches, with what exempts them.
        binary: files that were not searched for the regular expression.
        unread: files that could not be read, with the reason.
        out_of_time: the file in which searching took too long; later ones are not searched.
    """

    KEPT = 5
    NAMED = 3

    def __init__(self, what: SearchTerms) -> None:
        self.what = what
        self.n_files = 0
        self.seen: list[str] = []
        self.n_found = 0
        self.found: list[str] = []
        self.exempted: list[str] = []
        self.binary: list[str] = []
        self.unread: dict[str, str] = {}
        self.out_of_time: str | None = None
        self._clock = Clock()

    def search_file(self, name: str, content: Content) -> None:
        """Search one file."""
        self.n_files += 1
        if self.n_files <= self.NAMED:
            self.seen.append(name)
        what = self.what
        if what.pattern is not None and content.binary:
            self.binary.append(name)
        if self.out_of_time is not None:
            return
        try:
            if not self._keep_match(name, matches_of_texts(what, content, self._clock)):
                self._keep_match(name, matches_of_pattern(what, content, self._clock))
        except OutOfTime:
            self.out_of_time = name

    def _keep_match(self, name: str, matches: Iterator[Match]) -> bool:
        """Keep the first match that counts; returns whether there is one."""
        for match in matches:
            if match.exempted_by is None:
                self.n_found += 1
                if len(self.found) < self.KEPT:
                    self.found.append(match.place(name))
                return True
            if len(self.exempted) < self.KEPT:
                self.exempted.append(
                    f"{match.place(name)} is exempt: {self._exemption_text(match)}"
                )
        return False

    def _exemption_text(self, match: Match) -> str:
        lines = count(self.what.near, "line")
        where = f"is within {lines} of it" if self.what.near else "is on the same line"
        return f"{quote_text(match.exempted_by or '')} {where}"

    def evidence(self) -> str:
        """The found matches, with file and line."""
        more = self.n_found - len(self.found)
        tail = f"; and in {count(more, 'more file')}" if more > 0 else ""
        return "; ".join(self.found) + tail
