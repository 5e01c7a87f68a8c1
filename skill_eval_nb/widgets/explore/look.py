"""What every view is made from, and the runs behind what was clicked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.stats.notes import LOST
from skill_eval_nb.stats.values import RUBRIC, headline_of, natural_key, run_key, scores_of
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.text import as_label, count
from skill_eval_nb.workspace import NO_ITERATION

from ..show.run import compare_runs, find_counterpart
from ..ui import Child, Node, h
from ..ui.parts import KINDS, button, note, outcome_pill, pill, table, table_row, waiting_note
from ..ui.source import RunKey, key_of
from ..ui.track import MISSING, figure_or_dash
from .choice import (
    Borrowed,
    Choice,
    Count,
    Counted,
    Part,
    Place,
    Selection,
    iteration_name,
    metrics_of,
    parts_of,
    verdicts_of,
)
from .rows import (
    PAGE,
    Condition,
    Keys,
    Order,
    RowSearch,
    find_bar,
    in_order,
    of_page,
    page_of,
    pager,
    row_has,
    rows_by_run,
    sort_button,
    sort_places,
    table_buttons,
)

if TYPE_CHECKING:
    import polars as pl

    from .choice import SkillRuns


L = TypeVar("L", bound=tuple[tuple[Any, ...], Part])


@dataclass(frozen=True, slots=True)
class Opened:
    """What is open and on which page: all that the figures do not depend on.

    Attributes:
        tab: the open one.
        pages: by what is paged, the page.
        clicked: what was clicked last.
        opened: the runs that are shown as a whole, at most one of a side, the last one last.
        kind: the class of expectations that are shown; all where empty.
        severity: of problems that are shown; all where empty.
        chart: the one that is drawn.
        sorted: by what is listed, the column it is sorted by, and whether the largest is first.
        unfolded: lists to choose from that are open.
        search: what runs are looked for.
        condition: what runs that are listed are to meet.
    """

    tab: str = "evals"
    pages: Mapping[str, int] = field(default_factory=dict[str, int])
    clicked: Selection | None = None
    opened: tuple[RunKey, ...] = ()
    kind: str = ""
    severity: str = ""
    chart: str = "forest"
    sorted: Mapping[str, Order] = field(default_factory=dict[str, Order])
    unfolded: frozenset[str] = frozenset()
    search: RowSearch = field(default_factory=RowSearch)
    condition: Condition | None = None

    def page(self, name: str) -> int:
        """The page of what is paged."""
        return self.pages.get(name, 0)

    def find_runs(self, counted: Counted, choice: Choice) -> pl.DataFrame:
        """The runs that are meant and looked for."""
        runs = counted.finder.find(counted.runs(choice, self.clicked), self.search)
        return runs if self.condition is None else runs.filter(self.condition.meant)


@dataclass
class Look:
    """What is looked at while a view is made.

    Attributes:
        counted: all that was loaded, and its figures.
        suite: the skill.
        choice: the settled one.
        seen: what is open.
        show_run: makes a run as a whole, in the colour of its side.
        links: whether names are the way to the runs behind them.
        placed: whether the list of the runs that are meant stands below a row already.
        borrowed: which iterations have the baseline of another one.
        run_more: makes the way to more runs of an iteration, as many of each eval a side.
    """

    counted: Counted
    suite: SkillRuns
    choice: Choice
    seen: Opened
    show_run: Callable[[RunKey, str], Node]
    links: bool = True
    placed: bool = False
    borrowed: Borrowed = field(default_factory=dict)
    run_more: Callable[[str, int], Child] = lambda iteration, runs: None  # noqa: ARG005

    def __post_init__(self) -> None:
        """What follows from the choice."""
        choice = self.choice
        self.ws, self.parts = self.counted.ws, parts_of(choice)
        self.meant: Metric = metric_of(choice.metric)
        self.several = len(choice.iterations) > 1
        named = (("with", choice.configuration), ("base", choice.baseline))
        self.kinds = [(kind, name) for kind, name in named if name is not None]
        """The sides: `with` or `base`, and the configuration."""
        self.compares = len(self.kinds) > 1

    @property
    def problems(self) -> list[tuple[int, Row]]:
        """Those of its workspace, and of none: the worst first, each with the number of its row."""
        worst = list(KINDS)
        rows = [
            (number, problem)
            for number, problem in enumerate(self.ws.polars("problems").iter_rows(named=True))
            if problem["workspace"] in (None, self.choice.workspace)
        ]
        return sorted(rows, key=lambda item: worst.index(item[1]["severity"]))

    def figures(self, count: Count, parts: Sequence[Part] | None = None) -> dict[Part, Any]:
        """The figures of every part, or of these; None for those that are being counted."""
        wanted = self.parts if parts is None else parts
        return self.counted.figures(count, wanted, self.choice.metric)

    def of_metric(self, headline: Count, others: Count) -> dict[Part, list[Any] | None]:
        """The rows of the metric that is looked at; None for those that are being counted.

        Args:
            headline: counts the metric that decides by itself.
            others: counts all others, adjusted together.
        """

        def own(found: Any) -> list[Any] | None:
            return found and [row for row in found if row["metric"] == self.choice.metric]

        counts = [headline, others]
        if self.choice.metric != headline_of(metrics_of(self.suite)):
            counts.reverse()  # it seldom decides, in parts that lack what decides elsewhere
        rows = {part: own(found) for part, found in self.figures(counts[0]).items()}
        missing = [part for part, found in rows.items() if found == []]
        return rows | {part: own(found) for part, found in self.figures(counts[1], missing).items()}

    def last_figures(self, count: Count) -> tuple[Part | None, Any]:
        """The last part with such figures, and these; None while they are being counted."""
        for part in reversed(self.parts):
            found = self.figures(count, [part])[part]
            if found is None or found:
                return part, found
        return None, None

    def is_at(self, at: Place) -> bool:
        """Whether this row was clicked."""
        return self.seen.clicked is not None and self.seen.clicked.at == at

    def clicked_runs(self, at: Place, configuration: str) -> frozenset[int | str]:
        """Numbers, or names, of the runs of a side that were clicked in this row."""
        own = self.seen.clicked
        if own is None or own.at != at or own.configuration != configuration:
            return frozenset()
        return frozenset((*own.numbers, *own.names))

    def runs_below(self, at: Place, columns: int) -> list[Node]:
        """The row with the runs behind what was clicked, below the row where that was."""
        if not self.is_at(at) or self.placed:
            return []
        self.placed = True
        cell = h("td", runs_behind(self), colspan=str(columns))
        return [h("tr", cell, cls="sen-x-below", key="below")]

    def kind_of(self, configuration: str) -> str:
        """Which side a configuration is: `with`, `base`, or `other` where it is none."""
        return next((kind for kind, name in self.kinds if name == configuration), "other")

    def iteration_suffix(self, part: Part) -> str:
        """What stands behind a title where several iterations are looked at."""
        return f", {iteration_name(part.iteration)}" if self.several else ""


def swatch(kind: str) -> Node:
    """The colour of a side, or of a source of variance."""
    return h("i", cls=f"sen-x-swatch sen-x-{kind}")


def sides_legend(look: Look) -> Node:
    """Which colour is which side."""
    words = {"with": "", "base": " (baseline)"}
    sides = [h("span", swatch(kind), as_label(name), words[kind]) for kind, name in look.kinds]
    return h("p", sides, cls="sen-x-legend")


def side_heads(look: Look, name: str, words: Callable[[str], str]) -> list[Node]:
    """The heads of a column with both sides: the rows can be sorted by either."""
    return [
        sort_button([swatch(kind), h("span", words(side))], name, kind, "sen-x-side")
        for kind, side in look.kinds
    ]


def row_head(drawn: Drawn, where: str, *, first: bool) -> list[Child]:
    """The head of a row: a button that shows its runs.

    Args:
        drawn: the row.
        where: the iteration where several are looked at; then the rows of a name stand
            together, and only the first one has it.
        first: whether it is the first of its name.
    """
    name = drawn.name
    spoken = f"{name}, {where}" if where else name
    small = h("small", drawn.about, cls="sen-soft sen-x-about") if drawn.about else None
    shows = button(where or name, drawn.act, kind="quiet", aria_label=f"{spoken}: show its runs")
    if not where:
        return [shows, small]
    return [[h("div", name, cls="sen-x-name"), small] if first else None, shows]


def left_out(errored: int, unscored: int) -> list[str]:
    """What is left out of a figure.

    >>> left_out(2, 0), left_out(0, 0)
    (['2 errored'], [])
    """
    known = ((errored, "errored"), (unscored, "not scored"))
    return [f"{number:,} {what}" for number, what in known if number]


def kind_buttons(label: str, name: str, counts: Counter[str], chosen: str) -> Node | None:
    """The way to the rows of a kind alone, where there are several: a button each, one for all."""
    if len(counts) < 2:
        return None
    words = {"": f"All {counts.total():,}", **{kind: f"{kind} {n:,}" for kind, n in counts.items()}}
    return h(
        "div",
        [
            button(of, ("see", name, kind), aria_pressed=kind == chosen)
            for kind, of in words.items()
        ],
        cls="sen-row sen-x-filters",
        role="group",
        aria_label=label,
    )


class Drawn(NamedTuple):
    """A row of a list of lines.

    Attributes:
        name: of what it is about.
        act: the action that shows its runs.
        cells: what stands behind that.
        about: what else there is to say of it.
    """

    name: str
    act: Sequence[Any]
    cells: Sequence[Child]
    about: str = ""


def place_of(name: str, line: tuple[tuple[Any, ...], Part]) -> Place:
    """Where the runs of a line are shown: below its row, in the list of that name."""
    about, part = line
    return (name, part.iteration, *(str(value or "") for value in about))


@dataclass(frozen=True)
class Lines(Generic[L]):
    """A list that is a tab: a line for each thing in each iteration, grouped by thing.

    Attributes:
        name: of the tab.
        of: what the things are called.
        every: the lines: what each is about, and the part.
        draw: makes the row of one.
        keys: by column what they are sorted by; first by what heads the rows.
        data: the statistics of a line, to be taken away.
        order: the one in which they come first.
    """

    name: str
    of: str
    every: Sequence[L]
    draw: Callable[[L], Drawn]
    keys: Mapping[str, Callable[[L], Any]] = field(default_factory=dict)
    data: Mapping[L, Row] = field(default_factory=dict)
    order: Order | None = None

    def view(self, look: Look, heads: Sequence[Child], **more: Any) -> tuple[Node, Child]:
        """The table with the runs below that were clicked, and the way to other rows.

        Args:
            look: what is looked at.
            heads: of the columns behind the first.
            more: of the table.
        """
        name, page = self.name, look.seen.page(self.name)
        together: dict[Any, list[L]] = {}
        for line in self.every:
            together.setdefault(line[0], []).append(line)
        keys: Keys = {  # the last line about a thing, of the last iteration, says where all are
            column: lambda about, key=key: key(together[about][-1])
            for column, key in self.keys.items()
        }
        order = look.seen.sorted.get(name, self.order)
        lines = [
            line for about in in_order(list(together), keys, order) for line in together[about]
        ]
        shown = of_page(lines, page)
        on_page = list(dict.fromkeys(about for about, _ in shown))
        by = dict(zip(on_page, sort_places(on_page, keys), strict=True))
        rows: list[Node] = []
        for line in shown:
            rows += self._rows(look, line, by.pop(line[0], None))
        own = [self.data[line] for line in lines if line in self.data]
        takes = table_buttons(f"{id(look.counted)} {name}", "figures", lambda: own) if own else None
        head = sort_button(self.of.capitalize(), name, next(iter(keys))) if keys else None
        heads = [head or self.of.capitalize(), *heads]
        shown_table = table(heads, rows, cls=f"sen-x-{name}", order=order, **more)
        noun = "row" if look.several else self.of
        return shown_table, [takes, pager(len(lines), page, name, noun)]

    def _rows(self, look: Look, line: L, by: Mapping[str, int] | None) -> list[Node]:
        """The row of a line, and the runs behind it; the first about a thing has its place."""
        at, drawn = place_of(self.name, line), self.draw(line)
        where = iteration_name(line[1].iteration) if look.several else ""
        first = by is not None
        cells = [row_head(drawn, where, first=first), *drawn.cells]
        looks = " ".join(["sen-chosen"] * look.is_at(at) + ["sen-x-joined"] * (not first))
        row = table_row(cells, key=str(at), cls=looks or None, by=by or None)
        return [row, *look.runs_below(at, len(cells))]


COLUMNS = ("pass_rate", "rubric_weighted_mean", "time_seconds", "tokens", "cost_usd")
"""Figures of a run that are listed beside the one that is looked at."""
MOST = 280
"""Characters of an evidence that the list shows; the run as a whole has all of it."""
REASON = "sen-x-reason"
"""The look of cells that hold sentences."""


def runs_behind(look: Look) -> Node:
    """The runs that are meant and found, 25 at a time."""
    clicked, seen = look.seen.clicked, look.seen
    if clicked is not None and clicked.at[0] == "outputs" and look.seen.opened:
        return h("section", button("Close", ("clear",)), open_runs(look, look.seen.opened))
    every = look.counted.runs(look.choice, clicked)
    key = ("found", look.choice, clicked, repr((seen.search, seen.condition)))
    found = look.counted.get(key, lambda: seen.find_runs(look.counted, look.choice))
    columns = _run_columns(look, every)
    keys: Keys = {"Run": _by_name} | {column.name: column.key for column in columns if column.key}
    runs = _sort_runs(every.clear() if found is None else found, keys, seen.sorted.get("runs"))
    page = page_of(runs.height, seen.page("runs"))
    opened = seen.opened
    if clicked is not None and every.height == 1 and not opened:
        opened = (key_of(every.row(0, named=True)),)
    none = waiting_note("Searching") if found is None else note("No such run.")
    shown = runs.slice(page * PAGE, PAGE)
    return h(
        "section",
        h(
            "div",
            _say_which(look, runs.height, every.height),
            table_buttons(f"{id(look.counted)} runs", "runs", lambda: runs),
            button("Show all runs", ("clear",)) if clicked else None,
            cls="sen-row sen-middle sen-x-listed",
        ),
        _find_runs(look) if every.height > 1 else None,
        none if runs.is_empty() else _list_runs(look, shown, columns, keys, opened),
        pager(runs.height, page, "runs", "run"),
        cls="sen-x-behind",
        aria_label="Runs behind these figures",
        key="behind",
    )


def _say_which(look: Look, found: int, every: int) -> Node:
    """How many runs are listed, and which they are."""
    clicked = look.seen.clicked
    which = clicked.words if clicked is not None else "the whole selection"
    some = f"{found:,} of {count(every, 'run')}" if found < every else count(every, "run")
    return h("p", h("b", some), f": {which}", role="status")


def _find_runs(look: Look) -> Child:
    """The search among the runs, and the condition that was given for them."""
    runs = look.counted.runs(look.choice, look.seen.clicked)
    label, where = "Search prompts, outputs and evidence", look.seen.condition
    bar = find_bar(
        look.seen.search, look.counted.finder.things(runs), label, more=where is not None
    )
    return [bar, where and h("p", "Filter: ", h("code", as_label(where.words, 200)))]


def _sort_runs(runs: pl.DataFrame, keys: Keys, order: Order | None) -> pl.DataFrame:
    """The runs in the order in which they are listed."""
    import polars as pl

    if order is None or order[0] not in keys:
        return runs
    return pl.DataFrame(in_order(runs.rows(named=True), keys, order), schema=runs.schema)


def _list_runs(
    look: Look,
    shown: pl.DataFrame,
    columns: Sequence[Column],
    keys: Keys,
    opened: Sequence[RunKey],
) -> Child:
    heads = ["Run", *(column.name for column in columns)]
    looks = [None, *(column.look for column in columns)]
    on_page = shown.rows(named=True)
    has = look.counted.words_and_things(shown)
    rows: list[Node] = []
    for run, by, own in zip(on_page, sort_places(on_page, keys), has, strict=True):
        key = key_of(run)
        is_open = key in opened
        cells = [_run_head(look, run, key, is_open), *(column.cell(run) for column in columns)]
        about = {"key": str(tuple(key)), "cls": "sen-chosen" if is_open else None}
        rows.append(table_row(cells, looks, by=by, has=row_has(*own), **about))
        if key in opened[-1:]:  # the one of the other side beside it
            below = h("td", open_runs(look, opened), colspan=str(len(heads)))
            rows.append(h("tr", below, cls="sen-x-below", key="opened"))
    titles = [sort_button(name, "runs", name) if name in keys else name for name in heads]
    order = look.seen.sorted.get("runs", ("", False))
    order = order if order[0] in keys else None
    return table(titles, rows, label="Runs, one per row", cls="sen-x-runs", order=order)


def open_runs(look: Look, opened: Sequence[RunKey]) -> Node:
    """Runs as a whole; two sides stand next to each other, and what differs above them."""
    both = sorted(opened, key=lambda run: (run.configuration == look.choice.baseline, run))
    shown = [look.show_run(run, look.kind_of(run.configuration)) for run in both]
    beside = h("div", shown, cls="sen-columns")
    if len(both) > 1:
        differs = compare_runs(look.ws, both, "difference" in look.seen.unfolded)
        return h("div", differs, beside)
    alone = both[0]
    other = find_counterpart(look.ws, alone, look.choice.sides)
    words = other and f"Compare with the outputs of {as_label(other.configuration, 40)}"
    compare = button(words, ("open_pair", *alone), key="compare") if words else None
    return h("div", compare, beside)


def _by_name(run: Row) -> Any:
    names = (run[name] or "" for name in ("eval_name", "eval_id", "iteration", "configuration"))
    return *map(natural_key, names), run["run_number"] or 0


def _run_head(look: Look, run: Row, key: RunKey, is_open: bool) -> list[Child]:
    """What a run is called, as the button that opens it."""
    name = as_label(run["eval_name"])
    where = as_label(key.iteration) if look.several and key.iteration != NO_ITERATION else ""
    of = " · ".join(filter(None, (as_label(key.configuration, 40), where)))
    spoken = f"{name}, {as_label(key.configuration, 40)}, run {key.run_number}"
    return [
        swatch(look.kind_of(key.configuration)),
        button(
            f"{name} · run {key.run_number}",
            ("open_run", *key),
            kind="quiet",
            aria_expanded=is_open,
            aria_label=f"{spoken}{f', {where}' if where else ''}",
        ),
        h("small", of, cls="sen-soft sen-x-of"),
        pill(run["status"], "odd") if run["status"] in LOST else None,
    ]


class Column(NamedTuple):
    """What is listed of each run.

    Attributes:
        name: of the column.
        cell: what stands there.
        key: what rows are sorted by; None where they cannot be.
        look: the class of a cell.
    """

    name: str
    cell: Callable[[Row], Child]
    key: Callable[[Row], Any] | None = None
    look: str | None = None


def _run_columns(look: Look, runs: pl.DataFrame) -> list[Column]:
    """What is listed of each run: what was clicked, the metric, then other figures."""
    clicked, metric = look.seen.clicked, look.choice.metric
    check, dimension = (clicked.check, clicked.dimension) if clicked is not None else (None, None)
    columns: list[Column] = []
    if check is not None:
        columns += _of_check(look, runs, check)
    if dimension is not None:
        columns += _of_dimension(look, runs, dimension)
    if not metric.startswith(RUBRIC):
        columns += [_of_figure(metric_of(metric))] if metric not in COLUMNS else []
    elif metric.removeprefix(RUBRIC) != dimension:
        columns.append(_of_score(look, runs, metric))
    if check is not None or dimension is not None:
        return columns[:3]
    known = [name for name in COLUMNS if runs[name].count()]
    return [*columns, *(_of_figure(metric_of(name)) for name in known)]


def _of_figure(meant: Metric) -> Column:
    def figure_cell(run: Row) -> Child:
        value = run[meant.column]
        if value is None:
            return h("span", MISSING, title=LOST.get(run["status"], "not known"))
        if meant.column == "pass_rate" and run["total"]:
            scored = (run["passed"] or 0) + (run["failed"] or 0)
            of = h("small", f" {run['passed']:,}/{scored:,}", cls="sen-soft")
            return [h("span", figure_or_dash(meant, value)), of]
        return figure_or_dash(meant, value)

    return Column(meant.title, figure_cell, lambda run: run[meant.column])


def _of_score(look: Look, runs: pl.DataFrame, metric: str) -> Column:
    meant, rows = metric_of(metric), look.ws.polars("rubric_scores")
    own = scores_of(rows.filter(dimension=metric.removeprefix(RUBRIC)))
    scores = rows_by_run(own, runs)

    def score(run: Row) -> float | None:
        return next((row["value"] for row in scores[run_key(run)]), None)

    return Column(meant.title, lambda run: figure_or_dash(meant, score(run)), score)


def _of_check(look: Look, runs: pl.DataFrame, check: tuple[str, str]) -> list[Column]:
    """The verdict on an expectation, and its evidence."""
    known = rows_by_run(verdicts_of(look.ws, check), runs)

    def last(run: Row, name: str) -> Any:
        return known[run_key(run)][-1][name] if known[run_key(run)] else None

    def verdict_pill(run: Row) -> Child:
        return outcome_pill(last(run, "passed")) if known[run_key(run)] else MISSING

    return [
        Column("Verdict", verdict_pill, lambda run: last(run, "passed")),
        Column("Evidence", lambda run: _evidence_cell(last(run, "evidence")), look=REASON),
    ]


def _of_dimension(look: Look, runs: pl.DataFrame, dimension: str) -> list[Column]:
    """Every judging's score on a dimension, and its reason."""
    scores = look.ws.polars("rubric_scores").filter(dimension=dimension).sort("judging")
    known = rows_by_run(scores, runs)

    def scores_cell(run: Row) -> Child:
        found = [row["score"] for row in known[run_key(run)]]
        shown = ", ".join(MISSING if score is None else f"{score:g}" for score in found)
        return h("b", shown or MISSING)

    def reason_cell(run: Row) -> Child:
        return [h("div", _evidence_cell(row["evidence"])) for row in known[run_key(run)]]

    return [
        _of_score(look, runs, RUBRIC + dimension)._replace(cell=scores_cell),
        Column("The judge’s reason", reason_cell, look=REASON),
    ]


def _evidence_cell(text: str | None) -> Node:
    if not text:
        return h("span", "none stated", cls="sen-soft")
    return h("span", as_label(text, MOST), cls="sen-small", dir="auto")
