"""A review as it is seen: its head, the task, each run with the form for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.stats.pairing import likeness
from skill_eval_nb.text import count
from skill_eval_nb.workspace.feedback import Entry, Said

from ..show import show_figures, show_outputs
from ..show.run import (
    RunKey,
    anchors_of,
    folder_of,
    meaning_of,
    prompt_view,
    rows_of_eval,
    run_row,
    section,
)
from ..ui import Child, Node, h
from ..ui.parts import (
    Options,
    between,
    button,
    choose,
    line,
    name,
    notice,
    pill,
    plain,
    soft,
    tick,
    typing,
)
from .queue import (
    ALL,
    DONE,
    LEFT,
    LETTERS,
    PAIRS,
    PARTLY,
    SHOWN,
    Choice,
    Item,
    ReviewState,
    Scope,
    in_order,
    outcome,
    sealed,
    token_of,
)

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


OVERALL = "overall"
"""What is scored where an eval has no rubric."""

POINTS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension: its name, what it measures, and what its scores look like, as stated."""

    name: str
    description: str | None = None
    anchors: str | None = None


def dimensions_of(ws: Workspace, key: RunKey) -> list[Dimension]:
    """The rubric of a run's eval as it is defined, else as its runs were judged, else OVERALL."""
    defined = rows_of_eval(ws, "dimensions", key)
    if defined:
        return [Dimension(row["dimension"], row["description"], row["anchors"]) for row in defined]
    judged = dict.fromkeys(row["dimension"] for row in rows_of_eval(ws, "rubric_scores", key))
    return [Dimension(name) for name in judged or [OVERALL]]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs that are looked at, what is said of it, and what could be.

    Attributes:
        key: the run.
        token: the run, without saying which.
        keep: a name for its text in the page: no other run's, and no other file's.
        title: what it is called here.
        look: `with`, `base`, `other`, or `hidden` where nothing may tell which run it is.
        said: what is said of it; None where nothing is.
        others: what others said of it.
        dimensions: what can be scored.
        saved: whether all of it is in the file.
        since: when it was said, where that was before.
    """

    key: RunKey
    token: str
    keep: str
    title: str
    look: str
    said: Said | None
    others: Sequence[Entry]
    dimensions: Sequence[Dimension]
    saved: bool
    since: str | None

    @property
    def hidden(self) -> bool:
        """Whether nothing may tell which run it is."""
        return self.look == "hidden"


def form(side: Side) -> Node:
    """The human's part of the review of a run."""
    said = side.said or Said()
    return h(
        "div",
        h("div", h("h5", "Your feedback"), _state(side), cls="sen-row sen-middle sen-spread"),
        [_said_by_others(other) for other in side.others],
        typing(
            f"What is to be said of {side.title}",
            said.text,
            ("say", side.token),
            keep=side.keep,
            key=f"{side.token}-text",
            rows=3,
        ),
        h("div", [_scored(side, dimension) for dimension in side.dimensions], cls="sen-rv-scores"),
        None
        if said
        else tick("Nothing to say: it is fine", side.said is not None, ("call_fine", side.token)),
        cls="sen-rv-form",
        key=f"{side.token}-form",
    )


def _state(side: Side) -> Child:
    if not side.saved:
        return pill("not saved", "bad")
    if side.said is None:
        return pill("not reviewed")
    when = f" {side.since[:10]}" if side.since else ""
    return pill(f"reviewed{when}", "good")


def _said_by_others(entry: Entry) -> Node:
    scores = between([f"{line(name)} {score:g}" for name, score in entry.said.scores.items()])
    when = f" ({line(entry.timestamp)[:10]})" if entry.timestamp else ""
    return h(
        "blockquote",
        soft(f"Also said of it{when}:"),
        h("p", plain(entry.said.text) or "nothing: it is fine", dir="auto"),
        h("p", scores, cls="sen-small") if scores else None,
        cls="sen-rv-also",
    )


def _scored(side: Side, dimension: Dimension) -> Node:
    score = side.said.scores.get(dimension.name) if side.said else None
    act = ("score", side.token, dimension.name)
    clear = (*act, None)
    keys = {str(point): (*act, point) for point in POINTS}
    keys |= dict.fromkeys(("0", "Delete", "Backspace"), clear)
    label = f"{line(dimension.name)}, {side.title}"
    return h(
        "div",
        h("span", line(dimension.name), cls="sen-rv-dimension", dir="auto"),
        h(
            "div",
            [_point(side, dimension, point, score) for point in POINTS],
            role="radiogroup",
            aria_label=f"Score for {label}",
            keys=keys,
            cls="sen-rv-points",
        ),
        h(
            "span",
            []
            if score is None
            else [
                None if score in POINTS else f"{score:g}",
                button("clear", clear, kind="quiet", aria_label=f"Clear the score for {label}"),
            ],
        ),
        cls="sen-rv-scored",
        key=f"{side.token}-{dimension.name}",
    )


def _point(side: Side, dimension: Dimension, point: int, score: float | None) -> Node:
    meaning = anchors_of(dimension.anchors).get(str(point))
    box = h(
        "input",
        type="radio",
        name=f"{side.token}-{dimension.name}",
        value=str(point),
        checked=score == point,
        on={"change": ("score", side.token, dimension.name)},
    )
    return h("label", box, h("span", str(point)), title=meaning, cls="sen-rv-point")


def column(ws: Workspace, side: Side, unfolded: frozenset[str]) -> Node:
    """A run and the form for it; the parts of two of them stand in line."""
    folder = folder_of(ws, run_row(ws, side.key))
    title = h("h4", name(side.title), cls="sen-rv-title")
    outputs = soft("None are stored: this run has no folder of its own.")
    if folder is not None:
        outputs = show_outputs(folder, key=side.token)
    parts: list[Child] = [
        title if side.hidden else [title, show_figures(ws, side.key)],
        [h("h5", "Outputs"), outputs],
        form(side),
    ]
    for part in () if side.hidden else ("checks", "rubric", "critique", "transcript"):
        toggle = ("unfold", part)
        parts.append(section(part, ws, side.key, folder, unfolded=part in unfolded, toggle=toggle))
    return h(
        "section",
        [h("div", part) for part in parts],
        cls=f"sen-rv-side sen-rv-{side.look}",
        aria_label=side.title,
        key=side.token,
    )


def meanings(dimensions: Sequence[Dimension]) -> Node | None:
    """What each dimension measures, and what its scores look like."""
    stated = {
        dimension.name: meaning_of(dimension.description, dimension.anchors)
        for dimension in dimensions
    }
    parts = [h("div", h("h5", line(of)), meaning) for of, meaning in stated.items() if meaning]
    if not parts:
        return None
    summary = h("summary", "What the scores mean", cls="sen-soft sen-small")
    return h("details", summary, parts, cls="sen-rv-meanings")


def head(now: ReviewState) -> Node:
    """What the review is of, how far it is, and its end."""
    waiting = now.book.waiting()
    return h(
        "div",
        h(
            "div",
            h("div", h("h3", "Review: ", name(now.scope.skill)), _of(now.scope, now.choice)),
            _end(now),
            cls="sen-row sen-spread",
        ),
        h(
            "progress",
            value=str(len(now.reviewed)),
            max=str(max(len(now.runs), 1)),
            aria_label="Runs that are reviewed",
        ),
        h("p", _progress(now), cls="sen-soft", aria_live="polite"),
        [_fault(fault, waiting) for fault in now.faults],
        cls="sen-rv-head",
    )


def _of(scope: Scope, choice: Choice) -> Node:
    iteration = scope.selection.iteration
    parts: list[Child] = [None if iteration == "none" else line(iteration)]
    if scope.sides and not choice.hidden:
        parts = [
            *parts[: scope.selection.pair != "iterations"],
            " beside ".join(map(line, scope.sides)),
        ]
    elif scope.sides:
        parts.append("blind")
    elif scope.selection.configuration:
        parts.append(line(scope.selection.configuration))
    return h("p", between(parts), cls="sen-soft")


def _progress(now: ReviewState) -> Child:
    left = len(now.runs) - len(now.reviewed)
    facts = [f"{len(now.reviewed):,} of {count(len(now.runs), 'run')} reviewed"]
    if now.choice.hidden:
        pairs = [item for item in now.items if item.is_pair]
        scored = sum(map(now.is_scored, pairs))
        facts.append(f"{scored:,} of {count(len(pairs), 'pair')} scored on both sides")
    elif left and now.reviewed:
        facts.append(f"{left:,} left")
    files = [line(page.name) for page in now.pages if page.fault is None]
    if files:
        facts.append(f"saved as you type, in {' and '.join(files)}")
    return between(facts)


def _end(now: ReviewState) -> Child:
    if not now.complete:
        return button("Finish", ("finish",) if now.begun else None)
    again = button("Go on reviewing", ("reopen",), kind="quiet")
    return h("div", pill("complete", "good"), again, cls="sen-row sen-middle")


def _fault(fault: str, waiting: int) -> Node:
    kept = f"What you said of {count(waiting, 'run')} is kept in this page meanwhile."
    return h(
        "div",
        h("div", h("p", f"Not saved: {line(fault)}."), h("p", kept) if waiting else None),
        button("Try again", ("save",)),
        cls="sen-fault",
        role="alert",
        key=f"fault {fault}",
    )


def steps(shown: Sequence[Item], at: int, sides: Sequence[str]) -> Node:
    """Back and forth, by button here and by arrow key everywhere."""
    what = "pair" if sides else "run"
    where = f"{what} {at + 1:,} of {len(shown):,}" if shown else f"no {what}"
    return h(
        "div",
        button("← Previous", ("step", -1) if at > 0 else None, title="left arrow key"),
        h("span", where, cls="sen-rv-where sen-numbers", aria_live="polite"),
        button(
            "Next →",
            ("step", 1) if at + 1 < len(shown) else None,
            title="right arrow key",
        ),
        cls="sen-row sen-middle sen-rv-steps",
    )


def nothing_shown(choice: Choice) -> Node:
    """What stands there where nothing is left of what was selection for."""
    if choice.shown == "left":
        return notice("All of these are reviewed.", fine=True)
    if choice.shown != ALL:
        return notice("No check failed in any of these.", fine=True)
    return notice("There are no runs here.")


MOST = 400
"""Runs or pairs that are listed at once."""


def jumps(now: ReviewState) -> Node:
    """The list of what is shown, to jump in; it is made while it is open."""
    what = "pair" if now.scope.sides else "run"
    left = sum(now.done(item) != DONE for item in now.shown)
    facts = f"{count(len(now.shown), what)}, {f'{left:,} left' if left else 'all reviewed'}"
    unfolded = "jumps" in now.choice.unfolded
    return h(
        "details",
        h("summary", "Jump to", " ", h("span", facts, cls="sen-soft")),
        _list(now) if unfolded else None,
        open=unfolded,
        on={"toggle": ("unfold", "jumps")},
        cls="sen-rv-jumps",
        key="jumps",
    )


def _list(now: ReviewState) -> Child:
    placed = list(enumerate(now.shown, 1))
    first = max(0, min(now.at - MOST // 2, len(placed) - MOST))
    window = placed[first : first + MOST]
    by_eval: dict[tuple[str, str], list[tuple[int, Item]]] = {}
    for place, item in window:
        by_eval.setdefault((item.eval_id, item.title), []).append((place, item))
    rows = [
        h(
            "li",
            h("span", line(title), cls="sen-rv-eval", dir="auto"),
            h("span", [_jump(now, place, item) for place, item in inside]),
            key=eval_id,
        )
        for (eval_id, title), inside in by_eval.items()
    ]
    more = f"{len(window):,} of {len(placed):,} are listed: choose an eval to see the others."
    return [h("ul", rows, cls="sen-list"), soft(more) if len(window) < len(placed) else None]


LOOKS = {DONE: "done", PARTLY: "partly", LEFT: "left"}


def _jump(now: ReviewState, place: int, item: Item) -> Node:
    state, fails = now.done(item), item.failed and not now.choice.hidden
    of = f" of {now.scope.sides[0]}" if now.scope.sides else ""
    words = line(f"{place}: {item.title}, {state}{f', a check{of} failed' if fails else ''}")
    return button(
        str(place),
        ("jump", item.token),
        cls=f"sen-rv-jump sen-rv-{LOOKS[state]}{' sen-rv-failed' if fails else ''}",
        aria_label=words,
        aria_current="true" if item.token == now.choice.at else None,
        title=words,
        key=item.token,
    )


def controls(scope: Scope, choice: Choice, evals: Mapping[str, str]) -> Node:
    """What else could be seen."""
    selection = scope.selection
    return h(
        "div",
        _one_of("Workspace", scope.workspaces, selection.workspace, "workspace"),
        choose("Side by side", {**PAIRS}, selection.pair, ("put_together",)),
        _one_of("Iteration", scope.iterations, selection.iteration, "iteration"),
        [] if choice.hidden else _configurations(scope),
        choose("Show", _shown(scope, choice), choice.shown, ("show_only",)),
        choose(
            "Eval",
            {"": "all", **{id_: line(name) for id_, name in evals.items()}},
            choice.eval_id,
            ("show_eval",),
        )
        if len(evals) > 1
        else None,
        _blind(scope, choice),
        cls="sen-row sen-rv-controls",
    )


def _one_of(label: str, names: Sequence[str], chosen: str, part: str) -> Node | None:
    options: Options = {name: line(name) for name in names}
    return choose(label, options, chosen, ("ask_for", part)) if len(names) > 1 else None


def _configurations(scope: Scope) -> list[Node | None]:
    selection, names = scope.selection, scope.configurations
    if selection.pair == "single":
        options = {"": "all", **{name: line(name) for name in names}}
        act = ("ask_for", "configuration")
        several = len(names) > 1
        return [choose("Configuration", options, selection.configuration, act) if several else None]
    both = [_one_of("Configuration", names, selection.configuration, "configuration")]
    if len(scope.others) > 1 or selection.pair == "iterations":
        both.append(_one_of("Beside it", scope.others, selection.against, "against"))
    return both if len(names) > 2 or selection.pair == "iterations" else []


def _shown(scope: Scope, choice: Choice) -> Options:
    options = dict(SHOWN)
    if choice.hidden:
        del options["failed"]
    elif scope.sides:
        options["failed"] = f"failed checks of {line(scope.sides[0])}"
    return options


def _blind(scope: Scope, choice: Choice) -> Child:
    if not scope.sides:
        return None
    if choice.blind:
        return None if choice.revealed else button("End it and reveal", ("reveal",), kind="quiet")
    return tick("blind: hide which side is which", choice.blind, ("go_blind",))


KEYS = {"ArrowRight": ("step", 1), "ArrowLeft": ("step", -1)}

CANNOT_HIDE = (
    "Which side is which is hidden, and with it the checks, the judge's scores, the figures and "
    "the transcripts, until both sides of every pair are scored. What an output says of itself "
    "cannot be hidden: one that names the skill gives itself away."
)


def review_view(now: ReviewState) -> Child:
    """All of it."""
    scope, choice = now.scope, now.choice
    if not now.items:
        why = scope.lacking or "There are no runs with another one beside them."
        return h("div", notice(why), controls(scope, choice, {}), cls="sen-rv")
    evals = {item.eval_id: item.title for item in now.items}
    return h(
        "div",
        head(now),
        controls(scope, choice, evals),
        scope.lacking and notice(scope.lacking, key="lacking"),
        _blindness(now),
        steps(now.shown, now.at, scope.sides),
        jumps(now),
        _item(now, now.shown[now.at]) if now.at >= 0 else nothing_shown(choice),
        keys=KEYS,
        cls="sen-rv",
    )


def _blindness(now: ReviewState) -> Child:
    if not now.choice.blind:
        return None
    alone = len(now.scope.items) - len(now.items)
    left_out = f"{count(alone, 'run')} with none beside them are left out." if alone else None
    if now.choice.revealed:
        preferred = outcome(now.items, now.book.said, now.scope.sides)
        return h("div", preferred, cls="sen-card sen-rv-outcome", role="status", key="outcome")
    return notice(CANNOT_HIDE, *([left_out] if left_out else []), key="blind")


def _item(now: ReviewState, item: Item) -> Child:
    """What is open: the task, and each run."""
    hidden = now.choice.hidden
    runs = in_order(item, now.seed) if now.choice.blind else item.runs
    columns: list[Child] = []
    for place, key in enumerate(runs):
        shown = column(now.ws, _side(now, item, key, place), now.choice.unfolded)
        folder = folder_of(now.ws, run_row(now.ws, key))
        columns.append(sealed(shown, folder) if hidden else shown)
    numbers = {key.run_number for key in item.runs}
    several = len({key.run_number for other in now.items for key in other.runs}) > 1
    number = f", run {numbers.pop()}" if len(numbers) == 1 and several and item.is_pair else ""
    return h(
        "div",
        h("h4", name(item.title), number, cls="sen-rv-of"),
        prompt_view(now.ws, item.runs[0], unfolded=True),
        meanings(dimensions_of(now.ws, item.runs[0])),
        h("div", columns, cls=f"sen-rv-sides sen-rv-sides-{len(runs)}"),
        cls="sen-rv-item",
        key=item.token,
    )


def _side(now: ReviewState, item: Item, key: RunKey, place: int) -> Side:
    token, book = token_of(key), now.book
    entry = book.entry(key)
    return Side(
        key,
        token,
        now.keep(key, token),
        _title(now, item, key, place),
        _look(now, key),
        book.said(key),
        () if now.choice.hidden else book.others(key),
        dimensions_of(now.ws, key),
        saved=book.is_saved(key),
        since=None if entry is None or book.is_typed(key) else entry.timestamp,
    )


def _title(now: ReviewState, item: Item, key: RunKey, place: int) -> str:
    """What a run is called here."""
    if now.choice.hidden:
        return LETTERS[place]
    own = key.iteration if now.scope.selection.pair == "iterations" else key.configuration
    same = {run.run_number for run in item.runs} == {key.run_number}
    words = own if item.is_pair and same else f"{own}, run {key.run_number}"
    return f"{LETTERS[place]}: {words}" if now.choice.blind else words


def _look(now: ReviewState, key: RunKey) -> str:
    if now.choice.hidden:
        return "hidden"
    if now.scope.selection.pair == "iterations":
        return "with" if key.iteration == now.scope.selection.iteration else "other"
    return "with" if likeness(key.configuration) is None else "base"
