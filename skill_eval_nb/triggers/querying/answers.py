"""A drafter's queries, looked through: what cannot be used is sent back with all its faults."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.models.looking import Look, short

from ..values import Query
from .wording import gives_away, plain

NEAR_MISS = "near miss"
"""The tag of a query that is close to what the skill does, and is not for it."""
MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer has to have.

    Attributes:
        positives: so many queries that should trigger.
        negatives: so many that should not.
        near_misses: so many of these that are near misses, at least.
        name: the skill's name, which gives it away.
        others: the names of the other skills.
        existing: the queries that there are already.
    """

    positives: int
    negatives: int
    near_misses: int
    name: str
    others: tuple[str, ...]
    existing: tuple[Query, ...]


def read(raw: Any, wanted: Wanted) -> tuple[Query, ...]:
    """The queries of an answer.

    What is no fault here, `check_queries` may doubt: queries that say nearly the same, and a
    name of one word, such as `pdf`, which users say of their own accord.

    Raises:
        BadAnswer: with everything that is wrong, each fault at its query.
    """
    look = Look()
    whole = look.fields(raw, ["queries"], "the answer")
    rows = look.objects(whole["queries"], "queries")
    found = [_query(one, look, f"queries[{at}]", wanted) for at, one in enumerate(rows)]
    _see_numbers(found, look, wanted)
    _see_repeats(found, look, wanted)
    look.done()
    return tuple(found)


def _query(one: dict[str, Any], look: Look, where: str, wanted: Wanted) -> Query:
    text = " ".join(look.telling(one, "query", where).split())
    should, near = (_flag(one, name, look, where) for name in ("should_trigger", "near_miss"))
    right = one.get("right_skill")
    if len(text) > MOST_CHARS:
        look.wrong(f"{where}: `query` has {len(text):,} characters; at most {MOST_CHARS:,}")
    if re.search(r"[\W_]", wanted.name) and gives_away(text, wanted.name):
        look.wrong(f"{where}: `query` names the skill, {wanted.name}")
    if should and near:
        look.wrong(f"{where}: a near miss should not trigger")
    if right is not None and (should or not near):
        look.wrong(f"{where}: `right_skill` is for near misses alone; null elsewhere")
    elif right is not None and right not in wanted.others:
        known = ", ".join(wanted.others) or "none"
        look.wrong(f"{where}: no other skill is called {short(right)}; there are {known}")
    tags = (NEAR_MISS, *([f"for {right}"] if right is not None else [])) if near else ()
    return Query(text, should, tags)


def _flag(one: dict[str, Any], name: str, look: Look, where: str) -> bool:
    value = one.get(name)
    if not isinstance(value, bool):
        look.wrong(f"{where}: `{name}` is {short(value)}, not true or false")
    return value is True


def _see_numbers(found: Sequence[Query], look: Look, wanted: Wanted) -> None:
    should = sum(one.should_trigger for one in found)
    near = sum(NEAR_MISS in one.tags for one in found)
    for number, of, says in (
        (should, wanted.positives, "should trigger"),
        (len(found) - should, wanted.negatives, "should not trigger"),
    ):
        if number != of:
            look.wrong(f"there are {number} queries that {says}, not {of}")
    if near < wanted.near_misses:
        look.wrong(f"there are {near} near misses; at least {wanted.near_misses}")


def _see_repeats(found: Sequence[Query], look: Look, wanted: Wanted) -> None:
    known = {plain(one.query): "a query that there is already" for one in wanted.existing}
    for at, one in enumerate(found):
        words = plain(one.query)
        if words and words in known:
            look.wrong(f"queries[{at}] repeats {known[words]}")
        known.setdefault(words, f"queries[{at}]")
