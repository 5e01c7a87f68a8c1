"""Train and held-out queries: dealt within each class and tag, the same for the same seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from skill_eval_nb.running.refused import Refused

from ..values import Query


def split(queries: Sequence[Query], held_out: float, seed: int) -> tuple[Query, ...]:
    """Deal queries to train and test, those that should trigger apart from those that should not.

    Queries of the same tags are spread over both halves as evenly as can be. Which of them fall
    where depends on the seed and their words, not on their places. Queries that say their split
    keep it.

    Args:
        queries: at least two of each class, each with words of its own.
        held_out: the share of each class that is held out, above 0 and below 1; one query at
            least is held out and one is not.
        seed: of the dealing.

    Returns:
        The same queries in the same order, each with its split.

    Raises:
        Refused: the share is none, a query is there twice, or a half lacks a class; all faults
            at once.

    >>> asked = [Query(f"q{n}", should_trigger=n < 5) for n in range(10)]
    >>> dealt = split(asked, 0.4, seed=0)
    >>> sum(one.split == "test" for one in dealt if one.should_trigger)
    2
    """
    faults = [*_twice(queries)]
    if not 0 < held_out < 1:
        faults.append(f"held_out is {held_out}: it is a share of the queries, such as 0.4")
        raise Refused(faults)
    tested: set[Query] = set()
    for should in (True, False):
        own = [one for one in queries if one.should_trigger == should and one.split is None]
        own.sort(key=lambda one: (sorted(one.tags), _drawn(one, seed)))
        wanted = min(max(round(held_out * len(own)), 1), len(own) - 1)
        tested.update(own[int((at + 0.5) * len(own) / wanted)] for at in range(wanted))
    dealt = tuple(
        one if one.split else replace(one, split="test" if one in tested else "train")
        for one in queries
    )
    for should, says in ((True, "should"), (False, "should not")):
        for half, name in (("train", "train"), ("test", "held-out")):
            if not any(one.should_trigger == should and one.split == half for one in dealt):
                faults.append(
                    f"there is no {name} query that {says} trigger: a search needs two such "
                    "queries at least, and better ten, one half to learn from and one to choose by"
                )
    if faults:
        raise Refused(faults)
    return dealt


def _drawn(query: Query, seed: int) -> str:
    return hashlib.sha256(f"{seed}\n{query.query}".encode("utf-8", "surrogatepass")).hexdigest()


def _twice(queries: Sequence[Query]) -> list[str]:
    """What to say of queries that differ by spaces and capitals at most: one could be in both."""
    counts = Counter(" ".join(one.query.casefold().split()) for one in queries)
    return [
        f"the query “{words[:80]}” is there {count} times: one may be held out while another is "
        "learned from; leave one of them"
        for words, count in counts.items()
        if count > 1
    ]
