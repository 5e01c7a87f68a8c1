"""What is said of each run: in the files, or typed and not written yet."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from skill_eval_nb.widgets.runs import RunKey
from skill_eval_nb.workspace.feedback import (
    COMPLETE,
    IN_PROGRESS,
    Entry,
    NotKept,
    Reviews,
    Said,
    keep_review,
    keep_status,
)
from skill_eval_nb.workspace.run_ids import RunOf

from .pages import Page, Pages

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


class Book:
    """The feedback on the runs of a workspace: one review of each is shown to be changed."""

    def __init__(self, ws: Workspace) -> None:
        self.pages = Pages(ws)
        self._mine: dict[RunKey, Entry] = {}
        self._made: set[RunKey] = set()
        self._typed: set[RunKey] = set()
        self._unsaved: dict[RunKey, Said | None] = {}

    def said(self, key: RunKey) -> Said | None:
        """What is said of a run; None where nothing is, not even that it is fine."""
        if key in self._unsaved:
            return self._unsaved[key]
        entry = self.entry(key)
        return None if entry is None else entry.said

    def entry(self, key: RunKey) -> Entry | None:
        """The review of a run that is shown to be changed: ours, else the last one.

        While somebody types it stays the same one, whatever becomes of the file meanwhile.
        """
        mine = self._mine.get(key)
        if key in self._typed:
            return mine
        here = self.pages.of(key).found.get(_of(key), [])
        return mine if mine in here else (here[-1] if here else None)

    def others(self, key: RunKey) -> list[Entry]:
        """Further reviews of a run: of others, or in other files."""
        page, mine = self.pages.of(key), self.entry(key)
        here = list(page.found.get(_of(key), []))
        if mine is not None and mine in here:
            here.remove(mine)
        return [*page.elsewhere.get(_of(key), []), *here]

    def is_reviewed(self, key: RunKey) -> bool:
        """Whether somebody said something of a run, or that it is fine."""
        if self._unsaved.get(key) is not None:
            return True
        page, run = self.pages.of(key), _of(key)
        return run in page.elsewhere or (run in page.found and key not in self._unsaved)

    def is_saved(self, key: RunKey) -> bool:
        """Whether what is said of a run is in its file."""
        return key not in self._unsaved

    def is_typed(self, key: RunKey) -> bool:
        """Whether what is said of a run was typed since it is looked at."""
        return key in self._typed

    def all_said(self, key: RunKey) -> list[tuple[Said, str | None]]:
        """All that is said of a run, with when; ours first."""
        said, entry = self.said(key), self.entry(key)
        when = None if entry is None or not self.is_saved(key) else entry.timestamp
        others = [(one.said, one.timestamp) for one in self.others(key)]
        return others if said is None else [(said, when), *others]

    def of(self, ws: Workspace) -> Book:
        """The same for the workspace as it is by now."""
        book = Book(ws)
        book._mine, book._made = self._mine, self._made
        book._typed, book._unsaved = self._typed, self._unsaved
        return book

    def waiting(self) -> int:
        """Of how many runs something is said that is in no file."""
        return len(self._unsaved)

    def say(self, key: RunKey, said: Said) -> None:
        """Say something of a run, and write it.

        Nothing takes away a review that was made here; of one that was there before, its words
        and scores alone.

        Raises:
            OSError: it was not written; it is kept here until it can be.
        """
        was = self.entry(key)
        made_here = was is not None and key in self._made and bool(was.said)
        self._put(key, None if not said and (was is None or made_here) else said)

    def call_fine(self, key: RunKey, fine: bool) -> None:
        """Say of a run that it is fine, or take its review away, whoever made it.

        Raises:
            OSError: it was not written; it is kept here until it can be.
        """
        self._put(key, Said() if fine else None)

    def save(self) -> None:
        """Write what could not be written before.

        Raises:
            OSError: it still cannot.
        """
        self.pages.refresh()
        self._write_all()

    def settle(self, status: str, pages: Iterable[Page]) -> None:
        """Write the status of the feedback on iterations.

        Raises:
            OSError: it was not written.
        """
        for page in pages:
            if page.fault is not None:
                raise NotKept(page.fault)
            keep_status(page.files[0], status)
            self.pages.read(page)

    def turn(self) -> None:
        """Other runs are looked at: what others said meanwhile of those before is taken up."""
        self._typed.clear()

    def _put(self, key: RunKey, said: Said | None) -> None:
        was = self.entry(key)
        if said == (None if was is None else was.said) and self.is_saved(key):
            return
        self._unsaved[key] = said
        self._write(key, said)
        with suppress(OSError):  # of these it was said before
            self._write_all()

    def _write_all(self) -> None:
        for key, said in list(self._unsaved.items()):
            self._write(key, said)

    def _write(self, key: RunKey, said: Said | None) -> None:
        page, was = self.pages.of(key), self.entry(key)
        if page.fault is not None:
            raise NotKept("That is not saved. What is wrong stands below.")

        def status(now: Reviews) -> str:
            named = {self.pages.run_of(page, one.run_id) for one in now.entries}
            if page.runs <= {*named, *page.elsewhere}:
                return COMPLETE
            return IN_PROGRESS if said is None or now.status is None else now.status

        run_id = was.run_id if was is not None else self.pages.id_of(page, _of(key))
        made = keep_review(page.files[0], run_id, said, was, status)
        self._unsaved.pop(key, None)
        if was is None:
            self._made.add(key)
        if made is None:
            self._mine.pop(key, None)
            self._made.discard(key)
            self._typed.discard(key)
        else:
            self._mine[key] = made
            self._typed.add(key)
        self.pages.read(page)


def _of(key: RunKey) -> RunOf:
    return RunOf(key.eval_id, key.configuration, key.run_number)
