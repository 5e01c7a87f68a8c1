"""Rows of a list, and runs above all: found, sorted, shown a page at a time, taken away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skill_eval_nb.stats.values import RUN, no_such, run_key
from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import as_label, count

from ..show.files import NotDrawn, output_files, read_output
from ..ui import Child, Node, h, offer
from ..ui.parts import button, choose, take_button
from ..ui.parts import field as labelled

if TYPE_CHECKING:
    import polars as pl

Things = Mapping[str, Collection[str]]
"""What a row has, by kind, such as `{"Status": ["graded"]}`."""

MOST = 6_000
"""Characters of a row's words that its page holds; Python looks through all of them."""


@dataclass(frozen=True, slots=True)
class RowSearch:
    """What is looked for: rows that have every word, and the thing that is chosen of each kind.

    Attributes:
        words: parts of words, with blanks between them; capitals do not matter.
        chosen: by kind the thing.
    """

    words: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])

    def __bool__(self) -> bool:
        """Whether anything is looked for."""
        return bool(self.words.split() or self.chosen)

    def is_met(self, words: str, things: Things) -> bool:
        """Whether a row is one of them.

        >>> search = RowSearch("Read time", {"Status": "graded"})
        >>> search.is_met(words_of("Times are read"), {"Status": ["graded"]})
        True
        """
        has_all = all(one in things.get(kind, ()) for kind, one in self.chosen.items())
        return has_all and all(word in words for word in self.words.lower().split())

    def choose(self, kind: str | None, value: str) -> RowSearch:
        """The same with other words, where the kind is empty, or another thing; None ends it."""
        if not kind:
            return RowSearch() if kind is None else RowSearch(value, self.chosen)
        others = {name: one for name, one in self.chosen.items() if name != kind}
        return RowSearch(self.words, others | ({kind: value} if value else {}))


def words_of(*texts: object) -> str:
    """The words of texts, each once and in small letters.

    >>> words_of("To be or", None, "not To be")
    'to be or not'
    """
    found = (word for text in texts if text for word in str(text).lower().split())
    return " ".join(dict.fromkeys(found))


def row_has(words: str | None, things: Things) -> dict[str, Any]:
    """The attribute `has` of a row; words that are not known yet hide none."""
    known = {} if words is None else {"": words[:MOST]}
    return known | {kind: list(own) for kind, own in things.items()}


def find_bar(search: RowSearch, every: Iterable[Things], label: str, *, more: bool = False) -> Node:
    """The search, and a list for each kind of thing that differs among the rows.

    Each is the action `find`, which is handed a kind, empty for the words, and the value; see
    `RowSearch.choose`.

    Args:
        search: what is looked for.
        every: of all rows what they have.
        label: what the search looks through.
        more: whether rows are left out for something else, too.
    """
    known: dict[str, dict[str, None]] = {}
    for things in every:
        for kind, own in things.items():
            known.setdefault(kind, {}).update(dict.fromkeys(own))
    lists = [_choose_thing(search, kind, list(own)) for kind, own in known.items()]
    box = h(
        "input",
        type="search",
        value=search.words,
        finds="",
        placeholder="press / to search",
        on={"input": ("find", "")},
    )
    clear = button("Show all", ("find", None, "")) if search or more else None
    looks = "sen-row sen-find"
    return h("div", labelled(label, box), lists, clear, cls=looks, key="find", role="search")


def _choose_thing(search: RowSearch, kind: str, names: Sequence[str]) -> Node | None:
    chosen = search.chosen.get(kind, "")
    if len(names) < 2 and not chosen:
        return None
    options = {"": "any"} | {name: as_label(name, 60) for name in (*names, chosen) if name}
    return choose(kind, options, chosen, ("find", kind), finds=kind)


FILES = 20
"""Outputs of a run that are looked through."""
CHARS = 50_000
"""Characters of an output that are looked through."""
EVAL_KEYS = ("workspace", "skill", "eval_id")


class Condition(NamedTuple):
    """What runs are to meet: as it was given, and as an expression."""

    words: str
    meant: pl.Expr


def read_condition(where: str | pl.Expr | None, runs: pl.DataFrame) -> Condition | None:
    """The condition that runs are to meet, in SQL or as an expression of polars.

    Raises:
        ValueError: it is no condition, or asks for a column that `runs` does not have.
    """
    import polars as pl

    if where is None:
        return None
    try:
        meant = pl.sql_expr(where) if isinstance(where, str) else where
        for name in meant.meta.root_names():
            if name not in runs.columns:
                raise no_such("column", name, runs.columns)
        runs.clear().filter(meant)
    except (pl.exceptions.PolarsError, AttributeError) as error:
        raise ValueError(f"`where` is no condition on runs: {error}") from error
    return Condition(str(where), meant)


RunKeys = tuple[Any, ...]
"""What tells a run from all others: its values of RUN."""


class RunFinder:
    """Finds runs by what they have, and by their words: names, prompt, checks, evidence, outputs.

    Each run is looked at once.
    """

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._things: dict[RunKeys, Things] = {}
        self._words: dict[RunKeys, str] = {}

    def find(self, runs: pl.DataFrame, search: RowSearch) -> pl.DataFrame:
        """Those of the runs that are looked for."""
        import polars as pl

        if not search:
            return runs
        words = self.words(runs) if search.words else [""] * runs.height
        return runs.filter(
            pl.Series(map(search.is_met, words, self.things(runs)), dtype=pl.Boolean)
        )

    def things(self, runs: pl.DataFrame) -> list[Things]:
        """What each of the runs has."""
        return _look_up(self._things, runs, self._read_things)

    def words(self, runs: pl.DataFrame) -> list[str]:
        """The words of each of the runs."""
        return _look_up(self._words, runs, self._read_words)

    def _read_things(self, runs: pl.DataFrame) -> Iterator[Things]:
        failed = rows_by_run(self._ws.polars("expectations").filter(passed=False), runs)
        tags = self._of_evals("tags")
        for run in runs.iter_rows(named=True):
            checks = failed[run_key(run)]
            yield {
                "Side": [run["configuration"]],
                "Status": [run["status"]],
                "Failed check": [check["text"] for check in checks if check["text"]],
                "Eval": [run["eval_name"]],
                "Model": [run["executor_model"]] if run["executor_model"] else [],
                "Tag": tags.get(tuple(run[name] for name in EVAL_KEYS)) or [],
            }

    def _read_words(self, runs: pl.DataFrame) -> Iterator[str]:
        tables = [self._ws.polars(name) for name in ("expectations", "rubric_scores")]
        said, prompts = [rows_by_run(table, runs) for table in tables], self._of_evals("prompt")
        for run in runs.iter_rows(named=True):
            names = (run[name] for name in ("eval_name", "iteration", "configuration", "status"))
            prompt = prompts.get(tuple(run[name] for name in EVAL_KEYS))
            rows = [row for known in said for row in known[run_key(run)]]
            about = (row.get(name) for row in rows for name in ("text", "dimension", "evidence"))
            yield words_of(*names, prompt, *about, *self._output_texts(run))

    def _of_evals(self, column: str) -> dict[RunKeys, Any]:
        rows = self._ws.polars("evals").select(*EVAL_KEYS, column).iter_rows()
        return {tuple(keys): value for *keys, value in rows}

    def _output_texts(self, run: dict[str, Any]) -> Iterator[str]:
        folder = Path(self._ws.path) / run["path"] if self._ws.path and run["path"] else None
        for file in output_files(folder)[:FILES] if folder and folder.is_dir() else ():
            try:
                yield read_output(file).text[:CHARS]
            except (NotDrawn, OSError):  # a picture, or gone
                continue


V = TypeVar("V")


def _look_up(
    known: dict[RunKeys, V], runs: pl.DataFrame, read: Callable[[pl.DataFrame], Iterable[V]]
) -> list[V]:
    """What is known of each of the runs; what is not known yet is read first."""
    import polars as pl

    keys = runs.select(RUN).rows()
    new = [key not in known for key in keys]
    if any(new):
        missing = runs.filter(pl.Series(new, dtype=pl.Boolean))
        known.update(zip(missing.select(RUN).rows(), read(missing), strict=True))
    return [known[key] for key in keys]


def rows_by_run(rows: pl.DataFrame, runs: pl.DataFrame) -> dict[Any, list[dict[str, Any]]]:
    """Rows by the run that they are of."""
    known: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.join(runs, on=RUN, how="semi").iter_rows(named=True):
        known[run_key(row)].append(row)
    return known


T = TypeVar("T")

Order = tuple[str, bool]
"""The column that a list is sorted by, and whether the largest is first."""

Keys = Mapping[str, Callable[[Any], Any]]
"""By column what its rows are sorted by: values to compare, None where a row has none."""


def in_order(items: Sequence[T], keys: Keys, order: Order | None) -> list[T]:
    """The items as they are to be sorted; those without a value come last, either way.

    >>> in_order(["b", "", "a"], {"name": lambda one: one or None}, ("name", True))
    ['b', 'a', '']
    """
    if order is None or order[0] not in keys:
        return list(items)
    key = keys[order[0]]
    found = [(key(item), item) for item in items]
    known = [pair for pair in found if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=order[1])
    return [item for _, item in known] + [item for value, item in found if value is None]


def sort_places(items: Sequence[Any], keys: Keys) -> list[dict[str, int]]:
    """By item and column its place among those shown: what a page without a kernel sorts by.

    >>> sort_places(["b", "", "a"], {"name": lambda one: one or None})
    [{'name': 1}, {}, {'name': 0}]
    """
    found: list[dict[str, int]] = [{} for _ in items]
    for column, key in keys.items():
        values = [key(item) for item in items]
        ranks = {value: at for at, value in enumerate(sorted({*values} - {None}))}
        for own, value in zip(found, values, strict=True):
            if value is not None:
                own[column] = ranks[value]
    return found


def sort_button(words: Child, name: str, column: str, cls: str = "") -> Node:
    """The head of a column by which the rows of a list can be sorted."""
    looks = f"sen-sort {cls}".strip()
    return button(words, ("sort", name, column), cls=looks, sorts=column)


PAGE = 25
"""Rows of a page."""


def of_page(items: Sequence[T], page: int) -> Sequence[T]:
    """The items of a page; of the last page where there are fewer pages."""
    first = page_of(len(items), page) * PAGE
    return items[first : first + PAGE]


def page_of(number: int, page: int) -> int:
    """The page that can be shown, or the last one.

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
