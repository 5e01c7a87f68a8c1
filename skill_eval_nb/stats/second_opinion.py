"""`second_opinion`: whether what a benchmark claims survives its own runs."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.document_rows import DELTA, RUNS_EACH
from skill_eval_nb.text import as_label, with_sign

from .audit import CONSISTENCY, HAIR, rounding_of
from .confounds import DECIDED
from .overview import compare_page
from .pairing import choose_baseline
from .values import (
    ITERATION,
    MODEL,
    better,
    check_workspace,
    in_polars,
    natural_key,
    sort_rows,
    statistic,
)
from .verdict import Answer, Both, Claim, Row, in_words, say_answer

if TYPE_CHECKING:
    import polars as pl

SURVIVES, UNTOLD, OTHER_WAY = OPINIONS = ("survives", "cannot be told", "goes the other way")
"""What becomes of a claim."""
NO_CLAIMS = ("tasks", "attempts", RUNS_EACH, CONSISTENCY)
"""What files state of how much was run, and of themselves."""


class StatedClaim(NamedTuple):
    """A difference that a file claims of an iteration.

    Attributes:
        home: workspace, skill, iteration.
        path: the file.
        agent: the harness or model that it is of, where the file has several; else "".
        metric: what differs.
        side: what is compared, None if the file does not say; if it states one side alone,
            this one.
        baseline: what it is compared with, else None.
        value: the difference; None if one side alone is stated.
        printed: as the file has it.
        half: half a unit of its last place.
    """

    home: tuple[str, ...]
    path: str
    agent: str
    metric: str
    side: str | None
    baseline: str | None
    value: float | None
    printed: str
    half: float


def find_claims(stated: pl.DataFrame) -> list[StatedClaim]:
    """Each difference that is claimed, and each mean that is stated of one side alone.

    A difference that a file states comes before that of its two means. One of 0 claims nothing.
    """
    import polars as pl

    rows = stated.filter(pl.col("statistic").is_in(["mean", "value"]), pl.col("value").is_finite())
    agent = pl.col("configuration").str.extract(r"^\S+ \((.+)\)$")
    is_delta = pl.col("configuration").str.starts_with(f"{DELTA} (")
    several = agent.is_in(agent.filter(is_delta).implode()).over("path")
    side = pl.col("configuration").str.extract(r"^(\S+)")
    rows = rows.with_columns(
        agent=pl.when(several).then(agent).fill_null(""),
        side=pl.when(several).then(side).otherwise("configuration"),
    )
    files: dict[tuple[Any, ...], dict[str, dict[str, Row]]] = defaultdict(dict)
    for row in rows.iter_rows(named=True):
        of_file = files[tuple(row[name] for name in (*ITERATION, "path", "agent"))]
        of_file.setdefault(row["metric"], {}).setdefault(row["side"], row)
    return [claim for file, own in files.items() for claim in _claims_of(file, own)]


def _claims_of(
    file: tuple[str, ...], metrics: Mapping[str, Mapping[str, Row]]
) -> Iterator[StatedClaim]:
    """What a file claims, of one agent: metric and side to the row that states it."""
    *home, path, agent = file
    sides = dict.fromkeys(side for own in metrics.values() for side in own if side != DELTA)
    baseline, _ = choose_baseline(sides)
    others = [side for side in sides if side != baseline]
    for metric, own in metrics.items():
        if metric in NO_CLAIMS:
            continue
        found: dict[str | None, list[Row]] = {side: [row] for side, row in own.items()}
        against = baseline if baseline in own and len(own) > 1 else None
        if delta := own.get(DELTA):
            against = baseline if len(others) == 1 else None
            found = {others[0] if against else None: [delta]}
        elif against:
            found = {side: [row, own[against]] for side, row in own.items() if side != against}
        for side, stated in found.items():
            first, *other = (row["value"] for row in stated)
            value = first - sum(other) if delta or against else None
            if value is None or abs(value) > HAIR:
                printed = " against ".join(row["printed"] for row in stated)
                half = math.fsum(rounding_of(row["printed"], row["value"]).half for row in stated)
                about = tuple(home), path, agent, metric, side, against
                yield StatedClaim(*about, value, printed, half)


def find_comparisons(claim: StatedClaim, compared: Sequence[Both]) -> Iterator[Both]:
    """The comparison that a claim is about, on these evals and beyond, for each model that ran it.

    It is that of the sides that the file names, else the nearest one, which favours the claim.

    Args:
        claim: the claim; one side alone is about no comparison.
        compared: those of `compare_page` of its iteration and metric.
    """
    stated = claim.value
    if stated is None:
        return

    def distance(both: Both) -> tuple[bool, float]:
        row, estimate = both[0], both[0]["estimate"]
        far = math.inf if estimate is None else abs(estimate - stated)
        return (row["configuration"], row["baseline"]) != (claim.side, claim.baseline), far

    nearest: dict[Any, Both] = {}
    for both in compared:
        model = tuple(both[0][name] for name in MODEL)
        nearest[model] = min(nearest.get(model, both), both, key=distance)
    for model, both in nearest.items():
        if not claim.agent or _bare_name(claim.agent) in map(_bare_name, model):
            yield both


def _bare_name(name: str | None) -> str:
    """A name of a harness as one compares it: a card says `Claude Code` of `claude-code`."""
    return re.sub(r"\W|_", "", name or "").casefold()


def judge_claim(claim: StatedClaim, first: Claim) -> tuple[str, str]:
    """The opinion, and why, by what every page says of the comparison first."""
    row, claimed = first.row, claim.value or 0.0
    sign = math.copysign(1, claimed)
    more = {"helps": 1, "hurts": -1}.get(row["verdict"], 0)
    more *= -1 if better(claim.metric) == "less" else 1
    said, stated = f"{first.words}. {row['reason']}", in_words(claimed, claim.metric, with_sign)
    estimate, slack = row["estimate"], claim.half + HAIR * max(1, abs(claimed))
    if more == sign:
        low, high = (estimate if row[end] is None else row[end] for end in ("low", "high"))
        if not low - slack <= claimed <= high + slack:
            said += f" Its size does not hold: {stated} was stated."
        return SURVIVES, said
    if more:
        return OTHER_WAY, said
    if estimate is not None and sign * estimate < -slack:
        return OTHER_WAY, f"The runs contradict the stated {stated}. {said}"
    other = estimate is not None and abs(estimate - claimed) > slack
    return UNTOLD, f"{said} {stated} was stated." if other else said


ALIKE = "Run both sides together, with one model, one judge and the same checks."
PUBLISH = "Publish every run with its eval, its side and this figure."
NOT_CLAIMED = "State the same figure for the other side, and publish the runs of both."


def _say_what_settles(answer: Answer) -> str | None:
    """What would settle a claim, or carry it beyond these evals; None if nothing is open."""
    row = answer.claims[0].row
    if steps := [step for step, _ in answer.next_steps]:
        return " ".join(steps)
    if not row["n_evals"]:
        return PUBLISH
    if row["verdict"] is None and better(row["metric"]):
        return ALIKE
    if row["verdict"] in (None, *DECIDED):
        return None
    asked = f'sen.stats.next_step(ws, "{row["metric"]}")'
    return f"{asked} says what would settle it."


FIGURES = ("claimed", "estimate", "low", "high", "p")
OPINED = [*ITERATION, *MODEL, "configuration", "baseline", "metric", *FIGURES[:1], "printed"]
OPINED += [*FIGURES[1:], "scope", "verdict", "verdict_beyond", "lean"]
OPINED += ["opinion", "why", "settle", "path"]
"""The columns of `second_opinion`."""


def _weigh_claim(claim: StatedClaim, compared: Sequence[Both]) -> Iterator[dict[str, Any]]:
    """Judge a claim for each model that ran it; arguments as for `find_comparisons`."""
    for suite, beyond in find_comparisons(claim, compared):
        answer = say_answer(suite, beyond)
        row = answer.claims[0].row
        opinion, why = judge_claim(claim, answer.claims[0])
        found = {name: row[name] for name in OPINED if name in row} | {"p": row.get("p_adjusted")}
        found |= {"verdict_beyond": beyond["verdict"], "lean": suite["lean"]}
        yield found | {"opinion": opinion, "why": why, "settle": _say_what_settles(answer)}


def _answer_without_runs(claim: StatedClaim) -> dict[str, Any]:
    """What can be said of a claim if nothing can be recomputed."""
    about = {"harness": claim.agent or None, "configuration": claim.side, "opinion": UNTOLD}
    if claim.value is None:
        side = "One side" if claim.side in (None, UNSTATED) else as_label(claim.side)
        why = f"{side} alone is stated: a mean by itself claims no difference."
        return about | {"why": why, "settle": NOT_CLAIMED}
    why = "No run has this figure, so it cannot be checked."
    return about | {"baseline": claim.baseline, "why": why, "settle": PUBLISH}


@statistic
def second_opinion(workspace: Workspace) -> Any:
    """Whether each difference that others have stated survives the runs behind it.

    A claim is a difference other than 0, stated by a benchmark.json, a tool's summary or a
    published card; or else the difference of the two means that it states for both sides. It

    - *survives* if the verdict of its runs is a difference in the claimed direction;
    - *goes the other way* if that verdict is a difference in the other direction, or if the
      runs' difference has the opposite sign by more than the claim's rounding; `why` says which;
    - otherwise *cannot be told*; `why` says what is missing.

    The verdict is the first on every page: on these evals, the most favourable honest reading of
    a benchmark, or on tasks like these if single runs tell nothing about these evals.
    `verdict_beyond` is the one on tasks like these, which a claim about the skill itself needs.
    The pass rate is a headline; other metrics are adjusted together and held to a fifth of
    alpha, as in every report. Iterations, configurations and models are not adjusted for each
    other, as each claim was published by itself: of 100 with no real effect, up to 5 may survive.
    It is the direction that survives, not the size: `why` names a size outside the interval.

    Without runs nothing survives. How a file may have come to a wrong figure is what `audit` says.

    Args:
        workspace: a `Workspace`; the claims are in its table `stated`.

    Returns:
        In the kind of the workspace's backend, one row a claim, and for each model that ran it
        where the claim names none:

        - the keys of an iteration, `executor_model`, `harness`, `configuration`, `baseline` (null
          where the runs do not tell) and `metric`;
        - `claimed`, the difference in the metric's unit, null if one side alone is stated;
          `printed` and `path`, as it stands where;
        - `estimate`, `low`, `high`, `scope` and `verdict` of the runs, as in `deltas`, null
          without runs; `p` is adjusted; `verdict_beyond`, and the `lean` on these evals;
        - `opinion`, `why`, and `settle`: what would decide it, or what would carry it to tasks like
          these; null if nothing is open.

        A stated difference of 0 claims nothing, and has no row.

    Raises:
        TypeError: for a single table.

    >>> import polars as pl
    >>> keys = {"workspace": "w", "skill": "s", "iteration": "none"}
    >>> stated = {name: [value] for name, value in keys.items()} | {
    ...     "configuration": ["delta"], "metric": ["pass_rate"], "statistic": ["value"],
    ...     "value": [0.5], "printed": ["+0.50"], "path": ["benchmark.json"],
    ... }
    >>> ws = Workspace.from_tables({"stated": pl.DataFrame(stated)})
    >>> second_opinion(ws).select("claimed", "opinion").rows()
    [(0.5, 'cannot be told')]
    """
    import polars as pl

    check_workspace(workspace, "second_opinion")
    ws = in_polars(workspace)
    parts = [part for part in (ws, _of_other_skills(ws)) if part.polars("runs").height]
    known: dict[Any, list[Both]] = defaultdict(list)
    for both in (both for part in parts for both in compare_page(part)):
        known[tuple(both[0][name] for name in (*ITERATION, "metric"))].append(both)
    found = [
        dict(zip(ITERATION, claim.home, strict=True))
        | {"metric": claim.metric, "claimed": claim.value}
        | {"printed": claim.printed, "path": claim.path}
        | row
        for claim in find_claims(ws.polars("stated"))
        for row in [*_weigh_claim(claim, known[*claim.home, claim.metric])]
        or [_answer_without_runs(claim)]
    ]
    frame = pl.DataFrame(
        found, dict.fromkeys(OPINED, pl.String) | dict.fromkeys(FIGURES, pl.Float64)
    )
    return sort_rows(frame.select(OPINED), **dict.fromkeys(ITERATION, natural_key))


def _of_other_skills(ws: Workspace) -> Workspace:
    """The runs of what is stated of a skill that no run of its iteration names, as of this skill.

    All runs of the iteration are meant, each eval with its own skill before its id.
    """
    import polars as pl

    key = ITERATION
    wanted, there = (ws.polars(name).select(key).unique() for name in ("stated", "runs"))
    others = wanted.join(there, key, "anti", nulls_equal=True).rename({"skill": "meant"})
    names = others.join(there, ["workspace", "iteration"], nulls_equal=True)

    def rename_skill(frame: pl.DataFrame) -> pl.DataFrame:
        if not {*key, "eval_id"} <= {*frame.columns}:
            return frame.clear()
        named = frame.join(names, key, maintain_order="left", nulls_equal=True)
        eval_id = pl.format("{} {}", "skill", "eval_id")
        return named.with_columns(eval_id=eval_id, skill="meant").drop("meant")

    return Workspace.from_tables({name: rename_skill(ws.polars(name)) for name in TABLES})
