"""Texts, figures and verdicts as people read them; what hides in a text is made visible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from skill_eval_nb.text import count

from ..ui import Child, Node, h
from ..ui.parts import frame

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tabs and ends of lines
    "\u202a-\u202e\u2066-\u2069\u2028\u2029"  # what turns the order of letters, or breaks a line
    "\ud800-\udfff\ufffe\uffff"  # halves of characters, which no page can take
    "\U000e0000-\U000e007f]"  # letters that nobody sees and a model reads
)
_ENDS = re.compile(r"\r\n?")
_CODE = re.compile(r"`([^`\n]+)`")

LONG = 1_200
"""Characters of an evidence, or a remark, that are shown at once."""
LONGEST = 40_000
"""Characters of one text that are shown at all."""


def plain(text: object) -> str:
    r"""A text of many lines, with controls and marks that turn its order made visible.

    >>> plain("a\r\nb\tc"), plain("\x1b[1m"), plain("user\u202etxt.exe"), plain("\udcff")
    ('a\nb\tc', '␛[1m', 'user⟨U+202E⟩txt.exe', '⟨U+DCFF⟩')
    """
    return _HIDDEN.sub(_seen, _ENDS.sub("\n", str(text)))


def _seen(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"


def line(text: object) -> str:
    r"""A name, on one line: nothing in it is unseen.

    >>> line("a\u202eb\n"), line("caf\udce9"), line("<img onerror=x>")
    ('a⟨U+202E⟩b⟨U+000A⟩', 'caf⟨U+DCE9⟩', '<img onerror=x>')
    """
    label = str(text)
    if label.isprintable():
        return label
    return "".join(char if char.isprintable() else f"⟨U+{ord(char):04X}⟩" for char in label)


def name(text: object, *, cls: str = "sen-name") -> Node:
    """A name from a file, apart from what stands around it: it may be written right to left."""
    return h("span", line(text), cls=cls, dir="auto")


def prose(text: str) -> list[Node]:
    """A text with what stands in backticks as code, as judges write.

    >>> prose("see `a.py`")
    ['see ', ['code', {}, ['a.py']]]
    """
    parts = _CODE.split(plain(text))
    return [h("code", part) if at % 2 else part for at, part in enumerate(parts) if part]


def remark(text: object, *, cls: str = "sen-remark", what: str = "text") -> Node:
    """What somebody said of a run; a long one can be unfolded."""
    whole = str(text)
    if len(whole) <= LONG:
        return h("p", prose(whole), cls=cls, dir="auto")
    words = f"{first(LONG, len(whole), 'character')} of this {what}; open to read on"
    if len(whole) > LONGEST:
        words = f"{first(LONG, len(whole), 'character')}; opens the first {LONGEST:,}"
    return h(
        "div",
        h("p", prose(whole[:LONG]), "…", cls=cls, dir="auto"),
        h("details", h("summary", words, cls="sen-soft sen-small"), body(whole[LONG:LONGEST])),
    )


def body(text: str, *, label: str = "the rest of the text") -> Node:
    """A text as it is, in a box that can be scrolled."""
    return frame(plain(text), label, None, tag="pre", dir="auto")


def first(shown: int, of: int, noun: str) -> str:
    """What a bounded view shows of all there is.

    >>> first(200, 12345, "line")
    'The first 200 of 12,345 lines'
    """
    return f"The first {shown:,} of {count(of, noun)}"


def between(parts: Iterable[Child], middle: str = " · ") -> list[Child]:
    """The parts that there are, with something between them.

    >>> between(["a", None, "b"])
    ['a', ' · ', 'b']
    """
    given = [part for part in parts if part]
    return [piece for at, part in enumerate(given) for piece in ((middle, part) if at else (part,))]


HIGHEST = 5
"""Points of the scale of a score."""
_VERDICTS = {
    True: ("✓", "passed", "sen-mark-good"),
    False: ("✗", "failed", "sen-mark-bad"),
    None: ("–", "not scored", "sen-mark-none"),
}
STRIP = 60
"""Verdicts that a strip can hold: more would be too narrow to be seen."""


def word(passed: bool | None) -> str:
    """The outcome of a check.

    >>> word(True), word(None)
    ('passed', 'not scored')
    """
    return _VERDICTS[passed][1]


def verdict(passed: bool | None, *, label: str | None = None) -> Node:
    """The outcome of a check as a mark; a screen reader says the word."""
    sign, usual, look = _VERDICTS[passed]
    return h(
        "span",
        h("span", sign, " ", aria_hidden="true"),
        h("span", label or usual, cls="sen-unseen"),
        cls=f"sen-mark-of {look}",
        title=label or usual,
    )


def strip(verdicts: Sequence[bool | None]) -> Node | None:
    """All outcomes in a row, the words beside it say the same."""
    if not 1 < len(verdicts) <= STRIP:
        return None
    cells = [h("i", cls=_VERDICTS[verdict][2]) for verdict in verdicts]
    return h("span", cells, cls="sen-strip", aria_hidden="true")


def dots(score: float | None, *, highest: int = HIGHEST) -> Node:
    """A score as dots, filled as far as it goes."""
    if score is None:
        return h("span", "not scored", cls="sen-soft")
    fills = [min(max(score - at, 0.0), 1.0) for at in range(highest)]
    cells = [h("i", style={"--sen-fill": f"{fill:.0%}"}) for fill in fills]
    return h(
        "span",
        h("span", cells, cls="sen-dots", aria_hidden="true"),
        h("b", figure(score), cls="sen-score"),
        h("span", f" of {highest}", cls="sen-soft sen-small"),
        cls="sen-scored",
    )


def figure(score: float) -> str:
    """A score or a mean of scores.

    >>> figure(4.0), figure(3.6666)
    ('4', '3.67')
    """
    return f"{score:.2f}".rstrip("0").rstrip(".")
