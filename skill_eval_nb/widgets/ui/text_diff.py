"""Draws two texts beside each other: a row a line, with the words that differ marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from skill_eval_nb.text import tied
from skill_eval_nb.text_diff import Gap, Row, Span, mark_changes

from .parts import line, plain, table
from .tree import Child, Node, h

LONGEST_SHOWN = 4_000
"""Characters of a piece of a line that are shown."""
MOST = 1_200
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
    unfold: Callable[[Gap], Child] = lambda gap: tied(gap.n, "unchanged line"),
) -> Node:
    """Rows as a table.

    Args:
        rows: what is compared.
        label: what a screen reader calls the table.
        names: of two texts, neither of which is the newer version of the other.
        beside: whether the old lines stand beside the new ones, else all in one column.
        prose: whether the rows are paragraphs, which have no numbers.
        unfold: what stands in the place of lines that are not shown.
    """
    heads: list[Child] = [h("span", head, cls="sen-unseen") for head in ("old line", "new line")]
    texts: list[Child] = [
        h("span", line(name), cls=None if names else "sen-unseen")
        for name in names or ("before", "after")
    ]
    if prose:
        heads = texts
    elif beside:
        heads = [heads[0], texts[0], heads[1], texts[1]]
    else:
        heads.append(h("span", "text", cls="sen-unseen"))
    looks = [beside and "beside", not beside and "column", prose and "prose"]
    drawn = _Drawn(names is not None, beside, prose, len(heads), unfold)
    body = [*drawn.rows(rows[:MOST])]
    left = [f"{tied(len(rows) - MOST, 'more row')} not shown."] if len(rows) > MOST else []
    if drawn.room < 0:
        left.append("Of the last lines the words are not compared: that would take seconds.")
    body += [h("tr", h("td", words, colspan=len(heads), cls="sen-diff-gap")) for words in left]
    cls = " ".join(["sen-diff", *(f"sen-diff-{look}" for look in looks if look)])
    return table(heads, body, label=label, cls=cls)


class _Drawn:
    """Rows as they are drawn, and the room that is left for comparing words."""

    def __init__(
        self, apart: bool, beside: bool, prose: bool, width: int, unfold: Callable[[Gap], Child]
    ) -> None:
        self._apart, self._beside, self._prose, self._width = apart, beside, prose, width
        self._unfold = unfold
        self.room = MARKED

    def rows(self, rows: Iterable[Row | Gap]) -> Iterator[Node]:
        """In one column, of each block that changed first what went and then what came."""
        for changed, block in groupby(rows, lambda row: isinstance(row, Row) and not row.same):
            arrived: list[Node] = []
            for row in block:
                if isinstance(row, Gap):
                    gap = h("td", self._unfold(row), colspan=self._width, cls="sen-diff-gap")
                    yield h("tr", gap, key=f"gap-{row.at}")
                    continue
                old, new = self._cells(row)
                if self._beside:
                    yield h("tr", [cells[self._prose :] for cells in (old, new)])
                elif not changed:
                    yield h("tr", old[0], *new)
                else:
                    none = h("td", cls="sen-diff-number")
                    arrived += [h("tr", none, *new)] if row.new else []
                    if row.old:
                        yield h("tr", old[0], none, old[1])
            yield from arrived

    def _cells(self, row: Row) -> list[tuple[Node, Node]]:
        """The number and the text of either side."""
        texts = [((line[1], False),) if line else () for line in (row.old, row.new)]
        if row.old and row.new and not row.same:
            self.room -= len(row.old[1]) * len(row.new[1])
            if self.room >= 0:
                texts = mark_changes(row.old[1], row.new[1])
        kinds = ("same", "same") if row.same else ("old", "new")
        if self._apart and not row.same:
            kinds = ("apart", "apart")
        return [
            (h("td", str(line[0]) if line else "", cls="sen-diff-number"), _text(kind, pieces))
            for line, kind, pieces in zip((row.old, row.new), kinds, texts, strict=True)
        ]


def _text(kind: str, pieces: Sequence[Span]) -> Node:
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
    return [h(tag, _cut(text)) if changed else _cut(text) for text, changed in pieces]


def _cut(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return plain(text)
    return f"{plain(text[:LONGEST_SHOWN])} … {len(text) - LONGEST_SHOWN:,} more characters"
