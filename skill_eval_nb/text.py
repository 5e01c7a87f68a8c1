"""Every way to put a text, a name, a number, a price or a time into a sentence."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

MINUS = "−"
MISSING = "–"
"""What stands where a figure is not known."""
TIE = "\xa0"
"""A space at which no line breaks."""
NOTHING = 1e-9
"""Below it a difference is one of rounding."""

_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Controls that a terminal obeys, but for tabs and ends of lines; ends of lines that nobody
expects; and what turns the order of all that follows on a line."""


@lru_cache(4096)
def natural(name: str) -> tuple[object, ...]:
    """A sorting key that reads digits as numbers.

    >>> sorted(["iteration-10", "iteration-9", "iteration-9b"], key=natural)
    ['iteration-9', 'iteration-9b', 'iteration-10']
    """
    pieces = re.split(r"([0-9]+)", name)
    pieces[1::2] = [digits.lstrip("0") for digits in pieces[1::2]]
    return tuple((len(piece), piece) if at % 2 else piece for at, piece in enumerate(pieces)), name


# ── texts and names from files ───────────────────────────────────────────────────────────────


def visible(text: str) -> str:
    r"""A text that does nothing but be read: what would act is shown as its escape.

    >>> print(visible("\x1b]0;title\x07 a\u202etxt.exe"))
    \x1b]0;title\x07 a\u202etxt.exe
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


@lru_cache(maxsize=4096)
def brief(text: object, most: int = 40) -> str:
    r"""Text from a file as a part of one line: nothing invisible, cut if it is long.

    >>> brief("two\n lines\u202e"), brief("far too long", most=7)
    ('two lines', 'far to…')
    """
    line = str(text)
    line = " ".join(line.translate({ord(one): _seen(one) for one in {*line}}).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _seen(character: str) -> str:
    """Controls become spaces and invisible marks nothing, but for the joiners scripts need."""
    kind = unicodedata.category(character)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    hidden = kind in ("Cf", "Cs") and character not in "\u200c\u200d"
    return "" if hidden or character in "\ufffe\uffff" else character


def as_label(name: object, most: int = 90) -> str:
    r"""A name from a file as a label.

    >>> as_label("with_skill"), as_label("\t")
    ('with_skill', '(no name)')
    """
    return brief(name, most) or "(no name)"


def in_quotes(text: object, most: int = 80) -> str:
    """Text from a file in quotation marks.

    >>> in_quotes("a.csv holds 12 rows"), in_quotes("")
    ('‘a.csv holds 12 rows’', '‘(no name)’')
    """
    return f"‘{as_label(text, most)}’"


def some(names: Iterable[object], most: int = 3) -> str:
    """The first of the names as a sentence lists them, and how many more there are.

    >>> some(["a", "b"]), some("abcde"), some("abcde", most=5), some([])
    ('a and b', 'a, b, c and 2 more', 'a, b, c, d and e', '')
    """
    every = [str(name) for name in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about a name: the nearest known one, or nothing.

    >>> did_you_mean("expectatoins", ["evals", "expectations"])
    ' Did you mean `expectations`?'
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean `{near[0]}`?" if near else ""


def in_terms(value: object, names: Mapping[str, str]) -> str:
    """What is said of arguments in Python, in the words of a form or a shell.

    Args:
        value: what is said; its lines may be broken anywhere.
        names: what Python users write, and what stands in its place.

    >>> in_terms("raise budget_usd, see my/budget_usd", {"budget_usd": "--budget-usd"})
    'raise --budget-usd, see my/budget_usd'
    """
    spoken = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in names)
    found = re.compile(rf"(?<![\w./])(?:{spoken})(?![\w/])")
    return found.sub(lambda match: names[" ".join(match[0].split())], str(value))


# ── numbers ──────────────────────────────────────────────────────────────────────────────────


def count(number: int, noun: str, tie: str = " ") -> str:
    """A number of things.

    >>> count(1, "run"), count(1200, "run"), count(2, "query"), count(0, "more day")
    ('1 run', '1,200 runs', '2 queries', '0 more days')
    """
    if number != 1:
        ends = noun.endswith("y") and noun[-2:-1] not in "aeiou"
        plural = f"{noun}es" if noun.endswith("ss") else f"{noun}s"
        noun = f"{noun[:-1]}ies" if ends else plural
    return f"{number:,}{tie}{noun}"


def tied(number: int, noun: str) -> str:
    r"""A number of things, kept on one line.

    >>> tied(3, "run")
    '3\xa0runs'
    """
    return count(number, noun, TIE)


def lower_first(sentence: str) -> str:
    """A sentence as it goes on after a colon; one that begins with a name in capitals stays.

    >>> lower_first("Too few runs"), lower_first("US$ 3"), lower_first("+5 pp")
    ('too few runs', 'US$ 3', '+5 pp')
    """
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def figure(value: float) -> str:
    """A figure in a sentence, to three digits.

    >>> figure(0.04567), figure(12345.6), figure(-2)
    ('0.0457', '12,346', '−2')
    """
    written = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return written.replace("-", MINUS, 1) if value < 0 else written


def with_sign(value: float) -> str:
    """A difference with its sign, to three digits.

    >>> with_sign(0.25), with_sign(-1e-17), with_sign(-1)
    ('+0.25', '0', '−1')
    """
    if abs(value) < NOTHING:
        return "0"
    return f"+{figure(value)}" if value > 0 else figure(value)


def percent(rate: float | None) -> str:
    """A rate; a dash if there is none.

    >>> percent(0.667), percent(None)
    ('67%', '–')
    """
    return MISSING if rate is None else f"{rate:.0%}"


def chance(p: float) -> str:
    """A p-value in a sentence.

    >>> chance(0.0312), chance(3e-9)
    ('= 0.0312', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"= {p:.3g}"


def dollars(amount: float | None) -> str:
    """US dollars; small amounts keep two digits that tell something.

    >>> dollars(1234.5), dollars(0), dollars(0.00123), dollars(None)
    ('$1,234.50', '$0.00', '$0.0012', 'no known price')
    """
    if amount is None:
        return "no known price"
    return f"${amount:,.2f}" if amount >= 0.1 or amount == 0 else f"${amount:.2g}"


def format_fixed(value: float, decimals: int) -> str:
    """With so many decimals; halves go up, as people round.

    >>> format_fixed(81.25, 1), format_fixed(1234.5, 0)
    ('81.3', '1,235')
    """
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    exact = Decimal(repr(round(value, 9)))
    return f"{exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):,f}"


def duration(seconds: float | None) -> str:
    """A length of time in words.

    >>> duration(42.5), duration(405), duration(7300), duration(7200)
    ('42.5 s', '6 min 45 s', '2 h 2 min', '2 h')
    """
    if seconds is None:
        return MISSING
    if seconds < 60:
        return f"{format_fixed(seconds, 1)} s"
    small = seconds < 3600
    whole, rest = divmod(round(seconds if small else seconds / 60), 60)
    units = ("min", "s") if small else ("h", "min")
    return f"{whole} {units[0]}" + (f" {rest} {units[1]}" if rest else "")


def clock(seconds: float) -> str:
    """A length of time as a clock has it.

    >>> clock(62), clock(3600)
    ('1:02', '1:00:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(number: int) -> str:
    """Bytes, for people.

    >>> size(0), size(2100), size(12_345_678)
    ('0 bytes', '2.1 kB', '12.3 MB')
    """
    if number < 1000:
        return count(number, "byte")
    value, units = number / 1000, ["kB", "MB", "GB", "TB"]
    while round(value, 1) >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:,.1f} {units[0]}"
