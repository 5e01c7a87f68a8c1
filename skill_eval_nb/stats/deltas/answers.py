"""From paired evals to rows: the figures of each comparison, and its verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..inference.adjust import benjamini_hochberg
from ..inference.exact import Sides
from ..pairing import COUNTS
from ..values import worth_having
from .comparison import Comparison, Scope, compare
from .verdict import verdict

if TYPE_CHECKING:
    import polars as pl

FIGURES = ("estimate", "low", "high", "p", "mde", "mde_twice_evals", "mde_twice_runs")
"""What a comparison gives, each null where it cannot."""
BOTH = [f"{count}{side}" for count in COUNTS for side in ("", "_baseline")]


compared = lru_cache(maxsize=4096)(compare)
"""Several figures rest on the same comparison; what the same values say is counted once."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every comparison alike; `worth` is None where each metric has its own."""

    scope: Scope
    worth: float | None
    level: float

    def of(self, evals: Sides) -> Comparison:
        """What the paired evals say."""
        return compared(evals, self.scope, self.level)

    def worth_of(self, metric: str, found: Comparison) -> float | None:
        """The smallest difference worth having."""
        return worth_having(metric, found.baseline) if self.worth is None else self.worth

    def verdict(
        self, metric: str, evals: Sides, found: Comparison, adjusted: float | None
    ) -> tuple[str | None, str]:
        """The word and its reason; of too few evals, what those say of themselves."""
        few = self.scope == "population" and not found.sufficient
        these = compared(evals, "suite", self.level) if few else None
        worth = self.worth_of(metric, found)
        return verdict(found, metric, worth, adjusted, these)


def answers(
    paired: pl.DataFrame, question: Question, by: list[str], together: Sequence[str] = ()
) -> pl.DataFrame:
    """A row for each `by`: `by`, scope, FIGURES, worth, level, verdict, reason, n_evals, BOTH.

    Args:
        paired: what `pairs` gives.
        question: what is asked.
        by: what has one answer; `metric` is among them.
        together: where given, p-values are adjusted over the answers that have this in
            common, `p_adjusted` follows `p`, and verdicts rest on it.

    Of several evals `n_runs` are those of the paired ones; what errored or was not scored is
    of all. Last stand `n_unpaired` and, unless `by` has it, `unpaired`: the names of the evals
    without a pair.
    """
    import polars as pl

    matched = pl.col("estimate").is_not_null()
    several = "unpaired" not in by
    unpaired = [pl.col("eval_name").filter(~matched).alias("unpaired")] if several else []
    runs = pl.col("n_runs", "n_runs_baseline")
    rows = paired.group_by(by, maintain_order=True).agg(
        matched.sum().cast(pl.Int64).alias("n_evals"),
        (runs.filter(matched) if several else runs).sum(),
        pl.col([name for name in BOTH if not name.startswith("n_runs")]).sum(),
        (~matched).sum().cast(pl.Int64).alias("n_unpaired"),
        *unpaired,
        pl.col("values", "baseline_values").filter(matched),
    )
    metrics = rows["metric"].to_list()
    sides = zip(rows["values"].to_list(), rows["baseline_values"].to_list(), strict=True)
    evals = [
        tuple(zip(map(tuple, ones), map(tuple, others), strict=True)) for ones, others in sides
    ]
    found = [question.of(some) for some in evals]
    adjusted = _adjusted(found, rows.select(together).rows() if together else [])
    each = list(zip(metrics, evals, found, adjusted, strict=True))
    verdicts = [question.verdict(*one) for one in each]
    figures: dict[str, Any] = {
        "scope": pl.Series([question.scope] * len(found), dtype=pl.String),
        **{name: _numbers([getattr(one, name) for one in found]) for name in FIGURES},
        "p_adjusted": _numbers(adjusted),
        "worth": _numbers([question.worth_of(metric, one) for metric, _, one, _ in each]),
        "level": _numbers([question.level] * len(found)),
        "verdict": pl.Series([word for word, _ in verdicts], dtype=pl.String),
        "reason": pl.Series([reason for _, reason in verdicts], dtype=pl.String),
    }
    order = [*by, *figures, "n_evals", *BOTH, "n_unpaired", *(["unpaired"] if several else [])]
    answered = rows.with_columns(**figures).select(order)
    return answered if together else answered.drop("p_adjusted")


def _numbers(values: Sequence[float | None]) -> pl.Series:
    import polars as pl

    return pl.Series(values, dtype=pl.Float64)


def _adjusted(found: Sequence[Comparison], groups: Sequence[Any]) -> list[float | None]:
    """The p-values adjusted within their group; without groups there are none."""
    adjusted: list[float | None] = [None] * len(found)
    members: dict[Any, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        members[group].append(at)
    for places in members.values():
        p = benjamini_hochberg([found[at].p for at in places])
        for at, one in zip(places, p, strict=True):
            adjusted[at] = one
    return adjusted
