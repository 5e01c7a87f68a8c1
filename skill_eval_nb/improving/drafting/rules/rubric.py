"""Rubric dimensions: anchors where the judge has none or is unsure, weights that count nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from skill_eval_nb.documents import Dimension
from skill_eval_nb.stats.phrases import brief, count, figure, some

from ...values import Draft, RunRef
from ..checks import KEYS
from ..evidence import Seen
from ..keys import ANCHORS, made

if TYPE_CHECKING:
    import polars as pl

NOISY = 0.5
"""The judge's share of the variance from which on anchors are to be sharper, ..."""
UNSURE = 0.25
"""... where its variance is at least this: half a point of standard deviation."""
FEWEST_SCORES = 6
"""Equal scores from which on a dimension is said never to differ."""
QUOTED = 160
AT = {"1": (1, 2), "3": (3,), "5": (5,)}
"""The scores whose evidence an anchor is drafted from."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What judges gave in a dimension: run, score and evidence."""

    rows: tuple[tuple[RunRef, float, str | None], ...]

    @property
    def runs(self) -> tuple[RunRef, ...]:
        """The runs that were scored, each once."""
        return tuple(dict.fromkeys(run for run, _, _ in self.rows))


def of_rubric(seen: Seen) -> Iterator[Draft]:
    """Anchors from the evidence of scored runs, and lower weights."""
    shares = _judge_shares(seen)
    table = seen.ws.polars("rubric_scores").drop_nulls("score")
    for dimension, evals in seen.dimensions():
        scores = _scores(table, dimension.name, evals)
        empty = [at for at in ANCHORS if not dimension.scoring.get(at, "").strip()]
        noisy = shares.get(dimension.name)
        given = {score for _, score, _ in scores.rows}
        if empty:
            yield _anchored(seen, dimension, evals, scores, empty, "")
        elif len(given) == 1 and len(scores.rows) >= FEWEST_SCORES:
            yield _lighter(dimension, evals, scores, given.pop())
        elif noisy is not None:
            yield _anchored(seen, dimension, evals, scores, list(ANCHORS), noisy)


def _judge_shares(seen: Seen) -> dict[str, str]:
    """The dimensions in which the judge differs from itself most, and a sentence of it."""
    from skill_eval_nb.stats import variance

    table = seen.ws.polars("rubric_scores")
    if not table.height:
        return {}
    found: dict[str, list[float]] = {}
    for row in variance(table).to_dicts():
        if row["component"] == "judge" and row["dimension"] and row["share"] is not None:
            share = row["share"] if row["variance"] >= UNSURE else 0.0
            found.setdefault(row["dimension"], []).append(share)
    return {
        name: (
            f"Of what its scores vary by, {figure(100 * min(shares))} % and more is the judge, who "
            "gives the same output different scores."
        )
        for name, shares in found.items()
        if min(shares) >= NOISY
    }


def _scores(table: pl.DataFrame, name: str, evals: tuple[str, ...]) -> Scores:
    own = table.filter(dimension=name)
    rows = own.filter(own["eval_id"].is_in(list(evals)))
    return Scores(
        tuple(
            (RunRef(*keys), score, evidence)
            for *keys, score, evidence in rows.select(*KEYS, "score", "evidence").iter_rows()
        )
    )


def _anchored(
    seen: Seen,
    dimension: Dimension,
    evals: tuple[str, ...],
    scores: Scores,
    wanted: list[str],
    noise: str,
) -> Draft:
    """A dimension whose anchors quote what judges said of runs with that score."""
    quotes = {at: quote for at in wanted if (quote := _quote(seen, scores, AT[at]))}
    scoring = dict(dimension.scoring)
    for at, quote in quotes.items():
        old = scoring.get(at, "").strip()
        scoring[at] = f"{old} For instance: {quote}" if old else quote
    lacking = "" if noise else f"It has no anchor for {some(wanted)}."
    drafted = (
        f"Those for {some(list(quotes))} quote what the judge said of runs with that score; make "
        "them say what is common to such runs."
        if quotes
        else "No evidence of a run with such a score is stored."
    )
    why = " ".join(filter(None, (f"{brief(dimension.name)}:", noise, lacking, drafted)))
    item = {**msgspec.to_builtins(dimension), "scoring": scoring}
    name = dimension.id or dimension.name
    return made("sharpen", "dimensions", evals, name, [item], why, runs=scores.runs)


def _quote(seen: Seen, scores: Scores, at: tuple[int, ...]) -> str:
    """The shortest evidence that says something, of a run with one of these scores."""
    told = [
        (len(evidence), run.eval_id, evidence, run)
        for run, score, evidence in scores.rows
        if round(score) in at and evidence and len(evidence.split()) > 2
    ]
    if not told:
        return ""
    *_, evidence, run = min(told)
    return f"“{brief(evidence, QUOTED)}” ({brief(seen.names[run.eval_id])})"


def _lighter(dimension: Dimension, evals: tuple[str, ...], scores: Scores, score: float) -> Draft:
    why = (
        f"{brief(dimension.name)}: all {len(scores.rows)} scores of "
        f"{count(len(scores.runs), 'run')} are {figure(score)}. What never differs tells "
        "nothing, and draws the weighted mean "
        f"towards that score: its weight is halved, from {figure(dimension.weight)}."
    )
    item = {**msgspec.to_builtins(dimension), "weight": dimension.weight / 2}
    name = dimension.id or dimension.name
    return made("sharpen", "dimensions", evals, name, [item], why, runs=scores.runs)
