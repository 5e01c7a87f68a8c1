"""Words around figures: names from files made fit for a sentence, and counts of things."""

from __future__ import annotations

from collections.abc import Sequence

from .values import UNITS

MINUS = "−"
NOTHING = 1e-9
"""Below it a difference is one of rounding."""


def brief(text: object, most: int = 40) -> str:
    r"""Text from a file as a part of one line, cut where it is long.

    >>> brief("two\n lines"), brief("far too long", most=7)
    ('two lines', 'far to…')
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def quoted(text: object, most: int = 80) -> str:
    """The same in quotation marks.

    >>> quoted("a.csv holds 12 rows")
    '‘a.csv holds 12 rows’'
    """
    return f"‘{brief(text, most)}’"


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "run"), count(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def some(names: Sequence[str], most: int = 3) -> str:
    """The first of the names as a sentence lists them, and how many more there are.

    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def sized(value: float, metric: str) -> str:
    """A figure of time, tokens or cost with its unit.

    >>> sized(42.0, "time_seconds"), sized(1700.0, "tokens"), sized(0.0123, "cost_usd")
    ('42 s', '1,700 tokens', '$0.0123')
    """
    match UNITS[metric]:
        case "seconds":
            return f"{figure(value)} s"
        case "usd":
            return f"${figure(value)}"
    return f"{figure(value)} {UNITS[metric] or metric.replace('_', ' ')}"


def amount(value: float, metric: str) -> str:
    """A difference with its unit and its sign, that of rates in percentage points.

    >>> amount(0.25, "pass_rate"), amount(-42.0, "time_seconds"), amount(0.0, "cost_usd")
    ('+25 pp', '−42 s', '$0')
    """
    value = 0.0 if abs(value) < NOTHING else value
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    if UNITS[metric] == "rate":
        return f"{sign}{figure(100 * abs(value))} pp"
    return sign + sized(abs(value), metric)


def figure(value: float) -> str:
    """A figure in a sentence, to three digits.

    >>> figure(0.04567), figure(12345.6), figure(-2)
    ('0.0457', '12,346', '−2')
    """
    written = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return written.replace("-", MINUS, 1) if value < 0 else written


def chance(p: float) -> str:
    """A p-value in a sentence.

    >>> chance(0.0312), chance(3e-9)
    ('= 0.0312', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"= {p:.3g}"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.25), signed(-1e-17), signed(-1)
    ('+0.25', '0', '−1')
    """
    if abs(value) < NOTHING:
        return "0"
    return f"+{figure(value)}" if value > 0 else figure(value)
