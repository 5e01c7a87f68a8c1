"""Exact p-values of passed and failed on two sides, eval by eval, for a great many at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .exact import LEAST
from .tails import together

if TYPE_CHECKING:
    import polars as pl

    from .exact import Array

SAME = 1 + 1e-7
"""Chances that differ by a smaller factor are equal: the rest is rounding."""

COUNTS = ["passed", "scored", "passed_baseline", "scored_baseline"]


class Margins(NamedTuple):
    """What the test of an eval takes as given: verdicts on either side, and passes in all."""

    one: int
    other: int
    passes: int

    @property
    def arrangements(self) -> float:
        """The logarithm of how many ways there are to deal out the sides to the verdicts."""
        return math.log(math.comb(self.one + self.other, self.one))

    @property
    def tells(self) -> bool:
        """Whether both verdicts were seen, so that sides can differ."""
        return 0 < self.passes < self.one + self.other


def exact_tests(tables: pl.DataFrame) -> pl.DataFrame:
    """The exact two-sided p of each row's 2×2 tables, one an eval, taken together.

    Inside each eval the sides could have been dealt out to the verdicts in any order. What is
    counted is the passes on the first side, over all evals; p is the chance of a count as
    likely as the one seen, or less so. For one eval that is Fisher's exact test, for evals of
    one verdict a side McNemar's, for several evals the exact conditional test of Birch
    (JRSS B 1964), whose approximation is Mantel and Haenszel's.

    Args:
        tables: `row`, and `passed`, `scored`, `passed_baseline`, `scored_baseline`: counts.

    Returns:
        `row`, `p` (at least `LEAST`), and `least_p`: no verdicts on so many runs can bring it
        below. Rows none of whose evals is scored on both sides are left out.

    Two evals, each passed thrice in three on the first side and never in three on the other:

    >>> import polars as pl
    >>> eval_ = {"passed": 3, "scored": 3, "passed_baseline": 0, "scored_baseline": 3}
    >>> exact_tests(pl.DataFrame([{"row": 7, **eval_}] * 2)).rows()
    [(7, 0.005, 0.005)]
    """
    import polars as pl

    alone = pl.col("row").is_unique()
    once = tables.filter(alone)
    distinct = once.select(COUNTS).unique().with_row_index("row")
    found = distinct.join(_together(distinct), on="row").drop("row")
    of_one = once.join(found, on=COUNTS).select("row", "p", "least_p")
    return pl.concat([of_one, _together(tables.filter(~alone))])


def _together(tables: pl.DataFrame) -> pl.DataFrame:
    """`exact_tests` of tables whose rows differ, or have several evals."""
    import polars as pl

    scored = (pl.col("scored").alias("one"), pl.col("scored_baseline").alias("other"))
    passes = (pl.col("passed") + pl.col("passed_baseline")).alias("passes")
    given = tables.select("row", "passed", *scored, passes).filter(
        pl.col("one") > 0, pl.col("other") > 0
    )
    distinct = given.select(Margins._fields).unique().sort(Margins._fields)
    kinds = [Margins(*row) for row in distinct.iter_rows()]
    known = distinct.with_columns(
        pl.Series("kind", range(len(kinds)), pl.Int64),
        pl.Series("arrangements", [kind.arrangements for kind in kinds], pl.Float64),
        pl.Series("tells", [kind.tells for kind in kinds], pl.Boolean),
    )
    told, even = pl.col("tells"), (pl.col("one") == pl.col("other")).all()
    rows = (
        given.join(known, on=Margins._fields)
        .group_by("row")
        .agg(
            pl.col("kind").filter(told).sort().cast(pl.String).str.join(",").alias("kinds"),
            pl.col("passed").filter(told).sum().cast(pl.Int64).alias("seen"),
            # All of one side and none of the other: where sides are even, the reverse is as rare.
            ((even + 1) * (-pl.col("arrangements").sort().sum()).exp()).alias("least_p"),
        )
    )
    seen = rows.select("kinds", "seen").unique().group_by("kinds").agg("seen").rows()
    tested = pl.DataFrame(
        [row for names, sums in seen for row in _tested(names, sums, kinds)],
        {"kinds": pl.String, "seen": pl.Int64, "p": pl.Float64},
        orient="row",
    )
    least = pl.col("least_p").clip(LEAST, 1).round(12)
    return rows.join(tested, on=["kinds", "seen"]).select("row", "p", least)


def _tested(
    names: str, sums: Sequence[int], kinds: Sequence[Margins]
) -> Iterator[tuple[str, int, float]]:
    """The p of each sum of passes on the first side, for evals of these kinds."""
    import numpy as np

    evals = Counter(kinds[int(name)] for name in names.split(",") if name)
    parts = [_repeated(kind, times) for kind, times in evals.items()]
    [chances] = together(parts or [np.ones(1)], left=1)
    low = sum(_fewest(kind) * times for kind, times in evals.items())
    ranked = np.sort(chances)
    tails = np.concatenate([[0.0], ranked.cumsum()])
    for total in sums:
        rarer = int(np.searchsorted(ranked, chances[total - low] * SAME, side="right"))
        yield names, total, float(min(1.0, max(LEAST, round(tails[rarer], 12))))


@lru_cache(maxsize=4096)
def _repeated(kind: Margins, times: int) -> Array:
    """The chance of each sum of passes on the first side over so many evals of a kind."""
    if times == 1:
        return _chances(kind)
    half = times // 2
    return together([_repeated(kind, half), _repeated(kind, times - half)], left=1)[0]


def _chances(kind: Margins) -> Array:
    """The hypergeometric chance of each number of passes on the first side, from the fewest on."""
    import numpy as np

    fewest = _fewest(kind)
    passes = np.arange(fewest, min(kind.one, kind.passes))
    ways_up = (kind.one - passes) * (kind.passes - passes)
    ways_down = (passes + 1) * (kind.other - kind.passes + passes + 1)
    logs = np.concatenate([[0.0], np.log(ways_up / ways_down).cumsum()])
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def _fewest(kind: Margins) -> int:
    """The fewest passes on the first side that the margins allow."""
    return max(0, kind.passes - kind.other)
