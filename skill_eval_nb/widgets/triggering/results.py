"""What a measurement says, as plain figures that a view can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skill_eval_nb.triggers import Attempt, Measured

Figures = Mapping[str, Any]
Asked = tuple[str, bool]
"""The words of a query, and whether it should trigger."""


@dataclass(frozen=True, slots=True)
class Results:
    """A measurement, counted.

    Attributes:
        measured: the measurement.
        doubts: a row of `stats.trigger_doubts` each.
        scores: the row of `stats.trigger_scores`; None where there is none.
        rates: a row of `stats.trigger_rates` each, the most wrong first.
        attempts: the runs of each query.
    """

    measured: Measured
    doubts: Sequence[Figures]
    scores: Figures | None
    rates: Sequence[Figures]
    attempts: Mapping[Asked, Sequence[Attempt]]

    @property
    def errored(self) -> list[Attempt]:
        """The runs that tell nothing since they broke."""
        return [one for one in self.measured.attempts if one.outcome == "errored"]


def results_of(measured: Measured) -> Results:
    """Count a measurement."""
    attempts: dict[Asked, list[Attempt]] = {}
    for one in measured.attempts:
        attempts.setdefault((one.query.query, one.query.should_trigger), []).append(one)
    return Results(
        measured,
        list(rows_of(measured.doubts)),
        next(rows_of(measured.scores), None),
        sorted(rows_of(measured.rates), key=_wrong),
        attempts,
    )


def rows_of(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table of either kind."""
    import narwhals as nw

    return nw.from_native(table, eager_only=True).iter_rows(named=True)


def _wrong(row: Figures) -> tuple[bool, float]:
    """What queries are sorted by: those without a rate last."""
    return row["right"] is None, row["right"] or 0.0
