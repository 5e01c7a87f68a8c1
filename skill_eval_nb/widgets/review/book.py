"""What is said of each run: in the files of each iteration, or typed and not written yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import CheckLabel
from skill_eval_nb.workspace import NothingToLoad
from skill_eval_nb.workspace.feedback import (
    COMPLETE,
    IN_PROGRESS,
    NotKept,
    Remarks,
    ReviewEntry,
    Reviews,
    RunIds,
    RunOf,
    folders_of,
    keep_review,
    keep_status,
    read_reviews,
)

from ..ui.source import RunKey

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


Found = dict[RunOf, list[ReviewEntry]]


@dataclass
class Page:
    """The feedback on an iteration.

    Attributes:
        workspace, iteration: which one.
        runs: its runs.
        files: where feedback on it lies; the first is the one that is written.
        why: why there is none that could be written.
        now: what the first said last.
        found: its reviews, by run.
        elsewhere: those in the other files.
        stamps: of the files as they were read.
    """

    workspace: str
    iteration: str
    runs: frozenset[RunOf]
    files: tuple[Path, ...] = ()
    why: str | None = None
    now: Reviews = field(default_factory=Reviews)
    found: Found = field(default_factory=dict)
    elsewhere: Found = field(default_factory=dict)
    stamps: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def fault(self) -> str | None:
        """Why nothing can be written."""
        if self.files and not self.files[0].parent.is_dir():
            return f"{self.files[0].parent} no longer exists, and will not be created again"
        return self.why or self.now.fault

    @property
    def name(self) -> str:
        """The file in a sentence."""
        return "/".join(self.files[0].parts[-2:]) if self.files else "feedback.json"


class Book:
    """The feedback on the runs of a workspace: one review of each is shown to be changed.

    It is read when it is asked for, and again when it has changed.
    """

    def __init__(self, ws: Workspace) -> None:
        self._mine: dict[RunKey, ReviewEntry] = {}
        self._created: set[RunKey] = set()
        self._typed: set[RunKey] = set()
        self._unsaved: dict[RunKey, Remarks | None] = {}
        self.look_at(ws)

    def look_at(self, ws: Workspace) -> None:
        """Go on with the workspace as it is by now; what was said stays."""
        runs = ws.polars("runs")
        self._path = ws.path
        self._ids: RunIds | None = None
        if ws.path:
            paths = dict(runs.unique("workspace").select("workspace", "path").iter_rows())
            with suppress(FileNotFoundError, NothingToLoad):
                self._ids = RunIds(folders_of(ws.path, paths), runs["configuration"].unique())
        self._runs: dict[tuple[str, str], set[RunOf]] = defaultdict(set)
        columns = ("workspace", "iteration", *RunOf._fields)
        for workspace, iteration, *run in runs.select(columns).iter_rows():
            self._runs[workspace, iteration].add(RunOf(*run))
        self._pages: dict[tuple[str, str], Page] = {}

    def page_of(self, key: RunKey) -> Page:
        """The feedback on the iteration of a run."""
        place = (key.workspace, key.iteration)
        if place not in self._pages:
            self._pages[place] = self._new_page(*place)
            self._read_page(self._pages[place])
        return self._pages[place]

    def _new_page(self, workspace: str, iteration: str) -> Page:
        files = () if self._ids is None else self._ids.files(workspace, iteration)
        why = None
        if self._ids is None:
            why = "These tables have no folder, so there is no file to store feedback in."
        elif not files:
            why = f"Only a benchmark names {iteration}: it has no folder to store feedback in."
        elif fault := leads_out(files[0], self._path):
            why = f"{files[0]} cannot be written: {fault}."
        runs = frozenset(self._runs[workspace, iteration])
        return Page(workspace, iteration, runs, tuple(map(Path, files)), why)

    def refresh(self) -> None:
        """Read again what has changed on disk."""
        for page in self._pages.values():
            if page.stamps != _stamp_files(page.files):
                self._read_page(page)

    def _read_page(self, page: Page) -> None:
        page.stamps = _stamp_files(page.files)
        if page.files:
            page.now, *others = map(read_reviews, page.files)
            page.found = self._by_run(page, page.now.entries)
            page.elsewhere = self._by_run(page, [entry for of in others for entry in of.entries])

    def _by_run(self, page: Page, entries: Iterable[ReviewEntry]) -> Found:
        found: Found = {}
        for entry in entries:
            run = self._run_of(page, entry.run_id)
            if run is not None:
                found.setdefault(run, []).append(entry)
        return found

    def _run_of(self, page: Page, run_id: str) -> RunOf | None:
        assert self._ids is not None
        return self._ids.run_of(page.workspace, page.iteration, run_id)

    def remarks(self, key: RunKey) -> Remarks | None:
        """What is said of a run; None where nothing is, not even that it is fine."""
        if key in self._unsaved:
            return self._unsaved[key]
        entry = self.entry(key)
        return None if entry is None else entry.remarks

    def entry(self, key: RunKey) -> ReviewEntry | None:
        """The review of a run that is shown to be changed: ours, else the last one.

        While somebody types it stays the same one, even if the file changes.
        """
        mine = self._mine.get(key)
        if key in self._typed:
            return mine
        here = self.page_of(key).found.get(_run_of(key), [])
        return mine if mine in here else (here[-1] if here else None)

    def other_reviews(self, key: RunKey) -> list[ReviewEntry]:
        """Further reviews of a run: of others, or in other files."""
        page, mine = self.page_of(key), self.entry(key)
        here = list(page.found.get(_run_of(key), []))
        if mine is not None and mine in here:
            here.remove(mine)
        return [*page.elsewhere.get(_run_of(key), []), *here]

    def is_reviewed(self, key: RunKey) -> bool:
        """Whether somebody said something of a run, or that it is fine."""
        every = [self.remarks(key), *(entry.remarks for entry in self.other_reviews(key))]
        return any(remarks is not None and remarks.reviewed for remarks in every)

    def is_saved(self, key: RunKey) -> bool:
        """Whether what is said of a run is in its file."""
        return key not in self._unsaved

    def count_unsaved(self) -> int:
        """Of how many runs something is said that is in no file."""
        return len(self._unsaved)

    def say(self, key: RunKey, remarks: Remarks) -> None:
        """Say something of a run, and write it.

        Without words and scores, a review that was made here is taken away; one that was there
        before stays, and says that the run is fine.

        Raises:
            OSError: it was not written; it is kept here until it can be.
        """
        was = self.entry(key)
        created_here = was is not None and key in self._created and bool(was.remarks)
        if not remarks and (was is None or created_here or not remarks.reviewed):
            self._take_away(key, remarks.labels)
        else:
            self._put_remarks(key, remarks)

    def call_fine(self, key: RunKey, fine: bool) -> None:
        """Say of a run that it is fine, or take its review away, whoever made it; labels stay.

        Raises:
            OSError: it was not written; it is kept here until it can be.
        """
        was = self.remarks(key)
        labels = {} if was is None else was.labels
        if fine:
            self._put_remarks(key, Remarks(labels=labels))
        else:
            self._take_away(key, labels)

    def _take_away(self, key: RunKey, labels: Mapping[str, CheckLabel]) -> None:
        """Take away what is said of a run, but for the labels of its checks."""
        self._put_remarks(key, Remarks(labels=labels, reviewed=False) if labels else None)

    def save(self) -> None:
        """Write what could not be written before.

        Raises:
            OSError: it still cannot.
        """
        self.refresh()
        self._write_all()

    def write_status(self, status: str, pages: Iterable[Page]) -> None:
        """Write the status of the feedback on iterations.

        Raises:
            OSError: it was not written.
        """
        for page in pages:
            if page.fault is not None:
                raise NotKept(page.fault)
            keep_status(page.files[0], status)
            self._read_page(page)

    def end_typing(self) -> None:
        """Other runs are looked at: what others said meanwhile is taken up."""
        self._typed.clear()

    def _put_remarks(self, key: RunKey, remarks: Remarks | None) -> None:
        was = self.entry(key)
        if remarks == (None if was is None else was.remarks) and self.is_saved(key):
            return
        self._unsaved[key] = remarks
        self._write(key, remarks)
        with suppress(OSError):  # of these it was said before
            self._write_all()

    def _write_all(self) -> None:
        for key, remarks in list(self._unsaved.items()):
            self._write(key, remarks)

    def _write(self, key: RunKey, remarks: Remarks | None) -> None:
        page, was = self.page_of(key), self.entry(key)
        if page.fault is not None:
            raise NotKept("Not saved. The reason is below.")

        def status_after(now: Reviews) -> str:
            reviews = [entry.run_id for entry in now.entries if entry.remarks.reviewed]
            reviewed = {self._run_of(page, run_id) for run_id in reviews}
            if page.runs <= {*reviewed, *page.elsewhere}:
                return COMPLETE
            return IN_PROGRESS if remarks is None or now.status is None else now.status

        run_id = was.run_id if was is not None else self._id_of(page, _run_of(key))
        entry = keep_review(page.files[0], run_id, remarks, was, status_after)
        self._unsaved.pop(key, None)
        if entry is None:
            self._mine.pop(key, None)
            self._created.discard(key)
            self._typed.discard(key)
        else:
            self._mine[key] = entry
            self._typed.add(key)
            if was is None:
                self._created.add(key)
        self._read_page(page)

    def _id_of(self, page: Page, run: RunOf) -> str:
        """The id by which feedback names a run."""
        assert self._ids is not None
        numbered = any(other.run_number != 1 for other in page.runs)
        sides = {other.configuration for other in page.runs}
        return self._ids.id_of(page.workspace, page.iteration, run, numbered, sides)


def _stamp_files(files: Iterable[Path]) -> list[tuple[int, ...]]:
    """Others where a file has changed, or is gone."""
    known = [path.stat() for path in files if path.is_file()]
    return [(own.st_mtime_ns, own.st_size, own.st_ino) for own in known]


def _run_of(key: RunKey) -> RunOf:
    return RunOf(key.eval_id, key.configuration, key.run_number)
