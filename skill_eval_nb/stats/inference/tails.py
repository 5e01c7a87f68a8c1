"""How many arrangements of whole numbers lie at or beyond the one seen, not looking at each.

Each eval has items, of which some, the first of them as they were seen, lie on the first side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Parts = Sequence[tuple["Array", int]]
"""Each eval's items, and how many of them lie on the first side."""

FEW = 10_000
"""Arrangements that are counted one by one."""
HALF = 1 << 12
"""Sums up to which the arrangements of either half are listed, to be counted in pairs."""
SPARSE = 8
"""So many times as many sums as choices of a half make it quicker to go by the choices."""
CHEAPER = 4
"""How many additions of rows take as long as one of a listed choice, about."""
DIGITS, NARROW = 60, 1500
"""Items whose choices a digit of 64 bits can count, and items × sums up to which that is quick."""
AT_ONCE = 4
"""Distributions that are joined in one go."""
SHORT = 128
"""Up to this length it is quicker to convolve without a Fourier transform."""


def tail(parts: Parts) -> float:
    """The share of all arrangements whose sum is at most, or at least, the one seen.

    The smaller of the two. Every arrangement is a sum of one half of the items and one of the
    other: short lists of these are counted pair by pair, long ones by how often each sum is.
    """
    import numpy as np

    seen = sum(int(items[:k].sum()) for items, k in parts)
    width = sum(int(items.sum()) for items, _ in parts) + 1
    if len(parts) == 1 and 1 << (len(parts[0][0]) + 1) // 2 <= min(HALF, width // SPARSE):
        items, k = parts[0]
        # Each item counts itself as well: what chooses k of them lies in one stretch of sums.
        one, other = (_subsets(half + width) for half in np.array_split(items, 2))
        return _of_pairs(one, other, (k * width, (k + 1) * width), k * width + seen)
    halves = parts[::2], parts[1::2]
    if all(arrangements(half) <= HALF for half in halves):
        return _of_pairs(listed(halves[0]), listed(halves[1]), (0, width), seen)
    one, other = together([np.ones(1), *(chances(items, k) for items, k in parts)], left=2)
    return _of_chances(one, other, seen)


def arrangements(parts: Parts) -> int:
    """How many there are."""
    return math.prod(math.comb(len(items), k) for items, k in parts)


def listed(parts: Parts) -> Array:
    """The sum of every arrangement, the one seen first."""
    import numpy as np

    sums = np.zeros(1, dtype=int)
    for items, k in parts:
        sums = np.add.outer(sums, items[_choices(len(items), k)].sum(axis=1)).ravel()
    return sums


@lru_cache(maxsize=64)
def _choices(number: int, k: int) -> Array:
    """Every choice of k of so many places, a row each."""
    import numpy as np

    return np.array(list(combinations(range(number), k)))


def _subsets(items: Array) -> Array:
    """The sum of every subset."""
    import numpy as np

    sums = np.zeros(1, dtype=int)
    for item in items:
        sums = np.concatenate([sums, sums + item])
    return sums


def _of_pairs(one: Array, other: Array, within: tuple[int, int], seen: int) -> float:
    """The smaller tail of the sums of a number of `one` and one of `other`.

    Sums below the first of `within`, and from the last on, are of no arrangement.
    """
    import numpy as np

    ordered = np.sort(one)

    def below(bound: int) -> int:
        return int(ordered.searchsorted(bound - other).sum())

    first, last = (below(end) for end in within)
    return min(below(seen + 1) - first, last - below(seen)) / (last - first)


def chances(items: Array, k: int) -> Array:
    """The chance of each sum of k of the items, each choice as likely: by sum from 0."""
    import numpy as np

    items = np.sort(items)
    number, width = len(items), int(items[-k:].sum()) + 1
    choices = math.comb(number, k)
    if number <= DIGITS and number * width <= NARROW:
        return _by_digits(items.tolist(), k, width) / choices
    if choices <= FEW and choices * k < (k + 1) * number * width // CHEAPER:
        return np.bincount(items[_choices(number, k)].sum(axis=1), minlength=width) / choices
    ways = np.zeros((k + 1, width))
    ways[0, 0] = reach = 1
    for at, item in enumerate(items.tolist()):
        # Rows that have no more items than there were, and can still come to k.
        low, high = max(1, k + 1 + at - number), min(k, at + 1) + 1
        upto = min(reach, width - item)
        ways[low:high, item : item + upto] += ways[low - 1 : high - 1, :upto]
        reach += item
    return ways[k] / ways[k].sum()


def _by_digits(items: list[int], k: int, width: int) -> Array:
    """How often each sum of k of the items is, where these are few: digits of a whole number.

    Python adds such a number up much quicker than anything that loops over arrays. A digit has
    64 bits; there are `width` of them for each number of chosen items.
    """
    import numpy as np

    ways = 1
    for item in items:
        ways += ways << 64 * (width + item)
    row = (ways >> 64 * width * k) & ((1 << 64 * width) - 1)
    return np.frombuffer(row.to_bytes(8 * width, "little"), dtype="<u8")


def together(parts: list[Array], left: int) -> list[Array]:
    """The distributions of sums of independent parts, those of like length joined first.

    Args:
        parts: the chance of each sum from 0.
        left: how many are left, each the sum of some of them: 1, or 2 where there are two.
    """
    while len(parts) > left:
        parts = sorted(parts, key=len)
        size = math.ceil(len(parts) / max(left, math.ceil(len(parts) / AT_ONCE)))
        parts = [_joined(parts[at : at + size]) for at in range(0, len(parts), size)]
    return parts


def _joined(parts: list[Array]) -> Array:
    """The distribution of the sum of a few parts, the shortest first."""
    import numpy as np

    if len(parts[-1]) <= SHORT or len(parts) == 1:
        return reduce(np.convolve, parts)
    from scipy import fft

    length = sum(map(len, parts)) - len(parts) + 1
    size = min(odd << (math.ceil(length / odd) - 1).bit_length() for odd in (1, 3, 5))
    rows = np.zeros((len(parts), size))
    for row, part in zip(rows, parts, strict=True):
        row[: len(part)] = part
    fourier = cast("Any", fft)  # its own types are those of other libraries' arrays
    joined = fourier.irfft(fourier.rfft(rows).prod(axis=0), size)
    return np.maximum(joined[:length], 0)


def _of_chances(one: Array, other: Array, seen: int) -> float:
    """The smaller tail of the sum of two parts that are known by the chance of each sum."""
    import numpy as np

    left = seen - np.arange(len(one))
    below = np.concatenate([[0.0], other.cumsum()])
    above = np.concatenate([other[::-1].cumsum()[::-1], [0.0]])
    low = one * below[np.clip(left + 1, 0, len(other))]
    high = one * above[np.clip(left, 0, len(other))]
    return min(float(low.sum()), float(high.sum()))
