"""What explorers share: the choice, the tabs, and the runs behind what is clicked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.stats.pairing import UNSTATED, swap_iterations
from skill_eval_nb.stats.values import RUBRIC, RUN, model_name
from skill_eval_nb.tables.columns import to_backend_of
from skill_eval_nb.text import as_label, count, some
from skill_eval_nb.workspace import NO_ITERATION

from ..show.run import find_counterpart, show_run
from ..ui import Child, Node, Panel, action, h
from ..ui.parts import button, choose, field, key_list, notice, options_of, tabs, ticks
from ..ui.source import Later, RunKey, Source
from .choice import (
    Borrowed,
    Choice,
    Counted,
    Selection,
    SkillRuns,
    borrow_baselines,
    check_choice,
    count_notes,
    move_runs,
    parts_of,
    select_runs,
    settle_choice,
    suite_of,
)
from .evals import evals, outputs
from .look import Look, Opened, runs_behind
from .quality import checks, dimensions, notes_view, problems
from .rows import RowSearch
from .verdict import summary, trend, verdict

log = logging.getLogger(__name__)

NONE = ""
"""The value of a list in which nothing is chosen."""

KEYS = {
    "/": "search the runs",
    "Enter": "show the runs behind the focused item",
    "d": "show what differs between two outputs",
    "Esc": "close this list, then any open runs",
}


def choice_bar(look: Look, suites: Sequence[SkillRuns]) -> Node:
    """The controls for everything that leaves a choice."""
    return h(
        "div",
        skill_choice(suites, look.suite),
        _model_choice(look),
        _iterations_menu(look),
        _side_choices(look),
        _metric_choice(look.suite, look.choice.metric),
        _evals_menu(look),
        key_list(KEYS),
        cls="sen-row sen-x-choices",
        role="group",
        aria_label="Selection",
        key="choices",
    )


def skill_choice(suites: Sequence[SkillRuns], chosen: SkillRuns) -> Child:
    """Which skill, where there are several."""
    if len(suites) < 2:
        return None
    several = len({suite.workspace for suite in suites}) > 1
    options: dict[str, str] = {}
    for at, suite in enumerate(suites):
        where = f" · {as_label(suite.workspace, 60)}" if several else ""
        runs = "" if suite.n_runs else " (no runs yet)"
        options[str(at)] = f"{as_label(suite.skill, 60)}{where}{runs}"
    return choose("Skill", options, str(suites.index(chosen)), ("choose_suite",))


def _model_choice(look: Look) -> Child:
    """Which model, where there are several: nothing is averaged over them."""
    every = look.suite.models
    if len(every) < 2:
        return None
    options = {str(at): as_label(model_name(dict(model)), 60) for at, model in enumerate(every)}
    return choose("Model", options, str(every.index(look.choice.model)), ("choose_model",))


def _iterations_menu(look: Look) -> Child:
    names = {name: as_label(name) for name in look.suite.iterations}
    label = "Configurations" if look.suite.turned else "Iterations"
    return _menu(look, "iterations", label, names, look.choice.iterations)


def _side_choices(look: Look) -> list[Node]:
    own, other = look.choice.configuration, look.choice.baseline
    names = {name: as_label(name, 40) for name in look.suite.configurations}
    if len(names) < 2:
        return []
    label = "Iteration" if look.suite.turned else "Configuration"
    swap = ("choose_configuration", other) if own and other and other != UNSTATED else None
    known = {name: words for name, words in names.items() if name != UNSTATED}
    none = {NONE: "choose …"}
    return [
        choose(label, names if own else none | names, own or NONE, ("choose_configuration",)),
        button("⇄", swap, aria_label=f"Swap the two {label.lower()}s", title="Swap"),
        choose("Against", known if other else none | known, other or NONE, ("choose_baseline",)),
    ]


def _metric_choice(suite: SkillRuns, chosen: str) -> Node:
    """Figures of runs, and rubric dimensions, in one list: one of all is looked at."""
    columns = list(suite.metrics)
    if chosen not in columns and not chosen.startswith(RUBRIC):
        columns.append(chosen)
    groups = {
        "Figures of a run": {name: metric_of(name).name for name in columns},
        "Rubric dimensions": {RUBRIC + name: as_label(name) for name in suite.dimensions},
    }
    options = [
        h("optgroup", options_of(own, chosen), label=label) for label, own in groups.items() if own
    ]
    control = h("select", options, value=chosen, on={"change": ("choose_metric",)})
    return field("Metric or dimension", control)


def _evals_menu(look: Look) -> Child:
    evals, twins = look.suite.evals, look.suite.has_twins
    names = {
        key: as_label(name) + (f" ({as_label(key)})" if twins else "")
        for key, name in evals.items()
    }
    return _menu(look, "evals", "Evals", names, look.choice.evals or tuple(evals))


def _menu(
    look: Look, name: str, label: str, options: Mapping[str, str], chosen: Sequence[str]
) -> Child:
    """Any number of several, in a list that opens below its label: it is made while it is open."""
    if len(options) < 2:
        return None
    caption = f"{len(chosen):,} of {len(options):,}"
    if len(chosen) in (1, len(options)):
        caption = options[chosen[0]] if len(chosen) == 1 else f"all {len(options):,}"
    content = [
        button("All", (f"choose_{name}", *options)),
        ticks(label, options, chosen, ("tick", name)),
    ]
    return h(
        "div",
        h("span", label, cls="sen-x-label"),
        h(
            "details",
            h("summary", caption, aria_label=f"{label}: {caption}"),
            h("div", content, cls="sen-x-drop") if name in look.seen.unfolded else None,
            on={"toggle": ("unfold", name)},
            pops=True,
            cls="sen-x-menu",
        ),
        cls="sen-field",
        key=f"menu-{name}",
    )


def choice_heading(choice: Choice, suite: SkillRuns, n_runs: int, n_evals: int) -> Node:
    """What is looked at, in a line."""
    iterations = [as_label(name) for name in choice.iterations if name != NO_ITERATION]
    sides = " against ".join(as_label(name, 40) for name in choice.sides)
    model = [as_label(model_name(dict(choice.model)), 60)] if choice.model else []
    facts = [some(iterations), *model, sides, f"{count(n_evals, 'eval')}, {count(n_runs, 'run')}"]
    return h(
        "p",
        h("b", as_label(suite.skill)),
        [part for fact in facts if fact for part in (" · ", fact)],
        cls="sen-x-looked-at",
        key="looked-at",
    )


VIEWS: dict[str, tuple[str, Callable[[Look], Child]]] = {
    "evals": ("Evals", evals),
    "outputs": ("Outputs", outputs),
    "dimensions": ("Dimensions", dimensions),
    "checks": ("Checks", checks),
    "notes": ("Notable", notes_view),
    "problems": ("Problems", problems),
}
"""Tabs that need no more than what is looked at: what each is called, and its view."""

PAGED = {"kind": "checks", "severity": "problems"}
"""What is paged, by what is chosen of it."""


def nothing_view(suites: Sequence[SkillRuns], suite: SkillRuns | None, source: Source) -> Child:
    """What stands there where nothing was run yet."""
    if source.lacking is not None:
        why = source.lacking
    elif suite is not None:
        why = f"The evals of {as_label(suite.skill)} are here, but have not been run yet."
    else:
        why = f"There are no runs in {source.path or 'these tables'}."
    lands = h("p", "Runs appear here as they finish.", cls="sen-soft") if source.path else None
    return [
        skill_choice(suites, suite) if suite is not None else None,
        h("div", h("h3", "Nothing to show yet"), h("p", why), lands, cls="sen-card"),
    ]


def safely(make: Callable[[Look], Child], look: Look) -> Child:
    """A part of the page, or why there is none: the other parts stay, and the choices."""
    try:
        return make(look)
    except Exception as error:  # a fault of one view must not take the others with it
        log.exception("Part of the page could not be drawn.")
        return notice(f"This could not be shown. {type(error).__name__}: {error}")


FIRST_PATIENCE, PATIENCE = 1.2, 0.06
"""Seconds that the first view, and every other one, waits for what is being counted."""


class Explorer(Panel):
    """A workspace that is looked through: a choice, tabs, and the runs behind what is clicked.

    Attributes:
        source: the workspace, as it was last read.
        counted: its figures.
        request: the choice as it was made.
        seen: what is open.
    """

    TABS: ClassVar[Mapping[str, str]]
    WITHOUT_RUNS: ClassVar[frozenset[str]]
    """Tabs below which no runs are listed."""
    borrowed: Borrowed = {}  # noqa: RUF012 -- replaced, never changed
    turned: ClassVar[bool] = False
    """Whether iterations are compared, and not configurations."""

    def __init__(self, ws: Any, request: Choice) -> None:
        """Look at a workspace.

        Raises:
            ValueError: for a name in the request that is not there.
        """
        self._later = Later(self.show, FIRST_PATIENCE)
        self.source = Source(ws, self._read_anew)
        self._renew_counts()
        self.request = self._check_request(self.counted.suites, request)
        self.seen = Opened()
        super().__init__()
        self._later.patience = PATIENCE

    def _check_request(self, suites: Sequence[SkillRuns], request: Choice) -> Choice:
        return check_choice(suites, request)

    @property
    def suite(self) -> SkillRuns | None:
        """The skill that is looked at; None where there is none."""
        return suite_of(self.counted.suites, self.request)

    @property
    def choice(self) -> Choice:
        """What is looked at, with all that was left open chosen."""
        return settle_choice(self.suite, self.request)

    @property
    def selection(self) -> Any:
        """The runs that are listed: those clicked, else all, and of these what is searched for.

        Rows of `ws.runs`, in the backend of the workspace, polars or pandas.
        """
        choice = self.choice
        runs = self.seen.find_runs(self.counted, choice)
        for (*place, name), (lender, baseline) in self.borrowed.items():
            if place == [choice.workspace, choice.skill]:
                runs = move_runs(runs, name, lender, baseline)
        if self.turned:
            keys = swap_iterations(runs.select(RUN))
            every = self.source.ws.polars("runs")
            runs = every.join(keys, on=RUN, how="semi", maintain_order="left")
        return to_backend_of(self.source.ws, runs)

    def settle(self, seconds: float = 60) -> bool:
        """Wait until nothing is being counted or drawn; whether it came to that."""
        return self._later.wait(seconds)

    def view(self) -> Child:
        """All of it."""
        self._later.begin_view()
        suite = self.suite
        if suite is None or not suite.n_runs:
            return nothing_view(self.counted.suites, suite, self.source)
        gone = notice(self.source.gone, key="gone") if self.source.gone else None
        return [gone, self._draw_look(self._make_look(self.counted, suite, self.choice))]

    def _draw_look(self, look: Look) -> Node:
        every = self.counted.runs(look.choice, None)
        n_evals = every.select("eval_id", "eval_name").n_unique() if every.height else 0
        answer = safely(verdict, look)
        # asked for before the table of means, which waits for the figures that take longest
        content = safely(self._content, look)
        beside, trend_rows = self._summary_beside(look), safely(trend, look)
        lacking = {"models"} if len(look.suite.models) < 2 else ()
        names = {name: words for name, words in self.TABS.items() if name not in lacking}
        if "problems" in names and look.problems:
            names["problems"] += f" ({len(look.problems):,})"
        own_runs = look.placed or self.seen.tab in self.WITHOUT_RUNS
        return h(
            "div",
            choice_heading(look.choice, look.suite, every.height, n_evals),
            choice_bar(look, self.counted.suites),
            trend_rows,
            h("div", answer, beside, cls="sen-x-top", key="top"),
            tabs(names, self.seen.tab, ("see", "tab"), content, label="Views", page=self._page_id),
            None
            if own_runs
            else [h("h4", "Runs behind it", key="behind-title"), safely(runs_behind, look)],
            cls="sen-x-explore",
            key="explore",
            keys={"Escape": ("close_runs",)},
        )

    def _make_look(self, counted: Counted, suite: SkillRuns, choice: Choice) -> Look:
        return Look(counted, suite, choice, self.seen, self._show_run, borrowed=self.borrowed)

    def _show_run(self, key: RunKey, colour: str) -> Node:
        own = key
        if self.turned:
            own = key._replace(iteration=key.configuration, configuration=key.iteration)
        lender, baseline = self.borrowed.get(key[:3], ("", ""))
        if key.configuration == baseline:
            own = key._replace(iteration=lender)
        return show_run(self.source.ws, own, colour)

    def _content(self, look: Look) -> Child:
        """What the open tab holds."""
        return VIEWS[self.seen.tab][1](look)

    def _summary_beside(self, look: Look) -> Child:
        """What stands beside the verdict."""
        return safely(summary, look)

    def _read_anew(self) -> None:
        """Runs have landed: count anew, and keep what was chosen."""
        self._renew_counts()
        self.show()

    def _renew_counts(self) -> None:
        ws = borrow_baselines(self.source.ws, self.borrowed)
        self.counted = Counted(ws, self._later, turned=self.turned)

    # ── what is looked at ─────────────────────────────────────────────────────────────────────

    def _change_choice(self, request: Choice) -> None:
        """Look at something else: what was clicked is of what was looked at before.

        Who wants all evals wants those that are still to come, too.
        """
        every = self.suite.evals if self.suite is not None else ()
        is_whole = set(request.evals).issuperset(every)
        self.request = replace(request, evals=()) if is_whole else request
        self.seen = replace(self.seen, clicked=None, opened=(), pages={})

    @action
    def choose_suite(self, number: str) -> None:
        """Look at another skill."""
        suite = self.counted.suites[int(number)]
        self._change_choice(Choice(suite.workspace, suite.skill, metric=self.request.metric))

    @action
    def choose_model(self, number: str) -> None:
        """Look at the runs of another model."""
        suite = self.suite
        if suite is not None:
            self._change_choice(replace(self.request, model=suite.models[int(number)]))

    @action
    def choose_iterations(self, *names: str) -> None:
        """Look at these iterations; at the last one where none is named."""
        self._change_choice(replace(self.request, iterations=names))

    @action
    def borrow(self, iteration: str, lender: str, baseline: str) -> None:
        """Compare an iteration with the baseline of another one; with none where it is empty."""
        key = (self.choice.workspace or "", self.choice.skill or "", iteration)
        kept = {own: of for own, of in self.borrowed.items() if own != key}
        if lender:
            kept[key] = lender, baseline
        self.borrowed = kept
        self._renew_counts()
        self._change_choice(replace(self.request, iterations=(iteration,)))

    @action
    def choose_configuration(self, name: str) -> None:
        """Compare this one; where it was the baseline, the two change places."""
        self._set_sides(name, self.choice.baseline)

    @action
    def choose_baseline(self, name: str) -> None:
        """Compare against this one; where it was the other side, the two change places."""
        self._set_sides(self.choice.configuration, name)

    def _set_sides(self, own: str | None, other: str | None) -> None:
        if own == other:
            own, other = self.choice.baseline, self.choice.configuration
        self._change_choice(replace(self.request, configuration=own, baseline=other))

    @action
    def choose_metric(self, name: str) -> None:
        """Look at another metric or dimension; the runs that were clicked stay."""
        self.request = replace(self.request, metric=name)

    @action
    def choose_evals(self, *ids: str) -> None:
        """Count these evals alone; all where none is named."""
        self._change_choice(replace(self.request, evals=ids))

    @action
    def tick(self, what: str, name: str, on: bool) -> None:
        """Look at one of the `iterations` more, or less, or count one of the `evals`."""
        every = self.suite.evals if self.suite is not None else ()
        kept = tuple(own for own in getattr(self.choice, what) or every if own != name)
        self._change_choice(replace(self.request, **{what: (*kept, name) if on else kept}))

    # ── what is open ──────────────────────────────────────────────────────────────────────────

    @action
    def unfold(self, name: str, is_open: bool) -> None:
        """Open a list to choose from, or close it."""
        kept = self.seen.unfolded - {name}
        self.seen = replace(self.seen, unfolded=kept | {name} if is_open else kept)

    @action
    def see(self, name: str, value: str) -> None:
        """Open a `tab`, draw a `chart`, show a `kind` or `severity` alone."""
        self._show_first(PAGED.get(name, name), **{name: value})

    @action
    def sort(self, name: str, column: str, direction: str = "up") -> None:
        """Sort what is listed by a column, "up" or "down"; as it was where neither."""
        orders = {of: order for of, order in self.seen.sorted.items() if of != name}
        if direction:
            orders[name] = (column, direction == "down")
        self._show_first(name, sorted=orders)

    def _show_first(self, paged: str, **changed: Any) -> None:
        """Change what is open, and show the first page of what is paged."""
        self.seen = replace(self.seen, pages={**self.seen.pages, paged: 0}, **changed)

    @action
    def turn(self, name: str, page: int) -> None:
        """Show another page of what is paged."""
        self.seen = replace(self.seen, pages={**self.seen.pages, name: page})

    @action
    def pick(self, kind: str, *values: Any) -> None:
        """Show the runs behind an eval, a figure, a note, …; see `select_runs`."""
        if kind == "problem":
            rows = self.source.ws.polars("problems")
            values = (*values, rows.row(values[0], named=True))
        elif kind == "note":
            part = next(part for part in parts_of(self.choice) if part.iteration == values[0])
            notes = self.counted.figures(count_notes, [part], self.choice.metric)[part]
            if notes is None:
                return
            values = (*values, notes[values[1]])
        self._show_picked(select_runs(kind, *values))

    @action
    def clear(self) -> None:
        """Show all runs again."""
        self._show_picked(None)

    def _show_picked(self, clicked: Selection | None) -> None:
        self._show_first("runs", clicked=clicked, opened=())

    @action
    def find(self, kind: str | None, value: str) -> None:
        """List only runs with these words, or with this thing of a kind; all where it is None."""
        condition = None if kind is None else self.seen.condition
        self._show_first("runs", search=self.search.choose(kind, value), condition=condition)

    @property
    def search(self) -> RowSearch:
        """What is searched for."""
        return self.seen.search

    @action
    def close_runs(self) -> None:
        """Close the runs that are open, or else show all runs again."""
        if self.seen.opened:
            self.seen = replace(self.seen, opened=())
        else:
            self._show_picked(None)

    @action
    def open_run(self, *key: Any) -> None:
        """Show a run as a whole, beside one of the other side; once more hides it."""
        run = RunKey(*key)
        others = (other for other in self.seen.opened if other.configuration != run.configuration)
        opened = (*others, run) if run not in self.seen.opened else tuple(others)
        self.seen = replace(self.seen, opened=opened)

    @action
    def open_pair(self, *key: Any) -> None:
        """Show a run beside one of the other side, with what differs between their outputs."""
        run = RunKey(*key)
        other = find_counterpart(self.counted.ws, run, self.choice.sides)
        opened = (run,) if other is None else (other, run)
        unfolded = self.seen.unfolded | {"difference"}
        self.seen = replace(self.seen, opened=opened, unfolded=unfolded)

    @action
    def open_outputs(self, name: str, *key: Any) -> None:
        """Show an output of that eval beside one of the other side; once more hides it."""
        run = RunKey(*key)
        if run in self.seen.opened[-1:]:
            self._show_picked(None)
        else:
            self._show_picked(select_runs("outputs", run.iteration, run.eval_id, name))
            self.open_pair(*run)
