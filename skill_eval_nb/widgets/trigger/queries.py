"""The set of queries: a grid that is edited, its file, and how both are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2s
from itertools import count as count_from
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.text import count
from skill_eval_nb.triggers import Query, read_queries, write_queries

from ..ui import Child, Node, h
from ..ui.parts import button, entry, note, notice, pill, short_path, table

if TYPE_CHECKING:
    from skill_eval_nb.triggers.queries import QueryDoubt


@dataclass(frozen=True, slots=True)
class Grid:
    """All rows, in order.

    Attributes:
        rows: the query of each by its name, which stays whatever is typed in it.
        taken_out: the place, name and query of the row that was taken out last; None where
            none was.
    """

    rows: Mapping[str, Query] = field(default_factory=dict)
    taken_out: tuple[int, str, Query] | None = None

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries, without rows that say nothing."""
        return tuple(query for query in self.rows.values() if query.query.strip())

    def row(self, key: str) -> Query:
        """The query of the row of that name.

        Raises:
            LookupError: there is none any more.
        """
        if key not in self.rows:
            raise LookupError("That query no longer exists.")
        return self.rows[key]

    def replace_query(self, key: str, query: Query) -> Grid:
        """A copy of the grid with another query in that row."""
        return replace(self, rows={**self.rows, key: query})

    def remove_query(self, key: str) -> Grid:
        """The same without that row, which can be put back."""
        query = self.row(key)
        left = {name: other for name, other in self.rows.items() if name != key}
        return Grid(left, ([*self.rows].index(key), key, query))

    def put_back(self) -> Grid:
        """The same with the row again that was taken out last."""
        if self.taken_out is None:
            return self
        at, key, query = self.taken_out
        rows = list(self.rows.items())
        rows.insert(at, (key, query))
        return Grid(dict(rows))

    def with_more(self, queries: Iterable[Query]) -> Grid:
        """The same with these queries below, but for those that are there already.

        >>> asked = Query("sum up this log", should_trigger=True)
        >>> len(Grid().with_more([asked, asked]).rows)
        1
        """
        there = {_query_key(query) for query in self.rows.values()}
        more: dict[tuple[str, bool], Query] = {}
        for query in queries:
            more.setdefault(_query_key(query), query)
        return self.with_all(query for same, query in more.items() if same not in there)

    def with_room(self) -> Grid:
        """The same with an empty row below, unless there is one."""
        if self.rows and not [*self.rows.values()][-1].query.strip():
            return self
        return self.with_all([Query("", should_trigger=True)])

    def with_all(self, queries: Iterable[Query]) -> Grid:
        """The same with all of these below; the same words have the same name in any session."""
        rows, used = dict(self.rows), {*self.rows, *(self.taken_out or ())[1:2]}
        for query in queries:
            stem = blake2s(query.query.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
            key = next(key for n in count_from(0) if (key := f"{stem}-{n}") not in used)
            used.add(key)
            rows[key] = query
        return replace(self, rows=rows)


def tags_of(text: str) -> tuple[str, ...]:
    """Tags as one types them, between commas.

    >>> tags_of(" near miss, , short,short ")
    ('near miss', 'short')
    """
    return tuple(dict.fromkeys(filter(None, (tag.strip() for tag in text.split(",")))))


def _query_key(query: Query) -> tuple[str, bool]:
    return " ".join(query.query.split()), query.should_trigger


USUAL = "trigger-eval-set.json"
"""What the file is called where there is none yet."""


class Stored:
    """The files that a panel has read or written, each as it was then.

    Attributes:
        path: the file that Save writes.
    """

    def __init__(self, skill: Path, name: str) -> None:
        """Nothing is read yet.

        Args:
            skill: the skill's folder.
            name: the skill's name, for sets of several skills.
        """
        self.path = skill / USUAL
        self._name = name
        self._known: dict[Path, tuple[bytes, tuple[Query, ...]]] = {}

    @property
    def saved(self) -> tuple[Query, ...] | None:
        """The queries that it holds, as far as is known; None before it was read or written."""
        return self._known.get(self.path.absolute(), (b"", None))[1]

    def read(self, file: Path) -> tuple[Query, ...]:
        """The queries of a file.

        Raises:
            OSError, ValueError: it cannot be read, or has no queries.
        """
        before = read_bytes(file)
        queries = read_queries(file, skill=self._name)
        self._known[file.absolute()] = before, queries
        return queries

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
                how = "exists already" if seen is None else "has changed since it was read"
                raise refuse(f"{file} {how}: import it first, or choose another name")
        write_queries(file, queries)
        self._known[file] = read_bytes(file), queries


BESIDE = (1, 2)
"""A doubt about this many queries is shown with each of them, others above the grid."""
LETTERS = 64
"""Characters of a line of a query, about."""
LINES = 8
"""Lines of a query that are shown at once."""


def queries_view(grid: Grid, doubts: Sequence[QueryDoubt], *, keep: str, page: str) -> Node:
    """The grid.

    Args:
        grid: the rows.
        doubts: what is to be said of the set.
        keep: what begins the names under which the page keeps what is typed.
        page: a name unlike that of any other panel in the notebook.
    """
    remarks: dict[str, list[Node]] = {}
    for doubt in doubts:
        message = f" {doubt.message}" if len(doubt.queries) in BESIDE else None
        for words in dict.fromkeys(doubt.queries):
            remark = h("li", pill(doubt.doubt, "odd"), message, dir="auto")
            remarks.setdefault(words, []).append(remark)
    body = [
        _row(at, key, query, remarks.get(query.query, ()), f"{keep} {key}", f"{page}-said-{key}")
        for at, (key, query) in enumerate(grid.rows.items(), 1)
    ]
    heads = ["Query", "Should trigger", "Tags, with commas", h("span", "Remove", cls="sen-unseen")]
    look = "sen-scroll sen-trig-high"
    back = button("Undo remove", ("put_back",), key="put-back")
    ways = [
        button("Add a query", ("add_row",), key="add", leads=True),
        back if grid.taken_out is not None else None,
    ]
    return h(
        "div",
        [notice(doubt.message) for doubt in doubts if len(doubt.queries) not in BESIDE],
        h("p", _count_queries(grid)),
        table(heads, body, label="the queries", look=look, cls="sen-trig-grid") if body else None,
        h("div", ways, cls="sen-row"),
    )


def files_view(path: Path, unsaved: bool | None, message: str | None) -> Node:
    """Where the set is kept: import and save.

    Args:
        path: the file that Save writes.
        unsaved: whether the file says something else; None where there is none.
        message: what was done last.
    """
    state = {
        None: "These queries are not saved in a file yet.",
        True: f"Unsaved changes to {short_path(path)}.",
        False: f"No unsaved changes to {short_path(path)}.",
    }[unsaved]
    save = button("Save", ("save",) if unsaved is not False else None, kind="main")
    rows = [
        _path_row("Import from", "", "import_file", None),
        _path_row("Save to", short_path(path), "save_to", save),
    ]
    done = note(f"{message} " if message else None, state, role="status")
    look = "sen-card sen-trig-files"
    return h("section", rows, done, cls=look, aria_label="the file of the set")


def _path_row(label: str, path: str, act: str, press: Child) -> Node:
    line = entry(label, path, (act,), spellcheck="false")
    return h("div", line, press, cls="sen-row sen-trig-path")


def _count_queries(grid: Grid) -> str:
    queries = grid.queries
    should = sum(query.should_trigger for query in queries)
    others = len(queries) - should
    return f"{count(len(queries), 'query')}: {should:,} should trigger, {others:,} should not"


def _row(at: int, key: str, query: Query, remarks: Sequence[Node], keep: str, below: str) -> Node:
    on = {"input": ("type", key), "change": ("change", key, "query")}
    words = h(
        "textarea",
        value=query.query,
        rows=min(1 + query.query.count("\n") + len(query.query) // LETTERS, LINES),
        keep=keep,
        key=key,
        dir="auto",
        aria_label=f"query {at}",
        aria_describedby=below if remarks else None,
        on=on,
    )
    ticked = h(
        "input",
        type="checkbox",
        checked=query.should_trigger,
        aria_label=f"query {at} should trigger",
        on={"change": ("change", key, "should_trigger")},
    )
    tags = h(
        "input",
        type="text",
        value=", ".join(query.tags),
        aria_label=f"tags of query {at}",
        dir="auto",
        on={"change": ("change", key, "tags")},
    )
    remove = button("Remove", ("remove", key), kind="quiet", aria_label=f"Remove query {at}")
    message = h("ul", remarks, id=below) if remarks else None
    return h("tr", [h("td", cell) for cell in ([words, message], ticked, tags, remove)], key=key)
