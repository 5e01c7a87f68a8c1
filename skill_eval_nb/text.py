"""Every way to put a text, name, number, price or time into a sentence; and two texts compared."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

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
def natural_key(name: str) -> tuple[object, ...]:
    """A sorting key that reads digits as numbers.

    >>> sorted(["iteration-10", "iteration-9", "iteration-9b"], key=natural_key)
    ['iteration-9', 'iteration-9b', 'iteration-10']
    """
    pieces = re.split(r"([0-9]+)", name)
    pieces[1::2] = [digits.lstrip("0") for digits in pieces[1::2]]
    return tuple((len(piece), piece) if at % 2 else piece for at, piece in enumerate(pieces)), name


# ── texts and names from files ───────────────────────────────────────────────────────────────


def make_visible(text: str) -> str:
    r"""A text that does nothing but be read: what would act is shown as its escape.

    >>> print(make_visible("\x1b]0;title\x07 a\u202etxt.exe"))
    \x1b]0;title\x07 a\u202etxt.exe
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


@lru_cache(maxsize=4096)
def clip(text: object, most: int = 40) -> str:
    r"""Text from a file as part of one line: without invisible characters, cut if it is long.

    >>> clip("two\n lines\u202e"), clip("far too long", most=7)
    ('two lines', 'far to…')
    """
    line = str(text)
    line = " ".join(line.translate({ord(one): _replace_hidden(one) for one in {*line}}).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _replace_hidden(character: str) -> str:
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
    return clip(name, most) or "(no name)"


def in_quotes(text: object, most: int = 80) -> str:
    """Text from a file in quotation marks.

    >>> in_quotes("a.csv holds 12 rows"), in_quotes("")
    ('‘a.csv holds 12 rows’', '‘(no name)’')
    """
    return f"‘{as_label(text, most)}’"


def some(names: Iterable[object], most: int = 3) -> str:
    """The first few names as a list in a sentence, and how many more there are.

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

    >>> in_terms("raise budget_usd, not a/budget_usd or 'budget_usd'", {"budget_usd": "--usd"})
    "raise --usd, not a/budget_usd or 'budget_usd'"
    """
    spoken = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in names)
    found = re.compile(rf"(?<![\w./'])(?:{spoken})(?![\w/])")
    return found.sub(lambda match: names[" ".join(match[0].split())], str(value))


def guess_delimiter(text: str, usual: str = ",") -> str:
    r"""What stands between the fields of a table: what its first line has most of, but in quotes.

    >>> guess_delimiter('"a, b, c";d\n1,5;2'), guess_delimiter("a\n"), guess_delimiter("a\n", "\t")
    (';', ',', '\t')
    """
    first = next(filter(str.strip, text.split("\n")), "")
    return max(usual, *",;\t|", key=re.sub(r'"[^"]*"', "", first).count)


# ── numbers ──────────────────────────────────────────────────────────────────────────────────


def count(number: int, noun: str, tie: str = " ") -> str:
    """A number of things.

    >>> count(1, "run"), count(1200, "run"), count(2, "query"), count(0, "more day")
    ('1 run', '1,200 runs', '2 queries', '0 more days')
    """
    return f"{number:,}{tie}{pluralize(noun, number)}"


def pluralize(noun: str, number: int) -> str:
    """What a number of things is called, without the number."""
    if number == 1:
        return noun
    ends = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if ends else f"{noun}es" if noun.endswith("ss") else f"{noun}s"


def tie(number: int, noun: str) -> str:
    r"""A number of things, kept on one line.

    >>> tie(3, "run")
    '3\xa0runs'
    """
    return count(number, noun, TIE)


def lower_first(sentence: str) -> str:
    """A sentence with a small first letter, for after a colon; one that begins in capitals stays.

    >>> lower_first("Too few runs"), lower_first("US$ 3"), lower_first("+5 pp")
    ('too few runs', 'US$ 3', '+5 pp')
    """
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def format_figure(value: float) -> str:
    """A figure in a sentence, to three digits.

    >>> format_figure(0.04567), format_figure(12345.6), format_figure(-2)
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
    return f"+{format_figure(value)}" if value > 0 else format_figure(value)


def percent(rate: float | None) -> str:
    """A rate; a dash if there is none.

    >>> percent(0.667), percent(None)
    ('67%', '–')
    """
    return MISSING if rate is None else f"{rate:.0%}"


def format_p(p: float) -> str:
    """A p-value in a sentence.

    >>> format_p(0.0312), format_p(3e-9)
    ('= 0.0312', '< 0.0001')
    """
    return p_value(p) if p < 0.0001 else f"= {p_value(p)}"


def p_value(p: float | None) -> str:
    """A p-value by itself, as in a cell; a dash if there is none.

    >>> p_value(0.0312), p_value(3e-9), p_value(None)
    ('0.0312', '< 0.0001', '–')
    """
    return MISSING if p is None else "< 0.0001" if p < 0.0001 else f"{p:.3g}"


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


# ── two texts beside each other ──────────────────────────────────────────────────────────────

THOROUGH = 250_000
"""Products of lines up to which lines that come often are compared, too."""


def lines_of(text: str | None) -> list[str] | None:
    """The lines, as editors number them: nothing but a line feed ends one."""
    if text is None:
        return None
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def blocks_of(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """The blocks of lines that are the same in two texts, and those that differ, as difflib has."""
    thorough = len(old) * len(new) <= THOROUGH
    return difflib.SequenceMatcher(None, old, new, autojunk=not thorough).get_opcodes()


Span = tuple[str, bool]
"""A piece of a line, and whether it is not in the other one."""

ALIKE = 0.4
"""Lines that share less than this of their words are two lines, not one that changed."""
MOST_WORDS = 1_500
"""Longer lines are compared as a whole."""
MOST_PAIRS = 2_500
"""Larger blocks of lines are paired in their order."""

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")


@lru_cache(maxsize=4_096)
def mark_changes(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both lines in pieces, changed ones marked; one unmarked piece each if they share too little.

    >>> mark_changes("at most 20 words", "at most 16 words")[1]
    (('at most ', False), ('16', True), (' words', False))
    """
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS or words_shared(old, new) < ALIKE:
        return ((old, False),), ((new, False),)
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return (
        _join_spans(("".join(before[i:j]), tag == "equal") for tag, i, j, _, _ in blocks),
        _join_spans(("".join(after[i:j]), tag == "equal") for tag, _, _, i, j in blocks),
    )


def words_shared(old: str, new: str) -> float:
    """How much of their words two lines share, from 0 to 1, wherever the words stand."""
    before, after = (Counter(re.findall(r"\w+", line)) for line in (old, new))
    words = before.total() + after.total()
    return 2 * (before & after).total() / words if words else float(old == new)


def pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """The lines of a changed block, those that are one that changed beside each other.

    Gives positions in either block, in order; None if a line has no other.

    >>> list(pair_lines(["one two three", "x"], ["y", "one two four"]))
    [(None, 0), (0, 1), (1, None)]
    """
    at = 0
    bounded = len(old) * len(new) <= MOST_PAIRS
    for i, line in enumerate(old):
        ahead = range(at, len(new)) if bounded else range(at, min(at + 1, len(new)))
        j = next((j for j in ahead if not bounded or words_shared(line, new[j]) >= ALIKE), None)
        if j is None:
            yield i, None
            continue
        yield from ((None, between) for between in range(at, j))
        yield i, j
        at = j + 1
    yield from ((None, rest) for rest in range(at, len(new)))


def _join_spans(pieces: Iterable[tuple[str, bool]]) -> tuple[Span, ...]:
    """Pieces with neighbours of a kind joined; blanks between two changed words are changed."""
    known = list(pieces)
    inner = range(1, len(known) - 1)
    changed = (
        (text, not equal or (text.isspace() and at in inner))
        for at, (text, equal) in enumerate(known)
        if text
    )
    kinds = groupby(changed, lambda piece: piece[1])
    return tuple(("".join(text for text, _ in block), kind) for kind, block in kinds)


CONTEXT = 3
"""Unchanged lines that are shown around a change."""

Line = tuple[int, str]
"""A line of one of the texts: its number there, and what it says."""


class Row(NamedTuple):
    """A line of the old text, one of the new, or both if they are the same or one changed."""

    old: Line | None
    new: Line | None
    same: bool = False


class Gap(NamedTuple):
    """Unchanged lines that are not shown: where among the rows they begin, and how many."""

    at: int
    n: int


def compare_lines(old: str, new: str, *, prose: bool = False) -> tuple[Row, ...]:
    r"""The lines of two texts as rows; how lines end is not compared.

    Of prose the paragraphs are compared, wherever their lines break.

    >>> [(row.same, row.old, row.new) for row in compare_lines("a\nb", "a\nc")]
    [(True, (1, 'a'), (1, 'a')), (False, (2, 'b'), None), (False, None, (2, 'c'))]
    >>> [row.same for row in compare_lines("one two\nthree", "one\ntwo three", prose=True)]
    [True]
    """
    before, after = (
        _join_paragraphs(text) if prose else list(enumerate(lines_of(text) or [], 1))
        for text in (old, new)
    )
    texts = [line for _, line in before], [line for _, line in after]
    rows: list[Row] = []
    for tag, i, j, start, end in blocks_of(*texts):
        if tag == "equal":
            pairs = zip(before[i:j], after[start:end], strict=True)
            rows += (Row(gone, arrived, same=True) for gone, arrived in pairs)
        else:
            for at, to in pair_lines(texts[0][i:j], texts[1][start:end]):
                gone = None if at is None else before[i + at]
                rows.append(Row(gone, None if to is None else after[start + to]))
    return tuple(rows)


_APART = re.compile(r"\s*(?:[#|>]|[-*+] |\d+[.)] |```|~~~)|\s{4}")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def _join_paragraphs(text: str) -> list[Line]:
    """The lines, those that go on with a paragraph or an item of a list put to its first one."""
    found: list[Line] = []
    fenced = goes_on = False
    for number, line in enumerate(lines_of(text) or [], 1):
        if not fenced and not line.strip():
            goes_on = False
            continue
        if goes_on and not _APART.match(line):
            first, before = found[-1]
            found[-1] = first, f"{before} {line.strip()}"
            continue
        found.append((number, line))
        fenced ^= bool(_FENCE.match(line))
        goes_on = not fenced and not re.match(r"\s*[#|`~]", line)
    return found


def fold_rows(rows: Sequence[Row]) -> Iterator[Row | Gap]:
    """The rows, with a gap for unchanged ones that are far from any change."""
    changes = [at for at, row in enumerate(rows) if not row.same]
    near = {at + by for at in changes for by in range(-CONTEXT, CONTEXT + 1)}
    for is_near, block in groupby(range(len(rows)), near.__contains__):
        places = list(block)
        if is_near or len(places) == 1:  # a gap would take the room of the one line that it hides
            yield from (rows[at] for at in places)
        else:
            yield Gap(places[0], len(places))


LINES, CHARACTERS = 2_000, 200_000
"""Of each text so much is compared: more takes seconds, and no reader."""


@lru_cache(maxsize=64)
def compare_texts(old: str, new: str, *, prose: bool) -> tuple[tuple[Row, ...], str]:
    r"""Two texts as rows, and what to say where only their beginnings were compared, else "".

    >>> compare_texts("a", "a\n", prose=False)
    ((Row(old=(1, 'a'), new=(1, 'a'), same=True),), '')
    """
    bound = ["\n".join(text[:CHARACTERS].split("\n", LINES)[:LINES]) for text in (old, new)]
    limits = f"{LINES:,} lines, {CHARACTERS:,} characters"
    left_out = "" if bound == [old, new] else f"Only the beginning of each was compared: {limits}."
    return compare_lines(*bound, prose=prose), left_out
