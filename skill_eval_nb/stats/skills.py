"""What each skill of a library does, by its newest iteration, and all on average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.documents.sides import is_earlier
from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.columns import TABLES
from skill_eval_nb.text import count, format_p, with_sign

from .comparison import OF_RATES, PairedResult, compare, fewest_moved
from .confounds import DECIDED, ERRORS_DECIDE
from .deltas import answer_deltas, ask_deltas, deltas
from .inference import benjamini_hochberg, holm_sidak
from .looks import settle_looks
from .values import (
    EVAL,
    GROUP,
    HEADLINE,
    ITERATION,
    SIDES,
    join_sides,
    order_iterations,
    runs_by_model,
    runs_of,
    values_of,
    worth_having,
)
from .verdict import LEANS, NO_LEAN, Row, beyond_comes_first, decide_verdict, sentence, take_back

if TYPE_CHECKING:
    import polars as pl

SKILL = ITERATION[:2]
COSTS = ("tokens", "cost_usd", "time_seconds")
"""What a run takes, the mean over the runs that say."""
OPEN = ("unclear", ERRORS_DECIDE)
"""Verdicts that could have been another one, besides DECIDED."""


def measure_skills(ws: Workspace, level: float = 0.95) -> pl.DataFrame:
    """What each skill does to its pass rate, by its newest iteration that compares anything.

    Each is a row of `deltas`, about these evals, or about tasks like these where only that can be
    told (each eval run once, six and more that differ). Of many skills some seem to help by luck:
    verdicts allow for all that could have been one (skills share no run, so their p are
    independent: Holm's step-down with Sidak's bound), leans for all leans (Benjamini and Hochberg).
    Intervals are each skill's own, but hold 0 if that took the claim back.

    Returns:
        As `report.library` says. No row for a skill of which no eval has a pass rate on both sides.
    """
    import polars as pl

    part = take_newest(ws)
    these = _first_deltas(part, "suite", level)
    unsaid = (pl.col("verdict") == "too few runs") & (pl.col("n_evals") >= fewest_moved(level))
    beyond = _first_deltas(_narrow(part, these.filter(unsaid)), "population", level)
    wide = {tuple(row[name] for name in (*GROUP, *SIDES)): row for row in beyond.to_dicts()}
    rows: list[Row] = []
    for row in these.to_dicts():
        other = wide.get(tuple(row[name] for name in (*GROUP, *SIDES)))
        if other is not None and beyond_comes_first(row, other):
            row |= {**other, **{name: row[name] for name in LEANS}}
        rows.append(row)
    able = pl.col("verdict").is_in([*DECIDED, *OPEN])
    found = pl.DataFrame(rows, these.schema).with_columns(
        p_adjusted=holm_sidak(pl.when(able).then("p")),
        lean_p_adjusted=benjamini_hochberg(pl.col("lean_p")),
    )
    found = pl.DataFrame(_allow_for_others(found.to_dicts(), level), found.schema)
    seen = pl.col("designs").list.first().struct
    costs = ("new_runs", "price_usd", "seconds")
    found = found.with_columns(seen.field(name).alias(name) for name in costs)
    return _join_runs(found.drop("designs"), part)


def rank_skill(row: Row) -> tuple[int, float]:
    """A sorting key: what is decided, then what leans, then the others, the largest first."""
    known = 0 if row["verdict"] in DECIDED else 1 if row["lean"] not in (None, NO_LEAN) else 2
    return known, -abs(row["estimate"])


def take_newest(ws: Workspace) -> Workspace:
    """The newest iteration of each skill, of those that compare pass rates if any does."""
    import polars as pl

    runs = runs_of(ws)
    sides = runs.drop_nulls(HEADLINE).group_by(*ITERATION, *EVAL)
    compared = sides.agg(pl.col("configuration").n_unique()).filter(pl.col("configuration") > 1)
    comparing = set(compared.select(ITERATION).rows())
    newest = []
    for suite, own in runs.group_by(SKILL, maintain_order=True):
        names = [(*suite, name) for name in order_iterations(own)]
        newest.append(([name for name in names if name in comparing] or names)[-1])
    return _narrow(ws, pl.DataFrame(newest, dict.fromkeys(ITERATION, pl.String), orient="row"))


def _narrow(ws: Workspace, keys: pl.DataFrame) -> Workspace:
    """The rows of every table that are of these iterations."""
    tables = {}
    for name in TABLES:
        frame = ws.polars(name)
        on = [key for key in ITERATION if frame.schema.get(key) == keys.schema[key]]
        tables[name] = frame.join(keys, on, how="semi", nulls_equal=True, maintain_order="left")
    return Workspace.from_tables(tables, ws.path)


def _first_deltas(ws: Workspace, scope: Any, level: float) -> pl.DataFrame:
    """The rows of `deltas` with `designs`: of each skill its first configuration that is paired."""
    import polars as pl

    asked = ask_deltas(ws, scope=scope, level=level)
    found = answer_deltas(asked, values_of(ws, HEADLINE))
    found = settle_looks(found, ws, level, deltas if scope == "suite" else None)
    first = pl.col("configuration") == pl.col("configuration").first().over(SKILL)
    return found.drop_nulls("estimate").filter(first)


def _allow_for_others(rows: Sequence[Row], level: float) -> list[Row]:
    """The rows without the claims and leans that do not hold up to the number of skills."""
    many = count(sum(row["p_adjusted"] is not None for row in rows), "skill")
    found = []
    for row in rows:
        change, own, of_lean = row, row["p_adjusted"], row["lean_p_adjusted"]
        if row["verdict"] in ("helps", "hurts") and own is not None and own > 1 - level:
            change = take_back(row, f"Not clear when corrected for {many} (p {format_p(own)})")
        if of_lean is not None and of_lean > 1 - level and row["lean"] != NO_LEAN:
            ends = {"lean_low": min(row["lean_low"], 0.0), "lean_high": max(row["lean_high"], 0.0)}
            change = {**change, "lean": NO_LEAN, **ends}
        found.append(change)
    return sorted(found, key=rank_skill)


def _join_runs(found: pl.DataFrame, ws: Workspace) -> pl.DataFrame:
    """The rows with what their evals tell, and what their runs take."""
    import polars as pl

    rate, key = pl.col(HEADLINE), [*GROUP, "configuration"]
    runs = runs_by_model(ws)
    costs = runs.group_by(key).agg(pl.col(COSTS).cast(pl.Float64).mean())
    found = join_sides(found, costs, GROUP)
    compared = pl.concat(found.select(*GROUP, configuration=side) for side in SIDES)
    evals = (
        runs.drop_nulls(HEADLINE)
        .join(compared, key, how="semi", nulls_equal=True)
        .group_by(*GROUP, *EVAL)
        .agg(
            n=pl.col("configuration").n_unique(),
            n_all_passed=(rate == 1).all(),
            n_silent=(rate == 1).all() | (rate == 0).all(),
        )
        .join(found.select(*GROUP, "unpaired"), GROUP, nulls_equal=True)
        .filter(pl.col("n") > 1, ~pl.col("eval_name").is_in(pl.col("unpaired")))
        .group_by(GROUP)
        .agg(pl.col("n_silent", "n_all_passed").sum().cast(pl.Int64))
    )
    return found.join(evals, GROUP, how="left", nulls_equal=True, maintain_order="left")


NOTHING, BEFORE = "no skill", "the version before"
"""What skills are held against."""
WHO = {NOTHING: "a skill like these", BEFORE: "a new version"}
"""What is held against it, in a sentence."""


class OverSkills(NamedTuple):
    """The answer over skills that are held against the same thing.

    Attributes:
        against: what that is.
        n_skills: how many there are, each of which counts once.
        estimate: their mean difference; None if none can have a verdict.
        low: the lower end of its interval; None if too few differ, and so `high` and `p`.
        high: the upper end.
        p: of the exact sign flip over skills.
        verdict: as that of `deltas`; `too few evals` means skills.
        claim: the answer in a sentence, with its figures.
        because: what it rests on, and what is known of each skill by itself.
    """

    against: str
    n_skills: int
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str | None
    claim: str
    because: str


def name_baseline(row: Row) -> str:
    """What the skill of a row is held against.

    >>> name_baseline({"baseline": "vanilla"}), name_baseline({"baseline": "old_skill"})
    ('no skill', 'the version before')
    """
    return BEFORE if is_earlier(row["baseline"]) else NOTHING


def average_skills(rows: Sequence[Row], level: float = 0.95) -> list[OverSkills]:
    """The mean over skills, the most skills first; one answer for each kind of baseline.

    Each skill counts once, as the mean of its rows (of several models, or workspaces that name the
    same skill), but for rows that can have no verdict. Skills are the units: the exact sign flip
    over them, and all means that it does not rule out (above 12 the paired t), as `deltas` has it
    for tasks like these. If it decides whether errored runs count as failures, that is said.

    Args:
        rows: of `measure_skills`.
        level: of the interval; alpha is 1 - level.

    >>> row = {"verdict": "too few runs", "lean": None, "baseline": "none", "estimate": 0.25}
    >>> print(average_skills([row | {"skill": name} for name in "abcdef"])[0].claim)
    A skill like these helps on average: +25 pp (exact p = 0.0312).
    """
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(name_baseline(row), []).append(row)
    found = [_average_skills(kind, own, level) for kind, own in kinds.items()]
    return sorted(found, key=lambda answer: -answer.n_skills)


def _average_skills(against: str, rows: Sequence[Row], level: float) -> OverSkills:
    able = [row for row in rows if row["verdict"] is not None]
    found, failed = (
        _compare_skills(able, level, name) for name in ("estimate", "estimate_with_errors")
    )
    n, worth = len({row["skill"] for row in able}), worth_having(HEADLINE, None)
    word, counted = (decide_verdict(each, HEADLINE, worth)[0] for each in (found, failed))
    if word != counted:
        worse_p = max(each.p or 0.0 for each in (found, failed))
        word, found = ERRORS_DECIDE, replace(found, low=None, high=None, p=worse_p)
    claim = sentence(word, HEADLINE, WHO[against], "average").replace("few evals", "few skills")
    claim = claim[0].upper() + claim[1:]
    if n < 2:
        claim = f"One skill is compared with {against}" if n else "No skill here can have a verdict"
    figures, because = "", f"Each of {count(n, 'skill')} counts once."
    p = found.p if found.sufficient else None
    if p is None:
        because += f" It takes {fewest_moved(level)} that differ from their baseline; "
        because += f"{found.moved} {'does' if found.moved == 1 else 'do'}."
    elif word == ERRORS_DECIDE:
        because += f" Counting errors as failures: {with_sign(100 * (failed.estimate or 0))} pp."
    else:
        ends = [with_sign(100 * end) for end in (found.low, found.high) if end is not None]
        figures = f" ({'; '.join(filter(None, (' to '.join(ends), f'exact p {format_p(p)}')))})"
    if found.estimate is not None:
        claim += f": {with_sign(100 * found.estimate)} pp{figures}"
    if left := len(rows) - len(able):
        because += f" Not counted, since they can have no verdict: {left:,} of {len(rows):,}."
    figures = found.estimate, found.low, found.high, p
    return OverSkills(against, n, *figures, word, f"{claim}.", because + _say_each(rows))


def _compare_skills(rows: Sequence[Row], level: float, figure: str) -> PairedResult:
    """Skills as evals, by their mean difference; by `estimate` where a row has no such figure."""
    units: dict[str, list[float]] = {}
    for row in rows:
        own = row.get(figure)
        units.setdefault(row["skill"], []).append(row["estimate"] if own is None else own)
    return compare([(own, [0.0]) for own in units.values()], "population", level, reach=OF_RATES)


def _say_each(rows: Sequence[Row]) -> str:
    """What is known of each of several by itself, in a sentence."""
    if len(rows) < 2:
        return ""
    met = Counter(row["verdict"] if row["verdict"] in DECIDED else row["lean"] for row in rows)
    known = [name for name in (*DECIDED, "leans up", "leans down") if name in met]
    each = [f"{name} {met.pop(name)}" for name in known]
    each += [f"undecided {met.total()}"] if met.total() else []
    return f" Individually: {', '.join(each)}."
