"""What every view is made from, and the runs behind what was clicked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.stats.values import RUBRIC, RUN, natural, scores_of
from skill_eval_nb.text import called, count
from skill_eval_nb.workspace import NO_ITERATION

from ..show.run import RunKey, key_of
from ..ui import Child, Node, h
from ..ui.parts import button, pill, table
from ..ui.source import PENDING
from ..ui.track import MISSING, size
from .choice import (
    Choice,
    Part,
    Place,
    Selection,
    iteration_name,
    parts_of,
    verdicts_of,
)
from .figures import Count

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

    from .choice import Suite


T = TypeVar("T")
L = TypeVar("L", bound=tuple[tuple[Any, ...], Part])

STATES = {
    "errored": "errored",
    "gated": "failed a critical check, so no judge saw it",
    "executed": "not graded yet",
    "ungraded": "left nothing to grade",
}
"""What became of a run that lacks figures."""


Order = tuple[str, bool]
"""The column that a list is sorted by, and whether the largest is first."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is open and on which page: all that the figures do not depend on.

    Attributes:
        tab: the open one.
        pages: by what is paged, the page.
        clicked: what was clicked last.
        opened: the runs that are shown as a whole, at most one of a side, the last one last.
        order: of the evals.
        kind: the class of expectations that are shown; all where empty.
        severity: of problems that are shown; all where empty.
        chart: the one that is drawn.
        sorted: by what is listed, the column it is sorted by, and whether the largest is first.
        unfolded: lists to choose from that are open.
    """

    tab: str = "evals"
    pages: tuple[tuple[str, int], ...] = ()
    clicked: Selection | None = None
    opened: tuple[RunKey, ...] = ()
    order: str = "suite"
    kind: str = ""
    severity: str = ""
    chart: str = "forest"
    sorted: tuple[tuple[str, Order], ...] = ()
    unfolded: frozenset[str] = frozenset()

    def page(self, name: str) -> int:
        """The page of what is paged."""
        return dict(self.pages).get(name, 0)

    def sorted_by(self, name: str) -> Order | None:
        """What a list is sorted by."""
        return dict(self.sorted).get(name)

    def from_first(self, name: str) -> Seen:
        """The same with what is paged from its first page on."""
        return replace(self, pages=tuple(page for page in self.pages if page[0] != name))


@dataclass(slots=True)
class Look:
    """What is looked at while a view is made.

    Attributes:
        ws: all that was loaded.
        suite: the skill.
        choice: the settled one.
        seen: what is open.
        get: the figures of parts, or PENDING.
        list_runs: makes the list of the runs that are meant.
        show_run: makes a run as a whole.
        placed: whether that list stands below a row already.
        waiting: how many figures were not there yet.
        links: whether names are the way to the runs behind them.
    """

    ws: Workspace
    suite: Suite
    choice: Choice
    seen: Seen
    get: Callable[[Count, Sequence[Part]], dict[Part, Any]]
    list_runs: Callable[[Look], Node]
    show_run: Callable[[RunKey], Node]
    placed: bool = False
    waiting: int = 0
    links: bool = True
    parts: list[Part] = field(init=False)
    meant: Metric = field(init=False)

    def __post_init__(self) -> None:
        """What follows from the choice."""
        self.parts = parts_of(self.choice)
        self.meant = metric_of(self.choice.metric)

    def figures(self, count: Count) -> dict[Part, Any]:
        """The figures of every part, None for those that are being counted."""
        return self._of(count, self.parts)

    def of_metric(self, headline: Count, others: Count) -> dict[Part, list[Any] | None]:
        """The rows of the metric that is looked at; None for those that are being counted.

        Args:
            headline: counts the metric that decides by itself.
            others: counts all others, adjusted together.
        """

        def own(found: Any) -> list[Any] | None:
            return found and [row for row in found if row["metric"] == self.choice.metric]

        rows = {part: own(found) for part, found in self.figures(headline).items()}
        missing = [part for part, found in rows.items() if found == []]
        return rows | {part: own(found) for part, found in self._of(others, missing).items()}

    def last(self, count: Count) -> tuple[Part | None, Any]:
        """The last part with such figures, and these; None while they are being counted."""
        for part in reversed(self.parts):
            found = self._of(count, [part])[part]
            if found is None or found:
                return part, found
        return None, None

    def _of(self, count: Count, parts: Sequence[Part]) -> dict[Part, Any]:
        found = self.get(count, parts)
        self.waiting += sum(value is PENDING for value in found.values())
        return {part: None if value is PENDING else value for part, value in found.items()}

    def behind(self) -> Node:
        """The list of the runs that are meant."""
        return self.list_runs(self)

    def is_at(self, at: Place) -> bool:
        """Whether this row was clicked."""
        return self.seen.clicked is not None and self.seen.clicked.at == at

    def below(self, at: Place, columns: int) -> list[Node]:
        """The row with the runs behind what was clicked, below the row where that was."""
        if not self.is_at(at) or self.placed:
            return []
        self.placed = True
        cell = h("td", self.behind(), colspan=str(columns))
        return [h("tr", cell, cls="sen-x-below", key="below")]

    @property
    def several(self) -> bool:
        """Whether there is more than one iteration."""
        return len(self.choice.iterations) > 1

    @property
    def compares(self) -> bool:
        """Whether there are two sides."""
        return len(self.kinds) > 1

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The sides: `with` or `base`, and the configuration."""
        named = (("with", self.choice.configuration), ("base", self.choice.baseline))
        return [(kind, name) for kind, name in named if name is not None]

    def called(self, iteration: str) -> str:
        """What stands behind a name in a row where several iterations are looked at."""
        return iteration_name(iteration) if self.several else ""


def sides_legend(look: Look) -> Node:
    """Which colour is which side."""
    words = {"with": "", "base": " (baseline)"}
    return h(
        "p",
        [
            h("span", h("i", cls=f"sen-x-swatch sen-x-{kind}"), called(name), words[kind])
            for kind, name in look.kinds
        ],
        cls="sen-x-legend",
    )


PAGE = 25
"""Rows of a page."""

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


def places(items: Sequence[Any], keys: Keys) -> list[dict[str, int]]:
    """By item and column its place among those shown: what a page without a kernel sorts by.

    >>> places(["b", "", "a"], {"name": lambda one: one or None})
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


def sorting(words: Child, name: str, column: str, cls: str = "") -> Node:
    """The head of a column by which the rows of a list can be sorted."""
    looks = f"sen-sort {cls}".strip()
    return button(words, ("sort", name, column), cls=looks, sorts=column)


def row(
    first: Child,
    cells: Sequence[Child],
    *,
    key: str,
    chosen: bool = False,
    joined: bool = False,
    by: Mapping[str, int] | None = None,
) -> Node:
    """A row; the first cell heads it. One that is `joined` belongs to the row above."""
    looks = " ".join(["sen-chosen"] * chosen + ["sen-x-joined"] * joined) or None
    return h(
        "tr",
        h("th", first, scope="row"),
        [h("td", cell) for cell in cells],
        key=key,
        cls=looks,
        by=by,
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


def filters(label: str, name: str, total: int, options: Mapping[str, str], chosen: str) -> Node:
    """The way to the rows of a kind alone: a button each, and one for all."""
    return h(
        "div",
        [
            button(words, ("see", name, value), aria_pressed=value == chosen)
            for value, words in {"": f"All {total:,}", **options}.items()
        ],
        cls="sen-row sen-x-filters",
        role="group",
        aria_label=label,
    )


def listed(
    look: Look,
    name: str,
    lines: Sequence[L],
    noun: str,
    draw: Callable[[L, Place, bool], Node],
    columns: int,
) -> tuple[list[Node], Node | None]:
    """The rows of a page, each with the runs below that were clicked; and the way to others.

    Args:
        look: what is looked at.
        name: of the view, which begins the place of each row.
        lines: what the rows are of: what they are about, and the part.
        noun: what a line is where there is one iteration.
        draw: makes the row, handed its place and whether it is the first of what it is about.
        columns: of the table.
    """
    rows: list[Node] = []
    above: Any = None
    page = look.seen.page(name)
    for line in of_page(lines, page):
        about, part = line
        at = (name, part.iteration, *(str(value or "") for value in about))
        rows += [draw(line, at, about != above), *look.below(at, columns)]
        above = about
    return rows, pager(len(lines), page, name, "row" if look.several else noun)


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


Row = Mapping[str, Any]
COLUMNS = ("pass_rate", "rubric_weighted_mean", "time_seconds", "tokens", "cost_usd")
"""Figures of a run that are listed beside the one that is looked at."""
MOST = 280
"""Characters of an evidence that the list shows; the run as a whole has all of it."""
EVIDENCE, REASON = "Evidence", "The judge’s reason"
REASONS: dict[str, str] = dict.fromkeys((EVIDENCE, REASON), "sen-x-reason")
"""Columns that hold sentences, and their look."""


def behind(look: Look, runs: pl.DataFrame) -> Node:
    """The runs that are meant, 25 at a time."""
    clicked = look.seen.clicked
    page = page_of(runs.height, look.seen.page("runs"))
    alone = runs.height == 1
    return h(
        "section",
        h(
            "div",
            h("p", h("b", count(runs.height, "run")), f": {_which(look)}", role="status"),
            button("Show all runs", ("clear",)) if clicked else None,
            cls="sen-row sen-middle sen-spread",
        ),
        h("p", "There is no such run.", cls="sen-soft") if runs.is_empty() else None,
        _list(look, runs, page) if not alone or clicked is None or _tells(clicked) else None,
        pager(runs.height, page, "runs", "run"),
        look.show_run(key_of(runs.row(0, named=True))) if alone and clicked is not None else None,
        cls="sen-x-behind",
        aria_label="The runs behind it",
        key="behind",
    )


def _which(look: Look) -> str:
    """Which runs they are, in words."""
    if look.seen.clicked is not None:
        return look.seen.clicked.words
    evals = look.choice.evals
    of = f" of {count(len(evals), 'eval')}" if evals else ""
    return f"all{of} that is looked at"


def _tells(clicked: Selection) -> bool:
    """Whether the list says more of a run than the run's own figures: evidence for something."""
    return clicked.check is not None or clicked.dimension is not None


def _list(look: Look, runs: pl.DataFrame, page: int) -> Child:
    if runs.is_empty():
        return None
    columns = _columns(look, runs)
    keys: Keys = {"Run": _by_name} | {one.name: one.key for one in columns if one.key}
    heads = ["Run", *(column.name for column in columns)]
    rows: list[Node] = []
    order = look.seen.sorted_by("runs")
    order = order if order and order[0] in keys else None
    shown = (
        of_page(in_order(runs.rows(named=True), keys, order), page)
        if order
        else runs.slice(page * PAGE, PAGE).rows(named=True)
    )
    for run, by in zip(shown, places(shown, keys), strict=True):
        key = key_of(run)
        cells = [(column.cell(run), REASONS.get(column.name)) for column in columns]
        rows.append(_row(look, run, key, cells, by, key in look.seen.opened))
        if key in look.seen.opened[-1:]:  # the one of the other side beside it
            sides = [name for _, name in look.kinds]
            opened = sorted(look.seen.opened, key=lambda run: sides.index(run.configuration))
            beside = h("div", [look.show_run(run) for run in opened], cls="sen-columns")
            below = h("td", beside, colspan=str(len(heads)))
            rows.append(h("tr", below, cls="sen-x-below", key="opened"))
    titles = [sorting(name, "runs", name) if name in keys else name for name in heads]
    return table(titles, rows, label="Runs, a row each", cls="sen-x-runs", order=order)


def _by_name(run: Row) -> Any:
    names = (run[name] or "" for name in ("eval_name", "eval_id", "iteration", "configuration"))
    return *map(natural, names), run["run_number"] or 0


def _row(
    look: Look,
    run: Row,
    key: RunKey,
    cells: list[tuple[Child, str | None]],
    by: Mapping[str, int],
    is_open: bool,
) -> Node:
    name = called(run["eval_name"])
    where = called(key.iteration) if look.several and key.iteration != NO_ITERATION else ""
    kind = {side: kind for kind, side in look.kinds}.get(key.configuration, "other")
    spoken = f"{name}, {called(key.configuration, 40)}, run {key.run_number}"
    head = [
        h("i", cls=f"sen-x-swatch sen-x-{kind}"),
        button(
            f"{name} · run {key.run_number}",
            ("open_run", *key),
            kind="quiet",
            aria_expanded=is_open,
            aria_label=f"{spoken}{f', {where}' if where else ''}",
        ),
        h("small", where, cls="sen-soft sen-x-of") if where else None,
        pill(run["status"], "odd") if run["status"] in STATES else None,
    ]
    return h(
        "tr",
        h("th", head, scope="row"),
        [h("td", cell, cls=look_of) for cell, look_of in cells],
        key=str(tuple(key)),
        cls="sen-chosen" if is_open else None,
        by=by,
    )


class Column(NamedTuple):
    """What is listed of each run: its name, the cell, and what rows are sorted by, if they are."""

    name: str
    cell: Callable[[Row], Child]
    key: Callable[[Row], Any] | None = None


def _columns(look: Look, runs: pl.DataFrame) -> list[Column]:
    """What is listed of each run: what was clicked, the metric, then other figures."""
    clicked = look.seen.clicked
    columns: list[Column] = []
    if clicked is not None and clicked.check is not None:
        columns += _of_check(look, runs, clicked.check)
    dimension = clicked.dimension if clicked is not None else None
    if dimension is not None:
        columns += _of_dimension(look, runs, dimension)
    metric = look.choice.metric
    if metric.startswith(RUBRIC):
        if metric.removeprefix(RUBRIC) != dimension:
            columns.append(_of_score(look, runs, metric))
    elif metric not in COLUMNS:
        columns.append(_of_figure(metric_of(metric)))
    if dimension is not None or (clicked is not None and clicked.check is not None):
        return columns[:3]
    known = [name for name in COLUMNS if runs[name].count()]
    return [*columns, *(_of_figure(metric_of(name)) for name in known)]


def _of_figure(meant: Metric) -> Column:
    def cell(run: Row) -> Child:
        value = run[meant.column]
        if value is None:
            return h("span", MISSING, title=STATES.get(run["status"], "not known"))
        if meant.column == "pass_rate" and run["total"]:
            scored = (run["passed"] or 0) + (run["failed"] or 0)
            of = h("small", f" {run['passed']:,}/{scored:,}", cls="sen-soft")
            return [h("span", size(meant, value)), of]
        return size(meant, value)

    return Column(meant.title, cell, lambda run: run[meant.column])


def _of_score(look: Look, runs: pl.DataFrame, metric: str) -> Column:
    meant = metric_of(metric)
    rows = _rows_of(look, runs, "rubric_scores").filter(dimension=metric.removeprefix(RUBRIC))
    scores = {_key(row): row["value"] for row in scores_of(rows).iter_rows(named=True)}

    def score(run: Row) -> float | None:
        return scores.get(_key(run))

    return Column(meant.title, lambda run: size(meant, score(run)), score)


def _of_check(look: Look, runs: pl.DataFrame, check: tuple[str, str]) -> list[Column]:
    """The verdict on an expectation, and its evidence."""
    rows = verdicts_of(look.ws, check).join(runs, on=RUN, how="semi")
    known = {_key(row): row for row in rows.iter_rows(named=True)}
    words = {True: ("passed", "good"), False: ("failed", "bad"), None: ("not scored", "odd")}

    def verdict(run: Row) -> Child:
        found = known.get(_key(run))
        return pill(*words[found["passed"]]) if found else MISSING

    def evidence(run: Row) -> Child:
        found = known.get(_key(run))
        return _evidence(found["evidence"] if found else None)

    def passed(run: Row) -> bool | None:
        return known.get(_key(run), {}).get("passed")

    return [Column("Verdict", verdict, passed), Column(EVIDENCE, evidence)]


def _of_dimension(look: Look, runs: pl.DataFrame, dimension: str) -> list[Column]:
    """Every judging's score on a dimension, and its reason."""
    rows = _rows_of(look, runs, "rubric_scores").filter(dimension=dimension).sort("judging")
    known: dict[Any, list[Row]] = {}
    for row in rows.iter_rows(named=True):
        known.setdefault(_key(row), []).append(row)
    meant = metric_of(RUBRIC + dimension)

    def score(run: Row) -> Child:
        found = known.get(_key(run), [])
        shown = ", ".join(MISSING if row["score"] is None else f"{row['score']:g}" for row in found)
        return h("b", shown or MISSING)

    def reason(run: Row) -> Child:
        return [h("div", _evidence(row["evidence"])) for row in known.get(_key(run), [])]

    def mean(run: Row) -> float | None:
        scores = [row["score"] for row in known.get(_key(run), ()) if row["score"] is not None]
        return sum(scores) / len(scores) if scores else None

    return [Column(meant.title, score, mean), Column(REASON, reason)]


def _rows_of(look: Look, runs: pl.DataFrame, table: str) -> pl.DataFrame:
    return look.ws.polars(table).join(runs, on=RUN, how="semi")


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in RUN)


def _evidence(text: str | None) -> Node:
    if not text:
        return h("span", "none stated", cls="sen-soft")
    return h("span", called(text, MOST), cls="sen-small", dir="auto")
