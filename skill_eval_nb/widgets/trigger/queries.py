"""The set of queries: a grid that is edited, its file, and how both are shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.text import count
from skill_eval_nb.triggers import Query, read_queries, write_queries

from ..ui import Child, Node, h
from ..ui.parts import button, choose, notice, pill, place, soft, table

if TYPE_CHECKING:
    from skill_eval_nb.triggers.queries import QueryDoubt


@dataclass(frozen=True, slots=True)
class Row:
    """A query in the grid.

    Attributes:
        key: its name, whatever is typed in it.
        query: what it says now.
    """

    key: str
    query: Query


@dataclass(frozen=True, slots=True)
class Grid:
    """All rows, in order.

    Attributes:
        rows: those that are there.
        taken_out: the row that was taken out last, and where it stood; None where none was.
    """

    rows: tuple[Row, ...] = ()
    taken_out: tuple[int, Row] | None = None

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries, without rows that say nothing."""
        return tuple(row.query for row in self.rows if row.query.query.strip())

    def row(self, key: str) -> Row:
        """The row of that name.

        Raises:
            LookupError: there is none any more.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise LookupError("There is no such query any more.")

    def changed(self, key: str, query: Query) -> Grid:
        """The same with another query in that row."""
        self.row(key)
        rows = (replace(row, query=query) if row.key == key else row for row in self.rows)
        return replace(self, rows=tuple(rows))

    def without(self, key: str) -> Grid:
        """The same without that row, which can be put back."""
        at = self.rows.index(self.row(key))
        return Grid((*self.rows[:at], *self.rows[at + 1 :]), (at, self.rows[at]))

    def put_back(self) -> Grid:
        """The same with the row again that was taken out last."""
        if self.taken_out is None:
            return self
        at, row = self.taken_out
        return Grid((*self.rows[:at], row, *self.rows[at:]))

    def with_more(self, queries: Iterable[Query]) -> Grid:
        """The same with these queries below, but for those that are there already.

        >>> asked = Query("sum up this log", should_trigger=True)
        >>> len(Grid().with_more([asked, asked]).rows)
        1
        """
        there = {_same(row.query) for row in self.rows}
        more = []
        for query in queries:
            if _same(query) not in there:
                more.append(query)
                there.add(_same(query))
        return self._with(more)

    def with_room(self) -> Grid:
        """The same with an empty row below, unless there is one."""
        if self.rows and not self.rows[-1].query.query.strip():
            return self
        return self._with([Query("", should_trigger=True)])

    def _with(self, queries: Iterable[Query]) -> Grid:
        there = [*self.rows, self.taken_out[1]] if self.taken_out else self.rows
        return replace(self, rows=(*self.rows, *_named(queries, there)))


def grid_of(queries: Iterable[Query]) -> Grid:
    """The grid of a set, every query in it, also those that are there twice."""
    return Grid(tuple(_named(queries, ())))


def tags_of(text: str) -> tuple[str, ...]:
    """Tags as one types them, between commas.

    >>> tags_of(" near miss, , short,short ")
    ('near miss', 'short')
    """
    return tuple(dict.fromkeys(filter(None, (tag.strip() for tag in text.split(",")))))


def _same(query: Query) -> tuple[str, bool]:
    return re.sub(r"\s+", " ", query.query).strip(), query.should_trigger


def _named(queries: Iterable[Query], there: Iterable[Row]) -> list[Row]:
    """Rows of these queries; the same words have the same name in any session."""
    used = Counter(row.key for row in there)
    rows = []
    for query in queries:
        stem = blake2s(query.query.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        at = next(n for n in range(len(used) + 1) if f"{stem}-{n}" not in used)
        used[f"{stem}-{at}"] += 1
        rows.append(Row(f"{stem}-{at}", query))
    return rows


USUAL = "trigger-eval-set.json"
"""What the file is called where there is none yet."""


class Stored:
    """The files that a panel has read or written, each as it was then.

    Attributes:
        path: the file that Save writes.
        saved: the queries that it holds, as far as is known; None before it was read or written.
    """

    def __init__(self, skill: Path, name: str) -> None:
        """Nothing is read yet.

        Args:
            skill: the skill's folder.
            name: the skill's name, for sets of several skills.
        """
        self.path = skill / USUAL
        self.saved: tuple[Query, ...] | None = None
        self._name = name
        self._known: dict[Path, tuple[bytes, tuple[Query, ...]]] = {}

    def read(self, file: Path) -> tuple[Query, ...]:
        """The queries of a file.

        Raises:
            OSError, ValueError: it cannot be read, or has no queries.
        """
        before = read_bytes(file)
        queries = read_queries(file, skill=self._name)
        self._known[file.absolute()] = before, queries
        self.choose(self.path)
        return queries

    def choose(self, file: Path) -> None:
        """Choose the file that Save writes."""
        self.path = file
        _, self.saved = self._known.get(file.absolute(), (b"", None))

    def write(self, queries: tuple[Query, ...]) -> None:
        """Write the queries to `path`; what else the file says stays.

        Raises:
            Refused: the file holds what this panel has not seen.
            OSError: it cannot be written.
        """
        file = self.path.absolute()
        if file.exists():
            seen = self._known.get(file)
            if seen is None or read_bytes(file) != seen[0]:
                how = "is there already" if seen is None else "has changed since it was read"
                raise refuse(f"{file} {how}: import it first, or choose another name")
        write_queries(file, queries)
        self._known[file] = read_bytes(file), queries
        self.choose(self.path)


SHOWN = {
    "all": "all queries",
    "should": "those that should trigger",
    "not": "those that should not",
    "doubtful": "those with a remark",
}

BESIDE = (1, 2)
"""Queries of a doubt whose message stands beside each; of more it stands above all."""
LETTERS = 64
"""Characters of a line of a query, about."""
LINES = 8
"""Lines of a query that are shown at once."""


def queries_view(
    grid: Grid, doubts: Sequence[QueryDoubt], which: str, *, keep: str, page: str
) -> Node:
    """The grid.

    Args:
        grid: the rows.
        doubts: what is to be said of the set.
        which: the rows that are shown; a key of SHOWN.
        keep: what begins the names under which the page keeps what is typed.
        page: a name unlike that of any other panel in the notebook.
    """
    remarks = _remarks(doubts)
    rows = [row for row in grid.rows if _is_shown(row, which, remarks)]
    return h(
        "div",
        [notice(doubt.message) for doubt in doubts if len(doubt.queries) not in BESIDE],
        h(
            "div",
            h("p", _sizes(grid), cls="sen-trig-sizes"),
            choose("Show", SHOWN, which, ("show_rows",)) if grid.rows else None,
            cls="sen-row sen-middle sen-spread",
        ),
        _table(rows, remarks, keep, page) if rows else None,
        None if grid.rows else notice("No queries yet: add some, import a file, or draft some."),
        h(
            "div",
            button("Add a query", ("add_row",), key="add", leads=True),
            button("Put back what was removed", ("put_back",), key="put-back")
            if grid.taken_out is not None
            else None,
            cls="sen-row",
        ),
    )


def _remarks(doubts: Sequence[QueryDoubt]) -> Mapping[str, list[Node]]:
    """By the words of a query what is said beside it."""
    found: dict[str, list[Node]] = {}
    for doubt in doubts:
        message = f" {doubt.message}" if len(doubt.queries) in BESIDE else None
        for words in dict.fromkeys(doubt.queries):
            remark = h("li", pill(doubt.doubt, "odd"), message, dir="auto")
            found.setdefault(words, []).append(remark)
    return found


def files_view(path: Path, importing: str, unsaved: bool | None, message: str | None) -> Node:
    """Where the set is kept: import and save.

    Args:
        path: the file that Save writes.
        importing: the file that Import reads.
        unsaved: whether the file says something else; None where there is none.
        message: what was done last.
    """
    state = {
        None: "These queries are in no file yet.",
        True: f"What is in the grid is not saved to {place(path)}.",
        False: f"All is as {place(path)} has it.",
    }[unsaved]
    return h(
        "section",
        _line("Import from", importing, "import_from", button("Import", ("import_file",))),
        _line(
            "Save to",
            place(path),
            "save_to",
            button("Save", ("save",) if unsaved is not False else None, kind="main"),
        ),
        soft(f"{message} " if message else None, state, role="status"),
        cls="sen-card sen-trig-files",
        aria_label="the file of the set",
    )


def _line(label: str, value: str, name: str, press: Node) -> Node:
    box = h("input", type="text", value=value, on={"change": (name,)}, spellcheck="false")
    return h(
        "div",
        h("label", h("span", label), box, cls="sen-field"),
        press,
        cls="sen-row sen-trig-path",
    )


def _sizes(grid: Grid) -> str:
    queries = grid.queries
    should = sum(query.should_trigger for query in queries)
    near = sum(any(_plain(tag) == "near miss" for tag in query.tags) for query in queries)
    parts = [f"{should:,} should trigger", f"{len(queries) - should:,} should not"]
    parts += [f"{near:,} near {'miss' if near == 1 else 'misses'}"] if near else []
    return f"{count(len(queries), 'query')}: {', '.join(parts)}"


def _plain(tag: str) -> str:
    return " ".join(tag.lower().replace("-", " ").replace("_", " ").split())


def _is_shown(row: Row, which: str, remarks: Mapping[str, list[Node]]) -> bool:
    if which == "doubtful":
        return row.query.query in remarks
    return which == "all" or row.query.should_trigger == (which == "should")


def _table(rows: Sequence[Row], remarks: Mapping[str, list[Node]], keep: str, page: str) -> Node:
    unseen = h("span", "Remove", cls="sen-unseen")
    heads = ["Query", "Should trigger", "Tags, with commas", unseen]
    body = [
        _row(at, row, remarks.get(row.query.query, ()), keep, page)
        for at, row in enumerate(rows, 1)
    ]
    look = "sen-scroll sen-trig-high"
    return table(heads, body, label="the queries", look=look, cls="sen-trig-grid")


def _row(at: int, row: Row, remarks: Sequence[Node], keep: str, page: str) -> Node:
    query, below = row.query, f"{page}-said-{row.key}"
    words = h(
        "textarea",
        value=query.query,
        rows=_lines(query.query),
        keep=f"{keep} {row.key}",
        key=row.key,
        dir="auto",
        aria_label=f"query {at}",
        aria_describedby=below if remarks else None,
        on={"input": ("type", row.key), "change": ("change", row.key, "query")},
    )
    ticked = h(
        "input",
        type="checkbox",
        checked=query.should_trigger,
        aria_label=f"query {at} should trigger",
        on={"change": ("change", row.key, "should_trigger")},
    )
    tags = h(
        "input",
        type="text",
        value=", ".join(query.tags),
        aria_label=f"tags of query {at}",
        dir="auto",
        on={"change": ("change", row.key, "tags")},
    )
    remove = button("Remove", ("remove", row.key), kind="quiet", aria_label=f"Remove query {at}")
    message: Child = h("ul", remarks, id=below) if remarks else None
    cells = [[words, message], ticked, tags, remove]
    return h("tr", [h("td", cell) for cell in cells], key=row.key)


def _lines(words: str) -> int:
    r"""How many lines a query takes, about.

    >>> _lines(""), _lines("a" * 100), _lines("one\ntwo\nthree")
    (1, 2, 3)
    """
    lines = sum(1 + max(len(line) - 1, 0) // LETTERS for line in words.split("\n"))
    return min(lines, LINES)
