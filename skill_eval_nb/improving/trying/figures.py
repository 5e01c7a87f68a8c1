"""What a change of an eval's checks does to the gate and the figures of each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skill_eval_nb.stats.values import RUN

from .checking import Verdict

if TYPE_CHECKING:
    import polars as pl

GATE, CHECKED, GRADED = "gate_passed", "structural_pass_rate", "pass_rate"
BEFORE, AFTER = "_before", "_after"
SAME = 0.0051
"""Rates that differ by less are the same: files round them."""


def with_figures(
    runs: pl.DataFrame,
    rows: pl.DataFrame,
    gone: pl.DataFrame,
    new: Sequence[tuple[bool, Sequence[Verdict]]],
    n_structural: pl.DataFrame,
) -> pl.DataFrame:
    """The gate and the rates of each run, `…_before` as stored, and `…_after`.

    `gate_passed_after` rests on the stored verdicts without those that go, and on the new ones;
    where the stored verdicts do not say the same as the stored gate, that is taken at its word.
    `structural_pass_rate_after` is null where a run's checks are not stored one by one. A run
    whose gate closes would not be judged, so `pass_rate_after` is that of its checks, as it
    is in every gated run; where the gate opens it is null, since the judge has yet to be asked.
    An errored run stays as it is.

    Args:
        runs: as `runs_for` gives them.
        rows: their rows of `expectations`, each with the index `run`.
        gone: those of the rows that go.
        new: of each new check, whether it is critical, and its verdicts run by run.
        n_structural: of each eval (`workspace`, `skill`, `eval_id`), how many structural
            expectations its suite has.
    """
    import polars as pl

    mine = runs.with_row_index("run")
    structural = rows.filter(pl.col("layer") == "structural")
    rest = structural.join(gone.select("place"), on="place", how="anti")
    judged = rows.filter(pl.col("layer") == "judged").select("run", judged=True).unique()
    wide = (
        mine.join(_summed(structural, "all"), on="run", how="left", maintain_order="left")
        .join(_summed(rest, "rest"), on="run", how="left", maintain_order="left")
        .join(judged, on="run", how="left", maintain_order="left")
        .join(n_structural, on=["workspace", "skill", "eval_id"], how="left", maintain_order="left")
        .with_columns(_of_new(new))
    )
    none_else = pl.col("n_structural").fill_null(1) - (1 if gone.height else 0) <= 0
    known = pl.col("n_all").is_not_null() | none_else
    errored = pl.col("status") == "errored"
    agree = pl.col("gate_all").fill_null(value=True).eq_missing(pl.col(GATE))
    bare = pl.when(none_else).then(statement=True)
    base = (
        pl.when(pl.col("n_all").is_null())
        .then(pl.coalesce(GATE, bare))
        .when(agree)
        .then(_missing_is_open("gate_rest", "n_rest"))
        .otherwise(GATE)
    )
    scored = [pl.col(f"{what}_rest").fill_null(0) + pl.col(f"{what}_new") for what in _MARKS]
    rate = pl.when(known & (scored[0] + scored[1] > 0)).then(scored[0] / (scored[0] + scored[1]))
    wide = wide.with_columns(
        pl.when(errored).then(GATE).otherwise(base & pl.col("gate_new")).alias(GATE + AFTER),
        pl.when(errored).then(CHECKED).otherwise(rate).alias(CHECKED + AFTER),
    )
    was_open, is_open = open_gate(GATE), open_gate(GATE + AFTER)
    of_checks = pl.col("judged").is_null() & ((pl.col(GRADED) - pl.col(CHECKED)).abs() < SAME)
    graded = (
        pl.when(errored)
        .then(GRADED)
        .when(was_open & ~is_open)
        .then(CHECKED + AFTER)
        .when(~was_open & is_open)
        .then(None)
        .when(of_checks)
        .then(CHECKED + AFTER)
        .otherwise(GRADED)
    )
    return wide.select(
        *RUN,
        *(
            one
            for name, after in ((GATE, GATE + AFTER), (CHECKED, CHECKED + AFTER), (GRADED, graded))
            for one in (
                pl.col(name).alias(name + BEFORE),
                (pl.col(after) if isinstance(after, str) else after).alias(name + AFTER),
            )
        ),
    )


_MARKS = ("passed", "failed")


def open_gate(column: str) -> pl.Expr:
    """Whether a gate lets a run through to the judge: it does unless a critical check failed."""
    import polars as pl

    return pl.col(column).fill_null(value=True)


def _summed(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Passed, failed and the gate of each run's rows, under names with this end."""
    import polars as pl

    passed, critical = pl.col("passed"), pl.col("critical").fill_null(value=False)
    return rows.group_by("run").agg(
        pl.len().alias(f"n_{name}"),
        passed.sum().alias(f"passed_{name}"),
        (~passed).sum().alias(f"failed_{name}"),
        passed.filter(critical).all(ignore_nulls=False).alias(f"gate_{name}"),
    )


def _missing_is_open(gate: str, n: str) -> pl.Expr:
    """The gate of what is left; where nothing is, nothing is in the way."""
    import polars as pl

    return pl.when(pl.col(n).is_null()).then(statement=True).otherwise(gate)


def _of_new(new: Sequence[tuple[bool, Sequence[Verdict]]]) -> list[pl.Expr]:
    """How many of the new checks passed and failed in each run, and their gate."""
    import polars as pl

    marks = [pl.Series([one.passed for one in verdicts], dtype=pl.Boolean) for _, verdicts in new]
    critical = [one for one, (is_critical, _) in zip(marks, new, strict=True) if is_critical]
    return [
        pl.sum_horizontal(pl.lit(0), *(pl.lit(one) for one in marks)).alias("passed_new"),
        pl.sum_horizontal(pl.lit(0), *(pl.lit(~one) for one in marks)).alias("failed_new"),
        pl.all_horizontal(pl.lit(value=True), *(pl.lit(one) for one in critical)).alias("gate_new"),
    ]


def gates_changed(by_run: pl.DataFrame) -> int:
    """How many runs would be let through to the judge that were not, or the other way round."""
    was, now = open_gate(GATE + BEFORE), open_gate(GATE + AFTER)
    return by_run.select((was != now).sum()).item()
