"""From figures to a decision: all figures of a page, the next step, and planned looks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from skill_eval_nb.tables import Workspace, load
from skill_eval_nb.tables.columns import to_backend_of
from skill_eval_nb.workspace.jobs import read_settings

from .comparison import SCOPES
from .deltas import answer_deltas, ask_deltas, deltas, deltas_by_eval
from .lean import DESIGN
from .looks import COMPARISON, Looks, check_looks, find_iterations, find_jobs, take_looks
from .pairing import Versus
from .values import (
    EVAL,
    GROUP,
    ITERATION,
    SIDES,
    check_level,
    headline_of,
    metrics_of,
    runs_of,
    secondary_level,
    secondary_metrics,
    statistic,
    values_of,
)
from .verdict import Answer, Both, Row, limit_by_suite, say_answer, word_of

LEVEL = 0.95
"""Of the headline of a page; the others have `secondary_level`."""


def explain_adjustment(headline: str) -> str:
    """How the figures of a page are adjusted, in a sentence or two.

    >>> explain_adjustment("pass rate")[:34]
    'The pass rate is the headline. The'
    """
    alpha = 1 - secondary_level(LEVEL)
    return (
        f"The {headline} is the headline. The other metrics and the rubric dimensions are "
        f"corrected for multiple comparisons (Westfall and Young; p ≤ {alpha:g}, "
        f"{100 - 100 * alpha:g} % intervals). An interval that ends at 0 excludes 0 itself where "
        "there is a verdict."
    )


def compare_scopes(
    data: Any, metric: str | Sequence[str], baseline: str | None = None, **how: Any
) -> list[Both]:
    """The rows of `deltas` of each comparison: about these evals, and about tasks like these.

    What these evals do not bear out is not claimed of tasks like these.
    """
    rows = (deltas(data, metric, baseline, scope=scope, **how).to_dicts() for scope in SCOPES)
    return [(these, limit_by_suite(these, beyond)) for these, beyond in zip(*rows, strict=True)]


def compare_page(
    ws: Workspace,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    others: bool | None = None,
) -> list[Both]:
    """The rows of `deltas` of every metric of a page: about these evals, and tasks like these.

    Args:
        ws: what was loaded.
        baseline: as for `deltas`, and so is `versus`.
        versus: two configurations or two iterations.
        others: False for the headline alone, True for all metrics but it.

    Returns:
        Rows of `deltas`, two a comparison, each with the p that decides in `p_adjusted`. Where
        tasks like these would have a claim that these evals do not bear out, there is none.
    """
    found = (
        both
        for metrics, of in _list_tests(ws, others)
        for both in compare_scopes(ws, metrics, baseline, versus=versus, level=of)
    )
    return [
        ({"p_adjusted": row["p"], **row}, {"p_adjusted": other["p"], **other})
        for row, other in found
    ]


def overview(ws: Workspace, baseline: str | None = None, **how: Any) -> list[Row]:
    """The rows of `compare_page` one by one: these evals first, then tasks like these."""
    return [row for rows in zip(*compare_page(ws, baseline, **how), strict=True) for row in rows]


def answer_headline(ws: Workspace) -> list[Answer]:
    """What every comparison says of the headline, in sentences."""
    return [say_answer(*both) for both in compare_page(ws, others=False)]


def overview_by_eval(
    ws: Workspace,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    others: bool | None = None,
) -> list[Row]:
    """The rows of `deltas_by_eval` of every metric of a page; as `compare_page`.

    The others allow for the number of evals and of metrics (Benjamini and Hochberg).
    """
    return [
        row
        for metrics, of in _list_tests(ws, others)
        for row in deltas_by_eval(ws, metrics, baseline, versus=versus, level=of).to_dicts()
    ]


def _list_tests(ws: Workspace, others: bool | None) -> list[tuple[str | list[str], float]]:
    """Metrics that are asked about together, and at which level; also those without a figure."""
    tests: list[tuple[str | list[str], float]] = [(headline_of(metrics_of(ws)), LEVEL)]
    tests.append((secondary_metrics(ws), secondary_level(LEVEL)))
    return tests if others is None else [tests[others]]


@statistic
def next_step(
    data: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    level: float = 0.95,
    cluster: str | Mapping[str, str] | None = None,
) -> Any:
    """The cheapest additions that would give a verdict if there is none, as two designs each.

    More runs decide *these evals*; more evals decide *tasks like these*. Runs are enough if two
    thirds of the difference would be found with 80 % power, with the run noise of public
    benchmarks and of these runs (see `stats.lean`). Evals are enough if the sign flip decides in
    80 % of simulated futures that keep the existing evals. Up to 12 runs per side and 24 evals
    are tried.

    Args:
        data: a `Workspace` or a table of runs (polars or pandas).
        metric: as for `deltas`; so are the other arguments.
        baseline: the configuration to compare against.
        versus: two configurations or two iterations, the baseline last.
        level: 1 - alpha.
        cluster: which evals belong together; then nothing can be proposed for tasks like these.

    Returns:
        In the kind of `data`, two rows a comparison and scope without a verdict:

        - the keys of `deltas`, `configuration`, `baseline`, `metric`, `scope`, `verdict`;
        - `what`: `runs` or `evals`, or `none` if no usual addition decides;
        - `difference`: `as seen`, or `half` of it; the design is for that;
        - `n_evals` in all and `n_runs` of each a side, `new_runs` on both sides together; null
          if none decides;
        - `price_usd` and `seconds` of these, one after the other, as runs here cost and took;
        - `next_step`: both designs in words.

        No row where not even that can be told; `deltas` has it in words.

    Raises:
        ValueError: as `deltas`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2"], "configuration": ["with_skill", "baseline"] * 2,
    ...     "pass_rate": [1.0, 0.6, 1.0, 0.4], "passed": [5, 3, 5, 2], "failed": [0, 2, 0, 3],
    ... })
    >>> next_step(runs).filter(scope="suite").select("difference", "n_runs", "new_runs").rows()
    [('as seen', 4, 12), ('half', 10, 36)]
    """
    import polars as pl

    values, how = values_of(data, metric), {"level": level, "cluster": cluster}
    each = (ask_deltas(data, baseline, versus, scope=scope, **how) for scope in SCOPES)
    found = pl.concat(answer_deltas(asked, values) for asked in each)
    keys = [*GROUP, *SIDES, "metric", "scope", "verdict"]
    steps = found.drop_nulls("designs").select(*keys, "next_step", "designs").explode("designs")
    return steps.unnest("designs").select(*keys, *DESIGN, "next_step")


NEW_EVAL = "NEW-EVAL"
"""What stands in a command for each eval that is still to be written."""


def say_how(ws: Workspace, answer: Answer, *, named: bool) -> list[tuple[str, str]]:
    """The next steps of an answer in sentences, each with the command that does it, else "".

    Of evals that another tool has run the command makes all runs again, and the sentence says so.

    Args:
        ws: the workspace that is answered for.
        answer: what is said of a comparison.
        named: whether the command calls folders by their names alone.
    """
    said, folders = [], find_iterations(ws)
    for step, row in answer.next_steps:
        runs, beyond = row["next_runs"], row["scope"] == "population"
        home = folders.get(tuple(row[name] for name in ITERATION))
        known = {name: row[name] for name in ("workspace", "skill")}
        evals = ws.polars("evals").filter(**known)["eval_id"].to_list() or ["any"]
        command, anew = "", ""
        if runs and home is not None:
            settings = read_settings(home)
            only = {"evals": [NEW_EVAL]} if beyond else {}
            settings = settings._replace(asked={**settings.asked, **only})
            command = settings.word_command(runs, evals, named=named)
        if runs and not (command or beyond):
            made = (row["skill"], "--runs", str(runs), "--executor", "claude-code")
            command = shlex.join(("skill-eval-nb", "run", *made, "--executor-model", "MODEL"))
            anew = " With this tool, which runs everything from scratch:"
        plain = command.isprintable() and "`" not in command  # names come from files
        said.append((step + anew, command) if plain else (step, ""))
    return said


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
        raise ValueError("no looks were planned for these runs: give them, as looks=(2, 4, 6, 10)")
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
    return to_backend_of(data, pl.concat(found))


def decide_look(workspace: Path, iteration: int, looks: Looks, runs: int) -> str | None:
    """What an iteration's look at so many runs a side decides, in a sentence; None for nothing.

    Of several comparisons each has to be decided.
    """
    import polars as pl

    ws = load(workspace).select(iteration=f"iteration-{iteration}")
    answer = partial(deltas, metric=headline_of(metrics_of(ws)))
    found = take_looks(ws, looks, LEVEL, answer).filter(pl.col("look") <= runs)
    ended = found.filter("decides").to_dicts()
    if not ended or len(ended) < found.select(SIDES).n_unique():
        return None
    return " ".join(
        f"{row['configuration']} {word_of(row['verdict'], row['metric'])}: {row['reason']}"
        for row in ended
    )
