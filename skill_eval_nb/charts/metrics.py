"""Metrics as a chart names them: on an axis, in a sentence, as a figure with its unit."""

from __future__ import annotations

from dataclasses import dataclass

from skill_eval_nb.stats.values import METRICS, RUBRIC, better
from skill_eval_nb.tables.columns import TABLES
from skill_eval_nb.text import MINUS, TIE, format_fixed, in_quotes


@dataclass(frozen=True, slots=True)
class Unit:
    """How figures of a unit are written: by us, and by d3 in tooltips and on axes."""

    axis: str
    tip: str
    ticks: str
    digits: int = 0
    factor: float = 1
    before: str = ""
    after: str = ""
    apart: str = ""
    """What stands after a difference, if that is not `after`."""


UNITS = {
    "rate": Unit("%", ".1%", ".0%", digits=1, factor=100, after="%", apart=f"{TIE}pp"),
    "seconds": Unit("s", ",.1f", ",.4~f", digits=1, after=f"{TIE}s"),
    "tokens": Unit("tokens", ",.0f", "~s"),
    "characters": Unit("characters", ",.0f", "~s"),
    "usd": Unit("US$", "$,.4f", "$,.4~f", digits=4, before="$"),
    "1-5": Unit("1–5", ".2f", ".4~f", digits=2),
    "": Unit("number", ",.1f", ",.4~f", digits=2),
}
NAMES = {
    "time_seconds": "time",
    "cost_usd": "cost",
    "rubric_weighted_mean": "rubric score",
    "rubric_normalized": "normalized rubric score",
}
RANGES = {"rate": (0, 1), "1-5": (1, 5)}
"""What figures of a unit can be, if that has two ends."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its column, what a sentence calls it, its unit in the tables."""

    column: str
    name: str
    unit: str

    @property
    def style(self) -> Unit:
        """How its figures are written."""
        return UNITS[self.unit]

    @property
    def title(self) -> str:
        """Its name at the beginning of a sentence."""
        return self.name[0].upper() + self.name[1:]

    @property
    def axis(self) -> str:
        """The axis title, with the unit.

        >>> metric("time_seconds").axis, metric("tokens").axis
        ('time (s)', 'tokens')
        """
        return self.name if self.name == self.style.axis else f"{self.name} ({self.style.axis})"

    @property
    def difference_axis(self) -> str:
        """The title of an axis of differences, with their unit.

        >>> metric("pass_rate").difference_axis, metric("tokens").difference_axis
        ('difference in pass rate (pp)', 'difference in tokens')
        """
        unit = {"rate": "pp", "1-5": "points"}.get(self.unit, self.style.axis)
        return f"difference in {self.name}" + (f" ({unit})" if self.name != unit else "")

    @property
    def range(self) -> tuple[float, float] | None:
        """The two ends of what it can be, if it has both."""
        return RANGES.get(self.unit)

    @property
    def less_is_better(self) -> bool:
        """Whether the lower side is the better one."""
        return better(self.column) == "less"

    def figure(self, value: float) -> str:
        """The figure with its unit.

        >>> metric("pass_rate").figure(0.85), metric("cost_usd").figure(0.01234)
        ('85%', '$0.0123')
        """
        return self.style.before + self._write(value) + self.style.after

    def text(self, value: float) -> str:
        r"""The figure in a sentence, where tokens are called tokens.

        >>> metric("tokens").text(1700).replace("\xa0", " "), metric("pass_rate").text(0.5)
        ('1,700 tokens', '50%')
        """
        word = f"{TIE}{self.unit}" if self.unit in ("tokens", "characters") else ""
        return self.figure(value) + word

    def difference(self, value: float) -> str:
        r"""A difference of two figures with sign and unit, that of rates in percentage points.

        >>> metric("pass_rate").difference(1 / 3), metric("tokens").difference(-1700)
        ('+33.3\xa0pp', '−1,700')
        >>> metric("cost_usd").difference(-1.5), metric("rubric:Clarity").difference(-0.001)
        ('−$1.50', '0.00')
        """
        style, size = self.style, self._write(abs(value))
        sign = "" if not size.strip("0.") else "+" if value > 0 else MINUS
        return sign + style.before + size + (style.apart or style.after)

    def _write(self, value: float) -> str:
        """The figure without its unit; rates and plain numbers without needless zeros."""
        digits = 2 if self.unit == "usd" and value >= 1 else self.style.digits
        size = format_fixed(value * self.style.factor, digits)
        return size.rstrip("0").rstrip(".") if self.unit in ("rate", "") and "." in size else size


def metric(column: str) -> Metric:
    """The metric of a column of `runs`, or a rubric dimension by its name.

    >>> metric("pass_rate").name, metric("rubric:Clarity").axis
    ('pass rate', 'score on ‘Clarity’ (1–5)')
    """
    if column not in METRICS:
        return Metric(column, f"score on {in_quotes(column.removeprefix(RUBRIC), 40)}", "1-5")
    unit = next(known.unit for known in TABLES["runs"].columns if known.name == column)
    return Metric(column, NAMES.get(column, column.replace("_", " ")), unit)
