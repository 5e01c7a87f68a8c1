"""`check_queries`: what makes a trigger set worth little, seen before anything is run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skill_eval_nb.stats.phrases import quoted

from ..values import Query
from .wording import alike, gives_away, plain

FEW = 8
"""Queries of a class below which its figure says next to nothing."""
_Z = 1.959964
"""The normal quantile of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class QueryDoubt:
    """Something that is wrong with a trigger set.

    Attributes:
        doubt: its name, such as `gives away`.
        message: what was found, why it matters, and what to do.
        queries: the words of the queries that it is about; empty where it is about the set.
    """

    doubt: str
    message: str
    queries: tuple[str, ...] = ()


def check_queries(queries: Iterable[Query], skill: str | None = None) -> tuple[QueryDoubt, ...]:
    """Look a trigger set through: nothing is run, asked or changed.

    Args:
        queries: the set.
        skill: the skill's name; without it nobody can tell what gives it away.

    Returns:
        The doubts, the worst first; none where there is nothing to doubt:

        - `no queries`: the set is empty;
        - `no positives`, `no negatives`: all queries are of one class;
        - `contradiction`: the same words should trigger and should not;
        - `empty`: a query without words;
        - `twice`: the same words again, whatever their case and marks;
        - `nearly twice`: two of one class that differ in next to nothing;
        - `gives away`: the skill's own name stands in the query, as a word;
        - `few`: a class of which too few queries are there for its figure to say much.

    >>> asked = [Query("Sort the table", True), Query("sort the table.", False)]
    >>> [one.doubt for one in check_queries(asked)]
    ['contradiction', 'few', 'few']
    """
    given = tuple(queries)
    if not given:
        return (QueryDoubt("no queries", "There are no queries: write some, or draft them."),)
    return (
        *_one_class(given),
        *_contradictions(given),
        *_empty(given),
        *_twice(given),
        *_nearly_twice(given),
        *_given_away(given, skill),
        *_few(given),
    )


def _one_class(queries: Sequence[Query]) -> Iterator[QueryDoubt]:
    classes = {one.should_trigger for one in queries}
    for should, name, says, figure in (
        (True, "no positives", "should", "recall"),
        (False, "no negatives", "should not", "precision"),
    ):
        if should not in classes:
            what = f"There is no query that {says} trigger: nothing can be known of {figure}. "
            yield QueryDoubt(name, what + "Add some, near misses above all.")


def _contradictions(queries: Sequence[Query]) -> Iterator[QueryDoubt]:
    for same in _by_words(queries):
        if len({one.should_trigger for one in same}) > 1:
            what = f"{quoted(same[0].query)} should trigger and should not. "
            yield _doubt("contradiction", what + "One of the two is wrong: take it out.", same)


def _empty(queries: Sequence[Query]) -> Iterator[QueryDoubt]:
    blank = [one for one in queries if not plain(one.query)]
    if blank:
        what = f"{_queries(len(blank))} without words: nothing can be picked up for nothing. "
        yield _doubt("empty", what + "Take them out.", blank)


def _twice(queries: Sequence[Query]) -> Iterator[QueryDoubt]:
    for should in (True, False):
        for same in _by_words([one for one in queries if one.should_trigger is should]):
            if len(same) > 1:
                what = f"{quoted(same[0].query)} is there {len(same)} times, and counts as often. "
                yield _doubt("twice", what + "Keep one.", same)


def _nearly_twice(queries: Sequence[Query]) -> Iterator[QueryDoubt]:
    """Only within a class: a near miss is to be close to a query that should trigger."""
    for should in (True, False):
        own = [one for one in queries if one.should_trigger is should]
        for places in _together(alike([one.query for one in own])):
            same = [own[place] for place in places]
            more = f", and {len(same) - 2} more with them" if len(same) > 2 else ""
            what = f"{quoted(same[0].query)} and {quoted(same[1].query)} say nearly the same{more}."
            yield _doubt("nearly twice", f"{what} Say one of them in other words.", same)


def _together(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Those that pairs link, directly or through others, in order.

    >>> _together([(0, 2), (1, 4), (2, 3)])
    [[0, 2, 3], [1, 4]]
    """
    found: list[set[int]] = []
    for pair in pairs:
        touched = [one for one in found if not one.isdisjoint(pair)]
        found = [one for one in found if one not in touched] + [set(pair).union(*touched)]
    return sorted(map(sorted, found))


def _given_away(queries: Sequence[Query], skill: str | None) -> Iterator[QueryDoubt]:
    named = [one for one in queries if skill and gives_away(one.query, skill)]
    if skill and named:
        what = f"The skill's own name, {quoted(skill)}, stands in {_queries(len(named))}, such as "
        why = (
            f"{quoted(named[0].query)}: the name is found, and the description is not put to the "
            "test. Say what is wanted as somebody would who has never heard of the skill."
        )
        yield _doubt("gives away", what + why, named)


def _few(queries: Sequence[Query]) -> Iterator[QueryDoubt]:
    """Wilson's lower limit, where all of n are right, is n / (n + z²)."""
    for should, says in ((True, "should"), (False, "should not")):
        number = len({plain(one.query) for one in queries if one.should_trigger is should})
        if 0 < number < FEW:
            sure = number / (number + _Z**2)
            what = f"Only {_queries(number)} {says} trigger: even where all come out right, their "
            why = f"share is known only as above {sure:.0%}. Add {FEW - number} or more."
            yield QueryDoubt("few", what + why)


def _by_words(queries: Sequence[Query]) -> list[list[Query]]:
    """Queries with the same words, together; those without any are left out."""
    found: defaultdict[str, list[Query]] = defaultdict(list)
    for one in queries:
        if words := plain(one.query):
            found[words].append(one)
    return list(found.values())


def _doubt(name: str, message: str, about: Sequence[Query]) -> QueryDoubt:
    return QueryDoubt(name, message, tuple(one.query for one in about))


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"
