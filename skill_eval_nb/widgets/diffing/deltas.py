"""What `sen.stats` says of two iterations, as rows to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb import stats
from skill_eval_nb.charts.metrics import Metric, metric

from .two import Two

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

TITLES = {"rubric_weighted_mean": "rubric score", "rubric_normalized": "normalized rubric score"}


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference, how sure it is, and what it is of.

    Attributes:
        about: the iteration, configuration, eval or dimension that it is of.
        key: the same as the page hands it back.
        estimate: the difference in the metric's unit; None where nothing is paired.
        low: where the interval for these evals begins, and with `high` ends.
        high: see `low`.
        wide_low: the same for tasks like these; None where it is not asked about.
        wide_high: see `wide_low`.
        worth: the smallest difference worth having.
        p: exact; of several questions at once, adjusted for their number.
        verdict: on these evals.
        wide_verdict: on tasks like these.
        reason: the sentence to the verdict.
        means: those of the first and of the second, where they are single figures.
        n_evals: paired evals.
        n_runs: runs on either side.
        unpaired: names of evals that lack one side, or why the eval does.
    """

    about: str
    key: str
    estimate: float | None
    low: float | None
    high: float | None
    worth: float | None
    p: float | None
    verdict: str | None
    reason: str | None
    n_runs: tuple[int, int]
    n_evals: int = 0
    wide_low: float | None = None
    wide_high: float | None = None
    wide_verdict: str | None = None
    means: tuple[float | None, float | None] | None = None
    unpaired: tuple[str, ...] = ()


def between(part: Workspace, two: Two, name: str) -> dict[str, Delta]:
    """The second iteration minus the first, by configuration."""
    if not are_there(part, two):
        return {}
    versus = (two.b, two.a)
    own = stats.deltas(part, name, versus=versus).to_dicts()
    like = stats.deltas(part, name, versus=versus, scope="population").to_dicts()
    return {
        row["configuration"]: _delta(row, row["configuration"], wide)
        for row, wide in zip(own, like, strict=True)
    }


def are_there(part: Workspace, two: Two, table: str = "runs") -> bool:
    """Whether both iterations have rows, and so can be compared."""
    return {two.a, two.b} <= set(part.polars(table)["iteration"])


def inside(part: Workspace, two: Two, name: str) -> list[Delta]:
    """Each iteration's configurations minus its own baseline, the first iteration first."""
    own = stats.deltas(part, name).to_dicts()
    like = stats.deltas(part, name, scope="population").to_dicts()
    rows = sorted(zip(own, like, strict=True), key=lambda row: row[0]["iteration"] != two.a)
    return [
        _delta(row, row["iteration"], wide, key=f"{row['configuration']} − {row['baseline']}")
        for row, wide in rows
    ]


def by_eval(part: Workspace, two: Two, name: str) -> list[Delta]:
    """Each eval's difference, what became worse first; evals of one iteration alone last.

    `part` is of one configuration, and so it is for dimensions.
    """
    if not are_there(part, two):
        return []
    rows = stats.deltas_by_eval(part, name, versus=(two.b, two.a)).to_dicts()
    found = [_delta(row, row["eval_name"], key=row["eval_id"]) for row in rows]
    return sorted(found, key=_worst_first(metric(name)))


def by_dimension(part: Workspace, two: Two) -> list[Delta]:
    """Each rubric dimension's difference, what became worse first."""
    if not are_there(part, two, "rubric_scores"):
        return []
    rows = stats.deltas_by_dimension(part, versus=(two.b, two.a)).to_dicts()
    found = [_delta(row, row["dimension"]) for row in rows if row["estimate"] is not None]
    return sorted(found, key=_worst_first(metric("rubric_weighted_mean")))


def _worst_first(meant: Metric) -> Any:
    sign = -1 if meant.less_is_better else 1
    return lambda row: (row.estimate is None, sign * (row.estimate or 0.0))


def _delta(
    row: dict[str, Any], about: str, wide: dict[str, Any] | None = None, key: str | None = None
) -> Delta:
    names = row.get("unpaired") or ()
    return Delta(
        about=about,
        key=about if key is None else key,
        estimate=row["estimate"],
        low=row["low"],
        high=row["high"],
        worth=row["worth"],
        p=row.get("p_adjusted", row["p"]),
        verdict=row["verdict"],
        reason=row["reason"],
        n_runs=(row["n_runs_baseline"], row["n_runs"]),
        n_evals=row["n_evals"] or 0,
        wide_low=wide["low"] if wide else None,
        wide_high=wide["high"] if wide else None,
        wide_verdict=wide["verdict"] if wide else None,
        means=(row["baseline_mean"], row["mean"]) if "mean" in row else None,
        unpaired=(names,) if isinstance(names, str) else tuple(names),
    )
