"""Expectations that come out otherwise in the second of two iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skill_eval_nb import stats
from skill_eval_nb.stats.pairing import turned
from skill_eval_nb.tables import Workspace

from .two import Two

if TYPE_CHECKING:
    import polars as pl

Turn = Literal["newly failing", "less often", "newly passing", "more often", "as before", "unknown"]
FLIPS: tuple[Turn, ...] = ("newly failing", "newly passing")
MOVES: tuple[Turn, ...] = ("less often", "more often")


class CheckKey(NamedTuple):
    """What an expectation is known by in a skill's workspace: values that JSON has, too."""

    eval_id: str
    layer: str
    expectation_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation under one configuration, in both iterations.

    Attributes:
        key: which it is.
        eval_name: the eval's name.
        critical: whether failing it fails the gate.
        rates: how often it passed in the first and in the second; None where it has no verdict.
        counts: passed and scored, in the first and in the second.
        turn: what became of it.
        p: exact, of the difference, and allowing for the number of expectations; None where
            one side has no verdict.
    """

    key: CheckKey
    eval_name: str
    critical: bool
    rates: tuple[float | None, float | None]
    counts: tuple[tuple[int, int], tuple[int, int]]
    turn: Turn
    p: float | None


def checks(part: Workspace, two: Two) -> dict[str, list[Check]]:
    """Every expectation by configuration, what fell furthest first.

    The second iteration is compared with the first as a configuration is with its baseline,
    so the figures are those of `stats.discrimination_by_eval`.
    """
    tables = {name: turned(part.polars(name)) for name in ("runs", "expectations")}
    rows = stats.discrimination_by_eval(Workspace.from_tables(tables), two.a).to_dicts()
    found: dict[str, list[Check]] = {}
    for row in rows:
        found.setdefault(row["iteration"], []).append(_check(row, two))
    return {name: sorted(of, key=_furthest_first) for name, of in found.items()}


def _furthest_first(check: Check) -> float:
    before, after = check.rates
    return 0.0 if before is None or after is None else after - before


def _check(row: dict[str, Any], two: Two) -> Check:
    second = row["configuration"] == two.b
    now = (row["n_passed"], row["n_passed"] + row["n_failed"])
    then = (row["n_passed_baseline"], row["n_passed_baseline"] + row["n_failed_baseline"])
    if not second:  # the first iteration stands alone: nothing of the second is there
        then, now = now, (0, 0)
    rates = (row["baseline_pass_rate"], row["pass_rate"]) if second else (row["pass_rate"], None)
    key = CheckKey(row["eval_id"], row["layer"], row["expectation_id"], row["text"])
    return Check(
        key,
        row["eval_name"],
        bool(row["critical"]),
        rates,
        (then, now),
        turn(*rates),
        row["p_adjusted"],
    )


def turn(before: float | None, after: float | None) -> Turn:
    """What became of an expectation, by the share of runs that it passed in.

    It flipped where most runs passed before and fewer than half do now, or the other way.

    >>> turn(1.0, 0.0), turn(1.0, 0.5), turn(0.25, 0.75), turn(1.0, 1.0), turn(None, 1.0)
    ('newly failing', 'less often', 'newly passing', 'as before', 'unknown')
    """
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "as before"
    if after < before:
        return "newly failing" if before > 0.5 > after else "less often"
    return "newly passing" if before < 0.5 < after else "more often"


def of_check(frame: pl.DataFrame, key: CheckKey) -> pl.DataFrame:
    """The rows of an expectation in `expectations`: by its id where it has one, else its text."""
    import polars as pl

    rows = frame.filter(pl.col("eval_id") == key.eval_id, pl.col("layer") == key.layer)
    same_text = pl.col("text") == key.text
    if key.expectation_id is None:
        return rows.filter(same_text)
    own = pl.col("expectation_id")
    return rows.filter((own == key.expectation_id) | (own.is_null() & same_text))
