"""A value that shows itself, in a widget: its blocks as nodes of a tree."""

from __future__ import annotations

from collections.abc import Iterable

from skill_eval_nb.view import Block, Cards, Diff, Items, Mark, Pairs, Table, Text, Title

from .parts import details, diff_view, figure, pill, table
from .tree import Child, Node, h

KINDS = {"error": "bad", "warning": "odd", "info": ""}
"""How the word of a mark stands out."""


def blocks_view(blocks: Iterable[Block]) -> list[Node]:
    """The blocks in their order; what is soft or a list is there to be unfolded."""
    return [node for block in blocks if (node := _view(block)) is not None]


def _view(block: Block) -> Node | None:
    match block:
        case Title():
            return h("div", h("h4", block.text), _soft(block.place))
        case Text(soft=True):
            return _soft(block.text)
        case Text():
            return h("p", h("b", f"{block.strong} ") if block.strong else None, block.text)
        case Mark():
            return h("p", pill(block.word, KINDS.get(block.kind, "")), f" {block.text}", dir="auto")
        case Cards():
            cards = [figure(card.figure, card.noun) for card in block.cards]
            return h("div", cards, cls="sen-job-figures")
        case Table() if block.rows:
            return _table(block)
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


def _table(block: Table) -> Node:
    if not any(block.heads):
        remarks = [h("p", [[_cell(cell), " "] for cell in row]) for row in block.rows]
        return h("div", h("p", h("b", block.caption)), remarks, cls="sen-notice")
    right = set(block.right)
    numbers = [at for at, head in enumerate(block.heads) if head in right]
    rows = [[_cell(cell) for cell in row] for row in block.rows]
    whole = table(block.heads, rows, caption=block.caption or None, numbers=numbers)
    return h("div", whole, _more(block.more))


def _cell(cell: object) -> Child:
    match cell:
        case Mark():
            return pill(cell.word, KINDS.get(cell.kind, ""))
        case (above, below):
            return [h("small", str(above), cls="sen-soft"), h("div", str(below), dir="auto")]
        case int():
            return f"{cell:,}"
    return "–" if cell is None else h("span", str(cell), dir="auto")


def _more(number: int) -> Node | None:
    return _soft(f"… and {number:,} more") if number > 0 else None


def _soft(words: str) -> Node | None:
    return h("p", words, cls="sen-soft sen-small", dir="auto") if words else None
