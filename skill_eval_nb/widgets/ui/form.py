"""A form: its fields described once, its faults, and who works: executors and models."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skill_eval_nb.models import Prices

from .parts import Act, Options, choose, entry, field, tick
from .tree import Node, h


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
