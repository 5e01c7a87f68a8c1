"""Whether the two sides of an eval were graded on the same checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .values import (
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUN,
    SIDES,
    by_model,
    in_order,
    is_table,
    join_sides,
    natural,
    remember,
    stand_in_keys,
)

if TYPE_CHECKING:
    import polars as pl

Check = tuple[str | None, str]
"""The id of a check, if it has one, and its text."""
COUNTED = ("pass_rate", "score", "overall_efficiency", "passed", "failed")
"""Metrics, besides those of a rubric, in which a judge may have a say."""
CHECKED = (*COUNTED, "total", "structural_pass_rate")
"""Metrics that are counted from checks."""
NEAR = 0.9
"""How like two texts are of which a grader may have worded one again."""
MOSTLY = 0.8
"""The same, in words in common, if all words of the one are in the other."""
MOST = 100
"""Checks of a side that are held against the other's by their words: a suite has fewer."""
MOST_PAIRS = 50_000_000
"""Pairs of their characters: each takes some nanoseconds."""
DECIDING = re.compile(r"\d+(?:\.\d+)?|\b(?:not?|never|none|without|cannot)\b|n['’]t\b")
"""What makes another check of the same words: numbers and negations."""
ASIDE = re.compile(r"\W")
"""What an addition begins with that a grader made or left out."""


@remember
def checks_of(data: Any) -> pl.DataFrame:
    """The checks that runs were graded on: RUN, layer, expectation_id, text; none of a table."""
    import polars as pl

    columns = [*RUN, "layer", "expectation_id", "text"]
    if is_table(data):
        types = dict.fromkeys(columns, pl.String) | {"run_number": pl.Int64}
        return pl.DataFrame(schema=types)
    return data.polars("expectations").with_columns(stand_in_keys()).select(columns)


def find_other_checks(
    checks: pl.DataFrame, runs: pl.DataFrame, compared: pl.DataFrame, *, one_suite: bool
) -> pl.DataFrame:
    """Evals whose sides were graded on other checks: GROUP, EVAL, SIDES, n, n_baseline.

    Checks are held against each other layer by layer, of layers that both sides have. The runs
    of a side count together, so a check that one of them lacks is no other check.

    Args:
        checks: what runs were graded on: RUN, layer, expectation_id, text.
        runs: the runs, with the same names of iterations and configurations.
        compared: what `sides` gives.
        one_suite: whether ids mean the same on both sides, as in one iteration.
    """
    import polars as pl

    models = by_model(runs).select(*RUN, *MODEL).unique(RUN)
    keys = [*GROUP, *EVAL, "layer"]
    text = pl.col("text").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .:;!,")
    cells = (
        checks.join(models, on=RUN, nulls_equal=True)
        .group_by(*keys, "configuration")
        .agg(
            text.unique().sort().alias("texts"),
            pl.struct("expectation_id", text).unique().alias("own"),
        )
    )
    compared = compared.select(*ITERATION, *SIDES)
    rows = cells.select(keys).unique().join(compared, ITERATION, nulls_equal=True)
    both = join_sides(rows, cells, keys).filter(pl.col("texts") != pl.col("texts_baseline"))
    differ = [
        not are_same_checks(
            *([(each["expectation_id"], each["text"]) for each in own] for own in pair),
            one_suite=one_suite,
        )
        for pair in both.select("own", "own_baseline").iter_rows()
    ]
    others = both.filter(pl.Series(differ, dtype=pl.Boolean)).group_by(*GROUP, *EVAL, *SIDES)
    counts = others.agg(
        pl.col("texts").list.len().sum().alias("n"),
        pl.col("texts_baseline").list.len().sum().alias("n_baseline"),
    )
    return in_order(counts, **dict.fromkeys([*GROUP, *EVAL], natural))


def are_same_checks(
    ones: Iterable[Check], others: Iterable[Check], *, one_suite: bool = True
) -> bool:
    """Whether each check of a side has its like on the other, if in other words.

    Of one suite ids decide, and as many checks, of which most are the same, are the same.

    >>> six = [(None, f"row {n} is right") for n in range(6)]
    >>> are_same_checks(six, six[::-1]), are_same_checks(six, six[:1])
    (True, False)
    >>> are_same_checks([("S1", "is a table")], [("S1", "shows rows and columns")])
    True
    >>> are_same_checks([*six, (None, "names all hosts")], [*six, (None, "each host is named")])
    True
    """
    own, theirs = list(ones), list(others)
    lacking = [_find_missing(own, theirs, one_suite), _find_missing(theirs, own, one_suite)]
    if one_suite and len(own) == len(theirs) > 2 * len(lacking[0]):
        lacking = [sorted(DECIDING.findall(" ".join(texts))) for texts in lacking]
        return lacking[0] == lacking[1]
    return not any(lacking)


def _find_missing(ones: Sequence[Check], others: Sequence[Check], one_suite: bool) -> list[str]:
    """The texts of those that are not among the others."""
    texts = {text for _, text in others}
    ids = {id_ for id_, _ in others if id_ is not None and one_suite}
    missing = [text for id_, text in ones if text not in texts and id_ not in ids]
    pairs = sum(map(len, missing)) * sum(map(len, texts))
    if max(len(missing), len(texts)) > MOST or pairs > MOST_PAIRS:
        return missing
    return [text for text in missing if not any(is_reworded(text, other) for other in texts)]


@lru_cache(maxsize=20_000)
def is_reworded(text: str, other: str) -> bool:
    """Whether two texts say the same in nearly the same words, or one adds an aside to the other.

    >>> is_reworded("is a table", "is a table (no list)")
    True
    >>> is_reworded("has at least 3 rows", "has at least 5 rows")
    False
    >>> is_reworded("calls no fetch/axios", "there are no calls of fetch, axios")
    False
    >>> is_reworded("the link is made by bash, not shown", "the link made by bash (not shown)")
    True
    """
    short, long = sorted((text, other), key=len)
    if long.startswith(short) and ASIDE.match(long[len(short) :].lstrip()):
        return True
    if sorted(DECIDING.findall(text)) != sorted(DECIDING.findall(other)):
        return False
    words, more = (set(re.findall(r"\w+", each)) for each in (short, long))
    if words <= more and 2 * len(words) >= MOSTLY * (len(words) + len(more)):
        return True
    matcher = SequenceMatcher(None, text, other, autojunk=False)
    quick, quicker = matcher.quick_ratio, matcher.real_quick_ratio
    return quicker() >= NEAR and quick() >= NEAR and matcher.ratio() >= NEAR


def leave_out(paired: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """`pairs` without the figures of `others`, of what checks decide, if that leaves any."""
    import polars as pl

    if others.is_empty():
        return paired
    keys = [name for name in others.columns if name in paired.columns]
    flagged = paired.join(others, on=keys, how="left", nulls_equal=True, maintain_order="left")
    other = pl.col("n").is_not_null() & pl.col("metric").is_in(CHECKED)
    comparison = [*GROUP, *SIDES, "metric"]
    lost = other & (pl.col("estimate").is_not_null() & ~other).any().over(comparison)
    why = pl.format("graded on other checks ({} and {})", "n", "n_baseline")
    return unpair(flagged, lost, why).drop("n", "n_baseline")


def unpair(paired: pl.DataFrame, lost: pl.Expr, why: pl.Expr) -> pl.DataFrame:
    """`pairs` without the figures of those that are lost, which say why."""
    import polars as pl

    return paired.with_columns(
        estimate=pl.when(~lost).then("estimate"),
        unpaired=pl.coalesce("unpaired", pl.when(lost).then(why)),
    )
