"""Which expectations tell something: with the skill against the baseline, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from ..inference.adjust import benjamini_hochberg
from ..inference.contingency import exact_tests
from ..names import in_order, natural
from ..pairing import side
from ..values import EVAL, GROUP
from ..variance.intervals import confidence
from .classes import SAID, class_of, reason
from .outcomes import BOTH, CHECK, KIND, outcomes

if TYPE_CHECKING:
    import polars as pl

COMPARISON = ["configuration", "baseline"]
FIGURES = [
    *("pass_rate", "baseline_pass_rate", "estimate", "p", "p_adjusted", "level"),
    *("flakiness", "baseline_flakiness", "class", "reason", *BOTH),
]


def discrimination(data: Any, baseline: str | None = None, level: float = 0.95) -> Any:
    """Each expectation with its class: what its verdicts say of the skill, if anything.

    An expectation that stands in several evals of an iteration, word for word and in the same
    layer, is one row: few runs of one eval prove little (3 against 3 cannot bring p below .1),
    and the same check on six evals may prove much. Runs are compared inside their eval alone,
    so evals of different difficulty are not mixed up. `discrimination_by_eval` has a row for
    each eval.

    The classes, of which the first that holds is given; alpha is 1 - `level`:

    1. `separates`, 2. `hurts`: `p_adjusted` <= alpha, and the expectation passes more often
       (less often) than with the baseline.
    3. `always passes`, 4. `always fails`: every verdict is the same, and there are enough of
       them that a coin would do so in at most alpha of cases: at 95 %, 3 on each side, or 6
       where there is one side only.
    5. `depends on the eval`: the verdicts differ, but never inside an eval: not from run to
       run, not from side to side; and at least 5 of them (at 95 %) repeat one of their eval.
       An expectation of a single eval is never of this class.
    6. `flaky`: more of what differs inside evals lies between runs of a configuration than
       between the configurations: the mean of the two flakinesses exceeds a quarter of the
       mean square of the evals' differences, and `p` itself exceeds alpha.
    7. `too little data`: anything else. The figures and the reason say which way it leans.

    Without a baseline classes 1 and 2 are not given, and the rest is judged on the one side.

    Args:
        data: a `Workspace`, or its table of expectations (polars or pandas). The table alone
            knows only runs that have a verdict or lack one in it, and of none that it errored.
        baseline: the configuration to compare against; chosen by name where not given.
        level: 1 - alpha.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × expectation ×
        configuration that is not the baseline (each configuration where no baseline is):

        - `layer`, `expectation_id` (null where evals give it several), `text`, `type`,
          `critical`, `configuration`, `baseline`;
        - `pass_rate`, `baseline_pass_rate`, `estimate` (their difference): means over the
          `n_evals` scored on both sides; where none is, over those of the side; 0-1;
        - `p`: exact, two-sided, from dealing out the sides to the runs anew inside each eval
          (Fisher's test for one eval, else Birch's, see `contingency`); `p_adjusted` for all
          expectations of the comparison (Benjamini-Hochberg); null without a paired eval;
        - `flakiness`, `baseline_flakiness`: pass rate × (1 - pass rate) inside an eval, the
          mean over the evals with two verdicts or more; 0-0.25, null where there is none;
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

    cells = in_order(outcomes(data, baseline), **dict.fromkeys(EVAL, natural))
    key = [*GROUP, *COMPARISON, "layer", "text"]
    cells = _in_order(cells).with_columns(pl.struct(key).rle_id().alias("row"))
    ids = pl.col("expectation_id").unique()
    found = (
        _judged(cells, level)
        .drop("expectation_id")
        .join(
            cells.group_by("row").agg(
                pl.when(ids.len() == 1).then(ids.first()).alias("expectation_id"),
                pl.col("eval_name").unique(maintain_order=True).alias("evals"),
                pl.col("eval_name")
                .filter(~_entered())
                .unique(maintain_order=True)
                .alias("unpaired"),
            ),
            on="row",
        )
    )
    about = [*GROUP, *CHECK, *KIND, *COMPARISON]
    unpaired = pl.col("unpaired").list.len().cast(pl.Int64).alias("n_unpaired")
    return like(data, found.select(*about, *FIGURES, "n_evals", unpaired, "unpaired", "evals"))


def discrimination_by_eval(data: Any, baseline: str | None = None, level: float = 0.95) -> Any:
    """`discrimination` with a row for each eval, where little can be proven.

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
    cells = _in_order(outcomes(data, baseline), **dict.fromkeys(EVAL, natural))
    found = _judged(cells.with_row_index("row"), level)
    about = [*GROUP, *EVAL, *CHECK, *KIND, *COMPARISON]
    return like(data, found.select(*about, *FIGURES))


def flakiness_by_eval(data: Any, baseline: str | None = None) -> pl.DataFrame:
    """The rows of `discrimination_by_eval` without what is tested: its keys and flakinesses.

    Those of a single run a side, whose flakiness nobody can know, are left out.
    """
    import polars as pl

    cells = _in_order(outcomes(data, baseline), **dict.fromkeys(EVAL, natural))
    flakiness = ["flakiness", "baseline_flakiness"]
    known = pl.any_horizontal(pl.col(flakiness).is_not_null())
    found = _figures(_scored(cells.with_row_index("row"))).filter(known)
    return found.select(*GROUP, *EVAL, *CHECK, *COMPARISON, *flakiness)


def _in_order(cells: pl.DataFrame, **evals: Any) -> pl.DataFrame:
    """By group and comparison, then evals, then what is checked first."""
    falling = [True, False, False]
    by_text = cells.sort(CHECK, descending=falling, nulls_last=True, maintain_order=True)
    return in_order(by_text, **dict.fromkeys(GROUP, natural), configuration=side, **evals)


def _judged(cells: pl.DataFrame, level: float) -> pl.DataFrame:
    """The FIGURES of each `row` of cells, and its keys, which are those of its first cell."""
    import polars as pl

    level = confidence(level)
    cells = _scored(cells)
    tables = cells.select(
        *("row", "scored", "scored_baseline"),
        pl.col("n_passed").alias("passed"),
        pl.col("n_passed_baseline").alias("passed_baseline"),
    ).filter(cells["baseline"].is_not_null())
    rows = _figures(cells).join(exact_tests(tables), "row", how="left", maintain_order="left")
    rows = _adjusted(rows).with_columns(pl.lit(level).alias("level"))
    rows = rows.with_columns(class_of(level).alias("class"))
    said = rows.select(SAID).unique()
    reasons = [reason(row, level) for row in said.iter_rows(named=True)]
    said = said.with_columns(pl.Series("reason", reasons, pl.String))
    return rows.join(said, on=SAID, how="left", nulls_equal=True, maintain_order="left")


def _scored(cells: pl.DataFrame) -> pl.DataFrame:
    """`cells` with how many runs of either side were scored."""
    import polars as pl

    return cells.with_columns(
        (pl.col(f"n_passed{end}") + pl.col(f"n_failed{end}")).alias(f"scored{end}")
        for end in ("", "_baseline")
    )


def _figures(cells: pl.DataFrame) -> pl.DataFrame:
    """What is counted and averaged over the evals of a row. Cells come in a fixed order."""
    import polars as pl

    passes = pl.col("n_passed") + pl.col("n_passed_baseline")
    verdicts = pl.col("scored") + pl.col("scored_baseline")
    expected = passes * pl.col("scored") / verdicts
    rate, other = _rate(""), _rate("_baseline")
    difference, entered = rate - other, _entered()

    def mean(rate: pl.Expr) -> pl.Expr:
        return pl.coalesce(rate.filter(entered).mean(), rate.mean())

    return cells.group_by("row", maintain_order=True).agg(
        pl.col(*GROUP, *EVAL, "layer", "expectation_id", "text", *COMPARISON).first(),
        pl.col("type").min(),
        pl.col("critical").max(),
        pl.col(BOTH).sum(),
        pl.col("eval_id").filter(entered).n_unique().cast(pl.Int64).alias("n_evals"),
        mean(rate).alias("pass_rate"),
        mean(other).alias("baseline_pass_rate"),
        difference.mean().alias("estimate"),
        (difference**2).mean().alias("apart"),
        (pl.col("n_passed") - expected).filter(difference.is_not_null()).sum().alias("surplus"),
        (verdicts - 1).clip(0).sum().alias("repeats"),
        _unrest("").mean().alias("flakiness"),
        _unrest("_baseline").mean().alias("baseline_flakiness"),
    )


def _entered() -> pl.Expr:
    """Whether an eval enters the comparison: scored on both sides, or on the only one."""
    import polars as pl

    scored = (pl.col(f"n_passed{end}") + pl.col(f"n_failed{end}") > 0 for end in ("", "_baseline"))
    one, other = scored
    return one & (other | pl.col("baseline").is_null())


def _rate(end: str) -> pl.Expr:
    """The pass rate of a side of an eval; null where nothing was scored."""
    import polars as pl

    scored = pl.col(f"scored{end}")
    return pl.when(scored > 0).then(pl.col(f"n_passed{end}") / scored)


def _unrest(end: str) -> pl.Expr:
    """Pass rate × (1 - pass rate) of a side of an eval; null for fewer than two verdicts."""
    import polars as pl

    rate = _rate(end)
    return pl.when(pl.col(f"scored{end}") > 1).then(rate * (1 - rate))


def _adjusted(rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` with `p_adjusted`, over all expectations of a comparison."""
    import polars as pl

    families = rows.filter(pl.col("p").is_not_null()).group_by(*GROUP, *COMPARISON)
    parts = [
        own.select("row", pl.Series("p_adjusted", benjamini_hochberg(own["p"].to_list())))
        for _, own in families
    ]
    none = pl.DataFrame(schema={"row": rows.schema["row"], "p_adjusted": pl.Float64})
    return rows.join(pl.concat([none, *parts]), "row", how="left", maintain_order="left")
