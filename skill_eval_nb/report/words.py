"""Figures and names as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from ..tables import TABLES
from .content import Figure
from .measured import DIMENSION

MISSING = "–"
"""What stands where a figure is not known."""

_UNITS = {column.name: column.unit for column in TABLES["runs"].columns}
_NAMES = {
    "time_seconds": "Time",
    "cost_usd": "Cost",
    "rubric_normalized": "Rubric, normalized",
    "structural_pass_rate": "Structural pass rate",
}


def unit(metric: str) -> str:
    """The unit of a metric, as the tables declare it; empty for a plain number.

    >>> unit("pass_rate"), unit("cost_usd"), unit("rubric:clarity")
    ('rate', 'usd', '')
    """
    return "rate" if metric == "consistency" else _UNITS.get(metric, "")


def metric_name(metric: str) -> str:
    """A metric for the first column of a table.

    >>> metric_name("pass_rate"), metric_name("time_seconds")
    ('Pass rate', 'Time')
    """
    return _NAMES.get(metric, metric.replace("_", " ").capitalize())


def figure(value: float | None, metric: str) -> str:
    """A figure in its unit.

    >>> figure(0.85, "pass_rate"), figure(42.5, "time_seconds"), figure(None, "tokens")
    ('85%', '42.5 s', '–')
    >>> figure(3800.4, "tokens"), figure(0.0123, "cost_usd"), figure(4.0, "rubric:clarity")
    ('3,800', '$0.0123', '4.00')
    """
    if value is None:
        return MISSING
    match unit(metric):
        case "rate":
            return f"{_short(value * 100, 1)}%"
        case "seconds":
            return f"{_fixed(value, 1)} s"
        case "tokens" | "characters":
            return _fixed(value, 0)
        case "usd":
            return f"${_fixed(value, 2 if value >= 1 else 4)}"
    return _fixed(value, 2) if metric.startswith(DIMENSION) else _short(value, 2)


def difference(value: float | None, metric: str) -> str:
    """A difference in its unit, with its sign; that of two rates in percentage points.

    >>> difference(0.5, "pass_rate"), difference(-1700, "tokens"), difference(0, "time_seconds")
    ('+50 pp', '−1,700', '0.0 s')
    """
    if value is None:
        return MISSING
    size = figure(abs(value), metric)
    if unit(metric) == "rate":
        size = size.removesuffix("%") + " pp"
    if not any(digit in size for digit in "123456789"):
        return size
    return ("+" if value > 0 else "−") + size


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def with_n(shown: str, n: float | None) -> Figure:
    """A figure with the number it rests on; what is not known rests on nothing.

    >>> with_n("85%", 9), with_n("–", 0)
    (Figure(shown='85%', n=9), Figure(shown='–', n=None))
    """
    return Figure(shown, None if shown == MISSING or n is None else int(n))


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names in a sentence, the first few of them.

    >>> listed(["a", "b", "c"]), listed("abcdefgh", most=3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    every: Sequence[str] = list(names)
    if len(every) > most:
        return ", ".join(every[:most]) + f" and {len(every) - most:,} more"
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))


def duration(seconds: float | None) -> str:
    """A length of time.

    >>> duration(42.5), duration(405), duration(7300)
    ('42.5 s', '6 min 45 s', '2 h 2 min')
    """
    if seconds is None:
        return MISSING
    if seconds < 60:
        return f"{_fixed(seconds, 1)} s"
    if seconds < 3600:
        return "{} min {} s".format(*divmod(round(seconds), 60))
    return "{} h {} min".format(*divmod(round(seconds / 60), 60))


def _fixed(value: float, decimals: int) -> str:
    """With so many decimals; halves go up, as people round: 81.25 is 81.3."""
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    exact = Decimal(repr(round(value, 9)))
    return f"{exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):,f}"


def _short(value: float, decimals: int) -> str:
    """With at most so many decimals, and none where they are 0."""
    shown = _fixed(value, decimals)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
