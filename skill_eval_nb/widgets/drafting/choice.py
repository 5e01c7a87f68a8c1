"""What a person has chosen, decided and typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from skill_eval_nb.improving import Draft

Decision = Literal["accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen.

    Attributes:
        iteration: whose suggestions are looked at; "" for all.
        tab: the part that is shown.
        opened: the suggestion whose sources are shown, or the draft whose runs are.
        decisions: by key of a draft, as it was first drafted.
        edited: by the same key, the draft as it was edited.
        typed: by the same key, what is being typed in place of its new items.
        models: by the same key, who is to judge it.
        budgets: by the same key, the most that judging it may cost, in US dollars.
        all_rows: whether long lists are shown whole.
    """

    iteration: str = ""
    tab: str = "suggestions"
    opened: str = ""
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    edited: Mapping[str, Draft] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    budgets: Mapping[str, float] = field(default_factory=dict)
    all_rows: bool = False

    def decided(self, key: str, decision: Decision) -> Choice:
        """The same with this decided; the same once more takes it back."""
        others = {one: made for one, made in self.decisions.items() if one != key}
        back = self.decisions.get(key) == decision
        return replace(self, decisions=others if back else {**others, key: decision})

    def toggled(self, key: str) -> Choice:
        """The same with this opened, or closed where it was open."""
        return replace(self, opened="" if self.opened == key else key)

    def typing(self, key: str, text: str | None) -> Choice:
        """The same with this typed; None ends the editing."""
        others = {one: said for one, said in self.typed.items() if one != key}
        return replace(self, typed=others if text is None else {**others, key: text})


@dataclass(frozen=True, slots=True)
class Card:
    """A draft as it now is.

    Attributes:
        key: its name, whatever was edited.
        draft: the draft, edited or not.
        decision: what was decided; None where nothing was.
        typed: what is being typed in place of its new items; None where it is not edited.
        model: who is to judge it; "" for who judged before.
        budget_usd: the most that judging it may cost; None where nothing was said.
    """

    key: str
    draft: Draft
    decision: Decision | None = None
    typed: str | None = None
    model: str = ""
    budget_usd: float | None = None


def cards(drafts: tuple[Draft, ...], choice: Choice) -> list[Card]:
    """The drafts in their order, each as it now is."""
    return [
        Card(
            one.key,
            choice.edited.get(one.key, one),
            choice.decisions.get(one.key),
            choice.typed.get(one.key),
            choice.models.get(one.key, ""),
            choice.budgets.get(one.key),
        )
        for one in drafts
    ]
