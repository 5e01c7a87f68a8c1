"""Planned looks (group sequential): how alpha is spent on them, and what each of them says.

Looking again after each run, until something shows, claims falsely in 13 to 16 % of cases. Where
the looks are planned, each spends a part of alpha, and all of them together no more than one look
would (Pocock 1977; Lan and DeMets 1983): the sum of the parts bounds a false claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.columns import TABLES
from skill_eval_nb.text import count, figure, quoted, some
from skill_eval_nb.workspace.jobs import JobRecord, read_job

from .checks import SIDES
from .comparison import TINY
from .confounds import DECIDED
from .values import (
    EVAL,
    GROUP,
    ITERATION,
    RUN,
    headline_of,
    is_table,
    metrics_of,
    rows_of_runs,
    runs_by_model,
    runs_of,
)
from .verdict import Row

if TYPE_CHECKING:
    import polars as pl

Looks = Sequence[int]
"""Runs of each eval on either side, at which there is a look; the last has them all."""
Answer = Callable[[Any, float], "pl.DataFrame"]
"""What `deltas` says of these data at this level."""


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

    The smallest p of n evals with k runs a side is 2 / C(2k, k)^n, where all figures differ.

    Raises:
        ValueError: they are no growing whole numbers, or no look before the last could decide.
    """
    whole = all(isinstance(runs, int) and not isinstance(runs, bool) for runs in looks)
    if not whole or len(looks) < 2 or looks[0] < 1 or sorted(set(looks)) != list(looks):
        raise ValueError(
            f"looks is {looks!r}; it is two or more growing numbers of runs, as in (2, 4, 6, 10)"
        )
    alpha = least = 0.0
    for runs, own in zip(looks[:-1], spend_alpha(looks, level), strict=False):
        alpha += own
        least = 2 / math.comb(2 * runs, runs) ** n_evals if runs > 1 else 1.0
        if least <= alpha + TINY:
            return
    raise ValueError(
        f"no look before the last can decide anything: of {count(n_evals, 'eval')} with "
        f"{count(looks[-2], 'run')} a side the smallest p is {figure(least)}, and {figure(alpha)} "
        "is asked for. Take later looks or more evals, or plan `runs` without looks"
    )


def find_jobs(data: Any) -> dict[tuple[str, str, str], JobRecord]:
    """By iteration, what its journal says, of those that have one; none of a table."""
    if is_table(data) or not data.path:
        return {}
    first = runs_of(data).drop_nulls("path").unique(ITERATION, keep="first", maintain_order=True)
    found = {}
    for *names, path in first.select(*ITERATION, "path").iter_rows():
        folders = Path(data.path, path).parents
        home = next((folder for folder in folders if folder.name == names[2]), None)
        record = read_job(home) if home is not None else JobRecord()
        if record != JobRecord():
            found[tuple(names)] = record
    return found


def take_looks(data: Any, looks: Looks, level: float, answer: Answer) -> Iterator[dict[str, Any]]:
    """A row a comparison × look: that of `answer` on the first runs, at the level of the look.

    With `look`; `alpha`, what earlier looks passed on included; `decides`; `standing`, whether
    this is the look that the verdict is of: the one that decided, else the last. Both it and the
    figures are None where the look is not reached, or was not needed any more.
    """
    passed_on: dict[tuple[Any, ...], float] = {}
    decided: dict[tuple[Any, ...], str] = {}
    for runs, own in zip(looks, spend_alpha(looks, level), strict=True):
        part = take_first_runs(data, runs)
        name_lacking = _find_lacking(part, runs)
        known: dict[float, list[dict[str, Any]]] = {}
        for place, key in enumerate(map(_key, answer(part, 1 - own).to_dicts())):
            alpha = passed_on.pop(key, 0.0) + own
            if alpha not in known:
                known[alpha] = answer(part, 1 - alpha).to_dicts()
            row = known[alpha][place] | {"look": runs, "alpha": alpha}
            word, ends = row["verdict"], runs == looks[-1]
            if why := decided.get(key) or name_lacking(row):
                nothing = dict.fromkeys(("alpha", "estimate", "low", "high", "p", "verdict"))
                yield row | nothing | {"reason": why, "decides": False, "standing": False}
                continue
            if word in DECIDED:
                decided[key] = f"Decided at {count(runs, 'run')} a side."
            elif (word or "").startswith("too few") and not ends:
                passed_on[key] = alpha
                row["reason"] += " What this look has of alpha goes to the next."
            yield row | {"decides": word in DECIDED, "standing": word in DECIDED or ends}


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*GROUP, *SIDES, "metric"))


def take_first_runs(data: Any, runs: int) -> Any:
    """The data with the first so many runs of each eval on each side, by their numbers."""
    import polars as pl

    numbers = pl.col("run_number").rank("dense")
    every = runs_by_model(data).with_columns(place=numbers.over(*GROUP, *EVAL, "configuration"))
    first = every.filter(pl.col("place") <= runs).select(RUN)

    def part(frame: pl.DataFrame) -> pl.DataFrame:
        if not set(RUN) <= set(frame.columns):
            return frame
        return frame.join(first, RUN, how="semi", nulls_equal=True, maintain_order="left")

    if is_table(data):
        table = "rubric_scores" if "dimension" in data.columns else "runs"
        return part(rows_of_runs(data, table))
    return Workspace(
        lambda texts: {name: part(data.polars(name)) for name in (TABLES if texts else ("runs",))}
    )


def _find_lacking(part: Any, runs: int) -> Callable[[Row], str]:
    """What says which evals of a comparison lack runs of a look; "" where none does."""
    import polars as pl

    keys = [*GROUP, *EVAL]
    cells = runs_by_model(part).group_by(*keys, "configuration").agg(n=pl.len())
    few = cells.filter((pl.col("n") < runs).any().over(keys)).sort(*EVAL, "configuration")

    def name_lacking(row: Row) -> str:
        own = few.filter(
            *(pl.col(name).eq_missing(pl.lit(row[name])) for name in GROUP),
            pl.col("configuration").is_in([row[side] for side in SIDES]),
        )
        both = own.filter(pl.len().over(EVAL) == len(SIDES), pl.col("n") < runs)
        lacks = [
            f"{quoted(name)} has {n} of {runs} of {side}"
            for name, side, n in both.select("eval_name", "configuration", "n").iter_rows()
        ]
        return f"This look is not reached: {some(lacks)}." if lacks else ""

    return name_lacking if few.height else lambda _: ""


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
        answer: gives such rows of other data; None where planned looks are not about them.
    """
    import polars as pl

    jobs = find_jobs(data)
    if not jobs:
        return found
    standing: dict[Any, Row] = {}
    if answer is not None and set(found["metric"]) == {headline_of(metrics_of(data))}:
        for looks in {record.looks for record in jobs.values()} - {()}:
            for row in take_looks(data, looks, level, answer):
                if row["standing"] or row["alpha"] is None:  # decides, is the last, or lacks runs
                    standing.setdefault((looks, _key(row)), row)
    rows = []
    for row in found.to_dicts():
        job = jobs.get(tuple(row[name] for name in ITERATION), JobRecord())
        rows.append(_settle(row, job.at_it, standing.get((job.looks, _key(row)))))
    return pl.DataFrame(rows, found.schema)


def _settle(row: Row, at_it: str | None, look: Row | None) -> Row:
    """The row of the look that stands; without a verdict where there is none before a later one."""
    when = None if at_it is None else f"the job ends ({at_it})"
    if look is not None:
        when = f"the planned look at {count(look['look'], 'run')} a side"
    if when is None:
        return row
    if look is None or not look["standing"]:
        why, row = f"So far, and without a verdict before {when}.", {**row, "verdict": None}
    else:
        row = look
        why = f"Decided at {when}." if look["decides"] else f"{when.capitalize()} was the last."
    warnings = {"warnings": [why, *row["warnings"]]} if "warnings" in row else {}
    return {**row, "reason": f"{why} {row['reason']}", **warnings}
