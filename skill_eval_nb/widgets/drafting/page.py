"""All that is to be seen: what is looked at, and one of the parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..panel import Child, Node, h
from ..panel.parts import choose, tabs
from .choice import Card, Choice, cards
from .views.changes import changes, written_notice
from .views.drafts import drafts_list
from .views.suggestions import suggestions_list
from .views.words import waiting

if TYPE_CHECKING:
    from skill_eval_nb.improving import Change

    from .judging import Judging
    from .work import Work

TABS = {"suggestions": "Suggestions", "drafts": "Drafts", "change": "Change of the evals"}


def page(
    work: Work,
    choice: Choice,
    judgings: Mapping[str, Judging],
    written: Change | None,
    name: str,
) -> Child:
    """The page; `name` is unlike that of any other in the notebook."""
    found, drafts = work.found(), work.drafts()
    shown = None if drafts is None else cards(drafts, choice)
    counts = {
        "suggestions": None if found is None else len(found.suggestions),
        "drafts": None if shown is None else len(shown),
        "change": sum(made == "accepted" for made in choice.decisions.values()) or None,
    }
    names = {
        tab: words if counts[tab] is None else f"{words} ({counts[tab]:,})"
        for tab, words in TABS.items()
    }
    return [
        _iterations(work, choice),
        written_notice(written),
        tabs(
            names, choice.tab, ("choose_tab",), _part(work, choice, shown, judgings),
            label="Parts of the improvement", page=name,
        ),
    ]  # fmt: skip


def _iterations(work: Work, choice: Choice) -> Node | None:
    """Whose suggestions are looked at, where there are several iterations."""
    if len(work.iterations) < 2:
        return None
    options = {"": "all iterations"} | {one: one for one in reversed(work.iterations)}
    chosen = choose("Suggestions of", options, choice.iteration, ("choose_iteration",))
    return h("div", chosen, cls="sen-row")


def _part(
    work: Work, choice: Choice, shown: list[Card] | None, judgings: Mapping[str, Judging]
) -> Node:
    if choice.tab == "suggestions":
        found = work.found()
        return (
            waiting("Grouping what was said")
            if found is None
            else suggestions_list(found, shown, choice)
        )
    if shown is None:
        return waiting("Drafting")
    if choice.tab == "drafts":
        return drafts_list(work, shown, choice, judgings)
    return changes(work, [card for card in shown if card.decision == "accepted"])
