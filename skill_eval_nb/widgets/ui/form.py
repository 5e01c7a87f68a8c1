"""A form: its fields described once, its faults, and who works: executors and models."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from skill_eval_nb.models import Prices

from .panel import action
from .parts import Act, Options, choose, entry, tick
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
    kind: Literal["whole", "number", "text", "tick", "choice"] = "whole"
    least: int | None = None
    most: int | None = None
    needed: bool = False
    options: Options = ()
    placeholder: str | None = None

    def view(self, value: Any, act: Act, *, faulty: bool = False) -> Node:
        """The control of it; the action is handed the value."""
        wrong = faulty or None
        if self.kind == "tick":
            return tick(self.label, bool(value), act)
        if self.kind == "choice":
            return choose(self.label, self.options, value, act, aria_invalid=wrong)
        if self.kind == "text":
            return entry(self.label, value, act, placeholder=self.placeholder)
        return entry(
            self.label,
            f"{value:g}" if isinstance(value, float) else value,
            act,
            kind="number",
            min=self.least,
            max=self.most,
            step="any" if self.kind == "number" else None,
            placeholder=self.placeholder,
            aria_invalid=wrong,
        )


BUDGET = Field("Budget in US$", "number", 0, placeholder="none")

Fields = Mapping[str, Field]
"""The fields of a form, by the names that its dataclass has for them."""


def controls(
    fields: Fields, form: Any, names: Iterable[str], wrong: Container[str] = (), act: str = "set"
) -> list[Node]:
    """The controls of some fields; `wrong` are those with a fault."""
    return [
        fields[name].view(getattr(form, name), (act, name), faulty=name in wrong) for name in names
    ]


def empty(fields: Fields, form: Any, names: Iterable[str]) -> tuple[str, ...]:
    """What is to be said of numbers that were left empty though they are needed."""
    found = []
    for name in names:
        field = fields[name]
        if field.needed and getattr(form, name) is None:
            what = "whole number" if field.kind == "whole" else "number"
            found.append(f"{field.label} is empty; it is a {what} of at least {field.least}")
    return tuple(found)


def faults_view(
    faults: Iterable[str], say: Callable[[str], str] = str, title: str = ""
) -> Node | None:
    """What stands in the way; `say` puts it in the form's own labels."""
    lines = [h("li", say(fault), dir="auto") for fault in faults]
    if not lines:
        return None
    head = h("p", h("b", title)) if title else None
    return h("div", head, h("ul", lines), cls="sen-notice sen-faults", role="alert", key="faults")


def form_card(title: str, faults: Node | None, *content: Any) -> Node:
    """A form in a card of its own, what stands in its way above."""
    return h(
        "section",
        h("h4", title),
        faults,
        *content,
        cls="sen-card sen-form",
        aria_label=title[:1].lower() + title[1:],
        key="form",
    )


OTHER = "another model…"
"""The choice that opens room for any name."""


def priced(names: Iterable[str], prices: Prices | None) -> dict[str, str]:
    """Models with their prices, by name.

    >>> from skill_eval_nb.models import load_prices
    >>> priced(["claude-sonnet-5", "my-own"], load_prices())
    {'claude-sonnet-5': 'claude-sonnet-5 · $2 / $10', 'my-own': 'my-own'}
    """
    found = {}
    for name in names:
        rates = prices.rates(name) if prices is not None else None
        free = name.startswith("stand-in")
        cost = f" · ${rates.input:g} / ${rates.output:g}" if rates is not None and not free else ""
        found[name] = f"{name}{cost}"
    return found


def model(
    label: str,
    known: Mapping[str, str],
    value: str | None,
    act: Act,
    *,
    other: bool,
    unsaid: str,
    faulty: bool = False,
) -> Node:
    """A choice among models, and room for any other name.

    Args:
        label: what the model is for.
        known: what each is called.
        value: the one that is chosen; None where none is.
        act: the action; it is handed a name, OTHER, or "" where none is chosen.
        other: whether there is room for another name, though `value` is known.
        unsaid: what it means that none is chosen.
        faulty: whether something is wrong with it.
    """
    typed = other or (value is not None and value not in known)
    chosen = OTHER if typed else value or ""
    options = {"": unsaid, **known, OTHER: OTHER}
    select = choose(label, options, chosen, act, aria_invalid=faulty or None)
    name = entry("its name", value, act, spellcheck="false") if typed else None
    return h("div", select, name, cls="sen-model")


class FormActions:
    """The actions of a panel that has a form.

    Attributes:
        form: what is chosen, a frozen dataclass.
        SETTABLE: its fields that a control sets as a whole.
        MODELS: its fields that are models.
    """

    form: Any
    SETTABLE: frozenset[str]
    MODELS: frozenset[str]
    _typed: frozenset[str] = frozenset()
    """Models with room for any name."""

    def _form_changed(self) -> None:
        """The form is another one: what was planned for it no longer holds."""
        raise NotImplementedError

    def _part(self, names: Iterable[str]) -> Any:
        """The form with these fields alone, the others as they are at first."""
        return type(self.form)(**{name: getattr(self.form, name) for name in names})

    def _set(self, **changed: Any) -> None:
        self.form = replace(self.form, **changed)
        self._form_changed()

    @action
    def set(self, name: str, value: Any) -> None:
        """Set a number, a tick, a choice or a text of the form."""
        if name not in self.SETTABLE:
            raise LookupError(f"The form has no `{name}` that could be set.")
        self._set(**{name: value})

    @action
    def set_model(self, name: str, value: str) -> None:
        """Choose a model, or that there is to be room for any name."""
        if name not in self.MODELS:
            raise LookupError(f"The form has no model `{name}`.")
        if value == OTHER:
            self._typed |= {name}
            return
        self._typed -= {name}
        self._set(**{name: value.strip() or None})
