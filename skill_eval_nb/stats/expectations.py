"""`discrimination`: which checks tell the sides apart, and what those that do not are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import clip, count, format_figure, format_p, with_sign

from .comparison import TINY
from .inference import benjamini_hochberg, exact_tests
from .pairing import choose_sides, side_key
from .values import (
    ENDS,
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUN,
    SIDES,
    check_level,
    is_table,
    join_sides,
    natural_key,
    rows_of_runs,
    runs_by_model,
    sort_rows,
    statistic,
)
from .verdict import say_luck

if TYPE_CHECKING:
    import polars as pl


SEPARATES, HURTS = "separates", "hurts"
PASSES, FAILS = "always passes", "always fails"
DEPENDS, FLAKY, LITTLE = "depends on the eval", "flaky", "too little data"
CLASSES = (SEPARATES, HURTS, PASSES, FAILS, DEPENDS, FLAKY, LITTLE)
"""In the order in which they are asked for: the first that holds is the class."""


def repeats_needed(level: float) -> int:
    """Equal verdicts after the first that chance gives to a coin in at most 1 - level of cases.

    >>> repeats_needed(0.95), repeats_needed(0.99)
    (5, 7)
    """
    return math.ceil(math.log2(1 / (1 - level)) - TINY)


def class_of(level: float) -> pl.Expr:
    """The class of an expectation, from the columns that `discrimination` has worked out.

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
    scored, other = pl.col("scored"), pl.col("scored_baseline")
    alone = pl.col("baseline").is_null()
    needed = repeats_needed(level)
    half = math.ceil((needed + 1) / 2)
    sides = pl.min_horizontal(scored, other) >= half
    enough = pl.when(alone).then(scored > needed).otherwise(sides)
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
        .then(pl.lit(DEPENDS))
        .when(
            (unrest > pl.col("apart").fill_null(0) / 4 + TINY) & (pl.col("p").fill_null(1) > alpha)
        )
        .then(pl.lit(FLAKY))
        .otherwise(pl.lit(LITTLE))
    )


def explain_class(row: Mapping[str, Any], level: float) -> str:
    """Why an expectation has its class, in a sentence with its figures."""
    seen, alone = _say_passes(row), row["baseline"] is None
    p = f"exact p {format_p(row['p'])}" if row["p"] is not None else ""
    if row["p"] is not None and row["p_adjusted"] > row["p"] * (1 + TINY):
        p += f", adjusted {format_figure(row['p_adjusted'])}"
    match row["class"]:
        case "separates" | "hurts":
            return f"{seen}, {with_sign(row['estimate'])}: {p}."
        case "always passes" | "always fails":
            apart = "" if alone else ", which does not tell the sides apart"
            return f"{seen}{apart}; so it holds {at_least(fewest_scored(row), level)}."
        case "depends on the eval":
            return f"{seen}: always in some evals, never in others{'' if alone else ', alike'}."
        case "flaky":
            more = f" more than the two sides do ({p})" if p else ""
            return f"{seen}: runs of the same eval and configuration differ{more}."
    return f"{seen}: {_explain_no_class(row, level, p)}."


ADVISED = 10
"""Runs a side below which nobody is told to change a check: what a skill lifts from 80 to 100 %
looks as if it always passed after three of them, in half of all cases."""


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


def _say_passes(row: Mapping[str, Any]) -> str:
    """How often it passed on either side."""
    sides = [
        f"{row[f'n_passed{end}']:,} of {count(scored, 'run')} of {clip(name)}"
        for name, end in ((row["configuration"], ""), (row["baseline"], "_baseline"))
        if name is not None and (scored := row[f"n_passed{end}"] + row[f"n_failed{end}"])
    ]
    return f"It passed in {' and '.join(sides)}" if sides else "It was scored in no run"


def _explain_no_class(row: Mapping[str, Any], level: float, p: str) -> str:
    """What keeps an expectation without a class."""
    scored, other = (row[f"n_passed{end}"] + row[f"n_failed{end}"] for end in ("", "_baseline"))
    alone = row["baseline"] is None
    for name, n in ((row["configuration"], scored), (row["baseline"], other)):
        if name is not None and not n:
            return f"no run of {clip(name) or '(no name)'} was scored"
    passed = row["n_passed"] + row["n_passed_baseline"]
    if passed in (0, scored + other):
        runs = repeats_needed(level) + 1
        needed = f"{runs} runs" if alone else f"{math.ceil(runs / 2)} runs per side"
        return f"it takes {needed} to say that it {'always' if passed else 'never'} passes"
    if alone:
        return "too few runs per eval to tell chance from differences between evals"
    if not row["n_evals"]:
        return "no eval has it scored on both sides"
    lean = with_sign(row["estimate"]) if row["estimate"] else "no difference"
    if row["least_p"] > 1 - level + TINY:
        return f"{lean}; even the clearest result of so few runs {say_luck(row['least_p'])}"
    return f"{lean}, no more than chance ({p})"


PLACE = [*GROUP, *EVAL]
CHECK = ["layer", "expectation_id", "text"]
"""What an expectation is known by inside its eval."""
KIND = ["type", "critical"]
OUTCOMES = ["n_passed", "n_failed", "n_errored", "n_unscored"]
BOTH = [*OUTCOMES, *(f"{outcome}_baseline" for outcome in OUTCOMES)]
SCORED = ["scored", "scored_baseline"]
"""How many runs of either side passed or failed."""


def outcomes(data: Any, baseline: str | None = None) -> pl.DataFrame:
    """Each eval's expectations, and how many runs on either side came to which outcome.

    An expectation is the same one in two runs of an eval if it has the same id, else the
    same text; of several texts of an id, the first in the alphabet is given. A run that lists
    it twice passes it where no verdict says otherwise. A run that errored has no verdict,
    whatever it lists. A run with neither verdict nor error is not scored: it was gated before
    the judge came, or not graded, or does not list the expectation.

    Args:
        data: a `Workspace`, or a table of expectations (polars or pandas). A table knows only
            the runs that are in it, and of none that it errored.
        baseline: the configuration to compare against; chosen by name where not given.

    Returns:
        One row an eval × expectation × configuration that is compared: PLACE, CHECK, KIND,
        configuration, baseline, why, BOTH sides' outcomes and runs SCORED (0 if there is no
        run). Where a group has no baseline, or nothing beside it, each configuration stands alone:
        `baseline` is null, and `why` says why.

    Raises:
        ValueError: for a table that holds no expectations, or a baseline that is not there.
    """
    import polars as pl

    verdicts, runs = _verdicts_and_runs(data)
    checks = _merge_checks(_count_verdicts(verdicts, runs))
    cells = (
        checks.select("check", "configuration", "passed", "scored")
        .explode("configuration", "passed", "scored", empty_as_null=False)
        .group_by("check", "configuration")
        .agg(pl.col("passed", "scored").sum())
    )
    sizes = runs.group_by("eval", "configuration").agg(
        pl.len().alias("runs"), pl.col("errored").sum()
    )
    rows = (
        checks.select("check", "eval", *CHECK, *KIND)
        .join(runs.select("eval", *PLACE).unique("eval"), on="eval")
        .join(_sides_or_baseline(runs, baseline), on=ITERATION, nulls_equal=True)
    )
    both = join_sides(join_sides(rows, cells, ["check"]), sizes, ["eval"])
    listed = pl.any_horizontal(pl.col(SCORED).is_not_null())
    return both.filter(listed).select(
        *(*PLACE, *CHECK, *KIND, *SIDES, "why"),
        *(count for end in ENDS for count in _count_outcomes(end)),
        pl.col(SCORED).fill_null(0).cast(pl.Int64),
    )


def _verdicts_and_runs(data: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Verdicts, each with the index of its run, and every run with the index of its eval."""
    import polars as pl

    if is_table(data) and not {"text", "passed"} <= set(data.columns):
        raise ValueError(
            "This table holds no expectations: it has no columns `text` and `passed`. "
            "Give a Workspace, or its table `ws.expectations`."
        )
    table = rows_of_runs(data, "expectations")
    key, status = [*RUN, *MODEL], pl.lit(None, pl.String).alias("status")
    runs = table.clear().with_columns(status) if is_table(data) else runs_by_model(data)
    runs = runs.select(*key, "status").unique(RUN)
    lone = table.join(runs, on=key, how="anti", nulls_equal=True).select(*key, status).unique()
    runs = pl.concat([runs, lone]).with_row_index("run")
    verdicts = table.join(runs, on=key, nulls_equal=True).select("run", *CHECK, *KIND, "passed")
    evals = runs.select(PLACE).unique().with_row_index("eval")
    errored = (pl.col("status") == "errored").fill_null(value=False).alias("errored")
    return verdicts, runs.join(evals, on=PLACE, nulls_equal=True).with_columns(errored)


def _count_verdicts(verdicts: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Passed and scored by eval, configuration, CHECK and KIND, without runs that errored."""
    import polars as pl

    passed = pl.col("passed")
    of_run = runs.filter(~pl.col("errored")).select("run", "eval", "configuration")
    once = verdicts.group_by("run", *CHECK, *KIND).agg(passed.min())
    cells = once.join(of_run, on="run").group_by("eval", "configuration", *CHECK, *KIND)
    return cells.agg(passed.sum(), passed.count().alias("scored"))


def _merge_checks(counted: pl.DataFrame) -> pl.DataFrame:
    """A row an expectation of an eval, with lists over the configurations, and its index.

    All texts of an id become one, and a text has the id that it has elsewhere in its eval.
    """
    import polars as pl

    own, number = ["eval", "layer"], pl.col("expectation_id")
    one_text = pl.col("text").min().over(*own, "expectation_id")
    return (
        counted.with_columns(pl.coalesce(number, number.min().over(*own, "text")))
        .with_columns(pl.when(number.is_null()).then("text").otherwise(one_text).alias("text"))
        .group_by("eval", *CHECK)
        .agg(
            pl.col("type").min(),
            pl.col("critical").max(),
            pl.col("configuration", "passed", "scored"),
        )
        .with_row_index("check")
    )


def _sides_or_baseline(runs: pl.DataFrame, baseline: str | None) -> pl.DataFrame:
    """What `choose_sides` gives; a baseline without a counterpart is a row of its own."""
    import polars as pl

    alone = pl.col("configuration").is_null()
    return choose_sides(runs, baseline).with_columns(
        pl.coalesce("configuration", "baseline").alias("configuration"),
        pl.when(~alone).then("baseline").alias("baseline"),
    )


def _count_outcomes(end: str) -> list[pl.Expr]:
    """How many runs of a side came to each of OUTCOMES."""
    import polars as pl

    passed, scored, errored, runs = (
        pl.col(f"{count}{end}").fill_null(0).cast(pl.Int64)
        for count in ("passed", "scored", "errored", "runs")
    )
    counts = (passed, scored - passed, errored, runs - errored - scored)
    return [count.alias(f"{name}{end}") for name, count in zip(OUTCOMES, counts, strict=True)]


FIGURES = [
    *("pass_rate", "baseline_pass_rate", "estimate", "p", "p_adjusted", "level"),
    *("flakiness", "baseline_flakiness", "class", "reason", *BOTH),
]


@statistic
def discrimination(data: Any, baseline: str | None = None, level: float = 0.95) -> Any:
    """Each expectation with its class: what its verdicts say about the skill, if anything.

    An expectation that several evals of an iteration share, word for word and in the same layer,
    is one row: a few runs of one eval prove little (3 against 3 cannot bring p below .1), but
    the same check on six evals may prove a lot. Runs are compared only within their eval, so
    evals of different difficulty are not mixed. `discrimination_by_eval` has a row for each
    eval.

    The class is the first of these that applies; alpha is 1 - `level`:

    1. `separates`, 2. `hurts`: `p_adjusted` <= alpha, and the expectation passes more often
       (less often) than with the baseline.
    3. `always passes`, 4. `always fails`: every verdict is the same, and there are enough of
       them that a coin would do so in at most alpha of cases: at 95 %, 3 on each side, or 6 if
       there is only one side.
    5. `depends on the eval`: the verdicts differ, but never within an eval, neither between runs
       nor between sides; and at least 5 of them (at 95 %) repeat one of their eval. An
       expectation of a single eval is never of this class.
    6. `flaky`: within evals, runs of a configuration differ more than the configurations do: the
       mean of the two flakinesses exceeds a quarter of the mean square of the evals'
       differences, and `p` itself exceeds alpha.
    7. `too little data`: anything else. The figures and the reason show the direction.

    Without a baseline, classes 1 and 2 do not exist, and the others rest on the one side.

    Args:
        data: a `Workspace`, or its table of expectations (polars or pandas). A table alone shows
            only runs that have, or lack, a verdict in it, and not which runs errored.
        baseline: the configuration to compare against; chosen by name if not given.
        level: 1 - alpha.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × expectation ×
        configuration that is not the baseline (each configuration if no baseline is), and of
        each model and harness as for `deltas`:

        - `layer`, `expectation_id` (null if evals give it several), `text`, `type`,
          `critical`, `configuration`, `baseline`;
        - `pass_rate`, `baseline_pass_rate`, `estimate` (their difference): means over the
          `n_evals` scored on both sides; if none is, over those of the side; 0-1;
        - `p`: exact, two-sided, from dealing out the sides to the runs again inside each eval
          (Fisher's test for one eval, else Birch's, see `contingency`); `p_adjusted` for all
          expectations of the comparison (Benjamini-Hochberg); null without a paired eval;
        - `flakiness`, `baseline_flakiness`: pass rate × (1 - pass rate) inside an eval, the
          mean over the evals with two verdicts or more; 0-0.25, null if there is none;
        - `class`, and `reason`, a sentence;
        - `n_passed`, `n_failed`, `n_errored`, `n_unscored`, and the same with `_baseline`:
          runs of all evals that have the expectation;
        - `n_evals`, `n_unpaired` and `unpaired` (names of evals not scored on both sides),
          `evals` (names of all).

    Raises:
        ValueError: for a table without expectations, a baseline that is not there, or a level
            outside (0, 1).

    >>> import polars as pl
    >>> verdicts = pl.DataFrame({
    ...     "eval_id": ["1"] * 8, "text": "holds 12 rows", "run_number": [1, 2, 3, 4] * 2,
    ...     "configuration": ["with_skill"] * 4 + ["without_skill"] * 4,
    ...     "passed": [True] * 4 + [False] * 4,
    ... })
    >>> discrimination(verdicts)["reason"].item()
    'It passed in 4 of 4 runs of with_skill and 0 of 4 runs of without_skill, +1: exact p = 0.0286.'
    """
    import polars as pl

    cells = sort_rows(outcomes(data, baseline), **dict.fromkeys(EVAL, natural_key))
    key = [*GROUP, *SIDES, "layer", "text"]
    cells = _sort_cells(cells).with_columns(pl.struct(key).rle_id().alias("row"))
    found = _figures_by_row(cells, level)
    about = [*GROUP, *CHECK, *KIND, *SIDES]
    unpaired = pl.col("unpaired").list.len().cast(pl.Int64).alias("n_unpaired")
    return found.select(*about, *FIGURES, "n_evals", unpaired, "unpaired", "evals")


@statistic
def discrimination_by_eval(data: Any, baseline: str | None = None, level: float = 0.95) -> Any:
    """`discrimination` with a row for each eval; a single eval can prove little.

    Args:
        data: as for `discrimination`.
        baseline: as for `discrimination`.
        level: as for `discrimination`.

    Returns:
        In the kind of `data`, the columns of `discrimination` down to the counts of outcomes,
        and `eval_id` and `eval_name`. An expectation is known by its id where the eval gives
        it one, else by its text. `p_adjusted` allows for all rows of the comparison.

    Raises:
        ValueError: as `discrimination`.

    >>> import polars as pl
    >>> verdicts = pl.DataFrame({
    ...     "eval_id": ["1", "2"], "text": "holds 12 rows", "configuration": "with_skill",
    ...     "passed": [True, False],
    ... })
    >>> discrimination_by_eval(verdicts).select("eval_id", "pass_rate", "class").rows()
    [('1', 1.0, 'too little data'), ('2', 0.0, 'too little data')]
    """
    cells = _sort_cells(outcomes(data, baseline), **dict.fromkeys(EVAL, natural_key))
    found = _figures_by_row(cells.with_row_index("row"), level)
    about = [*GROUP, *EVAL, *CHECK, *KIND, *SIDES]
    return found.select(*about, *FIGURES)


def _sort_cells(cells: pl.DataFrame, **evals: Any) -> pl.DataFrame:
    """Sort by group and comparison, then by eval, then by the order of the checks."""
    falling = [True, False, False]
    by_text = cells.sort(CHECK, descending=falling, nulls_last=True, maintain_order=True)
    return sort_rows(by_text, **dict.fromkeys(GROUP, natural_key), configuration=side_key, **evals)


def _figures_by_row(cells: pl.DataFrame, level: float) -> pl.DataFrame:
    """The FIGURES of each `row` of cells, with the keys of its first cell."""
    import polars as pl

    level = check_level(level)
    tables = cells.select(
        *("row", "scored", "scored_baseline"),
        pl.col("n_passed").alias("passed"),
        pl.col("n_passed_baseline").alias("passed_baseline"),
    ).filter(cells["baseline"].is_not_null())
    rows = _average_cells(cells).join(exact_tests(tables), "row", how="left", maintain_order="left")
    adjusted = benjamini_hochberg(pl.col("p")).over(*GROUP, *SIDES)
    rows = rows.with_columns(pl.lit(level).alias("level"), p_adjusted=adjusted)
    rows = rows.with_columns(class_of(level).alias("class"))
    reasons = [explain_class(row, level) for row in rows.iter_rows(named=True)]
    return rows.with_columns(pl.Series("reason", reasons, pl.String))


def _average_cells(cells: pl.DataFrame) -> pl.DataFrame:
    """What is counted and averaged over the evals of a row. Cells come in a fixed order."""
    import polars as pl

    passes = pl.col("n_passed") + pl.col("n_passed_baseline")
    verdicts = pl.col("scored") + pl.col("scored_baseline")
    expected = passes * pl.col("scored") / verdicts
    rate, other = _pass_rate_of(""), _pass_rate_of("_baseline")
    difference, (own, others) = rate - other, (pl.col(name) > 0 for name in SCORED)
    entered = own & (others | pl.col("baseline").is_null())  # on both sides, or on the only one
    ids, name = pl.col("expectation_id").unique(), pl.col("eval_name")

    def mean(rate: pl.Expr) -> pl.Expr:
        return pl.coalesce(rate.filter(entered).mean(), rate.mean())

    return cells.group_by("row", maintain_order=True).agg(
        pl.col(*GROUP, *EVAL, "layer", "text", *SIDES).first(),
        pl.when(ids.len() == 1).then(ids.first()).alias("expectation_id"),
        pl.col("type").min(),
        pl.col("critical").max(),
        pl.col(*BOTH, *SCORED).sum(),
        pl.col("eval_id").filter(entered).n_unique().cast(pl.Int64).alias("n_evals"),
        mean(rate).alias("pass_rate"),
        mean(other).alias("baseline_pass_rate"),
        difference.mean().alias("estimate"),
        (difference**2).mean().alias("apart"),
        (pl.col("n_passed") - expected).filter(difference.is_not_null()).sum().alias("surplus"),
        (verdicts - 1).clip(0).sum().alias("repeats"),
        _pass_variance("").mean().alias("flakiness"),
        _pass_variance("_baseline").mean().alias("baseline_flakiness"),
        name.unique(maintain_order=True).alias("evals"),
        name.filter(~entered).unique(maintain_order=True).alias("unpaired"),
    )


def _pass_rate_of(end: str) -> pl.Expr:
    """The pass rate of a side of an eval; null if nothing was scored."""
    import polars as pl

    scored = pl.col(f"scored{end}")
    return pl.when(scored > 0).then(pl.col(f"n_passed{end}") / scored)


def _pass_variance(end: str) -> pl.Expr:
    """Pass rate × (1 - pass rate) of a side of an eval; null for fewer than two verdicts."""
    import polars as pl

    rate = _pass_rate_of(end)
    return pl.when(pl.col(f"scored{end}") > 1).then(rate * (1 - rate))
