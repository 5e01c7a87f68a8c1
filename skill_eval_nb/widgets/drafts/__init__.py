"""From suggestions to a better suite: drafts, their try-outs, what is accepted, the diff."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.improving import Change, Draft, try_out
from skill_eval_nb.improving.drafting import Drafts as FirstDrafts
from skill_eval_nb.improving.values import edit_draft
from skill_eval_nb.stats.values import no_such, order_iterations
from skill_eval_nb.tables import Workspace

from ..ui import Child, Node, Panel, action, h, quiet_action, style
from ..ui.paid import NOT_BEGUN
from ..ui.parts import choose, notice, tabs, waiting_note
from ..ui.source import PATIENCE, Later, Source, Task, tell_landed
from .cards import (
    Card,
    Decision,
    DraftFigures,
    OpenedDrafts,
    changes_view,
    drafts_list,
    suggestions_list,
)

if TYPE_CHECKING:
    import os

    from skill_eval_nb.improving import Tried

__all__ = ["Drafts", "drafts"]


TABS = {"suggestions": "Suggestions", "drafts": "Drafts", "change": "Changes to the evals"}


def drafts(ws: Any, evals: str | os.PathLike[str] | None = None) -> Drafts:
    """Show what the graders suggest, drafts of changes to the evals, and what each would do.

    Drafts are tried on stored runs: no model is asked, and nothing is written before you press
    Apply.

    Args:
        ws: a `Workspace`, or the path of one; or the first evals of a skill, from
            `sen.draft_evals`, which are then shown by themselves.
        evals: the suite's file to change, or a folder with one; if not given, it is searched for
            in the workspace and next to it.

    Returns:
        a widget; its `.accepted` are the accepted drafts, `.change` is the file with them
        applied.

    Raises:
        FileNotFoundError: `evals` does not exist.
    """
    return Drafts(ws, evals)


class Drafts(Panel):
    """Suggestions, drafts and their try-outs, as a widget."""

    label: ClassVar[str] = "Drafts of better evals"
    _css: Any = style(Path(__file__).with_name("drafts.css"))

    def __init__(self, ws: Any, evals: str | os.PathLike[str] | None = None) -> None:
        if evals is not None and not Path(evals).exists():
            raise FileNotFoundError(f"{evals} does not exist.")
        self._first = ws if isinstance(ws, FirstDrafts) and ws.skill is not None else None
        if self._first is not None:
            evals, ws = evals or self._first.skill, Workspace.from_tables({})
        self._evals = None if evals is None else Path(evals)
        self._stale = False
        self.source = Source(ws, self._read_anew)
        latest = next(reversed(order_iterations(self.source.ws.polars("runs"))), "")
        self._seen = OpenedDrafts(latest, "suggestions" if self._first is None else "drafts")
        self._changed: dict[str, Card] = {}
        """By key the drafts that were decided, edited, or are to be judged."""
        self._applied: set[str] = set()
        self._work: DraftFigures | None = None
        self._judgings: dict[str, Task[Tried]] = {}  # by the key of the draft as it now is
        self._later = Later(self.show, PATIENCE)
        self.written: Change | None = None
        super().__init__()

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """All drafts, as they were edited; waits until they are there."""
        return tuple(card.draft for card in self._cards())

    @property
    def accepted(self) -> tuple[Draft, ...]:
        """The accepted drafts, as they were edited."""
        return tuple(card.draft for card in self._cards() if card.decision == "accepted")

    @property
    def change(self) -> Change:
        """What the accepted drafts make of the suite's file; nothing is written."""
        return self._wait_for(lambda work: work.change(self.accepted))

    def settle(self, seconds: float = 60) -> bool:
        """Wait until nothing is being counted; whether that was reached."""
        return self._later.wait(seconds)

    def view(self) -> Child:
        """All of it."""
        self._later.begin_view()
        if self._stale:
            self._stale, self._work = False, None
            self._later.forget()
        work, seen = self._at_work(), self._seen
        drafts = work.drafts()
        shown = None if drafts is None else self._cards_of(drafts)
        wrote = self.written.results if self.written else ()
        return [
            self._iteration_choice(work),
            notice(*wrote, fine=True, key="written") if wrote else None,
            tabs(
                self._tab_names(work, shown),
                seen.tab,
                ("choose_tab",),
                self._open_part(work, shown),
                label="Parts of the improvement",
                page=self._page_id,
            ),
        ]

    def _tab_names(self, work: DraftFigures, shown: Sequence[Card] | None) -> dict[str, str]:
        found = work.found()
        accepted = [card for card in self._changed.values() if card.decision == "accepted"]
        counts = {"suggestions": found and found.suggestions, "drafts": shown, "change": accepted}
        return {
            tab: f"{words} ({len(rows):,})" if (rows := counts[tab]) else words
            for tab, words in TABS.items()
        }

    def _iteration_choice(self, work: DraftFigures) -> Node | None:
        """Whose suggestions are looked at, where there are several iterations."""
        if len(work.iterations) < 2:
            return None
        options = {"": "all iterations", **{name: name for name in reversed(work.iterations)}}
        chosen = choose("Suggestions from", options, self._seen.iteration, ("choose_iteration",))
        return h("div", chosen, cls="sen-row")

    def _open_part(self, work: DraftFigures, shown: Sequence[Card] | None) -> Node:
        if self._seen.tab == "suggestions":
            found = work.found()
            if found is None:
                return waiting_note("Grouping suggestions")
            return suggestions_list(found, shown or (), self._seen)
        if shown is None:
            return waiting_note("Drafting")
        if self._seen.tab == "drafts":
            return drafts_list(work, shown, self._seen, self._judgings)
        return changes_view(work, [card for card in shown if card.decision == "accepted"])

    # ── what a person does ────────────────────────────────────────────────────────────────────

    @action
    def choose_tab(self, name: str) -> None:
        """Look at another part."""
        if name not in TABS:
            raise no_such("part", name, TABS)
        self._seen = replace(self._seen, tab=name, all_rows=False)

    @action
    def choose_iteration(self, name: str) -> None:
        """Look at the suggestions of another iteration; "" for all."""
        self._seen, self._work = OpenedDrafts(iteration=name, tab=self._seen.tab), None
        self._changed = {}

    @action
    def look_at(self, key: str) -> None:
        """Show what a suggestion or a try-out rests on; once more hides it."""
        self._seen = replace(self._seen, opened="" if self._seen.opened == key else key)

    @action
    def show_all(self) -> None:
        """Show every row of a long list."""
        self._seen = replace(self._seen, all_rows=True)

    @action
    def decide(self, key: str, decision: Decision) -> None:
        """Accept or reject a draft; the same once more takes it back."""
        self._set(key, decision=None if self._card(key).decision == decision else decision)

    @action
    def edit(self, key: str) -> None:
        """Begin to edit what a draft puts in."""
        new = self._card(key).draft.new
        self._set(key, typed=json.dumps(list(new), ensure_ascii=False, indent=2))

    @quiet_action
    def type(self, key: str, text: str) -> None:
        """Take what was typed."""
        self._set(key, typed=text)

    @action
    def leave(self, key: str) -> None:
        """End the editing, and keep the draft as it was."""
        self._set(key, typed=None)

    @action
    def take(self, key: str) -> None:
        """End the editing, and keep what was typed."""
        card = self._card(key)
        self._set(key, typed=None, draft=edit_draft(card.draft, new=_parse_items(card.typed or "")))

    @action
    def write(self, key: str, text: str) -> None:
        """Put a text in the place of one that is still to be written."""
        self._set(key, draft=edit_draft(self._card(key).draft, new=(text.strip(),)))

    @action
    def judge_with(self, key: str, model: str) -> None:
        """Choose the model that judges a drafted dimension; "" for the one that judged before."""
        self._set(key, model=model.strip())

    @action
    def spend(self, key: str, usd: float | None) -> None:
        """Say what judging a drafted dimension may cost at most, in US dollars."""
        if usd is not None and not 0 <= usd < float("inf"):
            raise ValueError(f"{usd} is not a valid budget.")
        self._set(key, budget_usd=usd)

    @action
    def judge(self, key: str) -> None:
        """Have a drafted dimension judged on the stored outputs, within its budget."""
        card, before = self._card(key), self._judgings.get(self._card(key).draft.key)
        if card.budget_usd is None:
            raise ValueError("Set a budget first.")
        if before is not None and before.running:
            raise ValueError("This draft is being judged already.")
        draft, ws = card.draft, self._at_work().ws
        given = {"judge_model": card.model or None, "budget_usd": card.budget_usd}
        work = partial(try_out, draft, ws, **given)
        task = Task("judging a draft", work, NOT_BEGUN, self.show, lambda _: self.show())
        self._judgings[draft.key] = task

    @action
    def stop(self) -> None:
        """Stop judging drafted dimensions."""
        for judging in self._judgings.values():
            judging.stop()

    @action
    def apply(self) -> None:
        """Write the accepted drafts into the suite's file; the old one is kept next to it."""
        self.written = change = self.change.write()
        for card in self._cards():
            if card.decision == "accepted":
                self._set(card.key, decision=None)
                self._applied |= {card.key} if card.draft.key in change.applied else set()
        tell_landed(change.path if self._first is None else Path(self._evals or "").parent)

    # ── what it is made from ──────────────────────────────────────────────────────────────────

    def _at_work(self) -> DraftFigures:
        if self._work is None:
            ws = self.source.ws
            evals = self._evals or Path(ws.path)
            self._work = DraftFigures(ws, self._seen.iteration, evals, self._later, self._first)
        return self._work

    def _cards_of(self, drafts: Sequence[Draft]) -> list[Card]:
        """The drafts that were not applied, in their order, each as it now is."""
        left = (draft for draft in drafts if draft.key not in self._applied)
        return [self._changed.get(draft.key) or Card(draft.key, draft) for draft in left]

    def _cards(self) -> list[Card]:
        return self._cards_of(self._wait_for(lambda work: work.drafts()))

    def _set(self, key: str, **changed: Any) -> None:
        self._changed[key] = replace(self._card(key), **changed)

    def _card(self, key: str) -> Card:
        for card in self._cards():
            if card.key == key:
                return card
        raise LookupError(f"Draft {key} no longer exists.")

    def _wait_for(self, get: Any) -> Any:
        """A figure, waited for."""
        with self._lock:
            while (found := get(self._at_work())) is None:
                self._later.wait()
            return found

    def _read_anew(self) -> None:
        """Runs have landed: the next drawing takes them in, in whatever thread that is."""
        self._stale = True
        self.show()


def _parse_items(text: str) -> tuple[Any, ...]:
    try:
        items = json.loads(text)
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}. Correct it, or cancel.") from None
    if not isinstance(items, list) or not all(isinstance(item, dict | str) for item in items):
        raise ValueError("Write a list of items, each an object or a text: [ … ].")
    return tuple(items)
