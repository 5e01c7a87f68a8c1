"""Planned looks (group sequential): how alpha is spent on them, and what each of them says.

Looking again after each run, until something shows, claims falsely in 13 to 16 % of cases. Where
the looks are planned, each spends a part of alpha, and all of them together no more than one look
would (Pocock 1977; Lan and DeMets 1983): the sum of the parts bounds a false claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.columns import TABLES
from skill_eval_nb.text import count, format_figure
from skill_eval_nb.workspace.jobs import JobRecord, read_job

from .comparison import TINY
from .confounds import DECIDED, TOO_FEW
from .values import (
    EVAL,
    GROUP,
    ITERATION,
    RUN,
    SIDES,
    headline_of,
    is_table,
    metrics_of,
    rows_of_runs,
    runs_by_model,
    runs_of,
)
from .verdict import ADDITIONS, Row

if TYPE_CHECKING:
    import polars as pl

Looks = Sequence[int]
"""Runs of each eval on either side, at which there is a look; the last has them all."""
Answer = Callable[..., "pl.DataFrame"]
"""What `deltas` says of these data at this `level`."""


def spend_alpha(looks: Looks, level: float = 0.95) -> list[float]:
    """What each look spends of alpha: as 1, 2, 3, … , and 1 - level in all.

    Early looks are to decide only what is plain, so that the last has most of it left.

    >>> [round(alpha, 4) for alpha in spend_alpha((2, 4, 6, 10))]
    [0.005, 0.01, 0.015, 0.02]
    """
    whole = math.comb(len(looks) + 1, 2)
    return [(1 - level) * place / whole for place in range(1, len(looks) + 1)]


def check_looks(looks: Looks, n_evals: int, level: float = 0.95) -> None:
    """See to it that looks can be planned over so many evals.

    The smallest p of n evals with k runs a side is 2 / C(2k, k)^n, if all figures differ.

    Raises:
        ValueError: they are no growing whole numbers, or no look before the last could decide.
    """
    whole = all(isinstance(runs, int) and not isinstance(runs, bool) for runs in looks)
    if not whole or len(looks) < 2 or looks[0] < 1 or sorted(set(looks)) != list(looks):
        raise ValueError(
            f"looks is {looks!r}; it must be two or more increasing numbers, such as (2, 4, 6, 10)"
        )
    alpha = least = 0.0
    for runs, own in zip(looks[:-1], spend_alpha(looks, level), strict=False):
        alpha += own
        least = 2 / math.comb(2 * runs, runs) ** n_evals if runs > 1 else 1.0
        if least <= alpha + TINY:
            return
    raise ValueError(
        f"no look before the last can decide anything: of {count(n_evals, 'eval')} with "
        f"{count(looks[-2], 'run')} per side the least p is {format_figure(least)}, and "
        f"{format_figure(alpha)} is required. Plan later looks or more evals, or give `runs` and "
        "no looks"
    )


def find_jobs(data: Any) -> dict[tuple[str, str, str], JobRecord]:
    """By iteration, what its journal says, of those that have one; none of a table."""
    records = {names: read_job(folder) for names, folder in find_iterations(data).items()}
    return {names: record for names, record in records.items() if record != JobRecord()}


def find_iterations(data: Any) -> dict[tuple[str, str, str], Path]:
    """The folder of each iteration that lies in one of its name; none of a table."""
    if is_table(data) or not data.path:
        return {}
    first = runs_of(data).drop_nulls("path").unique(ITERATION, keep="first", maintain_order=True)
    found: dict[tuple[str, str, str], Path] = {}
    for workspace, skill, name, path in first.select(*ITERATION, "path").iter_rows():
        for folder in Path(data.path, path).absolute().parents:
            if folder.name == name:
                found.setdefault((workspace, skill, name), folder)
    return found


COMPARISON = [*GROUP, *SIDES, "metric"]


def take_looks(data: Any, looks: Looks, level: float, answer: Answer) -> pl.DataFrame:
    """One row per comparison and look: `answer` on the first runs, at the level of the look.

    With `look`; `alpha`, what earlier looks passed on included; `decides`; `stands`, whether this
    is the look that the verdict is of: the one that decided, else the last. Both, and the figures,
    are null if the look is not reached, or not needed any more.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    passed_on: dict[Any, float] = {}
    decided: dict[Any, str] = {}
    own = {"look": pl.Int64, "alpha": pl.Float64, "decides": pl.Boolean, "stands": pl.Boolean}
    nothing = dict.fromkeys((*own, "estimate", "low", "high", "p", "verdict"))
    types = {}
    for runs, spent in zip(looks, spend_alpha(looks, level), strict=True):
        part, name_lacking = take_first_runs(data, runs)
        known = {spent: answer(part, level=1 - spent)}
        types = own | known[spent].schema
        for place, key in enumerate(known[spent].select(COMPARISON).rows()):
            alpha = passed_on.pop(key, 0.0) + spent
            if alpha not in known:
                known[alpha] = answer(part, level=1 - alpha)
            row = known[alpha].row(place, named=True)
            if why := decided.get(key, "") or name_lacking(row):
                rows.append(row | nothing | {"look": runs, "reason": why})
                continue
            decides, ends = row["verdict"] in DECIDED, runs == looks[-1]
            if decides:
                decided[key] = f"Decided at {count(runs, 'run')} per side."
            elif row["verdict"] in TOO_FEW and not ends:
                passed_on[key] = alpha
                row["reason"] += " The alpha of this look passes to the next."
            said = (runs, alpha, decides, decides or ends)
            rows.append(row | dict(zip(own, said, strict=True)))
    found = pl.DataFrame(rows, types)
    return pl.concat(found.partition_by(COMPARISON, maintain_order=True) or [found])


def take_first_runs(data: Any, runs: int) -> tuple[Any, Callable[[Row], str]]:
    """The data with the first so many runs of each eval on each side, by their numbers.

    And what says why a comparison of `deltas` lacks some of them; "" if it does not.
    """
    import polars as pl

    cell = [*GROUP, *EVAL, "configuration"]
    place = pl.col("run_number").rank("dense").over(cell)
    first = runs_by_model(data).filter(place <= runs)
    few = first.filter(pl.len().over(cell) < runs).select(*GROUP, "configuration").unique().rows()

    def name_lacking(row: Row) -> str:
        keys = ((*(row[name] for name in GROUP), row[side]) for side in SIDES)
        lacks = [key[-1] for key in keys if key in few]
        return f"Not reached: an eval lacks {runs} runs of {' or '.join(lacks)}." if lacks else ""

    def keep_first(frame: pl.DataFrame) -> pl.DataFrame:
        is_of_runs = set(RUN) <= set(frame.columns)
        return frame.join(first, RUN, how="semi", nulls_equal=True) if is_of_runs else frame

    if is_table(data):
        table = "rubric_scores" if "dimension" in data.columns else "runs"
        return keep_first(rows_of_runs(data, table)), name_lacking
    tables = {name: keep_first(data.polars(name)) for name in TABLES}
    return Workspace.from_tables(tables), name_lacking


def settle_looks(
    found: pl.DataFrame, data: Any, level: float, answer: Answer | None = None
) -> pl.DataFrame:
    """Rows of `deltas` of iterations that are being run, or were with planned looks.

    While a job is at work there is no verdict, unless a planned look has decided. Where looks
    were planned, the row is that of the look that decided, or of the last.

    Args:
        found: the rows.
        data: what they are of.
        level: what was asked for.
        answer: gives such rows of other data; None if planned looks are not about them.
    """
    import polars as pl

    jobs = find_jobs(data)
    if not jobs:
        return found
    standing: dict[Any, Row] = {}
    if answer is not None and set(found["metric"]) == {headline_of(metrics_of(data))}:
        for looks in {record.looks for record in jobs.values()} - {()}:
            for row in take_looks(data, looks, level, answer).iter_rows(named=True):
                if row["stands"] is not False:  # it decides, is the last, or lacks runs
                    standing.setdefault((looks, *(row[name] for name in COMPARISON)), row)
    rows = []
    for row in found.to_dicts():
        job = jobs.get(tuple(row[name] for name in ITERATION), JobRecord())
        key = (job.looks, *(row[name] for name in COMPARISON))
        rows.append(_settle_row(row, job.at_it, standing.get(key)))
    return pl.DataFrame(rows, found.schema)


def _settle_row(row: Row, at_it: str | None, look: Row | None) -> Row:
    """The row of the look that counts; without a verdict while a later look is still to come."""
    when = None if at_it is None else f"the job ends ({at_it})"
    if look is not None:
        when = f"the planned look at {count(look['look'], 'run')} per side"
    if when is None:
        return row
    if look is None or not look["stands"]:
        why = f"Interim figures: no verdict before {when}."
        row = {**row, **{name: None for name in ("verdict", *ADDITIONS) if name in row}}
    else:
        row = look
        why = f"Decided at {when}." if look["decides"] else f"{when.capitalize()} was the last."
    warnings = {"warnings": [why, *row["warnings"]]} if "warnings" in row else {}
    return {**row, "reason": f"{why} {row['reason']}", **warnings}
