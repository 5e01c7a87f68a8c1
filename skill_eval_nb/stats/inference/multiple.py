"""Several questions at once: p-values that allow for each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .exact import LEAST

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]


ALL, DRAWN = 12, 5_000
"""Evals up to which all flips of signs are looked at jointly; else so many, always the same."""


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A p-value that allows for the other questions asked with it.

    Attributes:
        p: the adjusted one.
        least: the smallest that it could have become, had only this question's labels stood
            otherwise.
        alone: the p of this question alone at which the adjusted one would be alpha: its
            interval is that of 1 - `alone`, so that the two never contradict each other.
    """

    p: float
    least: float
    alone: float


def over_evals(p: Sequence[float], least: Sequence[float], alpha: float) -> list[Adjusted]:
    """Of many evals or checks, each for itself: by Benjamini and Hochberg."""
    import numpy as np

    number, ordered = len(p), np.sort(p)
    scaled = ordered * number / np.arange(1, number + 1)
    behind = np.append(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    moved_up = ordered * number / np.arange(2, number + 2)  # where a smaller one comes before it
    each = []
    for own, best in zip(p, least, strict=True):
        at, to = np.searchsorted(ordered, own), np.searchsorted(ordered, best, side="right")
        least_p = min(best * number / (min(to, at) + 1), moved_up[to:at].min(initial=1.0))
        adjusted = float(behind[at])
        best_p = float(min(least_p, behind[at + 1]))
        each.append(Adjusted(adjusted, best_p, min(alpha, alpha * own / adjusted)))
    return each


def jointly(
    p: Sequence[float], least: Sequence[float], dealt: Array, alpha: float
) -> list[Adjusted]:
    """Of several figures of the same runs: by Westfall and Young's smallest p (1993).

    How far the smallest p of all figures falls by chance is seen where labels are dealt out
    again for all of them together, so that figures that go together are not paid for twice.

    Args:
        p: of each figure alone.
        least: the smallest that each could be.
        dealt: the differences, a row a deal of the labels and a column a figure.
        alpha: of the verdict.

    >>> import numpy as np
    >>> twins = np.array([[1.0, 1.0], [-1.0, -1.0], [0.5, 0.5], [-0.5, -0.5]])
    >>> [one.p for one in jointly([0.5, 0.5], [0.5, 0.5], twins, 0.05)]
    [0.5, 0.5]
    """
    import numpy as np

    sizes = np.round(np.abs(dealt), 12)
    ranks = np.empty_like(sizes)
    for at, column in enumerate(sizes.T):
        order = np.argsort(column)
        ordered = column[order]  # what is looked up in order is found much quicker
        near = np.searchsorted(ordered, ordered - 1e-9 * (1 + ordered))
        ranks[order, at] = len(ordered) - near
    smallest = np.sort(ranks.min(axis=1) / len(ranks))

    def chance(own: Any) -> Any:
        return np.searchsorted(smallest, own + 1e-9, side="right") / len(smallest)

    steps = np.unique(smallest)
    below = steps[chance(steps) <= alpha + 1e-9]
    alone = min(alpha, max([alpha / len(p), *below.tolist()]))  # Bonferroni's share always holds
    each = []
    for own, best in zip(p, least, strict=True):
        adjusted = min(max(own, float(chance(own))), 1.0, own * len(p))
        least_p = min(max(best, float(chance(best))), 1.0, best * len(p))
        each.append(Adjusted(adjusted, least_p, max(alone, own) if adjusted <= alpha else alone))
    return each


def flip_signs(differences: Array) -> Array:
    """The sums that flips of the evals' signs give, for all columns alike; as seen first.

    Args:
        differences: evals × figures; NaN where an eval lacks one.
    """
    import numpy as np

    n = len(differences)
    if n <= ALL:
        signs = 1 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    else:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (DRAWN, n))
        signs[0] = 1
    return signs @ np.nan_to_num(differences)


def deals(evals: Sequence[tuple[Array, int]]) -> Array:
    """The mean differences that labels dealt out again inside each eval give; as seen first.

    Args:
        evals: for each its runs × figures, NaN where a run lacks one, and how many of the
            runs, the first ones, are the one side's.
    """
    import numpy as np

    sums, number = 0.0, 0.0
    sides = _deal_sides(tuple((len(values), k) for values, k in evals))
    for (values, _), side in zip(evals, sides, strict=True):
        known, filled, mask = ~np.isnan(values), np.nan_to_num(values), side.astype(float)
        first, count = mask @ filled, mask @ known.astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            second = (filled.sum(axis=0) - first) / (known.sum(axis=0) - count)
            difference = first / count - second
        paired = ~np.isnan(difference[0])
        sums = sums + np.where(paired, np.nan_to_num(difference), 0.0)
        number = number + paired
    return sums / np.maximum(number, 1)


@lru_cache(maxsize=1)  # iterations mostly have as many runs each
def _deal_sides(sizes: tuple[tuple[int, int], ...]) -> tuple[Array, ...]:
    """Of each eval whether a run goes to the first side, a row a deal.

    Args:
        sizes: of each eval, how many runs it has and how many of them are the first side's.
    """
    import numpy as np

    random = np.random.default_rng(0)
    found = []
    for n, k in sizes:
        places = np.tile(np.arange(n), (DRAWN, 1))
        places[1:] = random.permuted(places[1:], axis=1)
        found.append(places < k)
    return tuple(found)


def benjamini_hochberg(p: pl.Expr) -> pl.Expr:
    """p-values adjusted for their number: those at most alpha are false finds in alpha of cases.

    Benjamini and Hochberg 1995: the i-th smallest of m becomes the least of p_j m / j over
    all j from i on. A null stays null and is not counted.

    >>> import polars as pl
    >>> found = pl.DataFrame({"p": [0.01, None, 0.04]})
    >>> found.select(benjamini_hochberg(pl.col("p")))["p"].to_list()
    [0.02, None, 0.04]
    """
    falling = (p * p.count() / p.rank("max")).sort_by(p, descending=True, nulls_last=True)
    return falling.cum_min().gather(p.rank("ordinal", descending=True) - 1)


def holm_sidak(p: pl.Expr) -> pl.Expr:
    """p-values of independent data, adjusted for their number: any false find in alpha of cases.

    Holm's step-down with Sidak's bound: the i-th smallest of m becomes the largest of
    1 - (1 - p_j)^(m - j + 1) over all j up to i. As no p of an exact test is below its chance, this
    is at least what Westfall and Young (1993) have where data share nothing. A null stays null and
    is not counted.

    >>> import polars as pl
    >>> found = pl.DataFrame({"p": [0.04, None, 0.01]})
    >>> found.select(holm_sidak(pl.col("p")).round(9))["p"].to_list()
    [0.04, None, 0.0199]
    """
    import numpy as np
    import polars as pl

    rank, kept = p.rank("ordinal"), (-p.clip(upper_bound=1 - LEAST)).log1p()
    raised = -(kept * (p.count() + 1 - rank)).map_batches(np.expm1, pl.Float64)
    return raised.sort_by(p, nulls_last=True).cum_max().gather(rank - 1)
