"""How good a text is, as far as it can be counted.

Features are meant for notes with entries (lines that begin with a dash), scale 1 to 5, and are
rough: that is no matter, as they are the same for the same text. They count for the outputs of the
demo skill's evals; every other output states its quality (`stand-in quality: 3.42`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from .settings import StandIn, normal

LOWEST, HIGHEST = 1, 5
PASSES_AT = 3.0
"""The quality at which an expectation of middling difficulty is as likely met as not."""


def threshold(stand_in: StandIn, expectation: str) -> float:
    """The quality that an expectation asks for."""
    return PASSES_AT + stand_in.check_sd * normal(stand_in.seed, "expectation", expectation)


def as_score(quality: float) -> int:
    """A quality as a whole score from 1 to 5.

    >>> [as_score(quality) for quality in (-3.0, 2.4, 2.6, 7.0)]
    [1, 2, 3, 5]
    """
    return max(LOWEST, min(HIGHEST, math.floor(quality + 0.5)))


ENTRY = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*)$")
CODE = re.compile(
    r"\b(?:feat|fix|chore|refactor|perf|docs|style|build|ci|test|revert|wip)(?:\([\w./-]*\))?!?:"
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[0-9a-f]{7,40}\b|\w\(\)",
)
CHORE = re.compile(
    r"\b(?:refactor\w*|helper functions?|test runner|test coverage|tests|lint\w*|reformat\w*"
    r"|packages between builds|build times?|readme|typing mistake|typo|dependenc\w+"
    r"|smaller images|ci\b|searchindex|reverted?|internal)",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(?:exciting|greatly|amazing|seamless\w*|powerful|robust|better than ever|delighted"
    r"|blazing\w*|effortless\w*|thrilled|improved?|enhanc\w+|stability|performance|smoother"
    r"|modern|polish\w*|reliab\w+)\b|!",
    re.IGNORECASE,
)
ISSUE = re.compile(r"#\d+")
LONG = 16
"""Words of an entry from which on it counts as long."""
TOPICS: tuple[tuple[str, str], ...] = (
    ("brevity", r"brev|concis|short|length|one line|one sentence"),
    ("faithfulness", r"faith|accura|correct|truth|invent|guess|made up|claims?\b|said"),
    ("selection", r"select|complet|cover|left out|not mentioned|neither|one entry|nothing changed"),
    ("reader_view", r"reader|user|audience|clar|told|described|understand"),
)
"""What the words of a dimension or expectation ask about; the first that is found counts."""


@dataclass(frozen=True, slots=True)
class Features:
    """Qualities by topic, and the lines that they were counted on: (file, line)."""

    qualities: dict[str, float]
    lines: tuple[tuple[str, str], ...]

    def quality(self, about: str) -> float:
        """The quality that a dimension's or expectation's text asks about."""
        return self.qualities[topic(about)]

    def telling(self, about: str, *, good: bool) -> tuple[str, str] | None:
        """The line that speaks most for a good verdict, or against it. None: there is none."""
        if not self.lines:
            return None
        faults = _FAULTS[topic(about)]
        pick: Callable[..., tuple[str, str]] = min if good else max
        return pick(self.lines, key=lambda line: faults(line[1]))


def topic(about: str) -> str:
    """What a dimension or expectation is about: its name or first line decides, else the rest.

    >>> topic("### brevity (weight 1.0)"), topic("It is pretty")
    ('brevity', 'overall')
    """
    first, _, rest = about.partition("\n")
    for text in (first, rest):
        for name, words in TOPICS:
            if re.search(words, text, re.IGNORECASE):
                return name
    return "overall"


def measure(outputs: Sequence[tuple[str, str]]) -> Features:
    r"""The features of all outputs together; of none, the lowest quality throughout.

    >>> good = measure([("n.md", "# 1.0.0\n\n## Fixed\n\n- Photos open again. (#3)")])
    >>> bad = measure([("n.md", "- 8f1c2aa fix(io): PhotoReader again (#3)")])
    >>> good.quality("reader") > bad.quality("reader")
    True
    """
    lines = tuple(
        (name, line.strip())
        for name, text in outputs
        for line in text.splitlines()
        if line.strip() and not line.startswith(("#", "<!--"))
    )
    if not lines:
        return Features(dict.fromkeys([*_FAULTS, "overall"], 1.0), ())
    rows = [line for _, line in lines]
    qualities = {
        "reader_view": 5 - 4 * _share(rows, _coded),
        "selection": 5 - 1.3 * sum(map(_chores, rows)) - 1.5 * _twice(rows) - 1.5 * _bare(outputs),
        "faithfulness": 5 - 1.3 * sum(map(_praises, rows)),
        "brevity": 5 - 4 * _share(rows, _long) - 0.4 * sum(map(_praises, rows)),
    }
    held = {name: max(1.0, min(5.0, value)) for name, value in qualities.items()}
    return Features({**held, "overall": fmean(held.values())}, lines)


def _coded(line: str) -> float:
    return float(bool(CODE.search(line)))


def _chores(line: str) -> float:
    return float(bool(CHORE.search(line)))


def _praises(line: str) -> float:
    return float(len(PRAISE.findall(line)))


def _long(line: str) -> float:
    return min(1.0, max(0.0, (len(line.split()) - LONG) / LONG))


def _overall(line: str) -> float:
    return _coded(line) + _chores(line) + _praises(line) + _long(line)


def _share(lines: Sequence[str], fault: Callable[[str], float]) -> float:
    return fmean(map(fault, lines))


def _twice(lines: Sequence[str]) -> int:
    """Issues that more than one entry names."""
    named = [issue for line in lines for issue in set(ISSUE.findall(line))]
    return len(named) - len(set(named))


def _bare(outputs: Sequence[tuple[str, str]]) -> bool:
    """Whether entries stand under no heading of the second level."""
    whole = [line for _, text in outputs for line in text.splitlines()]
    entries = sum(bool(ENTRY.match(line)) for line in whole)
    return entries > 1 and not any(line.startswith("## ") for line in whole)


_FAULTS: dict[str, Callable[[str], float]] = {
    "reader_view": _coded,
    "selection": _chores,
    "faithfulness": _praises,
    "brevity": _long,
    "overall": _overall,
}
