"""Which files a glob names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import bracex
from wcmatch import glob

MOST_BRACES = 64
"""So many patterns may one with braces stand for."""

MOST_FOLDERS = 4
"""So often may `**` stand in one: each more multiplies the ways in which a name is tried."""

LONGEST = 4096
"""Characters of a pattern: more than a path may have."""

FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.MATCHBASE | glob.FORCEUNIX


class BadGlob(ValueError):
    """The pattern cannot name an output; the message says why."""


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that a pattern matches, in their order.

    `*`, `?` and `[…]` stop at slashes, `**` stands for any number of folders, `{a,b}` for
    either; so do several patterns, a line each. A pattern without a slash matches at any
    depth, one with a slash from the top. Upper and lower case differ; names that begin with
    a dot are names like others. A leading `outputs/` stands for the outputs themselves,
    where there is no such folder in them.

    >>> names = ["a.md", "docs/b.md", "docs/deep/c.md"]
    >>> matching("*.md", names), matching("docs/*.md", names)
    (['a.md', 'docs/b.md', 'docs/deep/c.md'], ['docs/b.md'])
    >>> matching("docs/**", names), matching("{a,c}.md", names)
    (['docs/b.md', 'docs/deep/c.md'], ['a.md', 'docs/deep/c.md'])

    Raises:
        BadGlob: where the pattern is empty or leads out of the outputs.
    """
    accepts = [accept for text in _given(pattern) for accept in _accepting(_below(text, names))]
    if len(accepts) == 1:
        return list(filter(accepts[0], names))
    return [name for name in names if any(accept(name) for accept in accepts)]


@lru_cache(maxsize=256)
def _given(pattern: str) -> tuple[str, ...]:
    """The patterns that stand in one, a line each."""
    given = [line for line in pattern.split("\n") if line.strip()] or [""]
    return tuple(_inside(pattern) for pattern in given)


@lru_cache(maxsize=256)
def _accepting(text: str) -> tuple[Callable[[str], object], ...]:
    """A test for each pattern that one with braces stands for, and for the very name."""
    try:
        patterns = bracex.expand(text, keep_escapes=True, limit=MOST_BRACES)
    except bracex.ExpansionLimitException:
        raise BadGlob(f"{text!r} has too many braces") from None
    tests = [
        re.compile(regex).match for each in dict.fromkeys(patterns) for regex in _regexes(each)
    ]
    return (text.__eq__, *tests)


def _regexes(pattern: str) -> list[str]:
    """The regular expressions of a pattern without braces; `[id]` is also such a name itself."""
    pattern = re.sub(r"(?<![^/])(?:\*\*/){2,}", "**/", pattern)
    if pattern.count("**") > MOST_FOLDERS:
        raise BadGlob(f"{pattern!r} has `**` more than {MOST_FOLDERS} times")
    pattern = pattern.replace("\\", "\\\\")
    return glob.translate([pattern, pattern.replace("[", "[[]")], flags=FLAGS)[0]


def _below(pattern: str, names: Sequence[str]) -> str:
    """The pattern without the name of the outputs' folder."""
    if not pattern.startswith("outputs/") or any(name.startswith("outputs/") for name in names):
        return pattern
    return pattern.removeprefix("outputs/")


def _inside(pattern: str) -> str:
    text = re.sub("/{2,}", "/", pattern.strip())
    if not text:
        raise BadGlob("the pattern is empty")
    if len(text) > LONGEST:
        raise BadGlob(f"the pattern has {len(text)} characters; no path has more than {LONGEST}")
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", text):
        raise BadGlob(f"{pattern!r} is an absolute path: write it from the outputs' folder on")
    if ".." in re.split(r"[/\\{},]", text):
        raise BadGlob(f"{pattern!r} leads out of the outputs")
    while text.startswith("./"):
        text = text[2:]
    return f"{text}**" if text.endswith("/") else text or "**"
