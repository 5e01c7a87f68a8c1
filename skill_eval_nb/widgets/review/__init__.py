"""Review runs: see them, alone or side by side, and say what is to be said of them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents import CheckLabel
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.workspace.feedback import COMPLETE, IN_PROGRESS, Remarks

from ..explore.rows import RowSearch
from ..show.run import SHOWING_CSS
from ..ui import Child, Panel, action, quiet_action, style
from ..ui.parts import notice
from ..ui.source import RunKey, Source
from .book import Book
from .layout import POINTS, VERDICTS, review_view
from .queue import (
    ALL,
    PAIRS,
    PARTS,
    ItemFinder,
    Pair,
    ReviewChoice,
    ReviewState,
    scope_of,
    token_of,
)

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

__all__ = ["Review", "review"]


HERE = Path(__file__).parent


class Review(Panel):
    """Runs as they are reviewed: see `review`."""

    label = "Review of runs"
    _ready = False
    _css = style(SHOWING_CSS, HERE / "review.css")

    def __init__(
        self,
        ws: Workspace | str | os.PathLike[str],
        choice: ReviewChoice,
        seed: int = 0,
    ) -> None:
        self._source = Source(ws, self._take_changes)
        self._seed = seed
        self._runs: dict[str, RunKey] = {}
        self._book = Book(self._source.ws)
        self._settle_scope(choice)
        super().__init__()
        self._ready = True

    @property
    def feedback(self) -> Any:
        """What is said of the runs by now: the table `feedback`, as the files have it."""
        return self._source.ws.again().feedback

    def view(self) -> Child:
        """The review as it is now."""
        if self._source.lacking is not None:
            return notice(self._source.lacking)
        self._book.refresh()
        return review_view(self._now)

    # what is chosen

    @action
    def step(self, by: int) -> None:
        """Go on, or back."""
        now = self._now
        to = now.at + int(by)
        if 0 <= to < len(now.shown):
            self._look_at(now.shown[to].token)

    @action
    def jump(self, token: str) -> None:
        """Go to one of those that are shown."""
        self._look_at(token)

    @action
    def show_only(self, shown: str) -> None:
        """Show all, those not reviewed, or those with failed checks."""
        self._look_again(shown=shown)

    @action
    def show_eval(self, eval_id: str) -> None:
        """Show one eval, or with an empty text all."""
        self._look_again(eval_id=eval_id)

    @action
    def find(self, kind: str | None, value: str) -> None:
        """Show only runs with these words, or with this thing of a kind; all where it is None."""
        self._look_again(search=self._choice.search.choose(kind, value))

    @action
    def ask_for(self, part: str, name: str) -> None:
        """Put something else side by side, or another workspace, iteration or configuration.

        What depends on that is left open again.
        """
        later = PARTS[2:] if part == "pair" else PARTS[PARTS.index(part) + 1 :]
        again = dict.fromkeys(("eval_id", "at", *later), "")
        changes = {**again, part: name, "revealed": False, "search": RowSearch()}
        self._settle_scope(replace(self._choice, **changes))

    @action
    def go_blind(self, blind: bool) -> None:
        """Hide which side is which."""
        self._look_again(blind=blind and bool(self._scope.sides), revealed=False, shown=ALL)

    @action
    def reveal(self) -> None:
        """End a blind review before all is scored."""
        self._choice = replace(self._choice, revealed=True)

    @quiet_action
    def unfold(self, part: str, unfolded: bool) -> None:
        """Open or close a part, here and in the runs that come."""
        parts = self._choice.unfolded | {part} if unfolded else self._choice.unfolded - {part}
        if parts != self._choice.unfolded:
            self._choice = replace(self._choice, unfolded=parts)
            self.show()

    # what is said

    @quiet_action
    def say(self, token: str, text: str) -> None:
        """Say something of a run."""
        key = self._run_of_token(token)
        before, others = self._book.remarks(key), len(self._book.other_reviews(key))
        try:
            remarks = replace(self._remarks_on(key), text=text)
            self._book.say(key, replace(remarks, reviewed=remarks.reviewed or bool(remarks)))
        finally:
            after = self._book.remarks(key)
            is_news = (bool(before), before is None) != (bool(after), after is None)
            if is_news or len(self._book.other_reviews(key)) != others:
                self.show()

    @action
    def score(self, token: str, dimension: str, score: float | str | None) -> None:
        """Give a run a score on a dimension, or take it back."""
        key = self._run_of_token(token)
        remarks = self._remarks_on(key)
        others = {name: value for name, value in remarks.scores.items() if name != dimension}
        given = {} if score is None else {dimension: _whole_point(score)}
        try:
            self._book.say(key, replace(remarks, scores=others | given, reviewed=True))
        finally:
            self._reveal_if_scored()

    @action
    def label_check(self, token: str, verdict: str | None) -> None:
        """Say that a check passes or fails, or take that back.

        Raises:
            LookupError: it is not there.
        """
        item = next((item for item in self._now.items if item.token == token), None)
        if item is None or item.check is None or verdict not in (*VERDICTS, None):
            raise LookupError("That check no longer exists.")
        remarks = self._remarks_on(item.runs[0])
        labels = {text: label for text, label in remarks.labels.items() if text != item.check}
        if verdict is not None:
            labels[item.check] = CheckLabel(item.check, verdict == "pass", item.sampled)
        self._book.say(item.runs[0], replace(remarks, labels=labels))

    @action
    def call_fine(self, token: str, fine: bool) -> None:
        """Say that a run is fine, or that it was not reviewed."""
        self._book.call_fine(self._run_of_token(token), fine)

    @action
    def finish(self, left: int = 0) -> None:
        """Call the review complete; ask first where more than `left` runs are not reviewed."""
        asks = self._now.left > left
        self._choice = replace(self._choice, finishing=asks)
        if not asks:
            self._book.write_status(COMPLETE, self._now.begun)

    @action
    def reopen(self) -> None:
        """Call it in progress again."""
        self._choice = replace(self._choice, finishing=False)
        self._book.write_status(IN_PROGRESS, self._now.begun)

    @action
    def save(self) -> None:
        """Write what could not be written before."""
        self._book.save()

    # how it comes about

    @property
    def _now(self) -> ReviewState:
        ws, scope, choice = self._source.ws, self._scope, self._choice
        return ReviewState(ws, scope, choice, self._book, self._seed, self._finder)

    def _take_changes(self) -> None:
        """Runs have landed: what is asked for stays, and what is looked at."""
        if not self._ready:
            return
        with self._lock:
            self._book.look_at(self._source.ws)
            try:
                self._settle_scope(self._choice)
            except LookupError:
                self._settle_scope(replace(self._choice, **dict.fromkeys(PARTS, "")))
        self.show()

    def _settle_scope(self, choice: ReviewChoice) -> None:
        self._scope = scope = scope_of(self._source.ws, choice)
        self._choice = replace(scope.choice, blind=choice.blind and bool(scope.sides))
        self._finder = ItemFinder(self._source.ws, scope)
        self._runs |= {token_of(key): key for item in scope.items for key in item.runs}
        self._look_again()

    def _look_again(self, **chosen: Any) -> None:
        """Look at what is shown: at the same as before, where that is among it."""
        at, self._choice = self._choice.at, replace(self._choice, **chosen, at="")
        tokens = [item.token for item in self._now.shown]
        self._look_at(at if at in tokens else next(iter(tokens), ""))
        self._reveal_if_scored()

    def _look_at(self, token: str) -> None:
        self._choice = replace(self._choice, at=token)
        self._book.end_typing()

    def _reveal_if_scored(self) -> None:
        now = self._now
        if now.choice.hidden and now.items and all(map(now.is_scored, now.items)):
            self._choice = replace(self._choice, revealed=True)

    def _remarks_on(self, key: RunKey) -> Remarks:
        """What is said of a run by now."""
        remarks = self._book.remarks(key)
        return Remarks(reviewed=False) if remarks is None else remarks

    def _run_of_token(self, token: str) -> RunKey:
        if token not in self._runs:
            raise LookupError("That run no longer exists.")
        return self._runs[token]


def _whole_point(score: float | str) -> int:
    number = float(score)
    if number not in POINTS:
        raise ValueError(f"A score must be a whole number from 1 to 5, not {score}.")
    return int(number)


def review(
    ws: Workspace | str | os.PathLike[str],
    pair: Pair = "with and without",
    *,
    blind: bool = False,
    iteration: str | int | None = None,
    workspace: str = "",
    configuration: str = "",
    against: str = "",
    seed: int = 0,
) -> Review:
    """Review runs: look at them, alone or side by side, and comment on them.

    Comments are saved as you type, to the iteration's `feedback.json`; the widget's `.feedback`
    gives them as a table.

    Args:
        ws: a `Workspace`, or the path of one.
        pair: what to show side by side: `with and without` the skill, two `iterations`, or
            nothing (`single`); or single `checks` that a judge passed or failed, for you to
            label without seeing its verdict or the side: first those in doubt, and every other
            one drawn at random.
        blind: whether to hide which side is which until both sides of all pairs are scored.
        iteration: the iteration, by its name or number; the last one if none is given.
        workspace: which one, if several are loaded; the first if none is given.
        configuration: the one to review; the one with the skill if none is given.
        against: what to compare it with: a configuration, or with `iterations` an iteration.
        seed: in a blind review, this and the pair decide the order of the sides.

    Returns:
        the widget.

    Raises:
        LookupError: an iteration, configuration or workspace does not exist.
        TypeError: `ws` is neither a workspace nor a path.
        ValueError: `pair` is none of these.
    """
    if pair not in PAIRS:
        raise no_such("pair", pair, PAIRS)
    name = f"iteration-{iteration}" if isinstance(iteration, int) else iteration or ""
    return Review(
        ws, ReviewChoice(pair, workspace, name, configuration, against, blind=blind), seed
    )
