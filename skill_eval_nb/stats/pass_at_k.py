"""The chance that one of k runs passes, or that all k do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .pairing import side
from .values import (
    EVAL,
    GROUP,
    in_order,
    natural,
    statistic,
    values_of,
)

if TYPE_CHECKING:
    import polars as pl


K_KEYS = [*GROUP, "configuration", "k"]


@statistic
def pass_at_k(data: Any, k: Sequence[int] = (1, 3, 5), threshold: float = 1.0) -> Any:
    """The chance that k runs of an eval pass at least once, and that they pass every time.

    With c passes in n runs, over all ways to draw k of them: pass@k = 1 - C(n-c, k) / C(n, k)
    (Chen et al., arXiv 2107.03374) and pass^k = C(c, k) / C(n, k) (Yao et al., tau-bench,
    arXiv 2406.12045). Each configuration's figure is the mean over its evals.

    Args:
        data: a `Workspace`, or a table of runs (polars or pandas).
        k: numbers of runs, at least 1.
        threshold: the pass rate at which a run passes; 1 if all expectations must pass.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration × k, and of
        each model and harness as for `deltas`: `pass_at_k` and `pass_hat_k` (0-1; null if no
        eval has k runs), `n_evals` (evals with k runs or more, which alone are averaged) and
        `n_evals_all` (evals with a run that has a pass rate). `pass_at_k_by_eval` has the evals.

    Raises:
        ValueError: for a k below 1.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"eval_id": "1", "pass_rate": [1.0, 1.0, 0.5]})
    >>> found = pass_at_k(runs.with_columns(configuration=pl.lit("with_skill")), k=[1, 2, 5])
    >>> found.select("k", pl.col("pass_at_k", "pass_hat_k").round(3), "n_evals").rows()
    [(1, 0.667, 0.667, 1), (2, 1.0, 0.333, 1), (5, None, None, 0)]
    """
    import polars as pl

    evals = _by_eval(data, k, threshold)
    return evals.group_by(K_KEYS, maintain_order=True).agg(
        pl.col("pass_at_k", "pass_hat_k").mean(),
        pl.col("pass_at_k").count().cast(pl.Int64).alias("n_evals"),
        pl.len().cast(pl.Int64).alias("n_evals_all"),
    )


@statistic
def pass_at_k_by_eval(data: Any, k: Sequence[int] = (1, 3, 5), threshold: float = 1.0) -> Any:
    """pass@k and pass^k of each eval.

    Args:
        data: as for `pass_at_k`.
        k: as for `pass_at_k`.
        threshold: as for `pass_at_k`.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration × k ×
        eval, and of each model and harness as for `deltas`: `n_passed`, `n_runs` (runs with a pass
        rate; the others enter nothing), `pass_at_k` and `pass_hat_k` (0-1, null for k > n_runs).
        Evals of which no run has a pass rate have no row.

    Raises:
        ValueError: as `pass_at_k`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"eval_id": ["1", "2"], "configuration": "x", "pass_rate": [1.0, 0.9]})
    >>> pass_at_k_by_eval(runs, k=[1], threshold=0.9)["pass_at_k"].to_list()
    [1.0, 1.0]
    """
    return _by_eval(data, k, threshold)


def _by_eval(data: Any, k: Sequence[int], threshold: float) -> pl.DataFrame:
    import polars as pl

    wanted = sorted(set(k))
    if wanted and wanted[0] < 1:
        raise ValueError(f"k counts runs, so it is at least 1, not {wanted[0]}.")
    passed = (pl.col("value") >= threshold - 1e-9).sum()
    evals = (
        values_of(data, "pass_rate")
        .drop_nulls("value")
        .group_by(*GROUP, *EVAL, "configuration")
        .agg(passed.cast(pl.Int64).alias("n_passed"), pl.len().cast(pl.Int64).alias("n_runs"))
    )
    counts = evals.select("n_passed", "n_runs").unique()
    chances = pl.DataFrame(
        [(c, n, many, *_chances(c, n, many)) for c, n in counts.iter_rows() for many in wanted],
        {
            **dict.fromkeys(("n_passed", "n_runs", "k"), pl.Int64),
            **dict.fromkeys(("pass_at_k", "pass_hat_k"), pl.Float64),
        },
        orient="row",
    )
    found = evals.join(chances, on=["n_passed", "n_runs"]).sort("k")
    order = {**dict.fromkeys(GROUP, natural), "configuration": side}
    by_eval = in_order(found, **dict.fromkeys(EVAL, natural)).sort("k", maintain_order=True)
    columns = [*K_KEYS, *EVAL, "n_passed", "n_runs", "pass_at_k", "pass_hat_k"]
    return in_order(by_eval, **order).select(columns)


def _chances(c: int, n: int, k: int) -> tuple[float | None, float | None]:
    """pass@k and pass^k for c passes in n runs.

    >>> _chances(c=1, n=3, k=2), _chances(c=1, n=3, k=4)
    ((0.6666666666666667, 0.0), (None, None))
    """
    from math import comb

    if k > n:
        return None, None
    return 1 - comb(n - c, k) / comb(n, k), comb(c, k) / comb(n, k)
