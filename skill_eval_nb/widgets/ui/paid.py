"""Work that costs, on the tabs of a panel: a form, the plan and its price, then Start."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar

from skill_eval_nb.models import Prices
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.protocol import Refused, executor_names, refuse
from skill_eval_nb.stats.values import OFFLINE, no_such
from skill_eval_nb.text import clock, dollars, in_terms, lower_first
from skill_eval_nb.view import Block, Items, Pairs, Shown, blocks_of

from . import Panel, action
from .parts import (
    Act,
    blocks_view,
    button,
    choose,
    entry,
    figure,
    note,
    pill,
    tabs,
    tick,
    waiting_note,
)
from .source import PATIENCE, Background, Task
from .tree import Child, Node, h

# ── forms ────────────────────────────────────────────────────────────────────────────────────────


Kind = Literal["whole", "number", "text", "tick", "choice", "model", "executor"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form.

    Attributes:
        label: its name on the page, also in errors.
        kind: how it is set. A number that is left empty is what it was at first, or None.
        least: the smallest value of a number.
        options: by name what each choice is called; executors and models are found by themselves.
        placeholder: shown while it is empty; what it means to choose no model.
    """

    label: str
    kind: Kind = "whole"
    least: int | None = None
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    placeholder: str | None = None

    def view(self, value: Any, act: Act, *, faulty: bool = False, typed: bool = False) -> Node:
        """Its control; the action gets the value.

        Args:
            value: what it shows.
            act: the action.
            faulty: whether its value is wrong.
            typed: whether the name of a model is typed instead of chosen.
        """
        wrong = faulty or None
        match self.kind:
            case "tick":
                return tick(self.label, bool(value), act)
            case "choice" | "executor":
                return choose(self.label, self.options, value, act, aria_invalid=wrong)
            case "model":
                typed = typed or (value is not None and value not in self.options)
                options = {"": self.placeholder or "choose one", **self.options, OTHER: OTHER}
                chosen = OTHER if typed else value or ""
                select = choose(self.label, options, chosen, act, aria_invalid=wrong)
                line = entry("its name", value, act, spellcheck="false") if typed else None
                return h("div", select, line, cls="sen-model")
        return entry(
            self.label,
            f"{value:g}" if isinstance(value, float) else value,
            act,
            kind="text" if self.kind == "text" else "number",
            min=self.least,
            step="any" if self.kind == "number" else None,
            placeholder=self.placeholder,
            aria_invalid=wrong,
        )


def form_field(
    label: str, kind: Kind = "whole", *, default: Any = None, counts: bool = True, **more: Any
) -> Any:
    """A field of a form's dataclass, with its control; a tick is off at first.

    Args:
        label: its name on the page.
        kind: how it is set.
        default: its first value.
        counts: whether a plan depends on it.
        **more: the rest of its `Field`.
    """
    first = False if kind == "tick" and default is None else default
    control = {"field": Field(label, kind, **more)}
    return dataclasses.field(default=first, compare=counts, repr=counts, metadata=control)


@dataclass(frozen=True, kw_only=True)
class PaidForm:
    """The settings of work that may cost.

    Attributes:
        budget_usd: the most that it may cost, in US dollars.
        unlimited: whether it may cost any amount; no plan depends on it.
    """

    budget_usd: float | None = form_field("Budget in US$", "number", least=0, placeholder="none")
    unlimited: bool = form_field("Without a budget", "tick", counts=False)


def fields_of(form: PaidForm) -> dict[str, Field]:
    """The fields of a form that have controls, by their names in its dataclass."""
    found = dataclasses.fields(form)
    return {each.name: each.metadata["field"] for each in found if "field" in each.metadata}


def in_labels(fault: str, *forms: PaidForm) -> str:
    """An error about arguments in Python, with the labels that forms have for them."""
    names: dict[str, str] = {}
    for name, setting in (item for form in forms for item in fields_of(form).items()):
        if setting.kind == "tick":
            names[f"{name}=True"] = f"“{setting.label}” ticked"
            continue
        names[f"{name}=0"] = f"{setting.label} = 0"
        if "_" in name:
            names[name] = setting.label
        elif setting.kind in ("whole", "number", "text"):
            names[f"{name} is"] = f"{setting.label} is"
    return in_terms(fault, names)


OTHER = "another model…"
"""The choice that makes room for any name."""


def models_with_prices(prices: Prices | None) -> dict[str, str]:
    """The models of a table, each with what a million tokens cost; by name.

    >>> from skill_eval_nb.models import load_prices
    >>> models_with_prices(load_prices())["claude-sonnet-5"]
    'claude-sonnet-5 · $2 / $10'
    """
    known = prices.models.items() if prices is not None else ()
    return {name: f"{name} · ${each.input:g} / ${each.output:g}" for name, each in known}


# ── plan, price, start ───────────────────────────────────────────────────────────────────────────

MAKING = "Planning"
OBSTACLE = "Fix the errors in the form first."
NO_BUDGET = "This may cost money: give a budget, or tick “Without a budget”."
ANEW = "The plan has changed since it was shown: check it, and start again."


@dataclass(frozen=True)
class Preview:
    """What would be done, as it is shown before anything is.

    Attributes:
        faults: what stands in its way.
        found: what would be done; None if something stands in its way.
        shown: what is shown of it; empty without a plan.
        token: another one if somebody who looks at it would see something else.
        complete: what to say if nothing is left to do; None if something is.
        costs: whether money may be spent, as far as is known.
    """

    faults: tuple[str, ...] = ()
    found: Any = None
    shown: tuple[Block, ...] = ()
    token: str = ""
    complete: str | None = None
    costs: bool = False


def make_token(*shown: object) -> str:
    """The token of what is shown: the same for the same."""
    return f"{hash(repr(shown)):x}"


def preview_dry_run(
    call: Callable[..., Any],
    *inputs: Any,
    find_complete: Callable[[Any], str | None] = lambda _: None,
    worst: str = "worst_usd",
) -> Preview:
    """What a call would do that takes `dry_run`.

    Args:
        call: spends and writes nothing with `dry_run=True`.
        *inputs: its arguments, forms among them.
        find_complete: what to say of the result if nothing is left to do.
        worst: the attribute of the result that has the most US dollars.
    """
    forms = [each for each in inputs if isinstance(each, PaidForm)]
    try:
        found = call(*inputs, dry_run=True)
    except Refused as error:
        return Preview(tuple(in_labels(fault, *forms) for fault in error.faults))
    return Preview(
        found=found,
        shown=tuple(blocks_of(found)) if isinstance(found, Shown) else (),
        token=make_token(inputs, found),
        complete=find_complete(found),
        costs=getattr(found, worst) != 0,
    )


P = TypeVar("P", bound=Preview)


class Launch(Generic[P]):
    """The way from a form to work that costs: planned, priced, and started as it was shown.

    Attributes:
        first, form: what was chosen at first, and what is; frozen `PaidForm`s.
        panel: the panel that shows it.
        typed: its models whose names are typed instead of chosen.
        plan: the last plan; None before the first.
        planning, starting: what is being done for it.
    """

    def __init__(
        self,
        panel: PaidPanel,
        form: Any,
        make: Callable[..., P],
        start: Callable[[P], object],
        *,
        beside: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        """Nothing is planned yet.

        Args:
            panel: the panel that shows it.
            form: the settings at first.
            make: makes a plan from the form and what is `beside` it; spends and writes nothing.
            start: carries a plan out; returns at once.
            beside: what else a plan depends on, as it is now.
        """
        self.first = self.form = form
        self.typed: frozenset[str] = frozenset()
        self.plan: P | None = None
        self.planning, self.starting = panel.add_background(), panel.add_background()
        self._planned_from: Any = None
        self.panel, self._make, self._start, self._beside = panel, make, start, beside

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The form, and what else a plan depends on."""
        return self.form, *self._beside()

    @property
    def current(self) -> P | None:
        """The plan, if it was made from what the form holds now."""
        return self.plan if self._planned_from == self.inputs else None

    @property
    def faults(self) -> tuple[str, ...]:
        """What stands in the way of what the form holds now, as far as it was planned."""
        return self.current.faults if self.current is not None else ()

    def replan(self, patience: float = PATIENCE) -> None:
        """Plan what the form holds."""
        inputs = self.inputs
        self.planning.begin(
            lambda: self._make(*inputs), lambda plan: self.show_plan(plan, inputs), patience
        )

    def plan_now(self) -> P:
        """The plan of what the form holds, made at once."""
        inputs = self.inputs
        plan = self._make(*inputs)
        self.show_plan(plan, inputs)
        return plan

    def show_plan(self, plan: P | None, inputs: Any = None) -> None:
        """Show a plan that was made from this; None forgets it."""
        self.plan, self._planned_from = plan, inputs

    def why_not(self) -> str | None:
        """Why it cannot be started now; None if it can."""
        if busy := self.panel.busy:
            return busy
        plan = self.current
        if self.planning.busy or plan is None:
            return f"{MAKING}…"
        if plan.faults:
            return OBSTACLE
        return plan.complete or (NO_BUDGET if plan.costs and not self._is_free else None)

    @property
    def _is_free(self) -> bool:
        """Whether there is a budget, or none is wanted."""
        return self.form.unlimited or self.form.budget_usd is not None

    def press(self, token: str) -> None:
        """Start the plan that was shown with this token; a second click on it does nothing."""
        if not self.starting.busy and not self.panel.busy:
            self.starting.begin(lambda: self.start(token), lambda _: None)

    def start(self, token: str | None = None) -> None:
        """Start what is shown, if it is still what would be done.

        A plan that is being made is waited for: if it comes to the same, a click holds.

        Args:
            token: of the plan that was pressed; any by default.

        Raises:
            Refused: something stands in the way, or it is another plan by now.
        """
        self.planning.wait()
        if token is not None and (self.plan is None or self.plan.token != token):
            raise refuse(ANEW)
        if (why := self.why_not()) is not None:
            raise refuse(why)
        shown, now = self.plan, self.plan_now()
        if now.faults:
            raise Refused(now.faults)
        if shown is None or shown.token != now.token:
            raise refuse(ANEW)
        self._start(now)

    def control(self, name: str, **more: Any) -> Node:
        """The control of a field; `more` are parts of its `Field` that only the panel knows."""
        setting, value = fields_of(self.form)[name], getattr(self.form, name)
        if setting.kind == "model":
            more = {"options": self.panel.models, **more}
        if setting.kind == "executor":
            names = dict.fromkeys([OFFLINE, *executor_names(), getattr(self.first, name), value])
            more = {"options": {each: each for each in names}}
        setting = replace(setting, **more)
        faulty = any(fault.startswith(f"{setting.label} ") for fault in self.faults)
        return setting.view(value, ("set", name), faulty=faulty, typed=name in self.typed)

    def view(
        self,
        title: str,
        form: Child,
        *more: Child,
        label: str = "Start",
        look: str = "main",
        instead: Child = None,
    ) -> Node:
        """The form, what stands in its way above; next to it what would be done, and its price.

        Args:
            title: of the form.
            form: its controls.
            more: what stands below a plan, above its button.
            label: of the button that starts it.
            look: the kind of the button.
            instead: what stands below the sentence that there is no plan.
        """
        content: Child = waiting_note(MAKING)
        if self.plan is not None:
            content = [h("h4", "No plan yet"), h("p", OBSTACLE), instead]
            if self.plan.found is not None:
                content = plan_view(self.plan.shown, [*more, self.row(self.plan, label, look)])
        stale = " sen-stale" * (self.plan is not None and self.current is None)
        controls = h(
            "section",
            h("h4", title),
            faults_view(self.faults),
            form,
            cls="sen-card sen-form",
            aria_label=lower_first(title),
            key="form",
        )
        plan = h(
            "section",
            content,
            cls=f"sen-card sen-plan-card{stale}",
            aria_label="the plan and its price",
            key="plan-card",
        )
        return h("div", controls, plan, cls="sen-columns sen-launch")

    def row(self, plan: P, label: str = "Start", look: str = "main") -> Node:
        """The button that starts it, why it cannot be started, a tick for no budget.

        Args:
            plan: what it starts.
            label: of the button.
            look: the kind of the button.
        """
        why, busy = self.why_not(), self.starting.busy
        token = ("press", plan.token) if why is None and not busy else None
        wanted = plan.costs and (self.form.unlimited or not self._is_free)
        return h(
            "div",
            self.control("unlimited") if wanted else None,
            button("Starting…" if busy else label, token, kind=look, key="start"),
            h("span", why, cls="sen-soft", role="status", key="why") if why else None,
            cls="sen-row sen-middle sen-start",
            key="start-row",
        )


def plan_view(shown: Sequence[Block], start: Child) -> Node:
    """A plan; `start` begins it, and stands next to its price, above what is to be unfolded."""
    below = [block for block in shown if isinstance(block, Pairs | Items)]
    above = [block for block in shown if block not in below]
    return h("div", blocks_view(above), start, blocks_view(below))


def faults_view(faults: Iterable[str], title: str = "") -> Node | None:
    """What stands in the way."""
    lines = [h("li", fault, dir="auto") for fault in faults]
    if not lines:
        return None
    head = h("p", h("b", title)) if title else None
    return h("div", head, h("ul", lines), cls="sen-notice sen-faults", role="alert", key="faults")


def at_most(usd: float | None) -> str:
    """What something costs at worst.

    >>> at_most(0.0), at_most(None), at_most(1.234)
    ('at no cost', 'no price is known', 'at most $1.23')
    """
    if usd is None:
        return "no price is known"
    return f"at most {dollars(usd)}" if usd else "at no cost"


# ── under way, and how it ended ──────────────────────────────────────────────────────────────────

NOT_BEGUN = AskingProgress(0, 0, 0, 0.0, "")


def running_card(
    task: Task[Any],
    title: str,
    noun: str,
    figures: Child,
    *,
    stop: Child = None,
    below: Child = None,
) -> Node:
    """The card of something under way.

    Args:
        task: what is under way.
        title: what it is called.
        noun: what ends one by one, in plural.
        figures: in a row below the bar, before those of the time.
        stop: the way to stop it; a button of the action `stop` if none is given.
        below: what stands below that.
    """
    stopping, ended, left = task.stopping, f"{noun} that have ended", task.left_seconds
    figures = [figures, figure(clock(task.seconds), "time")]
    figures += [figure(f"~{clock(left)}", "left")] if left is not None else []
    return h(
        "section",
        h(
            "div",
            h("h4", f"{title} "),
            pill("stopping", "odd") if stopping else pill("running", "good"),
            cls="sen-row sen-middle",
        ),
        h("progress", max="1", value=f"{task.progress.share:.4f}", aria_label=ended),
        h("div", figures, cls="sen-job-figures"),
        stop or button("Stop", None if stopping else ("stop",), key="stop"),
        below,
        cls="sen-card sen-running",
        aria_label=lower_first(title),
        key="running",
    )


STOPPING = "Stopping: nothing new is started."
PROMISE = "Each result is saved when it ends and is not paid for again."


def asking_card(
    task: Task[Any], now: AskingProgress, title: str, noun: str, doing: str = "", more: Child = None
) -> Node:
    """The card of questions to models that are under way.

    Args:
        task: what asks them.
        now: how far it is.
        title: what it is called.
        noun: what ends one by one, in plural.
        doing: what is done just now, in a sentence.
        more: what stands below.
    """
    figures = [
        figure(f"{now.done:,} of {now.total:,}", f"{noun} ended"),
        figure(f"{now.failed:,}", "failed", "bad") if now.failed else None,
        figure(dollars(now.spent_usd), "spent"),
    ]
    said = note(STOPPING if task.stopping else f"{doing}{PROMISE}", role="status")
    last = note(f"Last: {now.what}", dir="auto") if now.what else None
    return running_card(task, title, noun, figures, below=[said, last, more])


HEADINGS = {
    "done": ("Done", "good"),
    "partial": ("The budget was reached", "odd"),
    "stopped": ("Stopped", "odd"),
    "failed": ("Failed", "bad"),
}


def ended_card(title: str, heading: tuple[str, str], summary: str, *content: Child) -> Node:
    """How paid work ended: one word for it, a summary, and what to do next."""
    head = [
        h("h4", f"{title} "),
        pill(*heading),
        h("span", summary, cls="sen-soft"),
        button("Dismiss", ("put_away",), kind="quiet"),
    ]
    row = h("div", head, cls="sen-row sen-middle")
    return h("section", row, content, cls="sen-card sen-ended", role="status", key="ended")


# ── the panel ────────────────────────────────────────────────────────────────────────────────────


class PaidPanel(Panel):
    """A panel of tabs, each with work that costs and goes on while the page is used.

    Attributes:
        TABS: what each tab is called, by its name.
        FREE: the tab that is drawn whatever is under way, and first planned when asked.
        subject: what is busy while something is under way.
        models: that are offered, by name with their prices.
        launches: by the name of a tab the way to what it does.
        tasks: by the name of a tab what was begun there last.
    """

    TABS: ClassVar[Mapping[str, str]]
    FREE: ClassVar[str] = ""
    subject: str
    models: Mapping[str, str]
    launches: Mapping[str, Launch[Any]]
    tasks: Mapping[str, Task[Any]]
    _tab: str
    _works: tuple[Background, ...] = ()

    def draw_head(self) -> Child:
        """What stands above the tabs."""

    def draw_running(self, task: Any) -> Child:
        """What is under way in the tab that is shown."""

    def draw_tab(self, task: Any) -> Child:
        """The tab that is shown, while nothing is under way.

        Args:
            task: what was begun there last, if anything was.
        """

    def view(self) -> Child:
        """The tabs."""
        task = self.tasks.get(self._tab)
        if task is not None and task.running:
            content = self.draw_running(task)
        elif self.busy and self._tab != self.FREE:
            content = h("p", self.busy, role="status")
        else:
            content = self.draw_tab(task)
        tabs_ = tabs(self.TABS, self._tab, ("tab",), content, label="parts", page=self._page_id)
        return [self.draw_head(), tabs_]

    @property
    def busy(self) -> str | None:
        """What is under way, in a sentence; None if nothing is."""
        doing = (task.doing for task in self.tasks.values() if task.running)
        return next((f"{self.subject} is busy: it is {words}." for words in doing), None)

    def add_background(self) -> Background:
        """What works in a thread; it is waited for in `settle`."""
        self._works += (Background(self.show, self._show_fault),)
        return self._works[-1]

    def settle(self, seconds: float = 60) -> bool:
        """Wait until no work goes on, for one may begin another; whether that was reached."""
        until = time.monotonic() + seconds
        while any(work.busy for work in self._works):
            if not all(work.wait(until - time.monotonic()) for work in self._works):
                return False
        return True

    @action
    def tab(self, name: str) -> None:
        """Turn to a tab."""
        if name not in self.TABS:
            raise no_such("tab", name, self.TABS)
        self._tab = name
        self._refresh_tab()

    def _refresh_tab(self, patience: float = PATIENCE) -> None:
        """Plan again what the tab shows: what is on disk may have changed."""
        launch = self.launches[self._tab]
        if not self.busy and (self._tab != self.FREE or launch.plan is not None):
            launch.replan(patience)

    def _change_form(self, **changed: Any) -> None:
        """Change the form; what was planned for it may no longer hold."""
        launch = self.launches[self._tab]
        launch.form = replace(launch.form, **changed)
        if launch.current is None:  # or it was only said that no budget is wanted
            self._refresh_tab()

    @action
    def set(self, name: str, value: Any) -> None:
        """Set a field of the form.

        A number that is emptied gets its usual value, if it has one. A model is set by its name, or
        to OTHER for room to type any name. Another executor has the models that were given with
        it, if any.
        """
        launch = self.launches[self._tab]
        usual = getattr(type(launch.form)(), name)
        fields = fields_of(launch.form)
        changed: dict[str, Any] = {name: usual if value is None else value}
        if fields[name].kind == "model":
            if value == OTHER:
                launch.typed |= {name}
                return
            launch.typed -= {name}
            changed = {name: (value or "").strip() or None}
        if fields[name].kind == "executor":
            launch.typed, mine = frozenset(), value == getattr(launch.first, name)
            models = [each for each, field in fields.items() if field.kind == "model"]
            changed |= {each: getattr(launch.first, each) if mine else None for each in models}
        self._change_form(**changed)

    @action
    def press(self, token: str) -> None:
        """Start what the tab shows, if it was shown with this token."""
        self.launches[self._tab].press(token)

    @action
    def stop(self, grace: float = 0.0) -> None:
        """Stop what is under way, as the button does; what is finished stays.

        Args:
            grace: seconds that what is in flight has to end.
        """
        for task in self.tasks.values():
            if task.running:
                task.stop(grace)
        self.show()
