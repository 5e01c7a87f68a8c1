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
    """An expectation of an eval.

    Attributes:
        label: its id, else its text.
        text: its text; an id means nothing outside of its eval.
    """

    label: str
    text: str

    @property
    def identity(self) -> str:
        """The same for the same expectation of several evals, and for no other one."""
        return plain(self.text)


class _Known(NamedTuple):
    id: str | None
    text: str

    @property
    def about(self) -> About:
        return About(self.id or self.text, self.text)


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
    known: dict[tuple[str, ...], list[_Known]] = {}
    numbered: dict[tuple[str, ...], list[_Known]] = {}
    columns = [*_EVAL, "layer", "expectation_id", "text"]
    for *key, layer, own, text in frame.select(columns).unique(maintain_order=True).iter_rows():
        known.setdefault(tuple(key), []).append(_Known(own, text))
        if layer == "judged":
            numbered.setdefault(tuple(key), []).append(_Known(own, text))

    @cache
    def found(key: tuple[str, ...], words: str) -> About | None:
        return _named(words, known.get(key, []), numbered.get(key, []))

    @cache
    def begun(key: tuple[str, ...], reason: str) -> About | None:
        match = _NUMBERED.match(reason)
        return match and _by_number(match["id"], known.get(key, []), numbered.get(key, []))

    def find(run: RunRef, words: str | None, reason: str) -> About | None:
        key = (run.workspace, run.skill, run.iteration, run.eval_id)
        return begun(key, reason) if words is None else found(key, words)

    return find


@lru_cache(maxsize=10_000)
def plain(text: str) -> str:
    """A text without what makes no other expectation of it: case, spaces, marks at its ends.

    >>> plain(" The  file exists. ")
    'the file exists'
    """
    return " ".join(text.split()).casefold().strip(" .:;!,\"'`“”‘’")


def _named(words: str, known: list[_Known], numbered: list[_Known]) -> About | None:
    """The expectation that a grader's words name."""
    led = _LED.fullmatch(words.strip())
    wanted = [plain(words), *([plain(led["rest"])] if led and led["rest"] else [])]
    for text in wanted:
        for one in known:
            if plain(one.text) == text:
                return one.about
    own = plain(led["id"]) if led else ""
    for one in known:
        name = _NAME.match(one.text)
        if own and (own == plain(one.id or "") or (name and own == plain(name[1]))):
            return one.about
    match = _NUMBERED.match(words)
    if match:
        return _by_number(match["id"], known, numbered)
    for text in wanted:
        near = _nearest(text, known)
        if near is not None:
            return near.about
    return None


def _by_number(own: str, known: list[_Known], numbered: list[_Known]) -> About | None:
    """The expectation of this id, or the one that stands at this place for the judge."""
    for one in known:
        if plain(own) == plain(one.id or ""):
            return one.about
    place = int(own) if own.isdigit() else 0
    return numbered[place - 1].about if 0 < place <= len(numbered) else None


def _nearest(text: str, known: list[_Known]) -> _Known | None:
    from rapidfuzz import fuzz

    scores = {one: fuzz.ratio(text, plain(one.text)) for one in known}
    nearest = max(known, key=lambda one: (scores[one], one.text), default=None)
    if nearest is None or scores[nearest] < NEAR:
        return None
    others = [scores[one] for one in known if plain(one.text) != plain(nearest.text)]
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
    sources = {
        _source(RunRef(*run), kind, expectation, reason[:LONGEST])
        for *run, kind, expectation, reason in frame.select(
            *RunRef._fields, "kind", "expectation", "reason"
        ).iter_rows()
    }
    return tuple(Mention(source, _about_of(source, find)) for source in sorted(sources, key=_order))


def n_graded(data: Any) -> int:
    """The number of runs that a grader looked at."""
    return int((frame_of(data, "runs")["status"] == "graded").sum())


def _source(run: RunRef, kind: str, expectation: str | None, reason: str) -> Source:
    if kind == "vague":  # what `test-cases` has is the expectation's text alone
        return Source(run, kind, reason, VAGUE)
    return Source(run, kind, (expectation or "").strip() or None, reason)


def _about_of(source: Source, find: Finder) -> About | None:
    about = find(source.run, source.expectation, source.reason)
    if about is None and source.kind == "vague":
        text = source.expectation or ""
        return About(text, text)
    return about


def _order(one: Source) -> tuple[Any, ...]:
    run = [natural(str(key)) for key in one.run]
    return (run, KINDS.index(one.kind), one.expectation or "", one.reason)
