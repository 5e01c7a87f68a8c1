"""Tables of this widget: rows that something can be opened below, in pages of a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import button

from .words import count

PAGE = 25
"""Rows of a page."""

T = TypeVar("T")


def grid(caption: str, heads: Sequence[Child], rows: Child, *, cls: str) -> Node:
    """A table whose columns have fixed widths, so that what is opened below a row fits in."""
    head = h("tr", [h("th", words, scope="col") for words in heads])
    table = h("table", h("caption", caption), h("thead", head), h("tbody", rows), cls=cls)
    return h("div", table, cls="sen-scroll", tabindex="0", role="group", aria_label=caption)


def row(
    first: Child, cells: Sequence[Child], *, key: str, chosen: bool = False, joined: bool = False
) -> Node:
    """A row; the first cell heads it. One that is `joined` belongs to the row above."""
    looks = " ".join(["sen-chosen"] * chosen + ["sen-x-joined"] * joined) or None
    return h(
        "tr",
        h("th", first, scope="row"),
        [h("td", one) for one in cells],
        key=key,
        cls=looks,
    )


def head(name: str, where: str, act: Sequence[Any], *, first: bool, about: str = "") -> list[Child]:
    """What a row is headed by: a button that shows its runs.

    Args:
        name: of what it is about.
        where: the iteration where several are looked at; then the rows of a name stand
            together, and only the first one has it.
        act: the action.
        first: whether it is the first of its name.
        about: what else there is to say of it.
    """
    spoken = f"{name}, {where}: show its runs" if where else f"{name}: show its runs"
    small = h("small", about, cls="sen-soft sen-x-about") if about else None
    if not where:
        return [button(name, act, kind="quiet", aria_label=spoken), small]
    return [
        [h("div", name, cls="sen-x-name"), small] if first else None,
        button(where, act, kind="quiet", aria_label=spoken),
    ]


def of_page(items: Sequence[T], page: int) -> Sequence[T]:
    """The items of a page, the last one where there are not so many."""
    first = page_of(len(items), page) * PAGE
    return items[first : first + PAGE]


def page_of(number: int, page: int) -> int:
    """The page that can be shown of so many items.

    >>> page_of(60, 1), page_of(60, 9), page_of(0, 2)
    (1, 2, 0)
    """
    return min(max(page, 0), max(number - 1, 0) // PAGE)


def pager(number: int, page: int, name: str, noun: str) -> Node | None:
    """Which of the items are shown, and the way to the others; nothing where all are.

    Args:
        number: how many there are.
        page: the one that is shown.
        name: what is paged, for the action `turn`.
        noun: what the items are.
    """
    if number <= PAGE:
        return None
    page = page_of(number, page)
    first, last = page * PAGE + 1, min((page + 1) * PAGE, number)
    back = ("turn", name, page - 1) if page else None
    on = ("turn", name, page + 1) if last < number else None
    return h(
        "div",
        button("◂ Earlier", back, aria_label=f"earlier {noun}s"),
        h("span", f"{first:,}–{last:,} of {count(number, noun)}", cls="sen-numbers"),
        button("Later ▸", on, aria_label=f"later {noun}s"),
        cls="sen-row sen-middle sen-x-pager",
        key=f"pages-of-{name}",
    )
