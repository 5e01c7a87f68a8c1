"""Work that costs, on the tabs of a panel: a form, the plan and its price, then Start."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar

from skill_eval_nb.models import Prices
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.text import dollars

from .panel import Panel, action
from .parts import Act, Options, button, choose, entry, field, tick
from .source import PATIENCE, Background
from .tree import Child, Node, h


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form.

    Attributes:
        label: what it is called; faults of it are told by this name.
        kind: how it is set. A number that is left empty is None.
        least, most: of a number.
        needed: whether it must not be left empty.
        options: of a choice.
        placeholder: what stands in an empty one.
    """

    label: str
    kind: Literal["whole", "number", "text", "lines", "tick", "choice", "model"] = "whole"
    least: int | None = None
    most: int | None = None
    needed: bool = False
    options: Options = ()
    placeholder: str | None = None

    def view(self, value: Any, act: Act, *, faulty: bool = False) -> Node:
        """The control of it, but for a model's; the action is handed the value."""
        wrong = faulty or None
        if self.kind == "tick":
            return tick(self.label, bool(value), act)
        if self.kind == "choice":
            return choose(self.label, self.options, value, act, aria_invalid=wrong)
        if self.kind == "lines":
            look = {"rows": 3, "spellcheck": "false", "placeholder": self.placeholder}
            return field(self.label, h("textarea", value=value, on={"change": tuple(act)}, **look))
        return entry(
            self.label,
            f"{value:g}" if isinstance(value, float) else value,
            act,
            kind="text" if self.kind == "text" else "number",
            min=self.least,
            max=self.most,
            step="any" if self.kind == "number" else None,
            placeholder=self.placeholder,
            aria_invalid=wrong,
        )


def form_field(label: str, kind: Any = "whole", *, default: Any = None, **more: Any) -> Any:
    """A field of a form's dataclass, with its control; a tick is off at first.

    Args:
        label: what it is called.
        kind: how it is set.
        default: its value at first.
        **more: the rest of its `Field`.
    """
    first = False if kind == "tick" and default is None else default
    return dataclasses.field(default=first, metadata={"field": Field(label, kind, **more)})


def budget_setting() -> Any:
    """The most that something may cost, in US dollars."""
    return form_field("Budget in US$", "number", least=0, placeholder="none")


def unlimited_setting() -> Any:
    """Whether it may cost whatever it costs."""
    return form_field("Without a budget", "tick")


def fields_of(form: Any) -> dict[str, Field]:
    """The fields that a form has controls for, by their names in its dataclass."""
    found = dataclasses.fields(form)
    return {each.name: each.metadata["field"] for each in found if "field" in each.metadata}


@dataclass(frozen=True)
class Models:
    """The models that a form offers.

    Attributes:
        known: what each is called.
        typed: fields with room for any other name, though theirs is known.
        unsaid: by field what it means that none is chosen, where it means something.
    """

    known: Mapping[str, str]
    typed: Container[str] = ()
    unsaid: Mapping[str, str] = dataclasses.field(default_factory=dict)


def controls(
    form: Any, names: Iterable[str], wrong: Container[str] = (), models: Models | None = None
) -> list[Node]:
    """The controls of some fields; `wrong` are those with a fault."""
    shown = []
    for name in names:
        control, value, faulty = fields_of(form)[name], getattr(form, name), name in wrong
        if control.kind == "model" and models is not None:
            shown.append(_model(control.label, name, value, models, faulty=faulty))
        else:
            shown.append(control.view(value, ("set", name), faulty=faulty))
    return shown


def empty(form: Any) -> tuple[str, ...]:
    """What is to be said of numbers that were left empty though they are needed."""
    found = []
    for name, control in fields_of(form).items():
        if control.needed and getattr(form, name) is None:
            what = "whole number" if control.kind == "whole" else "number"
            found.append(f"{control.label} is empty; it is a {what} of at least {control.least}")
    return tuple(found)


def faults_view(faults: Iterable[str], title: str = "") -> Node | None:
    """What stands in the way."""
    lines = [h("li", fault, dir="auto") for fault in faults]
    if not lines:
        return None
    head = h("p", h("b", title)) if title else None
    return h("div", head, h("ul", lines), cls="sen-notice sen-faults", role="alert", key="faults")


def form_card(title: str, faults: Iterable[str], *content: Any) -> Node:
    """A form in a card of its own, what stands in its way above."""
    return h(
        "section",
        h("h4", title),
        faults_view(faults),
        *content,
        cls="sen-card sen-form",
        aria_label=title[:1].lower() + title[1:],
        key="form",
    )


OTHER = "another model…"
"""The choice that opens room for any name."""


def models_with_prices(names: Iterable[str], prices: Prices | None) -> dict[str, str]:
    """Models with their prices, by name.

    >>> from skill_eval_nb.models import load_prices
    >>> models_with_prices(["claude-sonnet-5", "my-own"], load_prices())
    {'claude-sonnet-5': 'claude-sonnet-5 · $2 / $10', 'my-own': 'my-own'}
    """
    found = {}
    for name in names:
        rates = prices.rates(name) if prices is not None else None
        free = name.startswith("stand-in")
        cost = f" · ${rates.input:g} / ${rates.output:g}" if rates is not None and not free else ""
        found[name] = f"{name}{cost}"
    return found


def _model(label: str, name: str, value: str | None, models: Models, *, faulty: bool) -> Node:
    """A choice among models, and room for any other name."""
    typed = name in models.typed or (value is not None and value not in models.known)
    options = {"": models.unsaid.get(name, "choose one"), **models.known, OTHER: OTHER}
    act, wrong = ("set_model", name), faulty or None
    select = choose(label, options, OTHER if typed else value or "", act, aria_invalid=wrong)
    line = entry("its name", value, act, spellcheck="false") if typed else None
    return h("div", select, line, cls="sen-model")


class PaidPanel(Panel):
    """A panel of tabs with one form, and work that costs and goes on beside the page.

    Attributes:
        TABS: what each tab is called, by its name.
        form: what is chosen, a frozen dataclass of settings.
        launches: by the name of a tab the way to what it does.
    """

    TABS: ClassVar[Mapping[str, str]]
    form: Any
    launches: Mapping[str, Launch[Any]]
    _tab: str
    _works: tuple[Background, ...] = ()
    _typed: frozenset[str] = frozenset()
    """Models with room for any name."""

    @property
    def busy(self) -> str | None:
        """What is under way, in a sentence; None where nothing is."""
        raise NotImplementedError

    def background(self) -> Background:
        """What works beside the page; it is waited for in `settle`."""
        self._works += (Background(self.show, self._fail),)
        return self._works[-1]

    def settle(self, seconds: float = 60) -> bool:
        """Wait until no work goes on, for one may begin another; whether it came to that."""
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

    def _refresh_tab(self, **patience: float) -> None:
        """Work out anew what the tab shows: what is on disk may have changed."""
        raise NotImplementedError

    def _part(self, names: Iterable[str]) -> Any:
        """The form with these fields alone, the others as they are at first."""
        return type(self.form)(**{name: getattr(self.form, name) for name in names})

    def _set(self, **changed: Any) -> None:
        self.form = replace(self.form, **changed)
        self._form_changed()

    def _form_changed(self) -> None:
        """What was planned for the form may no longer hold."""
        launch = self.launches[self._tab]
        if launch.current is None:  # or it is only said that no budget is wanted
            launch.replan()

    @action
    def set(self, name: str, value: Any) -> None:
        """Set a number, a tick, a choice or a text of the form."""
        setting = fields_of(self.form).get(name)
        if setting is None or setting.kind == "model":
            raise LookupError(f"The form has no `{name}` that could be set.")
        self._set(**{name: value})

    @action
    def set_model(self, name: str, value: str) -> None:
        """Choose a model, or that there is to be room for any name."""
        setting = fields_of(self.form).get(name)
        if setting is None or setting.kind != "model":
            raise LookupError(f"The form has no model `{name}`.")
        if value == OTHER:
            self._typed |= {name}
            return
        self._typed -= {name}
        self._set(**{name: value.strip() or None})

    @action
    def press(self, token: str) -> None:
        """Start what the tab shows, if it was shown with this token."""
        self.launches[self._tab].press(token)


MAKING = "The plan is being made…"
OBSTACLE = "Fix the errors in the form first."
NO_BUDGET = "This may cost money: give a budget, or tick “Without a budget”."
ANEW = (
    "What is on disk or in the form has changed since that was shown, so the plan was made "
    "again: check it, and start."
)


@dataclass(frozen=True)
class Preview:
    """What would be done, as it is shown before anything is.

    Attributes:
        faults: what stands in its way.
        token: another one where somebody who looks at it would see something else.
        complete: what to say where nothing is left to do; None where something is.
        costs: whether money may be spent, as far as is known.
    """

    faults: tuple[str, ...] = ()
    token: str = ""
    complete: str | None = None
    costs: bool = False


P = TypeVar("P", bound=Preview)


class Launch(Generic[P]):
    """The way from a form to work that costs: planned, priced, and started as it was shown.

    Attributes:
        plan: what was planned last; None before.
        planning, starting: what is being done for it.
    """

    def __init__(
        self,
        panel: PaidPanel,
        form: Callable[[], Any],
        make: Callable[[Any], P],
        start: Callable[[P], object],
        budget: str = "",
        planned: Callable[[], object] = lambda: None,
    ) -> None:
        """Nothing is planned yet.

        Args:
            panel: whose form it is.
            form: all that a plan rests on, as it is now.
            make: plans that, without spending or writing anything.
            start: carries a plan out; returns at once.
            budget: begins the names of `budget_usd` and `unlimited` in the panel's form.
            planned: called once a plan was made.
        """
        self.plan: P | None = None
        self.planning, self.starting = panel.background(), panel.background()
        self._planned_from: Any = None
        self._panel, self._form, self._make, self._start = panel, form, make, start
        self._budget, self._unlimited = f"{budget}budget_usd", f"{budget}unlimited"
        self._planned = planned

    @property
    def current(self) -> P | None:
        """The plan, where it was made for what the form now holds."""
        return self.plan if self._planned_from == self._form() else None

    @property
    def faults(self) -> tuple[str, ...]:
        """What stands in the way of what the form now holds, as far as it was planned."""
        return self.current.faults if self.current is not None else ()

    @property
    def _is_free(self) -> bool:
        """Whether there is a budget, or none is wanted."""
        form = self._panel.form
        return getattr(form, self._unlimited, False) or getattr(form, self._budget) is not None

    def replan(self, patience: float = PATIENCE) -> None:
        """Plan what the form holds."""
        form = self._form()
        self.planning.begin(lambda: self._make(form), lambda plan: self.take(plan, form), patience)

    def take(self, plan: P | None, form: Any = None) -> None:
        """Show a plan that was made from this; None forgets it."""
        self.plan, self._planned_from = plan, form
        self._planned()

    def why_not(self) -> str | None:
        """Why it cannot be started now; None where it can."""
        if busy := self._panel.busy:
            return busy
        plan = self.current
        if self.planning.busy or plan is None:
            return MAKING
        if plan.faults:
            return OBSTACLE
        return plan.complete or (NO_BUDGET if plan.costs and not self._is_free else None)

    def press(self, token: str) -> None:
        """Start the plan that was shown with this token; a second click on it does nothing.

        Raises:
            Refused: it is another one by now.
        """
        if self.starting.busy or self._panel.busy:
            return
        if self.plan is None or self.plan.token != token:
            raise refuse(ANEW)
        self.starting.begin(lambda: self.start(token), lambda _: None)

    def start(self, token: str | None = None) -> None:
        """Start what is shown, if it is still what would be done.

        A plan that is being made is waited for: where it comes to the same, a click holds.

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
        shown, form = self.plan, self._form()
        now = self._make(form)
        self.plan, self._planned_from = now, form
        if now.faults:
            raise Refused(now.faults)
        if shown is None or shown.token != now.token:
            raise refuse(ANEW)
        self._start(now)

    def row(self, label: str = "Start", look: str = "main") -> Node | None:
        """The button that starts it, why it cannot be started, a tick for no budget.

        Args:
            label: of the button.
            look: the kind of the button.
        """
        if self.plan is None:
            return None
        why, busy = self.why_not(), self.starting.busy
        token = ("press", self.plan.token) if why is None and not busy else None
        form = self._panel.form
        wanted = self.plan.costs and (getattr(form, self._unlimited) or not self._is_free)
        return h(
            "div",
            controls(form, [self._unlimited]) if wanted else None,
            button("Starting…" if busy else label, token, kind=look, key="start"),
            h("span", why, cls="sen-soft", role="status", key="why") if why else None,
            cls="sen-row sen-middle sen-start",
            key="start-row",
        )


def plan_card(content: Child, label: str = "the plan and its price", look: str = "") -> Node:
    """The card beside a form: what would be done, and its price."""
    return h(
        "section",
        content,
        cls=f"sen-card sen-plan-card{look}",
        aria_label=label,
        key="plan-card",
    )


def at_most(usd: float | None) -> str:
    """What something costs at worst.

    >>> at_most(0.0), at_most(None), at_most(1.234)
    ('at no cost', 'no price is known', 'at most $1.23')
    """
    if usd is None:
        return "no price is known"
    return f"at most {dollars(usd)}" if usd else "at no cost"
