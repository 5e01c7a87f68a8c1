"""Suggestions, drafts with their try-outs, and the change of the suite: what each shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from skill_eval_nb.improving import Change, Draft, RunRef, aggregate, draft, preview, try_out
from skill_eval_nb.improving.drafting import change_text
from skill_eval_nb.stats.values import natural
from skill_eval_nb.text import count, dollars, in_terms, some
from skill_eval_nb.view import Mark, Text, blocks_of
from skill_eval_nb.workspace import NO_ITERATION

from ..ui import Child, Node, h
from ..ui.parts import (
    blocks_view,
    button,
    details,
    diff_view,
    entry,
    frame,
    notice,
    pill,
    soft,
    table,
    table_row,
    typing,
    waiting,
)
from ..ui.source import PENDING, Later, rows_of
from ..ui.task import Task, at_most

if TYPE_CHECKING:
    from skill_eval_nb.improving import Aggregate, Suggestion, Tried
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
        model: who is to judge it; "" for who judged before.
        budget_usd: the most that judging it may cost; None where nothing was said.
    """

    key: str
    draft: Draft
    decision: Decision | None = None
    typed: str | None = None
    model: str = ""
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
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

    def some(self, rows: Sequence[T], noun: str) -> tuple[Sequence[T], Node | None]:
        """The rows that are shown, and a button for the others."""
        kept = rows if self.all_rows else rows[:MOST]
        left = len(rows) - len(kept)
        label = f"Show {count(left, f'more {noun}')}"
        return kept, button(label, ("show_all",)) if left else None


MOST = 25
"""Rows of a list that are shown at first."""

KINDS = {
    "add": "good",
    "sharpen": "good",
    "reword": "",
    "split": "",
    "demote": "odd",
    "drop": "bad",
}


def item_text(item: Mapping[str, Any] | str) -> str:
    """What a new item is, as one says it: its text, its description, its name."""
    if isinstance(item, str):
        return item
    for name in ("description", "text", "name", "prompt"):
        if isinstance(item.get(name), str) and item[name]:
            return str(item[name])
    return str(item.get("type", "an item"))


def rest(item: Mapping[str, Any] | str) -> list[tuple[str, str]]:
    """The other fields of a new item, each as it would stand in the file."""
    if isinstance(item, str):
        return []
    shown = item_text(item)
    fields: list[tuple[str, Any]] = []
    for name, value in item.items():
        if isinstance(value, dict):  # such as the anchors of a dimension
            fields += [(f"{name} {inner}", part) for inner, part in value.items()]
        elif value != shown:
            fields.append((name, value))
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in fields
    ]


def run_named(run: RunRef) -> str:
    """A run in a few words."""
    of = "" if run.iteration == NO_ITERATION else f" of {run.iteration}"
    return f"{run.eval_name}, {run.configuration}, run {run.run_number}{of}"


def suggestions_list(found: Aggregate, shown: Sequence[Card], seen: Seen) -> Node:
    """All of them; the one that was clicked with everything that was said."""
    if not found.suggestions:
        return notice(
            "No grader has suggested anything here. Drafts can still come from what the checks "
            "tell: see the next part."
        )
    kept, more = seen.some(found.suggestions, "suggestion")
    lines = [
        line for suggestion in kept for line in _rows_of(suggestion, found.total_runs, shown, seen)
    ]
    caption = (
        f"What the graders of {count(found.total_runs, 'run')} suggest; wordings that differ by "
        f"less than {found.threshold:g} count as the same"
    )
    heads = ["Said in", "Suggestion", "About", "Drafts"]
    return h("div", table(heads, lines, caption=caption), more, cls="sen-drafts-said")


def _rows_of(suggestion: Suggestion, total: int, shown: Sequence[Card], seen: Seen) -> list[Node]:
    is_open = seen.opened == suggestion.key
    about = h("span", suggestion.assertion or "a missing one", cls="sen-drafts-about")
    evals = some(dict.fromkeys(source.run.eval_name for source in suggestion.sources))
    answers = [card for card in shown if suggestion.key in card.draft.suggestions]
    reason = button(
        suggestion.reason,
        ("look_at", suggestion.key),
        kind="quiet",
        aria_expanded=is_open,
    )
    action = (
        h("div", suggestion.action, cls="sen-soft sen-small", dir="auto")
        if suggestion.action
        else None
    )
    row = table_row(
        [
            _share(suggestion.frequency, total),
            [reason, action],
            [about, h("div", evals, cls="sen-soft sen-small")],
            [h("div", change_text(card.draft), cls="sen-small") for card in answers] or "none",
        ],
        [None, None, None, None],
        key=suggestion.key,
        cls="sen-chosen" if is_open else None,
    )
    if not is_open:
        return [row]
    return [row, h("tr", h("td", _sources(suggestion), colspan=4), key=f"below-{suggestion.key}")]


def _share(frequency: int, total: int) -> Child:
    """How many runs said it: a figure, and a bar of all runs."""
    width = 100 * frequency / total if total else 0
    return h(
        "div",
        h("div", count(frequency, "run"), cls="sen-numbers"),
        h(
            "div",
            h("div", cls="sen-drafts-part", style={"width": f"{width:.1f}%"}),
            cls="sen-drafts-whole",
            aria_hidden="true",
        ),
    )


def _sources(suggestion: Suggestion) -> Node:
    """Every wording, with the runs that used it."""
    wordings: dict[str, list[str]] = {}
    for source in suggestion.sources:
        wordings.setdefault(source.reason, []).append(run_named(source.run))
    items = [
        h("li", h("div", words, dir="auto"), h("div", "; ".join(runs), cls="sen-soft sen-small"))
        for words, runs in wordings.items()
    ]
    return h("ul", items, cls="sen-drafts-sources")


def judging_of(tried: Tried, card: Card, judging: Task[Tried] | None) -> Child:
    """The price and the button, or how far it is; nothing where no judge is needed."""
    if judging is not None and judging.running:
        return list(_progress(card, judging))
    fault = notice(judging.message) if judging is not None and judging.message else None
    return [fault, _price(tried, card) if tried.status == "priced" else None]


def _price(tried: Tried, card: Card) -> Node:
    ready, most = card.budget_usd is not None, at_most(tried.price_usd)
    return h(
        "div",
        h("p", f"A judge has to score it on {count(tried.to_judge, 'run')}: {most}."),
        h(
            "div",
            entry("Judge's model", card.model, ("judge_with", card.key), placeholder="as before"),
            entry(
                "Spend at most, in dollars",
                card.budget_usd,
                ("spend", card.key),
                kind="number",
                min=0,
                step="any",
            ),
            button("Judge it", ("judge", card.key) if ready else None),
            cls="sen-row",
        ),
    )


def _progress(card: Card, judging: Task[Tried]) -> Iterator[Node]:
    now = judging.progress
    done, total = (now.done, now.total) if now is not None else (0, 1)
    spent = f", {dollars(now.spent_usd)} spent" if now is not None else ""
    words = f"Judging: {done} of {total}{spent}" if now is not None else "Judging …"
    yield h("p", words, role="status")
    yield h("progress", value=done, max=total, aria_label="Judgings that ended")
    yield button("Stop", ("stop", card.key))


BEHIND = 30
"""Runs behind a try-out that are shown."""


def tried_out(
    tried: Tried | None, card: Card, judging: Task[Tried] | None, *, is_open: bool
) -> Child:
    """What the stored runs say to a draft."""
    if tried is None:
        return waiting("Trying it on the stored outputs")
    _, *blocks = blocks_of(tried)
    answers = [block for block in blocks if isinstance(block, Mark | Text)]
    figures = blocks_view(block for block in blocks if block not in answers)
    runs = len(tried.by_run)
    words = "Hide the runs" if is_open else f"Show {count(runs, 'run')}"
    gates = f"The gate of {count(tried.gates_changed, 'run')} would change."
    return [
        blocks_view(answers),
        details("Its figures", figures, key="figures") if figures else None,
        h("p", gates, cls="sen-small") if tried.gates_changed else None,
        judging_of(tried, card, judging),
        button(words, ("look_at", card.key), kind="quiet", aria_expanded=is_open) if runs else None,
        _behind(tried) if is_open else None,
    ]


def _behind(tried: Tried) -> Node:
    """The runs with what the draft says of each."""
    runs = rows_of(tried.by_run)
    rows = [
        [
            f"{run['eval_name']}, {run['configuration']}, run {run['run_number']}",
            run["iteration"],
            pill(*_verdict(run)),
            h("span", run.get("evidence") or "no evidence", cls="sen-small", dir="auto"),
        ]
        for run in islice(runs, BEHIND)
    ]
    left = len(tried.by_run) - len(rows)
    more = soft(f"{count(left, 'more run')} in try_out(…).by_run")
    whole = table(["Run", "Iteration", "Verdict", "Evidence"], rows)
    return h("div", frame(whole, "Runs", "sen-drafts-frame"), more if left > 0 else None)


def _verdict(run: Mapping[str, Any]) -> tuple[str, str]:
    if run.get("score") is not None:
        return f"{run['score']:g}", ""
    words = {True: ("passed", "good"), False: ("failed", "bad")}
    passed = run.get("passed")
    return ("not scored", "odd") if passed is None else words[bool(passed)]


def drafts_list(
    work: DraftFigures, shown: Sequence[Card], seen: Seen, judgings: Mapping[str, Task[Tried]]
) -> Node:
    """All of them, those that rest on most first."""
    if not shown:
        return notice("Nothing to change was found: no suggestion and no check asks for it.")
    kept, more = seen.some(shown, "draft")
    how = (
        "Each draft was tried on what is stored; no model was asked. Accept what convinces you: "
        "nothing is written before the next part says so."
    )
    return h(
        "div",
        h("p", how, cls="sen-soft"),
        [_card(work, card, seen, judgings.get(card.draft.key)) for card in kept],
        more,
    )


def _card(work: DraftFigures, card: Card, seen: Seen, judging: Task[Tried] | None) -> Node:
    draft = card.draft
    tried = (judging and judging.result) or work.tried(draft)
    words = change_text(draft).removeprefix(f"{draft.kind} ")
    tags = [pill(draft.kind, KINDS[draft.kind]), h("strong", words[:1].upper() + words[1:])]
    if card.decision is not None:
        tags.append(pill(card.decision, "good" if card.decision == "accepted" else "bad"))
    return h(
        "section",
        h("div", tags, cls="sen-row sen-middle"),
        h(
            "div",
            h("div", _what(card), h("p", draft.why, cls="sen-soft", dir="auto"), _buttons(card)),
            h("div", tried_out(tried, card, judging, is_open=seen.opened == card.key)),
            cls="sen-columns",
        ),
        cls=f"sen-card sen-drafts-card sen-drafts-{card.decision or 'open'}",
        key=f"card-{card.key}",
        aria_label=change_text(draft),
    )


def _what(card: Card) -> Child:
    """What would come, or a place to edit it."""
    if card.typed is not None:
        return typing(
            "What comes in its place, as JSON" if card.draft.target else "What comes, as JSON",
            card.typed,
            ("type", card.key),
            keep=f"drafts {card.key}",
            key=f"typed-{card.key}",
            rows=12,
        )
    if not card.draft.new:
        return h("p", "It goes, and nothing comes in its place.")
    return [_item(item) for item in card.draft.new]


def _item(item: Mapping[str, Any] | str) -> Node:
    fields = [
        h("div", h("dt", name), h("dd", h("code", value, dir="auto"))) for name, value in rest(item)
    ]
    return h(
        "div",
        h("p", h("b", item_text(item)), dir="auto"),
        h("dl", fields) if fields else None,
        cls="sen-drafts-item",
    )


def _buttons(card: Card) -> Node:
    if card.typed is not None:
        row = [
            button("Take it", ("take", card.key), kind="main"),
            button("Leave it as it was", ("leave", card.key)),
        ]
    else:
        row = [
            button(
                words,
                ("decide", card.key, decision) if possible else None,
                aria_pressed=card.decision == decision,
                aria_label=f"{words}: {change_text(card.draft)}",
            )
            for words, decision, possible in (
                ("Accept", "accepted", not card.draft.missing),
                ("Reject", "rejected", True),
            )
        ]
        if card.draft.new:
            row.append(
                button("Edit", ("edit", card.key), aria_label=f"Edit: {change_text(card.draft)}")
            )
    missing = card.draft.missing
    lacking = f"Still to be written: {', '.join(missing)}" if missing else None
    return h(
        "div",
        h("p", lacking, cls="sen-drafts-lacking") if lacking and card.typed is None else None,
        h("div", row, cls="sen-row"),
    )


def changes(work: DraftFigures, accepted: Sequence[Card]) -> Node:
    """The change that would be made."""
    if not accepted:
        return notice("Nothing is accepted yet. Accept drafts, and the change is shown here.")
    change = work.change([card.draft for card in accepted])
    if change is None:
        return waiting("Working out the change")
    names = {card.draft.key: f"“{change_text(card.draft)}”" for card in accepted}
    refused = [
        h("li", in_terms(f"{key}: {reason}", names)) for key, reason in change.refused.items()
    ]
    ready = change.applied and not change.errors
    return h(
        "div",
        notice("These drafts do not fit:", h("ul", refused)) if refused else None,
        notice("The new file would have faults:", *(problem.message for problem in change.problems))
        if change.problems
        else None,
        h(
            "p",
            f"{count(len(change.applied), 'draft')} would change ",
            h("code", str(change.path)),
            ". The old file is kept beside it, and the folder of the next iteration is prepared.",
        ),
        diff_view(change.diff),
        h("div", button("Apply", ("apply",) if ready else None, kind="main"), cls="sen-row"),
    )


def written_notice(change: Change | None) -> Node | None:
    """What was written last."""
    if change is None or change.written is None:
        return None
    done = change.written
    facts = [
        f"{count(len(change.applied), 'draft')} written to {change.path}.",
        f"The old file is {done.kept}." if done.kept else "",
        f"The next runs go into {done.iteration}." if done.iteration else done.why,
    ]
    return notice(*filter(None, facts), fine=True, key="written")


def iterations(ws: Workspace) -> list[str]:
    """The iterations that have runs, in order."""
    return sorted(ws.polars("runs")["iteration"].unique().to_list(), key=natural)


class DraftFigures:
    """The figures of one choice of iterations; None stands for what is being counted."""

    def __init__(self, ws: Workspace, iteration: str, evals: Path, later: Later) -> None:
        """Nothing is counted yet.

        Args:
            ws: the workspace.
            iteration: the one that is looked at; "" for all.
            evals: the suite's file, or a folder with it.
            later: what counts.
        """
        self.ws = ws.select(iteration=iteration) if iteration else ws
        self.iterations = iterations(ws)
        self.evals = evals
        self._iteration, self._later = iteration, later

    def found(self) -> Aggregate | None:
        """The suggestions."""
        return self._get("found", lambda: aggregate(self.ws))

    def drafts(self) -> tuple[Draft, ...] | None:
        """What could be changed."""
        found = self.found()
        if found is None:
            return None
        return self._get("drafts", lambda: draft(self.ws, found))

    def tried(self, draft: Draft) -> Tried | None:
        """What a draft does to the stored runs. It asks no model."""
        return self._get(("tried", draft.key), lambda: try_out(draft, self.ws))

    def change(self, accepted: Sequence[Draft]) -> Change | None:
        """What the suite's file would become."""
        keys = tuple(draft.key for draft in accepted)
        workspace = self.ws.path or None
        return self._get(
            ("change", keys), lambda: preview(accepted, self.evals, workspace=workspace)
        )

    def _get(self, name: Any, count: Any) -> Any:
        found = self._later.get((self._iteration, name), count)
        return None if found is PENDING else found
