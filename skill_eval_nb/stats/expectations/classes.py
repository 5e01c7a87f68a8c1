"""The class of an expectation: which of seven things its verdicts say, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..phrases import brief, chance, count, figure, signed

if TYPE_CHECKING:
    import polars as pl

SEPARATES, HURTS = "separates", "hurts"
PASSES, FAILS = "always passes", "always fails"
EVAL, FLAKY, LITTLE = "depends on the eval", "flaky", "too little data"
CLASSES = (SEPARATES, HURTS, PASSES, FAILS, EVAL, FLAKY, LITTLE)
"""In the order in which they are asked for: the first that holds is the class."""
TINY = 1e-9
"""What rounding may add to a figure that is held against a bound."""


def repeats_needed(level: float) -> int:
    """Equal verdicts after the first that chance gives to a coin in at most 1 - level of cases.

    >>> repeats_needed(0.95), repeats_needed(0.99)
    (5, 7)
    """
    return math.ceil(math.log2(1 / (1 - level)) - TINY)


def class_of(level: float) -> pl.Expr:
    """The class, from the columns that `discrimination` has by then.

    `surplus` is how many more passes the first side has than if its runs were drawn at
    random from those of both sides, eval by eval; `apart` the mean square of the evals'
    differences; `repeats` all verdicts but the first of each eval.
    """
    import polars as pl

    alpha = 1 - level + TINY
    proven = pl.col("p_adjusted") <= alpha
    better = (pl.col("estimate") > 0) & (pl.col("surplus") > 0)
    worse = (pl.col("estimate") < 0) & (pl.col("surplus") < 0)
    passed, failed = (
        pl.col(f"n_{outcome}") + pl.col(f"n_{outcome}_baseline") for outcome in ("passed", "failed")
    )
    alone = pl.col("baseline").is_null()
    needed = repeats_needed(level)
    half = math.ceil((needed + 1) / 2)
    sides = pl.min_horizontal(_scored(""), _scored("_baseline")) >= half
    enough = pl.when(alone).then(_scored("") > needed).otherwise(sides)
    unrest = pl.mean_horizontal("flakiness", "baseline_flakiness")
    settled = (unrest.fill_null(0) <= TINY) & (pl.col("apart").fill_null(0) <= TINY)
    known = ~alone | unrest.is_not_null()
    return (
        pl.when(proven & better)
        .then(pl.lit(SEPARATES))
        .when(proven & worse)
        .then(pl.lit(HURTS))
        .when((failed == 0) & enough)
        .then(pl.lit(PASSES))
        .when((passed == 0) & enough)
        .then(pl.lit(FAILS))
        .when((passed > 0) & (failed > 0) & settled & known & (pl.col("repeats") >= needed))
        .then(pl.lit(EVAL))
        .when(
            (unrest > pl.col("apart").fill_null(0) / 4 + TINY) & (pl.col("p").fill_null(1) > alpha)
        )
        .then(pl.lit(FLAKY))
        .otherwise(pl.lit(LITTLE))
    )


def _scored(end: str) -> pl.Expr:
    import polars as pl

    return pl.col(f"n_passed{end}") + pl.col(f"n_failed{end}")


SAID = [
    *("class", "configuration", "baseline", "n_evals", "estimate", "p", "p_adjusted", "least_p"),
    *(f"n_{outcome}{end}" for end in ("", "_baseline") for outcome in ("passed", "failed")),
]
"""The columns that a reason is made of."""


def reason(row: Mapping[str, Any], level: float) -> str:
    """Why an expectation has its class, in a sentence with its figures."""
    seen, alone = _seen(row), row["baseline"] is None
    p = f"exact p {chance(row['p'])}" if row["p"] is not None else ""
    if row["p"] is not None and row["p_adjusted"] > row["p"] * (1 + TINY):
        p += f", adjusted {figure(row['p_adjusted'])}"
    match row["class"]:
        case "separates" | "hurts":
            return f"{seen}, {signed(row['estimate'])}: {p}."
        case "always passes" | "always fails":
            apart = "" if alone else ", which does not tell the sides apart"
            return f"{seen}{apart}; that supports ‘{at_least(fewest_scored(row), level)}’."
        case "depends on the eval":
            return f"{seen}: always in some evals and never in others{'' if alone else ', alike'}."
        case "flaky" if row["p"] is None:
            return f"{seen}: runs of the same eval and configuration differ."
        case "flaky":
            differ = "runs of the same eval and configuration differ more than the two sides do"
            return f"{seen}: {differ} ({p})."
    return f"{seen}: {_missing(row, level, p)}."


def fewest_scored(row: Mapping[str, Any]) -> int:
    """The runs of the side that has fewer with a verdict."""
    ends = ("",) if row["baseline"] is None else ("", "_baseline")
    return min(row[f"n_passed{end}"] + row[f"n_failed{end}"] for end in ends)


def at_least(runs: int, level: float) -> str:
    """The share of all runs that so many equal verdicts support (Clopper and Pearson, one-sided).

    >>> at_least(10, 0.95)
    'in at least 74 % of all runs, at 95 % confidence'
    """
    share = (1 - level) ** (1 / runs) if runs else 0.0
    return f"in at least {math.floor(100 * share)} % of all runs, at {100 * level:g} % confidence"


def _seen(row: Mapping[str, Any]) -> str:
    """How often it passed on either side."""
    sides = [
        f"{row[f'n_passed{end}']:,} of {count(scored, 'run')} of {brief(name)}"
        for name, end in ((row["configuration"], ""), (row["baseline"], "_baseline"))
        if name is not None and (scored := row[f"n_passed{end}"] + row[f"n_failed{end}"])
    ]
    return f"It passed in {' and '.join(sides)}" if sides else "It was scored in no run"


def _missing(row: Mapping[str, Any], level: float, p: str) -> str:
    """What keeps an expectation without a class."""
    one, other = (row[f"n_passed{end}"] + row[f"n_failed{end}"] for end in ("", "_baseline"))
    alone = row["baseline"] is None
    empty = [
        name
        for name, n in ((row["configuration"], one), (row["baseline"], other))
        if name is not None and not n
    ]
    if empty:
        return f"no run of {brief(empty[0]) or '(no name)'} was scored"
    passed = row["n_passed"] + row["n_passed_baseline"]
    if passed in (0, one + other):
        runs = repeats_needed(level) + 1
        needed = f"{runs} runs" if alone else f"{math.ceil(runs / 2)} runs a side"
        return (
            f"it takes {needed} to say that it always does"
            if passed
            else f"it takes {needed} to say that it never does"
        )
    if alone:
        return "too few runs of the same eval to tell chance from the eval"
    if not row["n_evals"]:
        return "in no eval on both sides"
    lean = signed(row["estimate"]) if row["estimate"] else "no difference"
    if row["least_p"] > 1 - level + TINY:
        return f"{lean}, but with so few runs the smallest p is {figure(row['least_p'])}"
    return f"{lean}, no more than chance ({p})"
