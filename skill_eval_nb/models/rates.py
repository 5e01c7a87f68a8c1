"""What one model's tokens cost, and whether a file's figures can be that."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .usage import Usage

MILLION = 1_000_000
FACTORS = {"cache_read": 0.1, "cache_write": 1.25, "cache_write_1h": 2.0, "batch": 0.5}
"""What multiplies the price of plain input (`batch`: of everything) where a file says nothing."""


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens of one model.

    Attributes:
        input: read, neither from the cache nor to be kept in it.
        output: written by the model.
        cache_read: read from the cache.
        cache_write: read and kept for five minutes.
        cache_write_1h: read and kept for an hour.
        batch: what multiplies all of it in a batch.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    batch: float

    def cost(self, usage: Usage, *, batch: bool = False) -> float:
        """US dollars of `usage`.

        >>> Rates(3, 15, 0.3, 3.75, 6, 0.5).cost(Usage(1_000_000, 100_000))
        4.5
        """
        dollars = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + (usage.cache_write_tokens - usage.cache_write_1h_tokens) * self.cache_write
            + usage.cache_write_1h_tokens * self.cache_write_1h
        )
        return dollars * (self.batch if batch else 1.0) / MILLION


def rates_of(entry: object, factors: Mapping[str, float], where: str) -> tuple[Rates, list[str]]:
    """The rates that an entry of a file states, and what is wrong with it, each with its place.

    `input` and `output` must be there; the others are in dollars too where they are stated,
    but for `batch`, a factor; else `factors` makes them of the input's price.
    """
    if not isinstance(entry, Mapping):
        return _NONE, [f'{where}: expected {{"input": …, "output": …}}, found {entry!r}']
    stated, wrong = figures_of(entry, ("input", "output", *FACTORS), where)
    wrong += [f"{where}: `{name}` is missing" for name in ("input", "output") if name not in entry]
    if wrong:
        return _NONE, wrong
    plain = stated["input"]
    made = {name: plain * factor for name, factor in factors.items()} | {"batch": factors["batch"]}
    rates = Rates(**(made | stated))
    return rates, [f"{where}: {why}" for why in _out_of_order(rates)]


_NONE = Rates(0, 0, 0, 0, 0, 0)


def figures_of(entry: Mapping[Any, Any], names: tuple[str, ...], where: str) -> Any:
    """The figures of an entry as floats, and what is wrong with it."""
    found: dict[str, float] = {}
    wrong: list[str] = []
    for name, value in entry.items():
        if name not in names:
            wrong.append(f"{where}.{name}: no such figure; there are {', '.join(names)}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            wrong.append(f"{where}.{name}: expected a number, found {value!r}")
        elif not (math.isfinite(value) and value >= 0):
            wrong.append(f"{where}.{name}: expected a number from 0 upwards, found {value!r}")
        else:
            found[name] = float(value)
    return found, wrong


def _out_of_order(rates: Rates) -> list[str]:
    """Why the worst case of a call would not be its dearest, if so.

    A call that may write to the cache is reserved at the price of writing: whatever else
    its input turns out to be must not be dearer.
    """
    ladder = [
        ("cache_read", rates.cache_read),
        ("input", rates.input),
        ("cache_write", rates.cache_write),
        ("cache_write_1h", rates.cache_write_1h),
    ]
    found = [
        f"`{low}` ({cheap:g}) is dearer than `{high}` ({dear:g}); a budget relies on "
        "cache_read ≤ input ≤ cache_write ≤ cache_write_1h"
        for (low, cheap), (high, dear) in itertools.pairwise(ladder)
        if cheap > dear
    ]
    if rates.batch > 1:
        found.append(f"`batch` ({rates.batch:g}) is more than 1: a batch is never dearer")
    return found
