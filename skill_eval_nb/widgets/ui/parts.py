"""What views are put together from: controls, tables, tabs, blocks, texts, verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_eval_nb.text import count
from skill_eval_nb.view import Block, Cards, Diff, Items, Mark, Pairs, Table, Text, Title

from .tree import Child, Node, h, is_node

Act = Sequence[Any]
"""An action's name, and what is handed to it before the value of a control."""

Options = Mapping[str, str] | Sequence[str]
"""What can be chosen: names, or by name what it is called."""


def button(label: Child, act: Act | None, *, kind: str = "", **more: Any) -> Node:
    """A button; `kind` is "main" (one a view), "quiet" (a link in a text) or nothing.

    Without an action it is disabled.
    """
    on = {"click": tuple(act)} if act is not None else None
    look = {"cls": f"sen-{kind}"} if kind else {}
    return h("button", label, type="button", **look, **more, on=on, disabled=act is None)


def copy_button(text: str, what: str, words: str = "Copy") -> Node:
    """A button that puts a text on the clipboard; to a screen reader it copies `what`."""
    return take_button(words, f"Copy {what}", copies=text)


def take_button(words: str, label: str, **more: Any) -> Node:
    """A button with room to say that it is done."""
    done = h("span", cls="sen-done", role="status")
    return h("button", words, done, type="button", cls="sen-take", aria_label=label, **more)


def choose(label: str, options: Options, value: str, act: Act, **more: Any) -> Node:
    """One of several, in a list that opens."""
    control = h(
        "select", options_of(options, value), value=value, on={"change": tuple(act)}, **more
    )
    return field(label, control)


def options_of(options: Options, chosen: str) -> list[Node]:
    """What a list offers."""
    return [
        h("option", words, value=name, selected=name == chosen)
        for name, words in _names_with_labels(options).items()
    ]


def ticks(legend: str, options: Options, chosen: Iterable[str], act: Act) -> Node:
    """Any number of several: a box each; the action is handed its name and whether it is on."""
    on = set(chosen)
    boxes = [
        tick(words, name in on, (*act, name)) for name, words in _names_with_labels(options).items()
    ]
    return h("fieldset", h("legend", legend), h("div", boxes, cls="sen-ticks"))


def tick(label: Child, on: bool, act: Act) -> Node:
    """A box that is ticked or not."""
    box = h("input", type="checkbox", checked=on, on={"change": tuple(act)})
    return h("label", box, h("span", label))


def entry(label: str, value: Any, act: Act, *, kind: str = "text", **more: Any) -> Node:
    """A line to type in; `kind` is "text" or "number". The action is handed it once it is whole."""
    shown = "" if value is None else str(value)
    return field(label, h("input", type=kind, value=shown, on={"change": tuple(act)}, **more))


def text_area(label: str, value: str, act: Act, *, keep: str, key: str, rows: int = 4) -> Node:
    """Room for text that is taken as one types, and kept in the page until it was.

    Args:
        label: what it is.
        value: the text.
        act: the action; it is handed the text.
        keep: a name for the text that no other text of the user's has.
        key: what it is about: another key is another text.
        rows: how many lines it shows.
    """
    on = {"input": tuple(act)}
    area = h("textarea", value=value, rows=rows, keep=keep, on=on, key=key, dir="auto")
    return field(label, area, key=f"{key}-field")


def field(label: str, control: Node, **more: Any) -> Node:
    """A control with its label above."""
    return h("label", h("span", label), control, cls="sen-field", **more)


def tabs(names: Options, chosen: str, act: Act, content: Child, *, label: str, page: str) -> Node:
    """One of several views; the arrow keys go from tab to tab.

    Args:
        names: of the tabs.
        chosen: the one whose content is shown.
        act: the action; it is handed a name.
        content: of the chosen one.
        label: what the tabs are of.
        page: a name unlike that of any other tabs in the page.
    """
    ids = {
        name: f"{page}-{at}" for at, name in enumerate(_names_with_labels(names))
    }  # which have no spaces
    row = [
        button(
            words,
            (*act, name),
            role="tab",
            id=ids[name],
            key=name,
            aria_selected=name == chosen,
            aria_controls=f"{page}-panel",
            tabindex="0" if name == chosen else "-1",
        )
        for name, words in _names_with_labels(names).items()
    ]
    panel = h(
        "div",
        content,
        role="tabpanel",
        id=f"{page}-panel",
        aria_labelledby=ids.get(chosen),
        key=f"of-{chosen}",
    )
    return h("div", h("div", row, role="tablist", aria_label=label), panel)


def table(
    heads: Sequence[Child],
    rows: Iterable[Sequence[Child] | Node],
    *,
    caption: str | None = None,
    numbers: Iterable[int] = (),
    label: str = "table",
    look: str = "sen-scroll",
    **more: Any,
) -> Node:
    """A table that scrolls; a row is its cells, or an element of its own.

    Args:
        heads: of the columns.
        rows: the first cell of a row heads it.
        caption: what the table says.
        numbers: columns that hold figures.
        label: what a screen reader calls it where it has no caption.
        look: the class of what scrolls.
        more: attributes of the table itself.
    """
    right = set(numbers)
    looks = ["sen-n" if at in right else None for at in range(len(heads))]
    head = [h("th", words, scope="col", cls=cls) for words, cls in zip(heads, looks, strict=True)]
    body = [row if is_node(row) else table_row(row, looks) for row in rows]
    inside = h("thead", h("tr", head)), h("tbody", body)
    whole = h("table", caption and h("caption", caption), inside, **more)
    return frame(whole, caption or label, look)


def table_row(cells: Sequence[Child], look: Sequence[str | None] = (), **more: Any) -> Node:
    """A row of a table; `look` is the class of each cell."""
    looks = [*look, *[None] * (len(cells) - len(look))]
    first, *others = zip(cells, looks, strict=True)
    return h(
        "tr",
        h("th", first[0], scope="row", cls=first[1]),
        [h("td", cell, cls=cls) for cell, cls in others],
        **more,
    )


def details(
    summary: Child, content: Child, *, unfolded: bool = False, key: str | None = None
) -> Node:
    """What is there if one wants it."""
    return h("details", h("summary", summary), content, open=unfolded, key=key)


def key_list(meanings: Mapping[str, str]) -> Node:
    """What keys do, by key; the key ? opens it."""
    rows = [
        h("div", h("dt", [[h("kbd", key), " "] for key in keys.split()]), h("dd", words))
        for keys, words in {**meanings, "?": "this list"}.items()
    ]
    head = h("summary", h("kbd", "?"), " keys", pressed="?")
    return h("details", head, h("dl", rows), pops=True, cls="sen-keys", key="keys")


def notice(*content: Child, fine: bool = False, key: str | None = None) -> Node:
    """Something to know; `fine` where it is good."""
    return h(
        "div",
        [h("p", remark) for remark in content],
        cls=f"sen-notice{' sen-fine' if fine else ''}",
        role="status",
        key=key,
    )


def figure(value: str, noun: str, kind: str = "", **more: Any) -> Node:
    """A figure with what it counts below it; `kind` is "bad" or nothing."""
    look = f"sen-job-figure sen-{kind}" if kind else "sen-job-figure"
    return h("div", h("b", value), h("span", noun, **more), cls=look)


def waiting_note(doing: str) -> Node:
    """What stands for what is being worked out."""
    return h("p", f"{doing} …", cls="sen-soft", role="status")


def frame(
    content: Child, label: str, look: str | None = "sen-scroll", tag: str = "div", **more: Any
) -> Node:
    """A box that scrolls, which the keyboard reaches."""
    return h(tag, content, cls=look, tabindex="0", role="group", aria_label=label, **more)


def soft(*words: Child, **more: Any) -> Node:
    """A line that says what is, or is not, shown."""
    return h("p", words, cls="sen-soft sen-small", **more)


LINES = 2_000
"""Lines of a diff that are shown."""


def diff_view(diff: str) -> Node:
    """A unified diff, its lines in colour."""
    lines = diff.splitlines()
    left = len(lines) - LINES
    more = f"\n{count(left, 'more line')} not shown" if left > 0 else None
    shown = [_diff_line(line) for line in lines[:LINES]]
    return frame([*shown, more], "the difference", "sen-diff-lines", tag="pre")


def _diff_line(line: str) -> Node:
    head = line.startswith(("@@", "+++", "---"))
    if line.startswith(("+", "-")) and not head:
        return h("ins" if line[0] == "+" else "del", f"{line}\n")
    return h("span", f"{line}\n", cls="sen-soft" if head else None)


def place(path: str | Path) -> str:
    """A path from the current folder on where it is below that, else the whole of it.

    >>> place(Path.cwd() / "my-workspace"), place(Path.cwd())
    ('my-workspace', '.')
    """
    whole, here = Path(path).absolute(), Path.cwd()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(whole)


def pill(words: str, kind: str = "") -> Node:
    """A word that stands out; `kind` is "good", "bad", "odd" or nothing."""
    return h("span", words, cls=f"sen-pill sen-{kind}" if kind else "sen-pill")


def _names_with_labels(options: Options) -> Mapping[str, str]:
    return options if isinstance(options, Mapping) else {name: name for name in options}


KINDS = {"error": "bad", "warning": "odd", "info": ""}
"""Severities, the worst first, and how the word of each stands out."""


def blocks_view(blocks: Iterable[Block]) -> list[Node]:
    """The blocks in their order; what is soft or a list is there to be unfolded."""
    return [node for block in blocks if (node := _block_view(block)) is not None]


def _block_view(block: Block) -> Node | None:
    match block:
        case Title():
            return h("div", h("h4", block.text), _remark(block.place))
        case Text(soft=True):
            return _remark(block.text)
        case Text():
            return h("p", h("b", f"{block.strong} ") if block.strong else None, block.text)
        case Mark():
            return h("p", pill(block.word, KINDS.get(block.kind, "")), f" {block.text}", dir="auto")
        case Cards():
            cards = [figure(card.figure, card.noun) for card in block.cards]
            return h("div", cards, cls="sen-job-figures")
        case Table() if block.rows:
            return _block_table(block)
        case Pairs() if block.rows:
            rows = [
                h("tr", h("th", label.strip(), scope="row"), h("td", words, dir="auto"))
                for label, words in block.rows
            ]
            pairs = h("table", h("tbody", rows), cls="sen-settings")
            return details(block.caption or "More", pairs, key=f"block-{block.caption}")
        case Items() if block.items:
            items = h("ol" if block.numbered else "ul", [h("li", item) for item in block.items])
            caption = block.caption or "What it rests on"
            return details(caption, [items, _more(block.more)], key=f"block-{caption}")
        case Diff() if block.text:
            return diff_view(block.text)
    return None


def _block_table(block: Table) -> Node:
    if not any(block.heads):
        remarks = [h("p", [[_block_cell(cell), " "] for cell in row]) for row in block.rows]
        return h("div", h("p", h("b", block.caption)), remarks, cls="sen-notice")
    right = set(block.right)
    numbers = [at for at, head in enumerate(block.heads) if head in right]
    rows = [[_block_cell(cell) for cell in row] for row in block.rows]
    whole = table(block.heads, rows, caption=block.caption or None, numbers=numbers)
    return h("div", whole, _more(block.more))


def _block_cell(cell: object) -> Child:
    match cell:
        case Mark():
            return pill(cell.word, KINDS.get(cell.kind, ""))
        case (above, below):
            return [h("small", str(above), cls="sen-soft"), h("div", str(below), dir="auto")]
        case int():
            return f"{cell:,}"
    return "–" if cell is None else h("span", str(cell), dir="auto")


def _more(number: int) -> Node | None:
    return _remark(f"… and {number:,} more") if number > 0 else None


def _remark(words: str) -> Node | None:
    return soft(words, dir="auto") if words else None


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
    words += f", to {LONGEST:,}" * (len(whole) > LONGEST)
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
_OUTCOMES = {True: "good", False: "bad", None: "odd"}
STRIP = 60
"""Verdicts that a strip can hold: more would be too narrow to be seen."""


def word(passed: bool | None) -> str:
    """The outcome of a check.

    >>> word(True), word(None)
    ('passed', 'not scored')
    """
    return _VERDICTS[passed][1]


def outcome_pill(passed: bool | None) -> Node:
    """The outcome of a check as a word that stands out."""
    return pill(word(passed), _OUTCOMES[passed])


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
    """All outcomes in a row; the words next to it say the same."""
    if not 1 < len(verdicts) <= STRIP:
        return None
    cells = [h("i", cls=_VERDICTS[verdict][2]) for verdict in verdicts]
    return h("span", cells, cls="sen-strip", aria_hidden="true")


def dots(score: float | None) -> Node:
    """A score as dots, filled as far as it goes."""
    if score is None:
        return h("span", "not scored", cls="sen-soft")
    fills = [min(max(score - at, 0.0), 1.0) for at in range(HIGHEST)]
    cells = [h("i", style={"--sen-fill": f"{fill:.0%}"}) for fill in fills]
    return h(
        "span",
        h("span", cells, cls="sen-dots", aria_hidden="true"),
        h("b", score_text(score), cls="sen-score"),
        h("span", f" of {HIGHEST}", cls="sen-soft sen-small"),
        cls="sen-scored",
    )


def score_text(score: float) -> str:
    """A score or a mean of scores.

    >>> score_text(4.0), score_text(3.6666)
    ('4', '3.67')
    """
    return f"{score:.2f}".rstrip("0").rstrip(".")
