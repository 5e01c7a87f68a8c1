"""In which order a judging asks for things."""

from __future__ import annotations

import hashlib
import random


def order(count: int, key: str, number: int) -> list[int]:
    """The order of so many things in judging `number`, drawn from the run's key.

    The first order is drawn; each further judging begins one place later in it, so that over
    as many judgings as there are things, each thing has stood in each place once. Then a
    new one is drawn.

    >>> [order(3, "a run", number) for number in (1, 2, 3)]
    [[2, 1, 0], [1, 0, 2], [0, 2, 1]]
    """
    if count < 2:
        return list(range(count))
    block, turn = divmod(number - 1, count)
    seed = hashlib.sha256(f"{key}\n{block}".encode("utf-8", "replace")).digest()
    drawn = list(range(count))
    random.Random(seed).shuffle(drawn)  # noqa: S311 -- an order, not a secret
    return drawn[turn:] + drawn[:turn]
