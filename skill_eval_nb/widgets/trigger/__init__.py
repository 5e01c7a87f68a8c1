"""`trigger_panel`: a skill's trigger queries edited, run, and its description made better."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.models import load_prices
from skill_eval_nb.models.stand_in import EXECUTOR
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.skill import SKILL_FILE, read_skill
from skill_eval_nb.stats.values import OFFLINE
from skill_eval_nb.tables import NothingToLoad
from skill_eval_nb.text import count
from skill_eval_nb.triggers import (
    DraftedQueries,
    Measured,
    Query,
    check_queries,
    draft_queries,
    measure,
    optimise,
    write_description,
)
from skill_eval_nb.triggers.queries import set_in

from ..ui import Child, Node, action, h, quiet_action, style
from ..ui.paid import (
    NOT_BEGUN,
    Launch,
    PaidForm,
    PaidPanel,
    Preview,
    at_most,
    faults_view,
    form_field,
    models_with_prices,
    preview_dry_run,
)
from ..ui.parts import button, details, note, notice, short_path
from ..ui.source import Task, tell_landed
from .queries import Grid, Stored, files_view, queries_view, tags_of
from .results import (
    ended_view,
    optimised_view,
    results_view,
    running_view,
    writing_view,
)

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.triggers import Optimised
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


ON_OFFER = "bundled, none, or folders separated by commas"


@dataclass(frozen=True)
class RunForm(PaidForm):
    """How queries are run.

    Attributes:
        executor: what runs a query.
        model: the model that runs it; None if none is chosen.
        runs: of each query.
        others: further skills: `bundled`, `none`, or their folders, or folders of such.
        concurrency: runs at a time.
        again: whether runs that errored are made again.
    """

    executor: str = form_field("Executor", "executor", default=OFFLINE)
    model: str | None = form_field("Model", "model", default=EXECUTOR)
    runs: int | None = form_field("Runs per query", default=3, least=1)
    others: str = form_field("Other skills", "text", default="bundled", placeholder=ON_OFFER)
    concurrency: int | None = form_field("Concurrency", default=4, least=1)
    again: bool = form_field("Retry runs that errored", "tick")

    @property
    def other_skills(self) -> Any:
        """The other skills on offer, as `measure` takes them.

        >>> RunForm(others="skills/a, skills/b").other_skills
        ['skills/a', 'skills/b']
        """
        names = [name.strip() for name in self.others.split(",") if name.strip()]
        return names[0] if names in (["bundled"], ["none"]) else names


@dataclass(frozen=True)
class SearchForm(PaidForm):
    """How a description is looked for.

    Attributes:
        proposer_model: the model that proposes descriptions; None for the one that runs queries.
        rounds: descriptions that are tried at most.
        held_out: the share of the queries that no proposal rests on.
    """

    proposer_model: str | None = form_field("Proposer's model", "model")
    rounds: int | None = form_field("Maximum rounds", default=5, least=1)
    held_out: float | None = form_field("Held-out share", "number", default=0.4, least=0)


@dataclass(frozen=True)
class DraftForm(PaidForm):
    """How queries are drafted.

    Attributes:
        model: the model that drafts; None for the one that runs queries.
        n: how many.
    """

    model: str | None = form_field("Drafter's model", "model")
    n: int | None = form_field("Number of queries", default=20, least=2)


ALL_THERE = "Everything is done. To do more, add runs or queries."
WHILE = 60.0
"""Seconds for which the plan is waited for once something has ended."""

Given = str | os.PathLike[str] | Iterable[Query] | None
"""Queries, or the file of them, or nothing."""

QUERIES, RUN, DESCRIPTION = "queries", "run", "description"
DOING = {RUN: "running the queries", DESCRIPTION: "looking for a better description"}


class TriggerPanel(PaidPanel):
    """A set of queries, its runs, and a search for a better description, as a widget.

    What it does can be done in code as well: `sen.triggers`.
    """

    _css = style(Path(__file__).with_name("trigger.css"))
    label = "Triggers"
    TABS: ClassVar = {QUERIES: "Queries", RUN: "Run", DESCRIPTION: "Description"}
    FREE = QUERIES

    def __init__(
        self,
        skill: PathLike,
        queries: Given = None,
        *,
        connection: Connection | None = None,
        prices: Prices | None = None,
    ) -> None:
        found = read_skill(Path(skill).expanduser())
        self.skill, self.subject = found.folder, found.name
        self._reach = {"connection": connection, "prices": prices}
        self.models = {EXECUTOR: EXECUTOR} | models_with_prices(prices or load_prices())
        self._tab = QUERIES
        self._stored = Stored(self.skill, self.subject)
        self._message: str | None = None
        self._grid = self._begun_with(queries)
        self._calls = {RUN: self._measure, DESCRIPTION: self._search}
        self._drafting = Launch(
            self,
            DraftForm(),
            partial(preview_dry_run, self._ask_drafts, worst="price_usd"),
            self._add_drafts,
            beside=lambda: (self._running.form, self.queries),
        )
        self._running = Launch(
            self,
            RunForm(),
            partial(
                preview_dry_run,
                self._measure,
                find_complete=lambda found: None if found.price.attempts else ALL_THERE,
            ),
            lambda _: self._begin_task(RUN),
            beside=lambda: (self.queries,),
        )
        self._searching = Launch(
            self,
            SearchForm(),
            partial(preview_dry_run, self._search),
            lambda _: self._begin_task(DESCRIPTION),
            beside=lambda: (self._running.form, self.queries),
        )
        works = self._drafting, self._running, self._searching
        self.launches = dict(zip(self.TABS, works, strict=True))
        self.tasks = {}
        self.optimised: Optimised | None = None
        """The result of the last search for a better description; None before the first."""
        self._chosen, self._diff = "", ""
        self._unfit: str | None = None
        self._written: str | None = None
        super().__init__()

    def draw_head(self) -> Child:
        """Whose triggers they are."""
        return h("h3", f"Triggers of {self.subject}")

    def draw_running(self, task: Any) -> Child:
        """How far it is."""
        return running_view(task)

    def draw_tab(self, task: Any) -> Child:
        """The queries; or a form, the plan, and the results."""
        if self._tab == QUERIES:
            return self._queries_tab()
        return self._run_tab(task) if self._tab == RUN else self._search_tab(task)

    # ── what costs ───────────────────────────────────────────────────────────────────────────

    def _measure(self, form: RunForm, queries: Sequence[Query], **given: Any) -> Measured:
        """`measure`, as the form has it."""
        given |= {"budget_usd": form.budget_usd, "retry_errored": form.again}
        return measure(self.skill, queries, **self._say_how(form), **given)

    def _search(
        self, form: SearchForm, runs: RunForm, queries: Sequence[Query], **given: Any
    ) -> Optimised:
        """`optimise`, as the forms have it."""
        own = ("proposer_model", "rounds", "held_out", "budget_usd")
        given |= {name: getattr(form, name) for name in own}
        given |= {"competing": runs.other_skills}
        return optimise(self.skill, queries, **self._say_how(runs), **given)

    def _ask_drafts(
        self, form: DraftForm, runs: RunForm, queries: Sequence[Query], **given: Any
    ) -> DraftedQueries:
        """`draft_queries`, as the forms have it."""
        model = form.model or runs.model
        if not model:
            raise refuse("choose the drafter's model")
        given |= {"n": form.n, "budget_usd": form.budget_usd, "others": runs.other_skills}
        return draft_queries(self.skill, model=model, existing=queries, **self._reach, **given)

    def _say_how(self, form: RunForm) -> dict[str, Any]:
        own = {name: getattr(form, name) for name in ("executor", "model", "runs", "concurrency")}
        return own | self._reach | {"others": form.other_skills}

    # ── the runs of the set ──────────────────────────────────────────────────────────────────

    @property
    def measured(self) -> Measured | None:
        """The runs of these queries, looked up on disk; None if there are none.

        Its status is `partial` if some are missing.
        """
        if not self.busy and self._running.current is None:
            self._running.plan_now()
        return stored_runs(self._running.plan)

    def _begin_task(self, tab: str) -> None:
        """Begin what a tab is for, with the form and the set as they are now."""
        self._written = None
        work = partial(self._calls[tab], *self.launches[tab].inputs)
        task = Task(DOING[tab], work, NOT_BEGUN, self.show, partial(self._end_task, tab))
        self.tasks = {**self.tasks, tab: task}

    def _end_task(self, tab: str, task: Task[Any]) -> None:
        """Take the result, plan anew, and tell the widgets that look at the same folder."""
        with self._lock:
            if tab == RUN:
                self._running.form = replace(self._running.form, again=False)
            elif task.result is not None:
                self.optimised = task.result
                self._choose_text(task.result.best_description)
        self.launches[tab].replan(WHILE)
        if task.result is not None:
            tell_landed(task.result.folder)
        self.show()

    def _run_tab(self, task: Task[Any] | None) -> Child:
        launch, found = self._running, stored_runs(self._running.plan)
        names = ("executor", "model", "runs", "others", "concurrency", "budget_usd")
        form = [h("div", map(launch.control, names), cls="sen-row"), launch.control("again")]
        return [
            ended_view(task),
            launch.view("How queries are run", form, self._say_place()),
            results_view(found) if found is not None else None,
        ]

    def _say_place(self) -> Node | None:
        """Where what is planned in this tab is kept."""
        plan = self.launches[self._tab].plan
        if plan is None or plan.found is None:
            return None
        folder = short_path(plan.found.folder)
        return note(f"Saved in {folder}; finished runs are not paid for again.")

    # ── a better description ─────────────────────────────────────────────────────────────────

    @action
    def choose(self, number: int) -> None:
        """Choose the description of a round to be written."""
        steps = self.optimised.steps if self.optimised is not None else ()
        if not 1 <= number <= len(steps):
            raise LookupError(f"There is no round {number}.")
        self._choose_text(steps[number - 1].description)

    @action
    def write(self) -> None:
        """Write the chosen description to SKILL.md, where that changes what was shown."""
        before = self._diff
        self._choose_text(self._chosen)
        if self._diff != before or not before:
            raise refuse("SKILL.md has changed since that was shown: check it again.")
        write_description(self.skill, self._chosen, dry_run=False)
        self._written = f"The description was written to {self.skill / SKILL_FILE}."
        self._choose_text(self._chosen)
        self._searching.replan()

    def _choose_text(self, description: str) -> None:
        """Choose a description, and look at what it would change."""
        self._chosen, self._diff, self._unfit = description, "", None
        try:
            self._diff = write_description(self.skill, description)
        except (Refused, OSError) as error:
            self._unfit = str(error)

    def _search_tab(self, task: Task[Any] | None) -> Child:
        launch, found = self._searching, self.optimised
        look = "main" if found is None else ""
        writes = found is not None and found.status != "broken"
        form = search_form(launch, self._running.form)
        return [
            notice(self._written, fine=True, key="written") if self._written else None,
            ended_view(task),
            launch.view("Description search", form, self._say_place(), look=look),
            optimised_view(found, self._chosen if writes else None) if found is not None else None,
            writing_view(self.skill / SKILL_FILE, self._diff, self._unfit) if writes else None,
        ]

    # ── drafts ───────────────────────────────────────────────────────────────────────────────

    @action
    def price_draft(self) -> None:
        """Find out what drafting would cost at most; nobody is asked."""
        self._drafting.replan()

    def _add_drafts(self, _: object) -> None:
        found = self._ask_drafts(*self._drafting.inputs)
        if found.unasked:
            raise refuse(found.unasked)
        with self._lock:  # somebody may be typing in the grid
            self._grid = self._grid.with_more(found)
            self._message = f"{count(len(found), 'query')} drafted."

    # ── the set ──────────────────────────────────────────────────────────────────────────────

    def _begun_with(self, given: Given) -> Grid:
        """What there is to begin with."""
        if given is not None and not isinstance(given, str | os.PathLike):
            return Grid().with_all(given)
        try:
            folder = self.skill if given is None else Path(given).expanduser()
            file = set_in(folder) if folder.is_dir() else folder
            self._stored.path = file
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

    def _set_grid(self, grid: Grid) -> None:
        self._grid, self._message = grid, None

    # ── rows ─────────────────────────────────────────────────────────────────────────────────

    @action
    def add_row(self) -> None:
        """Make room for another query."""
        self._grid = self._grid.with_room()

    @quiet_action
    def type(self, key: str, words: str) -> None:
        """Take what was typed, as one types."""
        self.change(key, "query", words)

    @action
    def change(self, key: str, part: str, value: Any) -> None:
        """Change the words of a `query`, its `tags`, or whether it `should_trigger`."""
        readers = {"query": str, "tags": tags_of, "should_trigger": bool}
        query = replace(self._grid.row(key), **{part: readers[part](value)})
        self._set_grid(self._grid.replace_query(key, query))

    @action
    def remove(self, key: str) -> None:
        """Take a query out."""
        self._set_grid(self._grid.remove_query(key))

    @action
    def put_back(self) -> None:
        """Put the query back that was taken out last."""
        self._set_grid(self._grid.put_back())

    # ── files ────────────────────────────────────────────────────────────────────────────────

    @action
    def import_file(self, name: str) -> None:
        """Add the queries of a file that are not there yet."""
        path = Path(name.strip()).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"{path.absolute()} does not exist.")
        found = self._stored.read(set_in(path) if path.is_dir() else path)
        before = len(self._grid.rows)
        self._set_grid(self._grid.with_more(found))
        new = len(self._grid.rows) - before
        self._message = f"New from the file: {new:,} of {count(len(found), 'query')}."

    @action
    def save_to(self, path: str) -> None:
        """Choose the file that Save writes."""
        if not path.strip():
            raise refuse("A file needs a name.")
        self._stored.path = Path(path.strip()).expanduser()

    @action
    def save(self) -> None:
        """Write the set to its file."""
        if not self.queries:
            raise refuse("Nothing to save: the grid has no queries.")
        self._stored.write(self.queries)
        self._message = f"{count(len(self.queries), 'query')} saved."

    def _queries_tab(self) -> Child:
        saved = self._stored.saved
        return [
            queries_view(
                self._grid,
                check_queries(self.queries, self.subject),
                keep=f"triggers {self.skill.absolute()}",
                page=self._page_id,
            ),
            files_view(
                self._stored.path,
                None if saved is None else saved != self.queries,
                self._message,
            ),
            drafting_view(self._drafting, self._running.form),
        ]


def stored_runs(preview: Preview | None) -> Measured | None:
    """The runs of the set that are stored already; None if there are none."""
    found: Measured | None = preview.found if preview is not None else None
    outcomes = {each.outcome for each in found.attempts} if found is not None else set()
    if found is None or not outcomes - {"not run"}:
        return None
    return replace(found, status="partial" if found.price.attempts else "done", message="")


def search_form(launch: Launch[Preview], runs: RunForm) -> Iterator[Node]:
    """How a description is looked for; `runs` is how queries are run."""
    same = f"as for runs: {runs.model or 'none yet'}"
    others = map(launch.control, ("rounds", "held_out", "budget_usd"))
    yield h("p", "Each description is measured with the settings of the Run tab.", cls="sen-soft")
    yield h("div", launch.control("proposer_model", placeholder=same), others, cls="sen-row")


WHAT_IS_DRAFTED = "Drafts queries that should or should not trigger it, mainly near misses."


def drafting_view(launch: Launch[Preview], runs: RunForm) -> Node:
    """The way to drafts: the price is worked out when somebody asks for it."""
    form, plan = launch.form, launch.current
    next_step: Child = button("Estimate the price", ("price_draft",), key="price-draft")
    if plan is not None and not plan.faults:
        usd = h("p", f"Price: {at_most(plan.found.price_usd)}.")
        next_step = [usd, launch.row(plan, f"Draft {count(form.n, 'query')}", look="")]
    same = f"as for runs: {runs.model}" if runs.model else None
    numbers = map(launch.control, ("n", "budget_usd"))
    content = [
        faults_view(launch.faults),
        h("p", WHAT_IS_DRAFTED, cls="sen-soft"),
        h("div", launch.control("model", placeholder=same), numbers, cls="sen-row"),
        h("div", next_step),
    ]
    return details("Draft more with a model", h("div", content, cls="sen-form"), key="drafting")
