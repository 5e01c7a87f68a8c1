"""What is taken away from a page: texts and tables on the clipboard, tables as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .panel import offer
from .tree import Node, h

if TYPE_CHECKING:
    import polars as pl


def copy_button(text: str, what: str, words: str = "Copy") -> Node:
    """A button that puts a text on the clipboard; to a screen reader it copies `what`."""
    return take_button(words, f"Copy {what}", copies=text)


def table_buttons(name: str, what: str, make: Callable[[], pl.DataFrame | Iterable[Any]]) -> Node:
    """The ways to take a table away: on the clipboard, as a spreadsheet takes it, and as CSV.

    Args:
        name: unlike that of any other table of a page; the file's is what follows its last blank.
        what: the rows, in words.
        make: gives the rows at the click, in the order in which they are shown.
    """
    file = f"{name.rpartition(' ')[2]}.csv"
    tabs = offer(f"{name} on the clipboard", lambda: (table_bytes(make(), "\t"), "text/plain"))
    commas = offer(f"{name} as CSV", lambda: (table_bytes(make()), "text/csv"))
    return h(
        "div",
        take_button("Copy", f"Copy these {what}", copies=True, blob=tabs),
        take_button("CSV", f"Download these {what}", blob=commas, download=file),
        cls="sen-row sen-middle sen-takes",
    )


def take_button(words: str, label: str, **more: Any) -> Node:
    """A button with room to say that it is done."""
    done = h("span", cls="sen-done", role="status")
    return h("button", words, done, type="button", cls="sen-take", aria_label=label, **more)


def table_bytes(rows: pl.DataFrame | Iterable[Mapping[str, Any]], separator: str = ",") -> bytes:
    r"""A table as RFC 4180 has it, in UTF-8: every value as it is, lists joined by `; `.

    A text that begins as a formula stays what it is: read the file as data, do not run it.

    >>> table_bytes([{"eval": "a, b", "runs": [1, 2], "delta": None}, {"eval": "=1+1", "runs": []}])
    b'eval,runs,delta\r\n"a, b",1; 2,\r\n=1+1,"",\r\n'
    """
    import polars as pl

    if not isinstance(rows, pl.DataFrame):
        rows = pl.DataFrame(list(rows), infer_schema_length=None, strict=False)
    lists = [name for name, kind in rows.schema.items() if isinstance(kind, pl.List)]
    joined = (pl.col(name).cast(pl.List(pl.String)).list.join("; ") for name in lists)
    plain = rows.with_columns(*joined)
    return plain.write_csv(separator=separator, line_terminator="\r\n").encode()
