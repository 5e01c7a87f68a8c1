r"""Regular expressions with Python's meaning that cannot hang.

Python's `re` has no time limit; the `regex` module has one, but reads some patterns
otherwise: `\${e}` is the text `${e}` to Python and a fuzzy match to `regex`, and the two
disagree on what a `\w` is outside of ASCII. So a pattern is parsed by Python, which also
decides whether it is valid, and written anew, in words that mean the same to `regex`.
"""

from __future__ import annotations

import re
import threading
import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .literals import literals_of
from .rewriting import CannotRewrite, parts_of, rewrite

FIRST_SECONDS = 0.3
SECONDS_PER_MIB = 0.25
MOST_SECONDS = 5.0
LEAST_SECONDS = 0.005
"""So long may a check look closely over all files: 0.3 s, and more where there is much text."""

LONGEST = 50_000
"""Characters of an expression."""
MOST_PARTS = 200_000
"""Its parts, each as often as it is to be there at least: so many are compiled one by one."""

_WARNINGS = threading.Lock()


class BadPattern(ValueError):
    """The pattern cannot be used; the message says why."""


class OutOfTime(Exception):
    """Looking closely took too long."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, multi-line, ready to search.

    Attributes:
        source: as it was given.
        needed: texts as UTF-8 of which at least one stands in whatever matches; empty where
            none can be told.
        compiled: what searches.
    """

    source: str
    needed: tuple[bytes, ...]
    compiled: Any


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    r"""Read a pattern as `re.compile(source, re.MULTILINE)` does.

    >>> compile_pattern(r"^function \w+Fixture\(").needed
    (b'function ',)

    Raises:
        BadPattern: where it is no regular expression to Python, or too large.
    """
    import regex

    if len(source) > LONGEST:
        raise BadPattern(f"it has {len(source):,} characters; {LONGEST:,} are the most")
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(source, re.MULTILINE)
            tree = re._parser.parse(source, re.MULTILINE)  # type: ignore[attr-defined]  # noqa: SLF001
        _bound(tree)
        written = rewrite(tree)
        compiled = regex.compile(written, regex.MULTILINE | regex.VERSION0)
        return Pattern(source, literals_of(tree), compiled)
    except (OverflowError, RecursionError) as error:
        raise BadPattern(f"it is too large or too deeply nested: {error}") from error
    except (CannotRewrite, regex.error) as error:
        raise BadPattern(f"it cannot be searched for under a time limit: {error}") from error
    except (re.error, ValueError) as error:  # ValueError: flags that exclude each other
        raise BadPattern(f"it is no valid regular expression: {error}") from error


def _bound(tree: Any) -> None:
    if (parts := parts_of(tree)) > MOST_PARTS:
        raise OverflowError(f"its repeats come to {parts:,} parts, {MOST_PARTS:,} are the most")


class Clock:
    """The time that one check has left for looking closely, over all the files it looks into.

    It is processor time of this thread: a busy machine does not change a verdict.
    """

    __slots__ = ("_begun", "_more", "left")

    def __init__(self) -> None:
        self.left = FIRST_SECONDS
        self._more = MOST_SECONDS - FIRST_SECONDS
        self._begun = 0.0

    def start(self) -> None:
        """Begin with a file."""
        self._begun = time.thread_time()

    def end(self, text: str) -> None:
        """A file was looked through to its end: more text may take more time."""
        self.left -= time.thread_time() - self._begun
        more = min(SECONDS_PER_MIB * len(text) / 2**20, self._more)
        self._more -= more
        self.left += more

    def remaining(self) -> float:
        """The seconds that are left.

        Raises:
            OutOfTime: where there are none.
        """
        left = self.left - (time.thread_time() - self._begun)
        if left <= 0:
            raise OutOfTime
        return left

    def search(self, pattern: Pattern, text: str, start: int = 0) -> Any:
        """The first match at or after `start`, or None.

        Raises:
            OutOfTime: where the time is up.
        """
        while True:  # `regex` counts what other threads take too: then there is time left
            try:
                return pattern.compiled.search(text, start, timeout=self.remaining())
            except TimeoutError:
                self.left -= LEAST_SECONDS
