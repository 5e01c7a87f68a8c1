"""What is said of each run: in the files of each iteration, or typed and not written yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import leads_out
from skill_eval_nb.tables.columns import TABLES
from skill_eval_nb.tables.document_rows import scores_text
from skill_eval_nb.tables.frames import to_pandas, to_polars
from skill_eval_nb.workspace import NothingToLoad
from skill_eval_nb.workspace.feedback import (
    COMPLETE,
    IN_PROGRESS,
    Entry,
    NotKept,
    Reviews,
    RunIds,
    RunOf,
    Said,
    folders_of,
    keep_review,
    keep_status,
    read_reviews,
)

from ..show.run import RunKey

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


Stamp = tuple[int, int, int] | None
Found = dict[RunOf, list[Entry]]


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
    """

    workspace: str
    iteration: str
    runs: frozenset[RunOf]
    files: tuple[Path, ...] = ()
    why: str | None = None
    now: Reviews = field(default_factory=Reviews)
    found: Found = field(default_factory=dict)
    elsewhere: Found = field(default_factory=dict)
    stamps: tuple[Stamp, ...] = ()

    @property
    def fault(self) -> str | None:
        """Why nothing can be written."""
        folder = self.files[0].parent if self.files else None
        if folder is not None and not folder.is_dir():
            return f"{folder} is not there any more, and is not made anew"
        return self.why or self.now.fault

    @property
    def name(self) -> str:
        """The file in a sentence."""
        if not self.files:
            return "feedback.json"
        folder = self.files[0].parent.name
        return f"{folder}/{self.files[0].name}"


class Pages:
    """The feedback of a workspace, read when it is asked for and again when it has changed."""

    def __init__(self, ws: Workspace) -> None:
        runs = ws.polars("runs")
        self._path = ws.path
        self._ids: RunIds | None = None
        if ws.path:
            ones = dict(runs.unique("workspace").select("workspace", "path").iter_rows())
            try:
                self._ids = RunIds(folders_of(ws.path, ones), runs["configuration"].unique())
            except (FileNotFoundError, NothingToLoad):
                self._ids = None
        self._runs: dict[tuple[str, str], set[RunOf]] = defaultdict(set)
        for workspace, iteration, *run in runs.select(
            "workspace", "iteration", *RunOf._fields
        ).iter_rows():
            self._runs[workspace, iteration].add(RunOf(*run))
        self._pages: dict[tuple[str, str], Page] = {}

    def of(self, key: RunKey) -> Page:
        """The feedback on the iteration of a run."""
        place = (key.workspace, key.iteration)
        page = self._pages.get(place)
        if page is None:
            page = self._pages[place] = self._new(*place)
            self.read(page)
        return page

    def id_of(self, page: Page, run: RunOf) -> str:
        """The id by which feedback names a run."""
        assert self._ids is not None
        numbered = any(run.run_number != 1 for run in page.runs)
        sides = {run.configuration for run in page.runs}
        return self._ids.id_of(page.workspace, page.iteration, run, numbered, sides)

    def run_of(self, page: Page, run_id: str) -> RunOf | None:
        """The run of the iteration that feedback names so; None where there is none."""
        assert self._ids is not None
        return self._ids.run_of(page.workspace, page.iteration, run_id)

    def refresh(self) -> None:
        """Read again what has changed on disk."""
        for page in self._pages.values():
            if page.stamps != _stamps(page.files):
                self.read(page)

    def read(self, page: Page) -> None:
        """Read what the files of an iteration say now."""
        page.stamps = _stamps(page.files)
        if not page.files:
            return
        page.now = read_reviews(page.files[0])
        page.found = self._sorted(page, page.now.entries)
        others = [entry for path in page.files[1:] for entry in read_reviews(path).entries]
        page.elsewhere = self._sorted(page, others)

    def _new(self, workspace: str, iteration: str) -> Page:
        runs = frozenset(self._runs[workspace, iteration])
        files = () if self._ids is None else self._ids.files(workspace, iteration)
        why = None
        if self._ids is None:
            why = "These tables were not read from a folder: there is no file to keep feedback in."
        elif not files:
            why = f"Only a benchmark tells of {iteration}: it has no folder to keep feedback in."
        elif fault := leads_out(files[0], self._path):
            why = f"{files[0]} cannot be written: {fault}."
        return Page(workspace, iteration, runs, tuple(map(Path, files)), why)

    def _sorted(self, page: Page, entries: Iterable[Entry]) -> Found:
        found: Found = {}
        for entry in entries:
            run = self.run_of(page, entry.run_id)
            if run is not None:
                found.setdefault(run, []).append(entry)
        return found


def _stamps(files: Iterable[Path]) -> tuple[Stamp, ...]:
    return tuple(map(_stamp, files))


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


class Book:
    """The feedback on the runs of a workspace: one review of each is shown to be changed."""

    def __init__(self, ws: Workspace) -> None:
        self.pages = Pages(ws)
        self._mine: dict[RunKey, Entry] = {}
        self._created: set[RunKey] = set()
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
        others = [(other.said, other.timestamp) for other in self.others(key)]
        return others if said is None else [(said, when), *others]

    def of(self, ws: Workspace) -> Book:
        """The same for the workspace as it is by now."""
        book = Book(ws)
        book._mine, book._created = self._mine, self._created
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
        created_here = was is not None and key in self._created and bool(was.said)
        self._put(key, None if not said and (was is None or created_here) else said)

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
            named = {self.pages.run_of(page, entry.run_id) for entry in now.entries}
            if page.runs <= {*named, *page.elsewhere}:
                return COMPLETE
            return IN_PROGRESS if said is None or now.status is None else now.status

        run_id = was.run_id if was is not None else self.pages.id_of(page, _of(key))
        entry = keep_review(page.files[0], run_id, said, was, status)
        self._unsaved.pop(key, None)
        if was is None:
            self._created.add(key)
        if entry is None:
            self._mine.pop(key, None)
            self._created.discard(key)
            self._typed.discard(key)
        else:
            self._mine[key] = entry
            self._typed.add(key)
        self.pages.read(page)


def _of(key: RunKey) -> RunOf:
    return RunOf(key.eval_id, key.configuration, key.run_number)


def feedback_table(ws: Workspace, book: Book) -> Any:
    """A row a review, in the kind of table that the workspace has.

    What could not be written to its file is in it, without a time.
    """
    table = TABLES["feedback"]
    values: dict[str, list[Any]] = {name: [] for name in table.names}
    columns = [*RunKey._fields, "eval_name"]
    for row in ws.polars("runs").select(columns).iter_rows(named=True):
        name = row.pop("eval_name")
        key = RunKey(**row)
        status = book.pages.of(key).now.status
        for said, timestamp in book.all_said(key):
            record = {
                **row,
                "eval_name": name,
                "feedback": said.text,
                "timestamp": timestamp,
                "status": status,
                "scores": scores_text(said.scores),
            }
            for column, value in record.items():
                values[column].append(value)
    frame = to_polars(table, values)
    return to_pandas(frame) if ws.backend == "pandas" else frame
