"""Coefficients of agreement, each of a matrix: outputs down, judgings across, NaN where missing.

All of them are sums of squares in the end, so none needs a table of score against score.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, Any]

HAIR = 1e-9
"""What rounding inside the machine may add to a difference of two scores."""


def shares(matrix: Matrix, outputs: Matrix | None = None) -> tuple[float, float, float] | None:
    """Exact agreement, agreement within one point, and unanimity; None without a pair.

    The first two are the share of pairs of judgings of the same output, every output counting
    once; the last is the share of outputs on which all pairs are equal.

    Args:
        matrix: of the scores.
        outputs: which output each row is of, as whole numbers from 0; None where each row is
            one of its own.

    >>> import numpy as np
    >>> shares(np.array([[5, 5, 4], [3, 3, 3]]))
    (0.6666666666666666, 1.0, 0.5)
    """
    import numpy as np

    left, right = np.triu_indices(matrix.shape[1], 1)
    apart = np.abs(matrix[:, left] - matrix[:, right])
    rows = np.arange(len(matrix)) if outputs is None else outputs
    pairs = np.bincount(rows, (~np.isnan(apart)).sum(1))
    some = pairs > 0
    if not some.any():
        return None
    equal, near = (np.bincount(rows, (apart <= limit + HAIR).sum(1)) for limit in (0, 1))
    share = equal[some] / pairs[some]
    return float(share.mean()), float((near[some] / pairs[some]).mean()), float((share == 1).mean())


def sem(matrix: Matrix) -> float | None:
    """The standard error of measurement, in points of the scale: how far one judging may be off.

    The pooled standard deviation within outputs: the square root of the variance that neither
    the outputs nor anything they share explains, in whatever cells the scores stand.

    >>> import numpy as np
    >>> sem(np.array([[5, 3], [2, 2]]))
    1.0
    """
    n, squares = _rows(matrix)
    free = (n - 1)[n > 1].sum()
    return math.sqrt(squares.sum() / free) if free else None


def icc(matrix: Matrix) -> tuple[float | None, float | None]:
    """ICC(A,1) and ICC(A,k): two-way random effects, absolute agreement, of one judging and of k.

    Shrout and Fleiss 1979 call them ICC(2,1) and ICC(2,k), McGraw and Wong 1996 as here:
    variance of outputs / (that + judgings + rest), judgings and rest divided by k for the mean
    of k. The components are Henderson's (method I), which on a complete matrix are those of the
    analysis of variance and with missing cells need neither whole rows nor guesses; k is then
    the harmonic mean of the judgings an output has. They are not clipped, so an ICC may lie a
    little below 0; None where all scores are equal, or so few that it falls outside -1 to 1.

    >>> import numpy as np
    >>> a1, ak = icc(np.array([[1, 2], [3, 4], [5, 5]]))
    >>> round(a1, 3), round(ak, 3)
    (0.9, 0.947)
    """
    import numpy as np

    there = ~np.isnan(matrix)
    matrix = matrix[there.any(1)][:, there.any(0)]
    there = ~np.isnan(matrix)
    if not there.size:
        return None, None
    scores = np.where(there, matrix - matrix[there].mean(), 0.0)
    down, across, n = there.sum(1), there.sum(0), there.sum()
    sums = np.array(
        [
            (scores.sum(1) ** 2 / down).sum(),
            (scores.sum(0) ** 2 / across).sum(),
            (scores**2).sum(),
        ]
    )
    rows, columns = len(down), len(across)
    once_down, once_across = n - (down**2).sum() / n, n - (across**2).sum() / n
    expected = np.array(
        [
            [once_down, rows - (across**2).sum() / n, rows - 1],
            [columns - (down**2).sum() / n, once_across, columns - 1],
            [once_down, once_across, n - 1],
        ]
    )
    if np.linalg.matrix_rank(expected) < 3:
        return None, None
    output, judging, rest = np.linalg.solve(expected, sums)
    k = rows / (1 / down).sum()
    noise = judging + rest
    return _share(output, output + noise), _share(output, output + noise / k)


def alpha(matrix: Matrix) -> float | None:
    """Krippendorff's alpha for ordinal data; outputs with a single score do not enter.

    His ordinal difference of two scores is the difference of their middle ranks, so alpha is
    1 - variance of the ranks within outputs / their variance over all. None without an output
    judged twice, or where all scores are equal.

    >>> import numpy as np
    >>> round(alpha(np.array([[1, 1], [2, 3], [5, 5]])), 3)
    0.949
    """
    import numpy as np

    paired = matrix[(~np.isnan(matrix)).sum(1) > 1]
    there = ~np.isnan(paired)
    _, place, count = np.unique(paired[there], return_inverse=True, return_counts=True)
    if len(count) < 2:
        return None
    middle = np.cumsum(count) - count / 2
    ranks = np.full(paired.shape, np.nan)
    ranks[there] = middle[place]
    n, squares = _rows(ranks)
    within = (n * squares / (n - 1)).sum() / n.sum()
    return float(1 - within / ranks[there].var(ddof=1))


def ac2(matrix: Matrix, scale: tuple[int, int]) -> float | None:
    """Gwet's AC2 with quadratic weights (*Handbook of Inter-Rater Reliability*, 2014).

    The categories are the whole scores of the scale and any other score that was given; an
    output with a single score counts for how common the categories are. None without an output
    judged twice.

    >>> import numpy as np
    >>> ac2(np.array([[5, 5], [5, 5]]), scale=(1, 5))
    1.0
    """
    import numpy as np

    there = ~np.isnan(matrix)
    n, squares = _rows(matrix)
    paired = n > 1
    if not paired.any():
        return None
    known = np.union1d(np.arange(scale[0], scale[1] + 1), matrix[there])
    span = (known[-1] - known[0]) ** 2
    agreed = 1 - (2 * squares[paired] / (n[paired] - 1)).mean() / span
    weight = np.broadcast_to(1 / np.maximum(n, 1)[:, None], matrix.shape)[there]
    common = np.bincount(np.searchsorted(known, matrix[there]), weight, len(known)) / (n > 0).sum()
    q = len(known)
    weights = q * q * (1 - 2 * known.var() / span)
    chance = weights * (common * (1 - common)).sum() / (q * (q - 1))
    return float((agreed - chance) / (1 - chance))


def kappa(matrix: Matrix) -> float | None:
    """Cohen's kappa with quadratic weights between two columns, over the rows that have both.

    Mean squared difference against the one that chance would give, which is the two variances
    and the squared difference of the means. None where all scores are equal.

    >>> import numpy as np
    >>> round(kappa(np.array([[1, 1], [2, 2], [3, 2]])), 3)
    0.667
    """
    import numpy as np

    both = matrix[~np.isnan(matrix).any(1)]
    if not len(both):
        return None
    means = both.mean(0)
    chance = both.var(0).sum() + (means[0] - means[1]) ** 2
    observed = ((both[:, 0] - both[:, 1]) ** 2).mean()
    return float(1 - observed / chance) if chance > HAIR**2 else None


def _rows(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """How many scores each row has, and their squared distance from the row's mean."""
    import numpy as np

    there = ~np.isnan(matrix)
    n = there.sum(1)
    mean = np.where(there, matrix, 0).sum(1) / np.maximum(n, 1)
    squares = (np.where(there, matrix - mean[:, None], 0) ** 2).sum(1)
    return n, squares


def _share(part: float, whole: float) -> float | None:
    """A part of a whole, where it can be one."""
    if not whole > HAIR**2 or abs(part) > whole * (1 + HAIR):
        return None
    return float(part / whole)
