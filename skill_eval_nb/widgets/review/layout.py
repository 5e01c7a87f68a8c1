"""A review as it is seen: its head, the task, each run with the form for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.base import change_leaves
from skill_eval_nb.documents.sides import likeness
from skill_eval_nb.text import count
from skill_eval_nb.workspace.feedback import Remarks, ReviewEntry

from ..explore.rows import find_bar
from ..show.documents import fold_content
from ..show.files import output_files
from ..show.outputs import difference_details, show_outputs
from ..show.run import (
    anchors_of,
    folder_of,
    meaning_of,
    prompt_view,
    rows_of_eval,
    run_row,
    section,
    show_figures,
)
from ..ui import Child, Node, h
from ..ui.parts import (
    button,
    choose,
    join_parts,
    key_list,
    line,
    name,
    note,
    notice,
    pill,
    reveal,
    text_area,
    tick,
)
from ..ui.source import RunKey
from .queue import (
    LETTERS,
    PAIRS,
    SHOWN,
    Item,
    ReviewState,
    in_order,
    outcome,
    token_of,
)

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


OVERALL = "overall"
"""What is scored where an eval has no rubric."""

POINTS = (1, 2, 3, 4, 5)
VERDICTS = {"pass": ("Pass", "p"), "fail": ("Fail", "f")}
"""What a human says of a check: how it is called, and the key for it."""


def _dimensions_of(ws: Workspace, key: RunKey) -> Mapping[str, tuple[str | None, str | None]]:
    """The rubric of a run's eval as it is defined, else as its runs were judged, else OVERALL.

    By name what a dimension measures, and what its scores look like, as stated.
    """
    defined = rows_of_eval(ws, "dimensions", key)
    if defined:
        return {row["dimension"]: (row["description"], row["anchors"]) for row in defined}
    judged = dict.fromkeys(row["dimension"] for row in rows_of_eval(ws, "rubric_scores", key))
    return dict.fromkeys(judged or [OVERALL], (None, None))


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One of the runs that are looked at.

    Attributes:
        now: the review that it is looked at in.
        key: the run.
        title: what it is called here.
        token: the run, without saying which.
        item: the pair, run or check that it is shown for.
    """

    now: ReviewState
    key: RunKey
    title: str
    token: str
    item: Item

    def form(self) -> Node:
        """The human's part of the review of the run."""
        book, token = self.now.book, self.token
        given = book.remarks(self.key)
        remarks = given or Remarks()
        others = [] if self.now.choice.hidden else book.other_reviews(self.key)
        head = [h("h5", "Your feedback"), self._state_pill(given)]
        keep, key = self.now.name_text(self.key, token), f"{token}-text"
        label = f"Comments on {self.title}"
        scores = [
            self._score_control(dimension, anchors_of(stated), remarks.scores.get(dimension))
            for dimension, (_, stated) in _dimensions_of(self.now.ws, self.key).items()
        ]
        fine = tick("No comments", given is not None and given.reviewed, ("call_fine", token))
        return h(
            "div",
            h("div", head, cls="sen-row sen-middle sen-spread"),
            [_other_remarks(other) for other in others],
            text_area(label, remarks.text, ("say", token), keep=keep, key=key, rows=3),
            h("div", scores, cls="sen-rv-scores"),
            None if remarks else fine,
            cls="sen-rv-form",
            key=f"{token}-form",
        )

    def _state_pill(self, remarks: Remarks | None) -> Node:
        if not self.now.book.is_saved(self.key):
            return pill("not saved", "bad")
        entry = self.now.book.entry(self.key)
        when = f" {line(entry.timestamp[:10])}" if entry and entry.timestamp else ""
        reviewed = remarks is not None and remarks.reviewed
        return pill(f"reviewed{when}", "good") if reviewed else pill("not reviewed")

    def _score_control(
        self, dimension: str, anchors: Mapping[str, str], score: float | None
    ) -> Node:
        act = ("score", self.token, dimension)
        clear = (*act, None)
        keys = {str(point): (*act, point) for point in POINTS}
        keys |= dict.fromkeys(("0", "Delete", "Backspace"), clear)
        label = f"{line(dimension)}, {self.title}"
        chosen = None if score is None else f"{score:g}"
        points = {str(point): (str(point), anchors.get(str(point))) for point in POINTS}
        odd = None if score is None or score in POINTS else f"{score:g}"
        no_more = button("clear", clear, kind="quiet", aria_label=f"Clear the score for {label}")
        group = {"aria_label": f"Score for {label}", "keys": keys}
        following = (self.token, dimension) == _next_score(self.now, self.item)
        return h(
            "div",
            h("span", line(dimension), cls="sen-rv-dimension", dir="auto"),
            _draw_radios(f"{self.token}-{dimension}", points, chosen, act, **group),
            h("span", odd, no_more if score is not None else None),
            cls="sen-rv-scored sen-rv-following" if following else "sen-rv-scored",
            key=f"{self.token}-{dimension}",
        )

    def verdict(self) -> Node:
        """The human's verdict on the check that is looked at."""
        given, act = self.now.label(self.item), ("label_check", self.item.token)
        state = pill("not labelled") if given is None else pill("labelled", "good")
        if not self.now.book.is_saved(self.key):
            state = pill("not saved", "bad")
        chosen = None if given is None else "pass" if given else "fail"
        radios = _draw_radios(
            self.item.token, VERDICTS, chosen, act, aria_label="Does the check hold?"
        )
        clear = button("clear", (*act, None), kind="quiet") if chosen else None
        return h(
            "div",
            h("div", h("h5", "Does it hold?"), state, cls="sen-row sen-middle sen-spread"),
            h("div", radios, clear, cls="sen-row sen-middle"),
            cls="sen-rv-form",
            key=f"{self.item.token}-form",
        )

    def column(self) -> Node:
        """The run and the form for it; the parts of two of them stand in line."""
        ws, key, choice = self.now.ws, self.key, self.now.choice
        folder = folder_of(ws, run_row(ws, key))
        title = h("h4", name(self.title), cls="sen-rv-title")
        outputs = note("None are stored: this run has no folder.")
        if folder is not None:
            outputs = show_outputs(output_files(folder), key=self.token)
        parts: list[Child] = [
            title if choice.hidden else [title, show_figures(ws, key)],
            [h("h5", "Outputs"), outputs],
            self.verdict() if self.item.check is not None else self.form(),
        ]
        judged = () if choice.hidden else ("checks", "rubric", "critique")
        for part in (*judged, *(() if choice.hidden and not choice.of_checks else ("transcript",))):
            how = {"unfolded": choice.unfolded, "token": self.token}
            parts.append(section(part, ws, key, folder, **how))
        return h(
            "section",
            [h("div", part) for part in parts],
            cls=f"sen-rv-side sen-rv-{self._side_colour()}",
            aria_label=self.title,
            key=self.token,
        )

    def _side_colour(self) -> str:
        """Which colour it has; none where nothing may tell which run it is."""
        if self.now.choice.hidden:
            return "hidden"
        is_base = self.key != self.item.runs[0] or likeness(self.key.configuration) is not None
        return "base" if is_base else "with"


def _draw_radios(
    name: str,
    options: Mapping[str, tuple[str, str | None]],
    chosen: str | None,
    act: tuple[str, ...],
    **group: Any,
) -> Node:
    """One of a few, side by side; by value what each is called, and what it means."""
    boxes = []
    for value, (words, title) in options.items():
        state = {"value": value, "checked": value == chosen, "on": {"change": act}}
        box = h("input", type="radio", name=name, **state)
        boxes.append(h("label", box, h("span", words), title=title, cls="sen-rv-point"))
    return h("div", boxes, cls="sen-rv-points", role="radiogroup", **group)


def _other_remarks(entry: ReviewEntry) -> Node:
    scores = join_parts([f"{line(name)} {score:g}" for name, score in entry.remarks.scores.items()])
    when = f" ({line(entry.timestamp)[:10]})" if entry.timestamp else ""
    return h(
        "blockquote",
        note(f"Also stored{when}:"),
        h("p", reveal(entry.remarks.text) or "no comments: fine", dir="auto"),
        h("p", scores, cls="sen-small") if scores else None,
        cls="sen-rv-also",
    )


def _review_head(now: ReviewState) -> Node:
    """What the review is of, how far it is, and its end."""
    title = h("div", h("h3", "Review: ", name(now.scope.skill)), _subtitle(now))
    done, of = now.progress
    bar = {"value": str(done), "max": str(max(of, 1))}
    return h(
        "div",
        h("div", title, _review_end(now), cls="sen-row sen-spread"),
        h("progress", **bar, aria_label=f"{now.unit.capitalize()}s done"),
        h("p", _progress_facts(now), cls="sen-soft", aria_live="polite"),
        [_fault_notice(fault, now.book.count_unsaved()) for fault in now.faults],
        cls="sen-rv-head",
    )


def _subtitle(now: ReviewState) -> Node:
    choice, sides = now.choice, now.scope.sides
    names = ("blind",) if sides and choice.hidden else sides or (choice.configuration,)
    iteration = None if choice.iteration in ("none", *names) else line(choice.iteration)
    return h("p", join_parts([iteration, " beside ".join(map(line, names))]), cls="sen-soft")


def _progress_facts(now: ReviewState) -> Child:
    facts = [f"{len(now.reviewed):,} of {count(len(now.runs), 'run')} reviewed"]
    if now.choice.of_checks:
        drawn = sum(item.sampled and now.label(item) is not None for item in now.items)
        labelled, of = now.progress
        facts = [f"{labelled:,} of {count(of, 'check')} labelled, {drawn:,} drawn at random"]
    elif now.choice.hidden:
        scored = sum(map(now.is_scored, now.items))
        facts.append(f"{scored:,} of {count(len(now.items), 'pair')} scored on both sides")
    files = [line(page.name) for page in now.pages if page.fault is None]
    if files:
        facts.append(f"saved as you type, in {' and '.join(files)}")
    return join_parts(facts)


def _review_end(now: ReviewState) -> Child:
    if now.choice.of_checks:  # a label is no review of its run
        return None
    left = f"{now.left:,} of {count(len(now.runs), 'run')} not reviewed"
    if now.complete:
        state = pill(f"finished, {left}", "odd") if now.left else pill("complete", "good")
    elif now.choice.finishing and now.left:
        state = [h("span", left), button("Finish anyway", ("finish", now.left))]
    else:
        return button("Finish", ("finish",) if now.begun else None)
    again = button("Continue reviewing", ("reopen",), kind="quiet")
    return h("div", state, again, cls="sen-row sen-middle", role="status")


def _fault_notice(fault: str, waiting: int) -> Node:
    kept = f"Your feedback on {count(waiting, 'run')} stays on this page meanwhile."
    words = [h("p", f"Not saved: {line(fault)}."), h("p", kept) if waiting else None]
    again = button("Try again", ("save",))
    return h("div", h("div", words), again, cls="sen-fault", role="alert", key=f"fault {fault}")


def _step_buttons(now: ReviewState) -> Node:
    """Back and forth, by button here and by arrow key everywhere."""
    what, at, last = now.unit, now.at, len(now.shown) - 1
    where = f"{what} {at + 1:,} of {last + 1:,}" if now.shown else f"no {what}"
    return h(
        "div",
        button("← Previous", ("step", -1) if at > 0 else None, title="left arrow key"),
        h("span", where, cls="sen-rv-where sen-numbers", aria_live="polite"),
        button("Next →", ("step", 1) if at < last else None, title="right arrow key"),
        key_list(_key_meanings(now)),
        cls="sen-row sen-middle sen-rv-steps",
    )


def _nothing_left(now: ReviewState) -> Node:
    """What stands there where nothing is left of what was asked for."""
    if now.choice.shown == "left" and not now.choice.search:
        return notice("All of these are reviewed.", fine=True)
    return notice("No run matches the selection.")


NEAR = 200
"""Runs or pairs before the one that is open, and after it, that are offered to go to."""


def _place_choice(now: ReviewState) -> Node | None:
    """What is shown around the one that is open, with how far each is, to go there."""
    first = max(now.at - NEAR, 0)
    of = f" of {now.scope.sides[0]}" if now.scope.sides else ""
    options: dict[str, str] = {}
    for place, item in enumerate(now.shown[first : first + 2 * NEAR], first + 1):
        failed = f", a check{of} failed" if item.failed and not now.choice.hidden else ""
        done = "reviewed" if now.is_done(item) else "not reviewed"
        options[item.token] = line(f"{place}: {item.title}, {done}{failed}")
    return choose("Go to", options, now.choice.at, ("jump",)) if len(options) > 1 else None


def _controls(now: ReviewState, evals: Mapping[str, str]) -> Node:
    """What else could be seen."""
    scope, choice = now.scope, now.choice
    blind = None
    if scope.sides and not choice.blind:
        blind = tick("blind: hide which side is which", choice.blind, ("go_blind",))
    elif scope.sides and not choice.revealed:
        blind = button("Unblind", ("reveal",), kind="quiet")
    named = {"": "all", **{id_: line(name) for id_, name in evals.items()}}
    shown = {name: SHOWN[name] for name in SHOWN if name != "failed" or not choice.hidden}
    return h(
        "div",
        _part_choice(now, "workspace", "Workspace"),
        choose("Side by side", {**PAIRS}, choice.pair, ("ask_for", "pair")),
        _part_choice(now, "iteration", "Iteration"),
        None if choice.hidden else _part_choice(now, "configuration", "Configuration"),
        None if choice.hidden else _part_choice(now, "against", "Beside it"),
        choose("Show", shown, choice.shown, ("show_only",)),
        choose("Eval", named, choice.eval_id, ("show_eval",)) if len(evals) > 1 else None,
        _place_choice(now),
        blind,
        cls="sen-row sen-rv-controls",
    )


def _part_choice(now: ReviewState, part: str, label: str) -> Node | None:
    options = {name: line(name) or "all" for name in now.scope.options[part]}
    chosen = getattr(now.choice, part)
    return choose(label, options, chosen, ("ask_for", part)) if len(options) > 1 else None


KEYS = {"ArrowRight": ("step", 1), "ArrowLeft": ("step", -1)}

CANNOT_HIDE = (
    "Which side is which is hidden, as are checks, scores, figures and transcripts, until both "
    "sides of every pair are scored. An output that names the skill still gives itself away."
)
CHECKS_ALONE = (
    "Does the run do what the check says? Its side and the judge's verdict are hidden. A "
    "transcript may name the skill: open it only for a check of what was done. First come checks "
    "in doubt; every other one is drawn at random. Skip what cannot be decided, not what is hard."
)


def review_view(now: ReviewState) -> Child:
    """All of it."""
    lacking = now.scope.lacking
    if not now.items:
        what = "checks by a judge" if now.choice.of_checks else "runs with a counterpart"
        why = lacking or f"There are no {what}."
        return h("div", notice(why), _controls(now, {}), cls="sen-rv")
    return h(
        "div",
        _review_head(now),
        _controls(now, {item.eval_id: item.title for item in now.items}),
        find_bar(now.choice.search, now.finder.things, "Search prompts, outputs and evidence")
        if len(now.items) > 1 and not now.choice.hidden
        else None,
        notice(lacking, key="lacking") if lacking else None,
        _blind_notice(now),
        _step_buttons(now),
        _open_item(now, now.shown[now.at]) if now.at >= 0 else _nothing_left(now),
        keys=_key_actions(now),
        cls="sen-rv",
    )


def _key_actions(now: ReviewState) -> dict[str, tuple[Any, ...]]:
    """What keys do anywhere in the review but in text: digits score what is to be scored next."""
    keys: dict[str, tuple[Any, ...]] = dict(KEYS)
    if now.at < 0:
        return keys
    item = now.shown[now.at]
    if now.choice.of_checks:
        acts = ((key, verdict) for verdict, (_, key) in VERDICTS.items())
        return keys | {key: ("label_check", item.token, verdict) for key, verdict in acts}
    following = _next_score(now, item)
    return keys | ({str(n): ("score", *following, n) for n in POINTS} if following else {})


def _key_meanings(now: ReviewState) -> dict[str, str]:
    own = {"1 2 3 4 5": "score the marked dimension, or the one in focus"}
    if now.choice.of_checks:
        own = {"p f": "pass, fail"}
    own |= {"d": "what differs"} if now.scope.sides else {}
    own |= {} if now.choice.hidden else {"/": "search"}
    steps = {"← →": f"previous {now.unit}, next one"}
    return steps | own | {"Esc": "close this list"}


def _next_score(now: ReviewState, item: Item) -> tuple[str, str] | None:
    """The first run, by its token, and dimension without a score; None where all have one."""
    return next(
        (
            (token_of(key), dimension)
            for key in _runs_shown(now, item)
            for dimension in _dimensions_of(now.ws, key)
            if dimension not in (now.book.remarks(key) or Remarks()).scores
        ),
        None,
    )


def _runs_shown(now: ReviewState, item: Item) -> Sequence[RunKey]:
    return in_order(item, now.seed) if now.choice.blind else item.runs


def _blind_notice(now: ReviewState) -> Child:
    if now.choice.of_checks:
        return notice(CHECKS_ALONE, key="checks")
    if not now.choice.blind:
        return None
    if now.choice.revealed:
        preferred = outcome(now.items, now.book.remarks, now.scope.sides)
        return h("div", preferred, cls="sen-card sen-rv-outcome", role="status", key="outcome")
    alone = len(now.scope.items) - len(now.items)
    are = "is" if alone == 1 else "are"
    left_out = f"{count(alone, 'run')} with no counterpart {are} left out."
    return notice(CANNOT_HIDE, *([left_out] if alone else []), key="blind")


def _open_item(now: ReviewState, item: Item) -> Child:
    """What is open: the task, and each run."""
    runs = _runs_shown(now, item)
    titles = [_run_title(now, item, key, place) for place, key in enumerate(runs)]
    folders = [folder_of(now.ws, run_row(now.ws, key)) for key in runs]
    columns = [
        ShownRun(now, key, title, token_of(key), item).column()
        for title, key in zip(titles, runs, strict=True)
    ]
    numbers = {key.run_number for key in item.runs}
    number = f", run {numbers.pop()}" if len(numbers) == 1 and item.is_pair else ""
    meanings = {
        dimension: meaning
        for dimension, stated in _dimensions_of(now.ws, item.runs[0]).items()
        if item.check is None and (meaning := meaning_of(*stated))
    }
    parts = [h("div", h("h5", line(of)), meaning) for of, meaning in meanings.items()]
    unfolded = "difference" in now.choice.unfolded
    whole = h(
        "div",
        h("h4", name(item.title), number, cls="sen-rv-of"),
        prompt_view(now.ws, item.runs[0], unfolded=True),
        fold_content("What the scores mean", h("div", parts, cls="sen-rv-meanings"))
        if parts
        else None,
        difference_details(titles, folders, unfolded=unfolded) if item.is_pair else None,
        h("div", columns, cls=f"sen-rv-sides sen-rv-sides-{len(runs)}"),
        cls="sen-rv-item",
        key=item.token,
    )
    told = [str(folder) for folder in folders if folder is not None and now.choice.hidden]

    def hide_folders(leaf: Any) -> Any:
        for folder in told if isinstance(leaf, str) else ():
            leaf = leaf.replace(folder, "…")
        return leaf

    return change_leaves(whole, hide_folders) if told else whole


def _run_title(now: ReviewState, item: Item, key: RunKey, place: int) -> str:
    """What a run is called here."""
    if item.check is not None:
        return item.check
    if now.choice.hidden:
        return LETTERS[place]
    own = key.iteration if now.choice.pair == "iterations" else key.configuration
    same = {run.run_number for run in item.runs} == {key.run_number}
    words = own if item.is_pair and same else f"{own}, run {key.run_number}"
    return f"{LETTERS[place]}: {words}" if now.choice.blind else words
