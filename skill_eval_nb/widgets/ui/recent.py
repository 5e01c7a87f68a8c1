"""What was worked out lately: so much of it is kept as has room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Values by what they were made of; those not asked for the longest time go first."""

    def __init__(self, most: int, cost: Callable[[T], int] = lambda _: 1) -> None:
        """Keep values that cost so much in sum, and always the last one."""
        self._most, self._cost, self._held = most, cost, 0
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """The value of that key, if it is still there."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, value: T) -> T:
        """Keep a value, and give it back."""
        cost = self._cost(value)
        with self._lock:
            if key in self._kept:
                self._held -= self._kept.pop(key)[1]
            self._kept[key] = value, cost
            self._held += cost
            while self._held > self._most and len(self._kept) > 1:
                self._held -= self._kept.popitem(last=False)[1][1]
        return value
