"""The figures of a part: what `sen.stats` says of it. Nothing else is counted here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb import stats
from skill_eval_nb.stats import pairing
from skill_eval_nb.stats.deltas.comparison import SCOPES
from skill_eval_nb.stats.values import EVAL, RUBRIC, values_of

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

    from .part import Part

Row = Mapping[str, Any]
"""A row of what a statistic gives."""
EvalKey = tuple[str, str]
"""An eval's id and its name."""

MANY = 20
"""Runs of an eval and configuration above which they are drawn together."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The runs of an eval under a configuration, as they are drawn.

    Attributes:
        runs: number and figure of each that has the figure, the lowest first; empty where
            there are more than MANY of them.
        n: how many have the figure.
        mean: theirs.
        ends: lowest, lower quartile, upper quartile and highest figure.
    """

    runs: tuple[tuple[int, float], ...]
    n: int
    mean: float
    ends: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Cells:
    """All cells of a part, by eval and configuration, and between what the figures lie."""

    by_eval: Mapping[tuple[EvalKey, str], Cell]
    low: float | None
    high: float | None


def verdict(ws: Workspace, part: Part, metric: str) -> dict[str, Row] | None:
    """The row of `deltas` for either scope; None where nothing can be compared."""
    if not _has(ws, metric):
        return None
    found = {
        scope: stats.deltas(ws, metric, _baseline(ws, part), scope=scope).to_dicts()
        for scope in SCOPES
    }
    return {scope: rows[0] for scope, rows in found.items()} if all(found.values()) else None


def by_eval(ws: Workspace, part: Part, metric: str) -> list[Row]:
    """The rows of `deltas_by_eval`."""
    if not _has(ws, metric):
        return []
    return stats.deltas_by_eval(ws, metric, _baseline(ws, part)).to_dicts()


def cells(ws: Workspace, _: Part, metric: str) -> Cells:
    """Every run's figure, by eval and configuration."""
    import polars as pl

    if not _has(ws, metric):
        return Cells({}, None, None)
    value = pl.col("value")
    values = values_of(ws, metric)
    known = values.drop_nulls("value").sort("value", "run_number")
    means = pairing.cells(values).select(*EVAL, "configuration", "mean")
    grouped = known.group_by(*EVAL, "configuration", maintain_order=True).agg(
        pl.when(pl.len() <= MANY).then(pl.col("run_number").implode()).alias("numbers"),
        pl.when(pl.len() <= MANY).then(value.implode()).alias("values"),
        pl.len().alias("n"),
        value.min().alias("low"),
        value.quantile(0.25, "linear").alias("lower"),
        value.quantile(0.75, "linear").alias("upper"),
        value.max().alias("high"),
    )
    grouped = grouped.join(means, on=[*EVAL, "configuration"], nulls_equal=True)
    found = {
        ((eval_id, name), configuration): Cell(
            tuple(zip(numbers or (), own or (), strict=True)), n, mean, tuple(ends)
        )
        for eval_id, name, configuration, numbers, own, n, *ends, mean in grouped.iter_rows()
    }
    return Cells(found, known["value"].min(), known["value"].max())  # pyright: ignore[reportArgumentType]


def evals(ws: Workspace, _: Part, __: str) -> list[EvalKey]:
    """The evals that have a run."""
    return ws.polars("runs").select(EVAL).unique().rows()


def summary(ws: Workspace, _: Part, __: str) -> list[Row]:
    """The rows of `summarize`: every metric of either side."""
    return stats.summarize(ws).to_dicts()


def sources(ws: Workspace, _: Part, metric: str) -> list[Row]:
    """The rows of `variance` for the metric."""
    return stats.variance(ws, metric).to_dicts() if _has(ws, metric) else []


def dimensions(ws: Workspace, part: Part, _: str) -> list[Row]:
    """The rows of `deltas_by_dimension`."""
    return stats.deltas_by_dimension(ws, _baseline(ws, part)).to_dicts()


def dimension_sources(ws: Workspace, _: Part, __: str) -> list[Row]:
    """The rows of `variance` for every dimension."""
    return stats.variance(ws).to_dicts()


def checks(ws: Workspace, part: Part, _: str) -> list[Row]:
    """The rows of `discrimination`."""
    if ws.polars("expectations").is_empty():
        return []
    return stats.discrimination(ws, _baseline(ws, part)).to_dicts()


def notes(ws: Workspace, part: Part, _: str) -> list[Row]:
    """The rows of `notes`."""
    return stats.notes(ws, _baseline(ws, part)).to_dicts()


Count = Callable[["Workspace", "Part", str], Any]

OF_METRIC: tuple[Count, ...] = (verdict, by_eval, cells, sources)
"""Those that differ from metric to metric."""


def _baseline(ws: Workspace, part: Part) -> str | None:
    """The baseline, where the part has a run of it; else the statistics say why there is none."""
    return part.baseline if part.baseline in set(ws.polars("runs")["configuration"]) else None


def _has(ws: Workspace, metric: str) -> bool:
    """Whether a metric is known at all: a dimension is where an iteration was scored on it."""
    if not metric.startswith(RUBRIC):
        return True
    return metric.removeprefix(RUBRIC) in set(ws.polars("rubric_scores")["dimension"])
