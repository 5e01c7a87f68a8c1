"""Suggestions, drafts with their try-outs, and the change of the suite: what each shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from skill_eval_nb.improving import Change, Draft, RunRef, aggregate, draft, preview, try_out
from skill_eval_nb.improving.drafting import change_text, find_measured
from skill_eval_nb.stats.values import order_iterations
from skill_eval_nb.tables.columns import iterate_rows
from skill_eval_nb.text import count, in_terms, some
from skill_eval_nb.view import Mark, Text, blocks_of
from skill_eval_nb.workspace import NO_ITERATION

from ..ui import Child, Node, h
from ..ui.paid import asking_card, at_most
from ..ui.parts import (
    blocks_view,
    button,
    details,
    diff_view,
    entry,
    frame,
    note,
    notice,
    outcome_pill,
    pill,
    table,
    table_row,
    text_area,
    waiting_note,
)
from ..ui.source import Later, Task

if TYPE_CHECKING:
    from skill_eval_nb.improving import Aggregate, Suggestion, Tried
    from skill_eval_nb.improving.drafting import Drafts
    from skill_eval_nb.tables import Workspace


Decision = Literal["accepted", "rejected"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Card:
    """A draft as it now is.

    Attributes:
        key: its name, whatever was edited.
        draft: the draft, edited or not.
        decision: what was decided; None where nothing was.
        typed: what is being typed in place of its new items; None where it is not edited.
        model: the model that is to judge it; "" for the one that judged before.
        budget_usd: the most that judging it may cost; None where nothing was said.
    """

    key: str
    draft: Draft
    decision: Decision | None = None
    typed: str | None = None
    model: str = ""
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True)
class OpenedDrafts:
    """What is open.

    Attributes:
        iteration: whose suggestions are looked at; "" for all.
        tab: the part that is shown.
        opened: the suggestion whose sources are shown, or the draft whose runs are.
        all_rows: whether long lists are shown whole.
    """

    iteration: str = ""
    tab: str = "suggestions"
    opened: str = ""
    all_rows: bool = False

    def cut_rows(self, rows: Sequence[T], noun: str) -> tuple[Sequence[T], Node | None]:
        """The rows that are shown, and a button for the others."""
        kept = rows if self.all_rows else rows[:MOST]
        left = len(rows) - len(kept)
        label = f"Show {count(left, f'more {noun}')}"
        return kept, button(label, ("show_all",)) if left else None


MOST = 25
"""Rows of a list that are shown at first."""

KINDS = {"add": "good", "sharpen": "good", "demote": "odd", "drop": "bad"}
"""How the words of some kinds of drafts stand out."""


def run_named(run: RunRef) -> str:
    """A run in a few words."""
    of = "" if run.iteration == NO_ITERATION else f" of {run.iteration}"
    return f"{run.eval_name}, {run.configuration}, run {run.run_number}{of}"


def suggestions_list(found: Aggregate, shown: Sequence[Card], seen: OpenedDrafts) -> Node:
    """All of them; the one that was clicked with everything that was said."""
    if not found.suggestions:
        return notice("No grader has suggested anything here; the checks may still give drafts.")
    kept, more = seen.cut_rows(found.suggestions, "suggestion")
    lines = [
        line for suggestion in kept for line in _rows_of(suggestion, found.total_runs, shown, seen)
    ]
    caption = (
        f"What the graders of {count(found.total_runs, 'run')} suggest; wordings that differ by "
        f"less than {found.threshold:g} count as the same"
    )
    heads = ["Said in", "Suggestion", "About", "Drafts"]
    return h("div", table(heads, lines, caption=caption), more, cls="sen-drafts-said")


def _rows_of(
    suggestion: Suggestion, total: int, shown: Sequence[Card], seen: OpenedDrafts
) -> list[Node]:
    """Its row; and below it every wording, with the runs that used it, where that is open."""
    is_open, act = seen.opened == suggestion.key, ("look_at", suggestion.key)
    share = {"width": f"{100 * suggestion.frequency / total if total else 0:.1f}%"}
    bar = h("div", h("div", cls="sen-drafts-part", style=share), cls="sen-drafts-whole")
    evals = some(dict.fromkeys(source.run.eval_name for source in suggestion.sources))
    answers = [card for card in shown if suggestion.key in card.draft.suggestions]
    what = note(suggestion.action, dir="auto") if suggestion.action else None
    about = h("span", suggestion.about, cls="sen-drafts-about", dir="auto")
    row = table_row(
        [
            h("div", h("div", count(suggestion.frequency, "run"), cls="sen-numbers"), bar),
            [button(suggestion.reason, act, kind="quiet", aria_expanded=is_open), what],
            [about, h("div", evals, cls="sen-soft sen-small")],
            [h("div", change_text(card.draft), cls="sen-small") for card in answers] or "none",
        ],
        key=suggestion.key,
        cls="sen-chosen" if is_open else None,
    )
    if not is_open:
        return [row]
    wordings: dict[str, list[str]] = {}
    for source in suggestion.sources:
        wordings.setdefault(source.reason, []).append(run_named(source.run))
    items = [
        h("li", h("div", words, dir="auto"), h("div", "; ".join(runs), cls="sen-soft sen-small"))
        for words, runs in wordings.items()
    ]
    below = h("td", h("ul", items, cls="sen-drafts-sources"), colspan=4)
    return [row, h("tr", below, key=f"below-{suggestion.key}")]


def _judging_of(tried: Tried, card: Card, judging: Task[Tried] | None) -> Iterator[Node]:
    """The price and the button, or how far it is; nothing if no judge is needed."""
    if judging is not None and judging.running:
        yield asking_card(judging, judging.progress, "Judging this draft", "judgings")
        return
    if judging is not None and judging.message:
        yield notice(judging.message)
    if tried.status == "priced":
        budget, money = card.budget_usd, {"kind": "number", "min": 0, "step": "any"}
        row = [
            entry("Judge's model", card.model, ("judge_with", card.key), placeholder="as before"),
            entry("Budget in US$", budget, ("spend", card.key), **money),
            button("Judge this draft", ("judge", card.key) if budget is not None else None),
        ]
        runs = count(tried.to_judge, "run")
        yield h("p", f"A judge would score it on {runs}: {at_most(tried.price_usd)}.")
        yield h("div", row, cls="sen-row")


BEHIND = 30
"""Runs behind a try-out that are shown."""


def tried_out(
    work: DraftFigures, card: Card, seen: OpenedDrafts, judgings: Mapping[str, Task[Tried]]
) -> Child:
    """What the stored runs say to a draft."""
    judging, is_open = judgings.get(card.draft.key), seen.opened == card.key
    tried = (judging and judging.result) or work.try_draft(card.draft)
    if tried is None:
        return waiting_note("Trying this draft on the stored outputs")
    _, *blocks = blocks_of(tried)
    answers = [block for block in blocks if isinstance(block, Mark | Text)]
    figures = blocks_view(block for block in blocks if block not in answers)
    runs = len(tried.by_run)
    words = "Hide the runs" if is_open else f"Show {count(runs, 'run')}"
    gates = f"The gate of {count(tried.gates_changed, 'run')} would change."
    return [
        blocks_view(answers),
        details("Figures", figures, key="figures") if figures else None,
        h("p", gates, cls="sen-small") if tried.gates_changed else None,
        _judging_of(tried, card, judging),
        button(words, ("look_at", card.key), kind="quiet", aria_expanded=is_open) if runs else None,
        _runs_behind(tried) if is_open else None,
    ]


def _runs_behind(tried: Tried) -> Node:
    """The runs with what the draft says of each; where nothing comes, what goes says of it."""
    of = "" if {"passed", "score"}.intersection(tried.by_run.columns) else "replaced_"
    rows = [
        [
            f"{run['eval_name']}, {run['configuration']}, run {run['run_number']}",
            run["iteration"],
            outcome_pill(run.get(f"{of}passed")) if score is None else pill(f"{score:g}"),
            h("span", run.get(f"{of}evidence") or "no evidence", cls="sen-small", dir="auto"),
        ]
        for run in islice(iterate_rows(tried.by_run), BEHIND)
        for score in [run.get(f"{of}score")]
    ]
    left = len(tried.by_run) - len(rows)
    more = note(f"{count(left, 'more run')} in try_out(…).by_run")
    whole = table(["Run", "Iteration", "Verdict", "Evidence"], rows)
    return h("div", frame(whole, "Runs", "sen-drafts-frame"), more if left > 0 else None)


def drafts_list(
    work: DraftFigures,
    shown: Sequence[Card],
    seen: OpenedDrafts,
    judgings: Mapping[str, Task[Tried]],
) -> Node:
    """Those that are whole, the ones that quote the skill last; then those that lack something."""
    if work.first is not None and work.first.unasked:
        return notice(work.first.unasked)
    drafts = work.drafts()
    waiting = note(drafts.waiting) if drafts and drafts.waiting else None
    if not shown:
        none = "No changes to propose: no suggestion or check calls for one."
        return h("div", notice(none), waiting)
    lacking: dict[tuple[str, ...], list[Card]] = {}
    at_first = {draft.key: draft.missing for draft in drafts or ()}
    for card in shown:
        if missing := at_first.get(card.key):  # it stays where it is once that is written
            lacking.setdefault((card.draft.part, *missing), []).append(card)
    kept, more = seen.cut_rows([card for card in shown if not at_first.get(card.key)], "draft")
    how = "Accept the drafts you want. Nothing is written until you confirm in the next tab."
    kept = sorted(kept, key=lambda card: _leak_note(work, card) is not None)
    cards = [_card_view(work, card, seen, judgings) for card in kept]
    groups = [
        _lacking_view(lacks, [_lacking_row(work, card, seen, judgings) for card in group], group)
        for lacks, group in lacking.items()
    ]
    return h("div", h("p", how, cls="sen-soft"), waiting, cards, groups, more)


NOUNS = {"dimensions": "dimension", "evals": "eval"}
LACKS = {"text": "wording", "prompt": "a prompt", "match": "a text to look for"}
"""What a draft lacks, by the field; a field without words is called by its name."""


def _lacking_view(lacks: tuple[str, ...], rows: Sequence[Node], cards: Sequence[Card]) -> Node:
    """Drafts that lack the same as one card, a row each."""
    part, *fields = lacks
    left = sum(bool(card.draft.missing) for card in cards)
    words = some([LACKS.get(name, name) for name in fields], 6)
    head = f"{count(left, NOUNS.get(part, 'check'))} {'needs' if left == 1 else 'need'} {words}"
    head = head if left else "Nothing is missing"
    list_ = h("ul", rows, cls="sen-drafts-rows")
    key = f"lacking-{'-'.join(lacks)}"
    return h("section", h("h4", head), list_, cls="sen-card", key=key, aria_label=head)


def _lacking_row(
    work: DraftFigures, card: Card, seen: OpenedDrafts, judgings: Mapping[str, Task[Tried]]
) -> Node:
    """A draft that lacks a text, with a field to write it, and how it does once it is written."""
    draft, name = card.draft, change_text(card.draft)
    called = draft.called or f"A new {NOUNS.get(draft.part, 'check')}"
    evals = h("span", f" {some(draft.eval_names, 4)}", cls="sen-soft")
    why = draft.why.removeprefix(f"{called}: ")
    mine = [
        h("p", pill(*_card_pill(card)), " ", h("b", called), evals, dir="auto"),
        h("p", why[:1].upper() + why[1:], cls="sen-soft", dir="auto"),
        _leak_note(work, card),
    ]
    theirs: Child = [_replacement_view(card), _card_buttons(card, name)]
    if len(draft.new) == 1 and isinstance(draft.new[0], str) and card.typed is None:
        act = ("write", card.key)
        line = entry("Wording", draft.new[0], act, aria_label=f"Wording: {name}")
        theirs = h("div", line, _card_buttons(card, name, edit=False), cls="sen-drafts-line")
    fares = tried_out(work, card, seen, judgings) if not draft.missing else None
    columns = h("div", h("div", mine), h("div", theirs, fares), cls="sen-columns")
    return h("li", columns, cls="sen-drafts-row", key=f"row-{card.key}")


def _card_pill(card: Card) -> tuple[str, str]:
    """What was decided of a draft, else of what kind it is."""
    looks = {"accepted": "good", "rejected": "bad"} | KINDS
    word = card.decision or card.draft.kind
    return word, looks.get(word, "")


def _leak_note(work: DraftFigures, card: Card) -> Node | None:
    drafts = work.drafts()
    leaks = drafts.say_leaks(card.draft) if drafts else ""
    return h("p", leaks, cls="sen-drafts-lacking") if leaks else None


def _card_view(
    work: DraftFigures, card: Card, seen: OpenedDrafts, judgings: Mapping[str, Task[Tried]]
) -> Node:
    draft, name = card.draft, change_text(card.draft)
    words = name.removeprefix(f"{draft.kind} ")
    tags = [pill(draft.kind, KINDS.get(draft.kind, "")), h("strong", words[:1].upper() + words[1:])]
    if card.decision is not None:
        tags.append(pill(*_card_pill(card)))
    mine = [_replacement_view(card), _leak_note(work, card)]
    mine += [h("p", draft.why, cls="sen-soft", dir="auto"), _card_buttons(card, name)]
    theirs = tried_out(work, card, seen, judgings)
    return h(
        "section",
        h("div", tags, cls="sen-row sen-middle"),
        h("div", h("div", mine), h("div", theirs), cls="sen-columns"),
        cls=f"sen-card sen-drafts-card sen-drafts-{card.decision or 'open'}",
        key=f"card-{card.key}",
        aria_label=name,
    )


def _replacement_view(card: Card) -> Child:
    """What would come, or a place to edit it."""
    if card.typed is not None:
        label = "Replacement, as JSON" if card.draft.target else "New item, as JSON"
        keep, key = f"drafts {card.key}", f"typed-{card.key}"
        return text_area(label, card.typed, ("type", card.key), keep=keep, key=key, rows=12)
    if not card.draft.new:
        return h("p", "Remove it.")
    return [_item_view(item) for item in card.draft.new]


def _item_view(item: Mapping[str, Any] | str) -> Node:
    """A new item as one says it, and its other fields, each as it would stand in the file."""
    fields = {} if isinstance(item, str) else item
    names = [name for name in ("description", "text", "name", "prompt", "type") if fields.get(name)]
    text = item if isinstance(item, str) else str(fields[names[0]]) if names else ""
    rows = []
    for name, value in fields.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]  # as anchors
        for inner, part in parts:
            words = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
            if inner or words != text:
                term, code = h("dt", f"{name} {inner}".strip()), h("code", words, dir="auto")
                rows.append(h("div", term, h("dd", code)))
    head = h("p", h("b", text), dir="auto") if text else None
    return h("div", head, h("dl", rows) if rows else None, cls="sen-drafts-item")


def _card_buttons(card: Card, name: str, *, edit: bool = True) -> Node:
    if card.typed is not None:
        take = button("Apply", ("take", card.key), kind="main")
        row = [take, button("Cancel", ("leave", card.key))]
        return h("div", h("div", row, cls="sen-row"))
    ways: dict[str, Decision] = {"Accept": "accepted", "Reject": "rejected"}
    if card.draft.missing:
        del ways["Accept"]
    row = [
        button(
            words,
            ("decide", card.key, decision),
            aria_pressed=card.decision == decision,
            aria_label=f"{words}: {name}",
        )
        for words, decision in ways.items()
    ]
    if edit and card.draft.new:
        row.append(button("Edit", ("edit", card.key), aria_label=f"Edit: {name}"))
    return h("div", row, cls="sen-row")


def changes_view(work: DraftFigures, accepted: Sequence[Card]) -> Node:
    """The change that would be made."""
    if not accepted:
        return notice("Nothing is accepted yet. Accept drafts to see the change here.")
    change = work.change([card.draft for card in accepted])
    if change is None:
        return waiting_note("Working out the change")
    names = {card.draft.key: f"“{change_text(card.draft)}”" for card in accepted}
    refused = [
        h("li", in_terms(f"{key}: {reason}", names)) for key, reason in change.refused.items()
    ]
    problems = [problem.message for problem in change.problems]
    ready = change.applied and not change.errors
    kept = ". The old file is kept next to it." if change.before else ", which does not exist yet."
    would = f"{count(len(change.applied), 'draft')} would change "
    return h(
        "div",
        notice("These drafts do not fit:", h("ul", refused)) if refused else None,
        notice("The new file would have errors:", *problems) if problems else None,
        h("p", would, h("code", str(change.path)), kept),
        diff_view(change.diff),
        h("div", button("Apply", ("apply",) if ready else None, kind="main"), cls="sen-row"),
    )


class DraftFigures:
    """The figures of one choice of iterations; None stands for what is being counted."""

    def __init__(
        self, ws: Workspace, iteration: str, evals: Path, later: Later, first: Drafts | None
    ) -> None:
        """Nothing is counted yet.

        Args:
            ws: the workspace.
            iteration: the one that is looked at; "" for all.
            evals: the suite's file, or a folder with it.
            later: what counts.
            first: drafts of a skill's first evals; None if drafts come from the runs.
        """
        self.ws = ws.select(iteration=iteration) if iteration else ws
        self.iterations = order_iterations(ws.polars("runs"))
        self.evals, self.first = evals, first
        self._iteration, self._later = iteration, later

    def found(self) -> Aggregate | None:
        """The suggestions."""
        return self._get("found", lambda: aggregate(self.ws))

    def drafts(self) -> Drafts | None:
        """What could be changed."""
        if self.first is not None:
            return self.first
        found = self.found()
        return None if found is None else self._get("drafts", lambda: self._draft(found))

    def _draft(self, found: Aggregate) -> Drafts:
        drafts = draft(self.ws, found)
        if drafts.measured is None and self.ws.path:
            drafts.measured = find_measured(self.evals)
        return drafts

    def try_draft(self, draft: Draft) -> Tried | None:
        """What a draft does to the stored runs. It asks no model."""
        return self._get(("tried", draft.key), lambda: try_out(draft, self.ws))

    def change(self, accepted: Sequence[Draft]) -> Change | None:
        """What the suite's file would become."""
        keys, ws = tuple(draft.key for draft in accepted), self.ws.path or None
        return self._get(("change", keys), lambda: preview(accepted, self.evals, workspace=ws))

    def _get(self, name: Any, count: Any) -> Any:
        return self._later.get((self._iteration, name), count)
