"""A judge who is kinder to one side, and a human who labelled some of its checks at random.

What the human would say of a check is what is true: binomial checks of plain evals. Nothing here
is shared with what is measured.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import special

from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.comparison import Scope
from skill_eval_nb.tables import Workspace

from .answers import Answers
from .metrics import Array, PassRate
from .ours import CLAIMS
from .worlds import Evals

SIZES = ((6, 1), (4, 3), (8, 3), (12, 3))
"""n and K."""
LABELS = (3, 6)
"""Labels of an eval's side."""
RIGHT = ((0.95, 0.7), (0.9, 0.9))
"""The chance that the judge passes what passes, and fails what fails; the skill's side first."""
JUDGE, CORRECTED = "the judge alone", "corrected"
CHUNK = 100


@dataclass(frozen=True)
class Labelled:
    """A cell: whether the skill helps, so many evals and runs a side, labels of an eval's side."""

    helps: bool
    n: int
    runs: int
    labels: int

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 200 * self.n


def cells() -> list[Labelled]:
    """All of them."""
    return [
        Labelled(helps, n, runs, labels)
        for helps in (False, True)
        for n, runs in SIZES
        for labels in LABELS
    ]


def answer(
    evals: Evals, cell: Labelled, scopes: dict[str, Scope], random: np.random.Generator
) -> dict[str, Answers]:
    """What `deltas` says of the data sets, as the judge has them and corrected."""
    found: dict[str, list[pl.DataFrame]] = {}
    for at in range(0, len(evals.place), CHUNK):
        part = Evals(evals.metric, evals.place[at : at + CHUNK], evals.checks[at : at + CHUNK])
        ws = draw(part, cell, random)
        for who, scope in scopes.items():
            for how in (JUDGE, CORRECTED):
                rows = deltas(ws, scope=scope, corrected=how == CORRECTED)
                number = pl.col("iteration").str.strip_prefix("iteration-").cast(pl.Int64)
                found.setdefault(f"{how}, {who}", []).append(rows.sort(number))
    return {who: _answers(pl.concat(rows)) for who, rows in found.items()}


def _answers(rows: pl.DataFrame) -> Answers:
    low, high = (rows[end].cast(pl.Float64).fill_null(np.nan).to_numpy() for end in ("low", "high"))
    claims = rows["verdict"].replace_strict(CLAIMS, default=0, return_dtype=pl.Int64)
    return Answers(low, high, claims.to_numpy())


def draw(evals: Evals, cell: Labelled, random: np.random.Generator) -> Workspace:
    """A workspace of the data sets, an iteration each."""
    assert isinstance(evals.metric, PassRate)
    most = int(evals.checks.max())
    shape = (*evals.place.shape, cell.runs, most)
    own = evals.metric.run * random.standard_normal((*shape[:-1], 1))
    true = random.random(shape) < special.expit(evals.place[..., None, None] + own)
    right = np.array(RIGHT)[None, :, None, None, None, :]
    told_right = random.random(shape) < np.where(true, right[..., 0], right[..., 1])
    judged = true == told_right
    there = np.broadcast_to(
        np.arange(most) < evals.checks[:, None, :, None, None], shape
    )  # an eval has fewer checks than the one that has most
    order = np.where(there, random.random(shape), np.inf)
    within = (*shape[:3], cell.runs * most)
    place = order.reshape(within).argsort(axis=-1).argsort(axis=-1).reshape(shape)
    return _workspace(true, judged, there, there & (place < cell.labels))


def _workspace(true: Array, judged: Array, there: Array, labelled: Array) -> Workspace:
    def keys(shape: tuple[int, ...]) -> pl.DataFrame:
        data_set, side, eval_, run = (place.ravel() for place in np.indices(shape)[:4])
        return pl.select(
            workspace=pl.lit("w"),
            skill=pl.lit("s"),
            iteration=pl.format("iteration-{}", pl.Series(data_set)),
            eval_id=pl.Series(eval_).cast(pl.String),
            eval_name=pl.Series(eval_).cast(pl.String),
            configuration=pl.Series(np.array(["with_skill", "without_skill"])[side]),
            run_number=pl.Series(run + 1),
        )

    number = np.indices(true.shape)[-1].ravel()
    checks = keys(true.shape).with_columns(
        layer=pl.lit("judged"),
        text=pl.format("check {}", pl.Series(number)),
        passed=pl.Series(judged.ravel()),
    )
    rates = (judged & there).sum(-1) / there.sum(-1)
    labels = [
        json.dumps([_label(check, value) for check, value in enumerate(values) if own[check]])
        for values, own in zip(
            true.reshape(-1, true.shape[-1]).tolist(),
            labelled.reshape(-1, true.shape[-1]).tolist(),
            strict=True,
        )
    ]
    runs = keys(true.shape[:-1])
    return Workspace.from_tables(
        {
            "runs": runs.with_columns(status=pl.lit("graded"), pass_rate=pl.Series(rates.ravel())),
            "expectations": checks.filter(pl.Series(there.ravel())),
            "feedback": runs.with_columns(labels=pl.Series(labels)),
        }
    )


def _label(check: int, passed: bool) -> dict[str, object]:
    return {"text": f"check {check}", "passed": passed, "sampled": True}
