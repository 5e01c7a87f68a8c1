"""What the graders of a workspace suggest, one by one, and the expectation that each is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from skill_eval_nb.stats.names import natural
from skill_eval_nb.tables.frames import frame_of

from .values import RunRef, Source

NEAR = 85.0
"""Texts are those of the same expectation from this ratio of rapidfuzz (0-100) on ..."""
AHEAD = 3.0
"""... where no other expectation of the eval is nearly as near."""

_EVAL = ("workspace", "skill", "iteration", "eval_id")
_LED = re.compile(r"\W*(?P<id>\w[\w-]*)\s*(?:[:.)\]–—]|-\s|\s\(|$)\s*(?P<rest>.*)", re.DOTALL)
_NUMBERED = re.compile(
    r"\W*(?:the |l['’])?(?:assertion|expectation|check) #?(?P<id>[A-Z]{0,2}\d{1,3})\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"([\w-]+): ")


class About(NamedTuple):
    """An expectation of an eval: its id, which means nothing outside of that, and its text."""

    id: str | None
    text: str

    @property
    def label(self) -> str:
        """Its id, else its text."""
        return self.id or self.text

    @property
    def identity(self) -> str:
        """The same for the same expectation of several evals, and for no other one."""
        return plain(self.text)


Finder = Callable[[RunRef, str | None, str], About | None]
"""Gives what a suggestion of a run is about: its expectation in the grader's words, its reason."""


def finder(data: Any) -> Finder:
    """What finds expectations in a workspace's table `expectations`.

    A name of an expectation is its id, its text, its text in nearly the same words, its
    number among those that the judge verified (`Assertion 2`), or what stands before a colon
    in its text. A suggestion without one that begins with an id or a number speaks of that.
    """
    import polars as pl

    frame = frame_of(data, "expectations").filter(pl.col("text").is_not_null())
    known: dict[tuple[str, ...], list[About]] = {}
    numbered: dict[tuple[str, ...], list[About]] = {}
    columns = [*_EVAL, "layer", "expectation_id", "text"]
    for *key, layer, own, text in frame.select(columns).unique(maintain_order=True).iter_rows():
        for one in (known, numbered) if layer == "judged" else (known,):
            one.setdefault(tuple(key), []).append(About(own, text))

    @cache
    def find(key: tuple[str, ...], words: str | None, reason: str) -> About | None:
        own = known.get(key, []), numbered.get(key, [])
        return _named(words, *own) if words is not None else _by_number(reason, *own)

    def found(run: RunRef, words: str | None, reason: str) -> About | None:
        key = (run.workspace, run.skill, run.iteration, run.eval_id)
        return find(key, words, reason if words is None else "")

    return found


@lru_cache(maxsize=10_000)
def plain(text: str) -> str:
    """A text without what makes no other expectation of it: case, spaces, marks at its ends.

    >>> plain(" The  file exists. ")
    'the file exists'
    """
    return " ".join(text.split()).casefold().strip(" .:;!,\"'`“”‘’")


def _named(words: str, known: list[About], numbered: list[About]) -> About | None:
    """The expectation that a grader's words name."""
    led = _LED.fullmatch(words.strip())
    wanted = [plain(words), *([plain(led["rest"])] if led and led["rest"] else [])]
    own = plain(led["id"]) if led else ""
    names = [(one, plain(one.id or ""), _NAME.match(one.text)) for one in known] if own else []
    found = [one for text in wanted for one in known if plain(one.text) == text]
    found += [one for one, id_, name in names if own in (id_, plain(name[1]) if name else "")]
    if found:
        return found[0]
    if _NUMBERED.match(words):
        return _by_number(words, known, numbered)
    return next(filter(None, (_nearest(text, known) for text in wanted)), None)


def _by_number(words: str, known: list[About], numbered: list[About]) -> About | None:
    """The expectation whose id words begin with, or that stands at that place for the judge."""
    match = _NUMBERED.match(words)
    if match is None:
        return None
    of_id = [one for one in known if plain(match["id"]) == plain(one.id or "")]
    place = int(match["id"]) if match["id"].isdigit() else 0
    return next(iter([*of_id, *numbered[max(place - 1, 0) : place]]), None)


def _nearest(text: str, known: list[About]) -> About | None:
    from rapidfuzz import fuzz

    scores = {one: fuzz.ratio(text, plain(one.text)) for one in known}
    nearest = max(known, key=lambda one: (scores[one], one.text), default=None)
    if nearest is None or scores[nearest] < NEAR:
        return None
    others = [scores[one] for one in known if one.identity != nearest.identity]
    return nearest if max(others, default=0.0) <= scores[nearest] - AHEAD else None


KINDS = ("critique", "vague", "missing_coverage", "suggested")
"""Suggestions for a change; `overall` is none, and `aggregate` is a collection already."""
LONGEST = 4000
"""Characters of what a grader said that are looked at."""
VAGUE = "The grader calls it vague."


@dataclass(frozen=True, slots=True)
class Mention:
    """A source, and the expectation that it is about; None: a missing or an unknown one."""

    source: Source
    about: About | None

    @property
    def suite(self) -> tuple[str, str]:
        """The workspace and the skill, across which nothing is the same."""
        return self.source.run.workspace, self.source.run.skill

    @property
    def text(self) -> str:
        """What is compared: with the grader's name of an expectation that is not known."""
        named = self.source.expectation if self.about is None else None
        return f"{named}: {self.source.reason}" if named else self.source.reason


def mentions(data: Any) -> tuple[Mention, ...]:
    """Every suggestion for a change, in the order of its run's keys; each once a run."""
    import polars as pl

    frame = frame_of(data, "suggestions").filter(pl.col("kind").is_in(KINDS))
    find = finder(data)
    found: dict[Source, None] = {}
    rows = frame.select(*RunRef._fields, "kind", "expectation", "reason").iter_rows()
    for *run, kind, expectation, reason in rows:
        about, said = (expectation or "").strip() or None, reason[:LONGEST]
        if kind == "vague":  # what `test-cases` has is the expectation's text alone
            about, said = said, VAGUE
        found[Source(RunRef(*run), kind, about, said)] = None

    def mention(source: Source) -> Mention:
        about = find(source.run, source.expectation, source.reason)
        vague = About(None, source.expectation or "") if source.kind == "vague" else None
        return Mention(source, about or vague)

    return tuple(map(mention, sorted(found, key=_order)))


def n_graded(data: Any) -> int:
    """The number of runs that a grader looked at."""
    return int((frame_of(data, "runs")["status"] == "graded").sum())


def _order(one: Source) -> tuple[Any, ...]:
    run = [natural(str(key)) for key in one.run]
    return (run, KINDS.index(one.kind), one.expectation or "", one.reason)
