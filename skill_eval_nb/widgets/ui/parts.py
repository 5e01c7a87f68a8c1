"""What views are put together from: controls, tables, tabs, blocks, texts, verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_eval_nb.text import Gap, Row, Span, count, mark_changes, tie
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
    ids = {name: f"{page}-{at}" for at, name in enumerate(names)}  # which have no spaces
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


def note(*words: Child, **more: Any) -> Node:
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


def short_path(path: str | Path) -> str:
    """A path from the current folder on where it is below that, else the whole of it.

    >>> short_path(Path.cwd() / "my-workspace"), short_path(Path.cwd())
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
            return h("div", h("h4", block.text), _remark_line(block.place))
        case Text(soft=True):
            return _remark_line(block.text)
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
            caption = block.caption or "Assumptions"
            return details(caption, [items, _more_line(block.more)], key=f"block-{caption}")
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
    return h("div", whole, _more_line(block.more))


def _block_cell(cell: object) -> Child:
    match cell:
        case Mark():
            return pill(cell.word, KINDS.get(cell.kind, ""))
        case (above, below):
            return [h("small", str(above), cls="sen-soft"), h("div", str(below), dir="auto")]
        case int():
            return f"{cell:,}"
    return "–" if cell is None else h("span", str(cell), dir="auto")


def _more_line(number: int) -> Node | None:
    return _remark_line(f"… and {number:,} more") if number > 0 else None


def _remark_line(words: str) -> Node | None:
    return note(words, dir="auto") if words else None


_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tabs and ends of lines
    "\u202a-\u202e\u2066-\u2069\u2028\u2029"  # what turns the order of letters, or breaks a line
    "\ud800-\udfff\ufffe\uffff"  # halves of characters, which no page can take
    "\U000e0000-\U000e007f]"  # letters that nobody sees and a model reads
)
_ENDS = re.compile(r"\r\n?")


def reveal(text: object) -> str:
    r"""A text of many lines, with controls and marks that turn its order made visible.

    >>> reveal("a\r\nb\tc"), reveal("\x1b[1m"), reveal("user\u202etxt.exe"), reveal("\udcff")
    ('a\nb\tc', '␛[1m', 'user⟨U+202E⟩txt.exe', '⟨U+DCFF⟩')
    """
    return _HIDDEN.sub(_show_character, _ENDS.sub("\n", str(text)))


def _show_character(found: re.Match[str]) -> str:
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


def text_box(text: str, *, label: str = "the rest of the text") -> Node:
    """A text as it is, in a box that can be scrolled."""
    return frame(reveal(text), label, None, tag="pre", dir="auto")


def say_first(shown: int, of: int, noun: str) -> str:
    """What a bounded view shows of all there is.

    >>> say_first(200, 12345, "line")
    'The first 200 of 12,345 lines'
    """
    return f"The first {shown:,} of {count(of, noun)}"


def join_parts(parts: Iterable[Child], middle: str = " · ") -> list[Child]:
    """The parts that there are, with something between them.

    >>> join_parts(["a", None, "b"])
    ['a', ' · ', 'b']
    """
    given = [part for part in parts if part]
    return [piece for at, part in enumerate(given) for piece in ((middle, part) if at else (part,))]


_VERDICTS = {
    True: ("✓", "passed", "sen-mark-good"),
    False: ("✗", "failed", "sen-mark-bad"),
    None: ("–", "not scored", "sen-mark-none"),
}
STRIP = 60
"""Verdicts that a strip can hold: more would be too narrow to be seen."""
_OUTCOMES = {True: "good", False: "bad", None: "odd"}


def outcome(passed: bool | None) -> str:
    """The outcome of a check.

    >>> outcome(True), outcome(None)
    ('passed', 'not scored')
    """
    return _VERDICTS[passed][1]


def outcome_pill(passed: bool | None) -> Node:
    """The outcome of a check as a word that stands out."""
    return pill(outcome(passed), _OUTCOMES[passed])


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


LONGEST_SHOWN = 4_000
"""Characters of a piece of a line that are shown."""
MOST_ROWS = 1_200
"""Rows that are shown."""
MARKED = 60_000_000
"""Products of the lengths of changed lines up to which their words are compared."""
SIGNS = {"old": ("−", "removed: "), "new": ("+", "added: "), "same": ("", "")}
TAGS = {"old": "del", "new": "ins", "apart": "mark"}


def draw_rows(
    rows: Sequence[Row | Gap],
    label: str,
    *,
    names: tuple[str, str] | None = None,
    beside: bool = True,
    prose: bool = False,
    unfold: Callable[[Gap], Child] = lambda gap: tie(gap.n, "unchanged line"),
) -> Node:
    """Rows as a table.

    Args:
        rows: what is compared.
        label: what a screen reader calls the table.
        names: what the two texts are called, if neither is a newer version of the other.
        beside: whether the old lines stand beside the new ones, else all in one column.
        prose: whether the rows are paragraphs, which have no numbers.
        unfold: what stands in the place of lines that are not shown.
    """
    heads, room = _draw_heads(names, beside, prose), MARKED
    body: list[Node] = []
    arrived: list[Node] = []  # in one column, of lines that changed all that went come first
    for row in rows[:MOST_ROWS]:
        if isinstance(row, Gap) or row.same:
            body += arrived
            arrived = []
        if isinstance(row, Gap):
            gap = h("td", unfold(row), colspan=len(heads), cls="sen-diff-gap")
            body.append(h("tr", gap, key=f"gap-{row.at}"))
            continue
        if row.old and row.new and not row.same:
            room -= len(row.old[1]) * len(row.new[1])
        old, new = _side_cells(row, apart=names is not None, marked=room >= 0)
        if beside:
            body.append(h("tr", [cells[prose:] for cells in (old, new)]))
        elif row.same:
            body.append(h("tr", old[0], *new))
        else:
            none = h("td", cls="sen-diff-number")
            body += [h("tr", old[0], none, old[1])] if row.old else []
            arrived += [h("tr", none, *new)] if row.new else []
    left: list[str] = []
    if len(rows) > MOST_ROWS:
        left.append(f"{tie(len(rows) - MOST_ROWS, 'more row')} not shown.")
    if room < 0:
        left.append("The last lines are not compared word by word, to save time.")
    notes = [h("tr", h("td", words, colspan=len(heads), cls="sen-diff-gap")) for words in left]
    look = f"sen-diff sen-diff-{'beside' if beside else 'column'}{' sen-diff-prose' * prose}"
    return table(heads, [*body, *arrived, *notes], label=label, cls=look)


def _draw_heads(names: tuple[str, str] | None, beside: bool, prose: bool) -> list[Child]:
    unseen = [h("span", head, cls="sen-unseen") for head in ("old line", "new line", "text")]
    look = None if names else "sen-unseen"
    old, new = (h("span", line(name), cls=look) for name in names or ("before", "after"))
    if prose:
        return [old, new]
    return [unseen[0], old, unseen[1], new] if beside else [*unseen]


def _side_cells(row: Row, *, apart: bool, marked: bool) -> list[tuple[Node, Node]]:
    """The number and the text of either side, with the words that differ where these are marked."""
    texts = [((line[1], False),) if line else () for line in (row.old, row.new)]
    if row.old and row.new and not row.same and marked:
        texts = mark_changes(row.old[1], row.new[1])
    kinds = ("same", "same") if row.same else ("apart", "apart") if apart else ("old", "new")
    return [
        (h("td", str(line[0]) if line else "", cls="sen-diff-number"), _line_cell(kind, pieces))
        for line, kind, pieces in zip((row.old, row.new), kinds, texts, strict=True)
    ]


def _line_cell(kind: str, pieces: Sequence[Span]) -> Node:
    if not pieces:
        return h("td", cls="sen-diff-none")
    sign, meaning = SIGNS.get(kind, ("", "differs: "))
    mark = h("span", sign, cls="sen-diff-sign", aria_hidden="true") if sign else None
    words = h("span", meaning, cls="sen-unseen") if meaning else None
    look = f"sen-diff-line sen-diff-{kind}"
    return h("td", mark, words, spans(pieces, kind), cls=look, dir="auto")


def spans(pieces: Sequence[Span], kind: str) -> Child:
    """A line in its pieces, those that are not in the other one marked."""
    tag = TAGS.get(kind, "span")
    return [h(tag, _cut_line(text)) if changed else _cut_line(text) for text, changed in pieces]


def _cut_line(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return reveal(text)
    return f"{reveal(text[:LONGEST_SHOWN])} … {len(text) - LONGEST_SHOWN:,} more characters"
