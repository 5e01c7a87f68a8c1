"""`trigger_panel`: a skill's trigger queries edited, run, and its description made better."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.models import load_prices
from skill_eval_nb.models.stand_in import EXECUTOR
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.skill import SKILL_FILE, read_skill
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.tables import NothingToLoad
from skill_eval_nb.text import count
from skill_eval_nb.triggers import Query, check_queries, write_description
from skill_eval_nb.triggers.queries import set_in

from ..ui import Child, Node, action, h, quiet_action, style
from ..ui.paid import Launch, Models, PaidPanel, models_with_prices, plan_card
from ..ui.parts import notice, tabs
from ..ui.source import tell_landed
from ..ui.task import Task
from .plan import (
    DRAFTING,
    OFFLINE,
    RUNNING,
    SEARCHING,
    Deps,
    Form,
    TriggerPreview,
    drafting_view,
    measuring_form,
    plan_work,
    search_form,
)
from .queries import SHOWN, Grid, Stored, files_view, queries_view, tags_of
from .results import (
    ended_view,
    optimised_view,
    results_view,
    run_plan_view,
    running_view,
    search_plan_view,
    writing_view,
)

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.triggers import Measured, Optimised
    from skill_eval_nb.triggers.queries import QueryDoubt
    from skill_eval_nb.workspace import PathLike

__all__ = ["TriggerPanel", "trigger_panel"]


def trigger_panel(
    skill: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Iterable[Query] | None = None,
    *,
    connection: Connection | None = None,
    prices: Prices | None = None,
) -> TriggerPanel:
    """A panel to edit a skill's trigger queries, run them, and search for a better description.

    Nothing is spent before you have seen the most it can cost, and nothing but the attempts is
    written until you press Save or Write. Work continues while other cells run. After a kernel
    restart, a new panel finds what was paid for, and pays for nothing twice.

    Args:
        skill: the skill's folder.
        queries: the queries to start with, or their file, which Save writes; if not given, the
            set in the skill's folder, if there is one.
        connection: how models are reached; if not given, the stand-in answers in process for its
            own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.

    Returns:
        the panel: `.queries` is the set as edited, `.measured` the result of its last run,
        `.optimised` the result of the last search for a better description.

    Raises:
        Refused: the skill cannot be read, or the file has no queries; a ValueError.
        FileNotFoundError: the file of queries does not exist.
    """
    return TriggerPanel(skill, queries, connection=connection, prices=prices)


WHILE = 60.0
"""Seconds for which the plan is waited for once something has ended."""

Given = str | os.PathLike[str] | Iterable[Query] | None
"""Queries, or the file of them, or nothing."""

QUERIES, RUN, DESCRIPTION = "queries", "run", "description"
BUSY = {RUN: "The queries are being run", DESCRIPTION: "A better description is being looked for"}


class TriggerPanel(PaidPanel):
    """A set of queries, its runs, and a search for a better description, as a widget.

    What it does can be done in code as well: `sen.triggers`.
    """

    _css = style(Path(__file__).with_name("trigger.css"))
    label = "Triggers"
    TABS: ClassVar = {QUERIES: "Queries", RUN: "Run", DESCRIPTION: "Description"}

    def __init__(
        self,
        skill: PathLike,
        queries: Given = None,
        *,
        connection: Connection | None = None,
        prices: Prices | None = None,
    ) -> None:
        found = read_skill(Path(skill).expanduser())
        self.skill, self.skill_name = found.folder, found.name
        self.form = Form()
        self._known_prices = prices or load_prices()
        self._deps = deps = Deps(self.skill, connection, prices)
        self._tab = QUERIES
        self._stored = Stored(self.skill, self.skill_name)
        self._importing, self._which = "", "all"
        self._message: str | None = None
        self._grid = self._begun_with(queries)
        self._checked: tuple[tuple[Query, ...], tuple[QueryDoubt, ...]] = (), ()
        self.launches = {
            QUERIES: self._launch(DRAFTING, deps.draft, self._draft, "draft_"),
            RUN: self._launch(RUNNING, deps.measure, partial(self._begin, RUN)),
            DESCRIPTION: self._launch(
                SEARCHING, deps.search, partial(self._begin, DESCRIPTION), "search_"
            ),
        }
        self._tasks: Mapping[str, Task[Any]] = {}  # by their tabs what was begun last
        self._found: Optimised | None = None
        self._chosen, self._diff = "", ""
        self._unfit: str | None = None
        self._written: str | None = None
        super().__init__()

    def _launch(
        self,
        names: Sequence[str],
        call: Callable[..., Any],
        start: Callable[[TriggerPreview], object],
        budget: str = "",
    ) -> Launch[TriggerPreview]:
        """The way to something that costs; `names` are fields of the form on which it rests."""
        return Launch(
            self, lambda: (self._part(names), self.queries), partial(plan_work, call), start, budget
        )

    def view(self) -> Child:
        """The tabs."""
        tab, task = self._tab, self._tasks.get(self._tab)
        if task is not None and task.running:
            content = running_view(BUSY[tab], task)
        elif self.busy and tab != QUERIES:
            content = h("p", self.busy, role="status")
        else:
            part = {QUERIES: self._queries_tab, RUN: self._run_tab, DESCRIPTION: self._search_tab}
            content = part[tab]()
        return [
            h("h3", f"Triggers of {self.skill_name}"),
            tabs(self.TABS, tab, ("tab",), content, label="parts", page=self._page_id),
        ]

    def _refresh_tab(self, **_: float) -> None:
        if not self.busy and self._tab != QUERIES:
            self.launches[self._tab].replan()

    def _form_changed(self) -> None:
        if not self.busy:
            self._tasks = {}  # how it ended is no longer of interest
            if self._tab != QUERIES:
                super()._form_changed()

    @action
    def set_executor(self, name: str) -> None:
        """Choose another executor; its model has to be chosen anew."""
        self._typed -= {"model"}
        self._set(executor=name, model=EXECUTOR if name == OFFLINE else None)

    @property
    def _models(self) -> Models:
        """The models that are offered."""
        prices = self._known_prices
        return Models(models_with_prices([EXECUTOR, *prices.models], prices), self._typed)

    # ── the runs of the set ──────────────────────────────────────────────────────────────────

    @property
    def measured(self) -> Measured | None:
        """What the runs of these queries came to, looked up on disk; None where there are none.

        Its status is `partial` where some are missing.
        """
        launch = self.launches[RUN]
        if not self.busy and launch.current is None:
            inputs = self._part(RUNNING), self.queries
            launch.take(plan_work(self._deps.measure, inputs), inputs)
        return launch.plan.measured if launch.plan is not None else None

    @property
    def busy(self) -> str | None:
        """What goes on; None where nothing does."""
        return next((f"{BUSY[tab]}." for tab, task in self._tasks.items() if task.running), None)

    @action
    def stop(self) -> None:
        """Stop what goes on; what is there stays."""
        for task in self._tasks.values():
            task.stop()

    def _begin(self, tab: str, _: object) -> None:
        """Begin what a tab is for, with the form and the set as they are now."""
        form, queries, self._written = self.form, self.queries, None
        do = self._deps.measure if tab == RUN else self._deps.search
        task = Task(
            lambda report, stop: do(form, queries, progress=report, stop=stop),
            self.show,
            lambda task: self._end(tab, task),
        )
        self._tasks = {**self._tasks, tab: task}

    def _end(self, tab: str, task: Task[Any]) -> None:
        """Take what came of it, plan anew, and tell who looks at the same folder."""
        with self._lock:
            if tab == RUN:
                self.form = replace(self.form, again=False)
            elif task.result is not None:
                self._found = task.result
                self._take(task.result.best_description)
        self.launches[tab].replan(WHILE)
        if task.result is not None:
            tell_landed(task.result.folder)
        self.show()

    def _run_tab(self) -> Child:
        launch, task = self.launches[RUN], self._tasks.get(RUN)
        plan = launch.plan
        cards = [
            measuring_form(self.form, self._models, launch.faults),
            plan_card([run_plan_view(plan, self.form), launch.row()]),
        ]
        return [
            ended_view(task),
            h("div", cards, cls="sen-columns"),
            results_view(plan.measured) if plan is not None and plan.measured is not None else None,
        ]

    # ── a better description ─────────────────────────────────────────────────────────────────

    @property
    def optimised(self) -> Optimised | None:
        """What the last search for a better description came to; None before there was one."""
        return self._found

    @action
    def choose(self, number: int) -> None:
        """Choose the description of a round to be written."""
        steps = self._found.steps if self._found is not None else ()
        if not 1 <= number <= len(steps):
            raise LookupError(f"There is no round {number}.")
        self._take(steps[number - 1].description)

    @action
    def write(self) -> None:
        """Write the chosen description to SKILL.md, where that changes what was shown."""
        before = self._diff
        self._take(self._chosen)
        if self._diff != before or not before:
            raise refuse("SKILL.md has changed since that was shown: look at it again.")
        write_description(self.skill, self._chosen, dry_run=False)
        self._written = f"The description is written to {self.skill / SKILL_FILE}."
        self._take(self._chosen)
        self.launches[DESCRIPTION].replan()

    def _take(self, description: str) -> None:
        """Choose a description, and look at what it would change."""
        self._chosen, self._diff, self._unfit = description, "", None
        try:
            self._diff = write_description(self.skill, description)
        except (Refused, OSError) as error:
            self._unfit = str(error)

    def _search_tab(self) -> Child:
        task, launch = self._tasks.get(DESCRIPTION), self.launches[DESCRIPTION]
        found, look = self._found, "main" if self._found is None else ""
        writes = found is not None and found.status != "broken"
        cards = [
            search_form(self.form, self._models, launch.faults),
            plan_card([search_plan_view(launch.plan), launch.row(look=look)]),
        ]
        return [
            notice(self._written, fine=True, key="written") if self._written else None,
            ended_view(task),
            h("div", cards, cls="sen-columns"),
            optimised_view(found, self._chosen if writes else None) if found is not None else None,
            writing_view(self.skill / SKILL_FILE, self._diff, self._unfit) if writes else None,
        ]

    # ── drafts ───────────────────────────────────────────────────────────────────────────────

    @action
    def price_draft(self) -> None:
        """Find out what drafting would cost at most; nobody is asked."""
        self.launches[QUERIES].replan()

    def _draft(self, _: object) -> None:
        found = self._deps.draft(self.form, self.queries)
        if found.unasked:
            raise refuse(found.unasked)
        with self._lock:  # somebody may be typing in the grid
            self._grid = self._grid.with_more(found)
            self._message = f"{count(len(found), 'query')} drafted."

    def _drafts_part(self) -> Node:
        launch = self.launches[QUERIES]
        busy = launch.planning.busy or launch.starting.busy
        return drafting_view(self.form, launch.current, self._models, busy=busy)

    # ── the set ──────────────────────────────────────────────────────────────────────────────

    def _begun_with(self, given: Given) -> Grid:
        """What there is to begin with."""
        if given is not None and not isinstance(given, str | os.PathLike):
            return Grid().with_all(given)
        try:
            folder = self.skill if given is None else Path(given).expanduser()
            file = set_in(folder) if folder.is_dir() else folder
            self._stored.choose(file)
            return Grid().with_all(self._stored.read(file))
        except (Refused, NothingToLoad) as error:
            if given is not None:
                raise
            self._message = f"{str(error).rstrip('.')}."
            return Grid()

    @property
    def queries(self) -> tuple[Query, ...]:
        """The set as it is in the grid, without rows that say nothing."""
        return self._grid.queries

    def _doubts(self) -> tuple[QueryDoubt, ...]:
        queries = self.queries
        if self._checked[0] != queries:
            self._checked = queries, check_queries(queries, self.skill_name)
        return self._checked[1]

    def _put(self, grid: Grid) -> None:
        self._grid, self._message = grid, None

    # ── rows ─────────────────────────────────────────────────────────────────────────────────

    @action
    def add_row(self) -> None:
        """Make room for another query."""
        self._grid, self._which = self._grid.with_room(), "all"

    @quiet_action
    def type(self, key: str, words: str) -> None:
        """Take what was typed, as one types."""
        self.change(key, "query", words)

    @action
    def change(self, key: str, part: str, value: Any) -> None:
        """Change the words of a `query`, its `tags`, or whether it `should_trigger`."""
        readers = {"query": str, "tags": tags_of, "should_trigger": bool}
        query = replace(self._grid.row(key), **{part: readers[part](value)})
        self._put(self._grid.changed(key, query))

    @action
    def remove(self, key: str) -> None:
        """Take a query out."""
        self._put(self._grid.without(key))

    @action
    def put_back(self) -> None:
        """Put the query back that was taken out last."""
        self._put(self._grid.put_back())

    @action
    def show_rows(self, which: str) -> None:
        """Choose which rows are shown."""
        if which not in SHOWN:
            raise no_such("choice of rows", which, SHOWN)
        self._which = which

    # ── files ────────────────────────────────────────────────────────────────────────────────

    @quiet_action
    def import_from(self, path: str) -> None:
        """Note the file that is to be imported."""
        self._importing = path.strip()

    @action
    def import_file(self) -> None:
        """Add the queries of a file that are not there yet."""
        if not self._importing:
            raise refuse("Say first which file is to be imported.")
        path = Path(self._importing).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"{path.absolute()} does not exist.")
        found = self._stored.read(set_in(path) if path.is_dir() else path)
        before = len(self._grid.rows)
        self._put(self._grid.with_more(found))
        new = len(self._grid.rows) - before
        there = f"; {len(found) - new:,} of them there already" if new < len(found) else ""
        self._message = f"{count(len(found), 'query')} imported{there}."
        self._which = "all"

    @action
    def save_to(self, path: str) -> None:
        """Choose the file that Save writes."""
        if not path.strip():
            raise refuse("A file needs a name.")
        self._stored.choose(Path(path.strip()).expanduser())

    @action
    def save(self) -> None:
        """Write the set to its file."""
        if not self.queries:
            raise refuse("There is nothing to save: the grid has no query.")
        self._stored.write(self.queries)
        self._message = f"{count(len(self.queries), 'query')} saved."

    def _queries_tab(self) -> Child:
        saved = self._stored.saved
        return [
            queries_view(
                self._grid,
                self._doubts(),
                self._which,
                keep=f"triggers {self.skill.absolute()}",
                page=self._page_id,
            ),
            files_view(
                self._stored.path,
                self._importing,
                None if saved is None else saved != self.queries,
                self._message,
            ),
            self._drafts_part(),
        ]
