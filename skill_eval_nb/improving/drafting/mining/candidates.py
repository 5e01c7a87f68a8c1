"""The best of what differs between the sides: what is named, what is news."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .differing import Differing, Group, bits
from .phrases import words

ALIKE = 0.95
"""The share of runs on which two checks agree from which on they are one."""
NAMED = (0.2, 0.1)
"""What it is worth, in pass rate, that the check's own words or the skill name a phrase."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A phrase, and what a check of it would have said.

    Attributes:
        phrase: what is to be looked for.
        wanted: whether it is to stand there (file_contains), or not to (file_not_contains).
        passed: runs that it passes on the first side and on the baseline.
        runs: runs on either side.
        p: exact, over the evals.
        named: words of it that the check's own words, and that the skill names.
    """

    phrase: str
    wanted: bool
    passed: tuple[int, int]
    runs: tuple[int, int]
    p: float
    named: tuple[frozenset[str], frozenset[str]]


def mine(
    differing: Differing,
    *,
    known: Collection[Mapping[Any, bool]] = (),
    own: Collection[str] = (),
    skill: Collection[str] = (),
    most: int = 2,
) -> list[Candidate]:
    """The phrases that best tell the sides apart, at most `most`, no two alike.

    Args:
        differing: what differs between the sides.
        known: verdicts by run of checks that there are: what says the same tells nothing new.
        own: words of the check that is to be sharper, and of what was said about it.
        skill: words of the skill.
        most: how many are wanted.
    """
    ranked = [(group, _candidate(group, differing, own, skill)) for group in differing.groups]
    ranked.sort(key=lambda one: (-_worth(*one), one[1].p, one[1].phrase))
    taken = [_known(verdicts, differing) for verdicts in known]
    found: list[Candidate] = []
    for group, candidate in ranked:
        if len(found) == most:
            break
        if not any(_alike(group.passing, other, scored) for other, scored in taken):
            found.append(candidate)
            taken.append((group.passing, (1 << len(differing.outputs)) - 1))
    return found


def _candidate(
    group: Group, differing: Differing, own: Collection[str], skill: Collection[str]
) -> Candidate:
    """The best name of a group, with its figures."""
    phrase = min(group.phrases, key=lambda one: _awkward(one, own, skill))
    first, other = differing.first, ((1 << len(differing.outputs)) - 1) & ~differing.first
    return Candidate(
        phrase,
        group.wanted,
        ((group.passing & first).bit_count(), (group.passing & other).bit_count()),
        (first.bit_count(), other.bit_count()),
        group.p,
        (frozenset(words(phrase) & set(own)), frozenset(words(phrase) & set(skill))),
    )


def _worth(group: Group, candidate: Candidate) -> float:
    named = zip(NAMED, candidate.named, strict=True)
    return group.estimate + sum(each for each, names in named if names)


def _awkward(phrase: str, own: Collection[str], skill: Collection[str]) -> tuple[Any, ...]:
    """What makes a phrase a poor name of those that stand in the same outputs."""
    said = words(phrase)
    unnamed = -len(said & set(own)), -len(said & set(skill))
    begins = phrase[0].isalnum() or phrase[0] in "#<@"
    ragged = not begins or phrase.count("(") < phrase.count(")")
    return (*unnamed, ragged, abs(len(phrase) - 16), phrase)


def _known(verdicts: Mapping[Any, bool], differing: Differing) -> tuple[int, int]:
    """The outputs that a known check passes, and those that it has a verdict of."""
    runs = [one.run for one in differing.outputs]
    return bits(verdicts.get(run, False) for run in runs), bits(run in verdicts for run in runs)


def _alike(passing: int, other: int, scored: int) -> bool:
    """Whether two checks say the same of nearly all runs that both have a verdict of."""
    n = scored.bit_count()
    return bool(n) and (scored & ~(passing ^ other)).bit_count() >= ALIKE * n
