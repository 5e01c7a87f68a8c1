"""What there is to review: pairs of runs side by side, or runs one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from skill_eval_nb.widgets.runs import RunKey, key_of
from skill_eval_nb.workspace import natural

Row = dict[str, Any]
Pair = Literal["with and without", "iterations", "single"]

PAIRS: dict[Pair, str] = {
    "with and without": "with the skill and without",
    "iterations": "this iteration and the last",
    "single": "nothing: one run at a time",
}
"""What is put side by side, and how that is called."""


@dataclass(frozen=True, slots=True)
class Item:
    """One run, or two to be seen side by side.

    Attributes:
        token: a name that tells nothing of what it is.
        runs: the runs; of a pair the one that is compared first, then the one that it is
            compared against.
        eval_id: the eval, as the tables have it.
        eval_name: its name.
        failed: whether a check of the first run failed.
    """

    token: str
    runs: tuple[RunKey, ...]
    eval_id: str
    eval_name: str
    failed: bool

    @property
    def title(self) -> str:
        """What the eval is called: its name, or its id where it has none."""
        return named(self.eval_id, self.eval_name)

    @property
    def is_pair(self) -> bool:
        """Whether there are two sides."""
        return len(self.runs) > 1


def named(eval_id: str, eval_name: str) -> str:
    """What an eval is called.

    >>> named("1", "login"), named("1", "1")
    ('login', 'eval 1')
    """
    return eval_name if eval_name != eval_id else f"eval {eval_id}"


def token_of(*keys: RunKey) -> str:
    """A name for runs that is the same every time, and tells nothing of them."""
    return sha256(repr([tuple(key) for key in keys]).encode()).hexdigest()[:16]


def one_by_one(rows: Iterable[Row]) -> list[Item]:
    """Every run by itself."""
    return [_item(row) for _, of_eval in _by_eval(rows) for row in _in_order(of_eval)]


def side_by_side(rows: Iterable[Row], against: Iterable[Row]) -> list[Item]:
    """The runs of each eval beside those that they are compared against.

    Runs of the same number come together, the others in their order; a run that has none
    beside it stands alone.
    """
    first, second = dict(_by_eval(rows)), dict(_by_eval(against))
    items = []
    for eval_id in sorted({*first, *second}, key=natural):
        mine, theirs = first.get(eval_id, []), second.get(eval_id, [])
        items += [_item(*pair) for pair in _paired(_in_order(mine), _in_order(theirs))]
    return items


def _paired(mine: Sequence[Row], theirs: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    numbered = {row["run_number"]: row for row in theirs}
    together = {
        row["run_number"]: numbered[row["run_number"]]
        for row in mine
        if row["run_number"] in numbered
    }
    left = iter([row for row in theirs if row["run_number"] not in together])
    for row in mine:
        other = together.get(row["run_number"]) or next(left, None)
        yield (row, other) if other is not None else (row,)
    for row in left:
        yield (row,)


def _by_eval(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["eval_id"]].append(row)
    return sorted(found.items(), key=lambda one: natural(one[0]))


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (natural(row["configuration"]), row["run_number"]))


def _item(*rows: Row) -> Item:
    keys = tuple(key_of(row) for row in rows)
    first = rows[0]
    failed = bool(first["failed"]) or first["gate_passed"] is False
    return Item(token_of(*keys), keys, first["eval_id"], first["eval_name"], failed)
