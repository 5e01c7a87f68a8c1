"""`sequential`: the verdict with planned looks, and what ends a job that was planned with them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from skill_eval_nb.tables import load
from skill_eval_nb.tables.frames import like

from .deltas import deltas
from .looks import COMPARISON, Looks, check_looks, find_jobs, take_looks
from .values import EVAL, ITERATION, SIDES, check_level, headline_of, metrics_of, runs_of
from .verdict import word_of

__all__ = ["check_looks", "decide_look", "sequential"]

COLUMNS = (
    *(*COMPARISON, "look", "n_evals", "n_runs", "n_runs_baseline", "alpha"),
    *("estimate", "low", "high", "p", "decides", "verdict", "reason"),
)


def sequential(
    data: Any,
    looks: Looks | None = None,
    metric: str = "pass_rate",
    baseline: str | None = None,
    *,
    worth: float | None = None,
    level: float = 0.95,
) -> Any:
    """The verdict at each planned look: on these evals, from the first runs of each.

    Each look is `deltas` (scope `suite`) of the first k runs of each eval per side, by their
    numbers. It has a share of alpha: in proportion 1, 2, 3, …, with the sum 1 - level, so .005,
    .010, .015 and .020 for four looks. The first decision stands. The sum bounds the chance of a
    false claim (Bonferroni), but only for looks planned before the first run.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        looks: increasing numbers of runs per side; if not given, those in the workspace's
            journal.
        metric: as for `deltas`; so are the other arguments.
        baseline: the configuration to compare against.
        worth: the smallest difference worth having, in the metric's unit.
        level: 1 - alpha over all looks.

    Returns:
        In the kind of `data`, a row a comparison of `deltas` × look:

        - `look`, the runs of each eval on either side that it is planned at; `n_evals`, `n_runs`
          and `n_runs_baseline`, what it rests on;
        - `alpha`, what its p is held to. A look whose smallest p that these figures could give is
          above it decides nothing, and passes it on to the next; so it may hold that of several;
        - `estimate`, `low`, `high` (at 1 - `alpha`), `p`, `decides`, `verdict`, `reason`. All
          but the reason, which says why, are null if an eval has not as many runs, and after
          the look that decided; so is `alpha`.

    Raises:
        ValueError: as `deltas`; where looks are not given and none were planned, are no growing
            numbers, or no look before the last can decide anything in any comparison.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": [str(eval_) for eval_ in range(4) for _ in range(12)],
    ...     "configuration": (["with_skill"] * 6 + ["without_skill"] * 6) * 4,
    ...     "run_number": [*range(1, 7)] * 8,
    ...     "pass_rate": [0.9, 1.0, 0.8, 0.9, 1.0, 1.0, 0.5, 0.4, 0.6, 0.5, 0.4, 0.5] * 4,
    ... })
    >>> sequential(runs, (2, 4, 6)).select("look", pl.col("alpha", "p").round(4), "verdict").rows()
    [(2, 0.0083, 0.0015, 'helps'), (4, None, None, None), (6, None, None, None)]
    """
    import polars as pl

    jobs = find_jobs(data)
    planned = {record.looks for record in jobs.values()} - {()} if looks is None else {tuple(looks)}
    if not planned:
        raise ValueError("no looks were planned for these runs: name them, as looks=(2, 4, 6, 10)")
    suites = runs_of(data).group_by(ITERATION).agg(n=pl.struct(EVAL).n_unique())
    answer, found = partial(deltas, metric=metric, baseline=baseline, worth=worth), []
    for own in sorted(planned):
        check_looks(own, max([1, *suites["n"]]), check_level(level))
        rows = take_looks(data, own, level, answer).select(COLUMNS)
        if looks is None:
            names = [key for key, job in jobs.items() if job.looks == own]
            mine = pl.DataFrame(names, rows.select(ITERATION).schema, orient="row")
            rows = rows.join(mine, ITERATION, how="semi", maintain_order="left")
        found.append(rows)
    return like(data, pl.concat(found))


def decide_look(workspace: Path, iteration: int, looks: Looks, runs: int) -> str | None:
    """What an iteration's look at so many runs a side decides, in a sentence; None for nothing.

    Of several comparisons each has to be decided.
    """
    import polars as pl

    ws = load(workspace).select(iteration=f"iteration-{iteration}")
    answer = partial(deltas, metric=headline_of(metrics_of(ws)))
    found = take_looks(ws, looks, 0.95, answer).filter(pl.col("look") <= runs)
    ended = found.filter("decides").to_dicts()
    if not ended or len(ended) < found.select(SIDES).n_unique():
        return None
    return " ".join(
        f"{row['configuration']} {word_of(row['verdict'], row['metric'])}: {row['reason']}"
        for row in ended
    )
