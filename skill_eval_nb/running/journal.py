"""The journal of an iteration and its ledger: what was begun, what has ended, and what it cost.

`iteration-N/journal.jsonl` is only appended to, one JSON object per line, by one writer at a time.
Its first line says which plan the iteration belongs to, or that it was prepared and waits for one.
Before a step begins, it is `launched` with the most that it may cost; it is closed with what it
cost by `finished`, `errored`, `cancelled`, `lost`, or, if the job was killed, by `interrupted` at
the next start. So it is known what all starts have spent: a step that was never closed counts at
what its notes say that it can have cost, or without any at its worst case.

Lines reach the operating system before the step begins, so they survive a killed process. They are
not forced onto the disk: a power cut may lose the last ones.

A process that asks a model for something to be stored locks the folders for it, and looks up what
is stored only then: so nothing is paid for twice. A second process is refused, and told which one
holds the lock. The folders are tested first: what cannot be stored is not asked for.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import Any

from skill_eval_nb.disk import open_regular
from skill_eval_nb.models.client import ON_RETRY, Retry
from skill_eval_nb.text import count
from skill_eval_nb.workspace.jobs import A_JOB, JOURNAL, LOCK
from skill_eval_nb.workspace.writing import Locked, hold_lock, name_process, now

from .budget import Budget, read_noted
from .protocol import ON_EVENTS, Refused, refuse
from .threads import is_exiting

NAME = JOURNAL
STAGING = ".staging"
"""In an iteration's folder: runs that are being moved into place, and notes about steps. What a
killed job left there is unfinished; the next start deletes it."""

LAUNCHED, ENDED = "launched", "ended"
FINISHED, ERRORED, CANCELLED = "finished", "errored", "cancelled"
DECIDED = "decided"
"""A planned look has decided: no further run is needed."""
SUBMITTED = "submitted"
"""A batch was accepted, and this is its id."""

LOST, INTERRUPTED = "lost", "interrupted"
CLOSING = frozenset((FINISHED, ERRORED, CANCELLED, LOST, INTERRUPTED))
"""Events that close a launch."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A launched step: its number in the journal, what it is, and the most it may cost.

    `noted_usd` is the most that it can have cost by its notes, if it was never closed and there
    are any.
    """

    number: int
    step: str
    key: str
    worst_usd: float | None
    event: Mapping[str, Any] = field(default_factory=dict)
    noted_usd: float | None = None

    @property
    def usd(self) -> float | None:
        """The most US dollars that it can have cost; None for a step that costs nothing."""
        known = (self.worst_usd, self.noted_usd)
        return min((usd for usd in known if usd is not None), default=None)


@dataclass(frozen=True, slots=True)
class Record:
    """The content of a journal.

    Attributes:
        costs: US dollars spent by all starts, by the keys of what they were spent on; steps that
            were never closed count at the most that they can have cost.
        last: the number of the last launch.
        open: the steps that were never closed, by launch number.
        batches: the ids of submitted batches, by launch number.
        seconds: total seconds and number of the steps that ended well, by step.
        events: each line, in order.
        whole: bytes up to the end of the last complete line.
    """

    costs: Mapping[str, float] = field(default_factory=dict)
    last: int = 0
    open: Mapping[int, Launch] = field(default_factory=dict)
    batches: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    seconds: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    events: tuple[Mapping[str, Any], ...] = ()
    whole: int = 0

    @property
    def spent_usd(self) -> float:
        """US dollars spent by all starts."""
        return sum(self.costs.values())


def notes_of(iteration: Path, launch: int) -> Path:
    """The file that notes what a launched step can have cost, see `budget`."""
    return iteration / STAGING / "spent" / f"{launch}.jsonl"


def read_journal(iteration: str | os.PathLike[str]) -> Record:
    """Read the journal in an iteration's folder; empty if there is none.

    An incomplete last line is ignored: the job was killed while writing it.

    Raises:
        ValueError: a complete line is not a JSON object: the file was changed by something else.
    """
    path = Path(iteration, NAME)
    try:
        with open_regular(path) as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Record()
    whole = data.rfind(b"\n") + 1
    events: list[Mapping[str, Any]] = []
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise ValueError(  # noqa: TRY004 -- what is in a file, not a type
                f"{path}, line {number} is not a line of a journal: {line[:60]!r}. Something else "
                "wrote there; restore the file, or move the iteration's folder away"
            )
        events.append(event)
    return _record_of(events, whole, path.parent)


def _record_of(events: list[Mapping[str, Any]], whole: int, iteration: Path) -> Record:
    last = 0
    costs: dict[str, float] = {}
    waiting: dict[int, Launch] = {}
    batches: dict[int, tuple[str, ...]] = {}
    seconds: dict[str, tuple[float, int]] = {}
    for event in events:
        name, number = event.get("event"), event.get("launch")
        if name == LAUNCHED and isinstance(number, int):
            last = max(last, number)
            waiting[number] = Launch(
                number, event["step"], event["key"], event.get("worst_usd"), event
            )
        elif name == SUBMITTED and isinstance(number, int):
            batches[number] = (*batches.get(number, ()), event["id"])
        elif name in CLOSING and isinstance(number, int):
            begun = waiting.pop(number, None)
            key = begun.key if begun is not None else ""
            costs[key] = costs.get(key, 0.0) + (event.get("usd") or 0.0)
            if name == FINISHED and begun is not None and "seconds" in event:
                total, count = seconds.get(begun.step, (0.0, 0))
                seconds[begun.step] = (total + event["seconds"], count + 1)
    for number, launch in waiting.items():
        noted = read_noted(notes_of(iteration, number))
        waiting[number] = launch = replace(launch, noted_usd=noted)  # noqa: PLW2901 -- the same
        costs[launch.key] = costs.get(launch.key, 0.0) + (launch.usd or 0.0)
    return Record(costs, last, waiting, batches, seconds, tuple(events), whole)


class Journal:
    """The only writer of a journal; `record` is its content when it was opened."""

    def __init__(self, iteration: str | os.PathLike[str], planned: Mapping[str, Any]) -> None:
        """Open the journal in an iteration's folder; both are created if missing.

        Args:
            iteration: the folder.
            planned: the first entry: which plan the iteration belongs to. It is added if the
                journal does not have it yet.

        Raises:
            Held: another job is writing it; the message says which.
            Refused: there is no room, or the folder cannot be written.
            ValueError: it is not a journal.
            OSError: it cannot be created or written.
        """
        self.path = Path(iteration, NAME)
        probe_folders([self.path.parent])
        if not self.path.exists():
            _create_journal(self.path, planned)
        self._held = ExitStack()
        self._held.enter_context(hold_folders([self.path.parent], A_JOB))
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
            self._held.callback(os.close, self._file)
            self.record = read_journal(iteration)
            os.ftruncate(self._file, self.record.whole)  # drop half a line of a killed job
            self._last = self.record.last
            if not any(_is_plan(event, planned) for event in self.record.events):
                self.add(**planned)
        except BaseException:
            self._held.close()
            raise

    def add(self, event: str, **fields: Any) -> None:
        """Write a line; the operating system has it when this returns.

        Raises:
            OSError: there is no room, or the file cannot be written; no half line stays.
        """
        data = _line({"event": event, **fields})
        size = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError:
            os.ftruncate(self._file, size)
            raise

    def launch(self, step: str, key: str, worst_usd: float | None, **fields: Any) -> int:
        """Write that a step begins, and the most that it may cost; returns its number."""
        self._last += 1
        self.add(LAUNCHED, launch=self._last, step=step, key=key, worst_usd=worst_usd, **fields)
        return self._last

    def close(self) -> None:
        """Close it, so that another process can write."""
        self._held.close()


def _create_journal(path: Path, planned: Mapping[str, Any]) -> None:
    """Create an iteration's folder together with its journal, or neither.

    A folder without the first line would be taken for somebody else's.
    """
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    half = path.parent.with_name(f".{path.parent.name}.{secrets.token_hex(4)}")
    half.mkdir()
    try:
        (half / path.name).touch(0o600)  # the journal says what was paid for
        (half / path.name).write_bytes(_line(planned))
        half.rename(path.parent)
    except OSError:
        shutil.rmtree(half, ignore_errors=True)
        if not path.exists():  # else another start was faster
            raise


def _line(fields: Mapping[str, Any]) -> bytes:
    line = {"event": fields["event"], "at": now(), **fields}
    return json.dumps(line, ensure_ascii=True, default=str).encode() + b"\n"


def _is_plan(event: Mapping[str, Any], planned: Mapping[str, Any]) -> bool:
    known = {key: value for key, value in event.items() if key != "at"}
    return known == json.loads(json.dumps(planned, default=str))


# ── the steps of a job ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended.

    Attributes:
        reason: why it errored, in words for the user; None if it did not.
        trace: where in the code, if a program and not a model failed.
        seconds: wall clock.
    """

    reason: str | None = None
    trace: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class InFlight:
    """A step in flight.

    Attributes:
        step: execute, check, judge or grade.
        folder: the run's folder in the workspace.
        seconds: how long it has taken so far.
        retry: why a call is retried, how many times so far and when; empty if none is.
        spent_usd: US dollars so far; None if it calls no model, or a price is not known.
        events: the latest events of the run, as in `Execution`; None if they are only known at the
            end: for steps other than execute, in a pool, with some executors.
    """

    step: str
    folder: str
    seconds: float
    retry: str = ""
    spent_usd: float | None = None
    events: tuple[Mapping[str, Any], ...] | None = None


LATEST = 12
"""The number of events of a run in flight that observers get."""


class Lost(Exception):
    """A step was lost with its worker."""


class Interrupted(Exception):
    """The interpreter is exiting: a failure now is not the run's, and the step is repeated."""


@dataclass
class Launched:
    """A step in flight.

    Attributes:
        name: what is done.
        folder: the run's folder in the workspace.
        number: the number of its launch in the journal.
        reservation: the money for it; None for a step that costs nothing.
        notes: the file that notes what it can have cost.
        since: when it began, by a monotonic clock.
        ended: how it ended; None until then, and if it was cut off.
        stays: whether its launch stays open in the journal, for the next start to continue.
        retry: why and when a call is retried; None if none is.
        events: what has happened in the run so far; None if its executor does not say.
    """

    name: str
    folder: str
    number: int
    reservation: Budget | None
    notes: Path
    since: float = field(default_factory=monotonic)
    ended: Ended | None = None
    stays: bool = False
    retry: Retry | None = None
    events: Sequence[Mapping[str, Any]] | None = None

    def look(self) -> InFlight:
        """Its current state; may be called from any thread."""
        money = self.reservation
        return InFlight(
            self.name,
            self.folder,
            monotonic() - self.since,
            str(self.retry or ""),
            money.spent_usd if money is not None and money.cost_usd is not None else None,
            None if self.events is None else tuple(self.events[-LATEST:]),
        )

    def meter(self) -> Budget:
        """The meter for its calls."""
        assert self.reservation is not None
        self.reservation.note_in(self.notes)
        return self.reservation


class Ledger:
    """Accounts for the steps of a job or a measurement.

    Attributes:
        home: the folder of the journal.
        budget: hands out money.
        took: the total seconds and the number of the steps that ended well, by name.
        priced: whether every call had a known price.
        changed: called when something has changed.
    """

    def __init__(self, journal: Journal, budget: Budget, changed: Callable[[], None]) -> None:
        self.home, self.journal, self.budget = journal.path.parent, journal, budget
        self.took = dict(journal.record.seconds)
        self.priced = True
        self.changed = changed
        self._flying: dict[int, Launched] = {}

    @property
    def flying(self) -> tuple[InFlight, ...]:
        """The steps in flight; may be called from any thread."""
        return tuple(step.look() for step in tuple(self._flying.values()))

    @asynccontextmanager
    async def step(
        self,
        name: str,
        key: str,
        folder: str,
        reservation: Budget | None,
        taken_up: int | None = None,
        **data: Any,
    ) -> AsyncIterator[Launched]:
        """A step: launched before anything is spent, closed with its cost, however it ends.

        Args:
            name: what is done.
            key: the key of its run.
            folder: the folder of its run, in the workspace.
            reservation: the money for it; None for a step that costs nothing.
            taken_up: the number of an earlier start's launch that is continued.
            data: further values for its line in the journal.
        """
        number = taken_up
        if number is None:
            worst = reservation.cap_usd if reservation is not None else None
            number = self.journal.launch(name, key, worst, folder=folder, **data)
        step = self._flying[number] = Launched(
            name, folder, number, reservation, notes_of(self.home, number)
        )
        ON_RETRY.set(partial(self._note_retry, step))
        ON_EVENTS.set(partial(setattr, step, "events"))
        self.changed()
        event, told = CANCELLED, dict[str, Any]()
        try:
            yield step
            if step.ended is not None:
                event, told = self._count_end(name, step.ended)
        except Lost as error:
            event, told = LOST, {"reason": str(error)}
            raise
        except Exception as error:
            if not is_exiting():
                event, told = ERRORED, {"reason": str(error), "traceback": traceback.format_exc()}
            raise
        finally:
            usd = self._close_money(reservation)
            if not step.stays:
                self.journal.add(event, launch=number, usd=usd, **told)
                step.notes.unlink(missing_ok=True)
            self._flying.pop(number, None)
            self.changed()

    def _note_retry(self, step: Launched, retry: Retry | None) -> None:
        """Keep the retry of a step's call, until it is over."""
        if retry != step.retry:
            step.retry = retry
            self.changed()

    def _count_end(self, name: str, ended: Ended) -> tuple[str, dict[str, Any]]:
        """Count the time of a step that was not cut off; returns its event and values for it."""
        told: dict[str, Any] = {"seconds": round(ended.seconds, 3)}
        if ended.reason is None:
            total, count = self.took.get(name, (0.0, 0))
            self.took[name] = (total + ended.seconds, count + 1)
            return FINISHED, told
        trace = {} if ended.trace is None else {"traceback": ended.trace}
        return ERRORED, {**told, "reason": ended.reason, **trace}

    def _close_money(self, reservation: Budget | None) -> float | None:
        """Give back the rest of a step's money; returns its cost in US dollars."""
        if reservation is None:
            return None
        reservation.close()
        self.priced = self.priced and reservation.cost_usd is not None
        return reservation.spent_usd


def close_interrupted(journal: Journal) -> tuple[list[str], dict[int, Launch]]:
    """Close the steps that were never closed, with the cost that their notes allow.

    Returns:
        A message for the user, and the launches still to be collected: submitted batches that
        continue at the provider.
    """
    batches: dict[int, Launch] = {}
    closed: list[float] = []
    for number, launch in journal.record.open.items():
        if number in journal.record.batches:
            batches[number] = launch
            continue
        by = "worst" if launch.noted_usd is None else "notes"
        journal.add(INTERRUPTED, launch=number, usd=launch.usd, by=by)
        closed.append(launch.usd or 0.0)
    note = (
        f"interrupted before and repeated now: {count(len(closed), 'step')}; what was spent on "
        f"that, at most ${sum(closed):.4f}, still counts"
    )
    return [note] if closed else [], batches


# ── one at a time ────────────────────────────────────────────────────────────────────────────────

HALF = re.compile(r"\.[0-9a-f]{16}\.tmp")
"""The names of files that `write_atomic` has not finished."""
STALE = 60.0
"""Seconds after which no living process is still writing such a file."""
ROOM = 1 << 16
"""Bytes that are written as a test."""
PATIENCE = 0.2
"""Seconds to wait for a process that is just releasing a lock."""


class Held(Refused):
    """Another process is using a folder; the message says which, where, and what to do."""


@contextmanager
def hold_folders(folders: Iterable[Path], doing: str) -> Iterator[None]:
    """Lock folders, which are created if missing, until the block or this process ends.

    Args:
        folders: which; they are always locked in the same order.
        doing: what is being done there, for the message to others, such as "a comparison".

    Raises:
        Held: another process has locked one of them.
        Refused: one of them cannot be written.
    """
    with ExitStack() as stack:
        for folder in sorted({Path(os.path.realpath(path)) for path in folders}):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(hold_lock(folder / LOCK, PATIENCE, doing=doing))
            except Locked as other:
                raise Held([_held_sentence(folder, other)]) from None
            except OSError as error:
                raise _unwritable(folder, error) from error
        yield


def make_ready(folders: Iterable[Path]) -> None:
    """Delete half-written files in folders, and test that the folders can be written.

    Raises:
        Refused: one of them cannot be written.
    """
    places = list(dict.fromkeys(folders))
    for folder in places:
        delete_half_written(folder)
    probe_folders(places)


def delete_half_written(folder: Path, older: float = STALE) -> None:
    """Delete the half-written files that a killed process has left in a folder.

    Args:
        folder: which; it need not exist.
        older: only files this many seconds old; 0 if no other process writes there.
    """
    with suppress(OSError):  # the next time deletes it
        for path in folder.iterdir():
            if HALF.fullmatch(path.name) and time.time() - path.lstat().st_mtime >= older:
                path.unlink(missing_ok=True)


def probe_folders(folders: Iterable[Path]) -> None:
    """Test that folders can be written, and that there is room on their disks.

    Raises:
        Refused: one cannot be written.
    """
    disks: set[int] = set()
    for folder in folders:
        at = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
        try:
            disk = at.stat().st_dev
            with TemporaryFile(dir=at) as file:  # without a name: a killed process leaves none
                if disk not in disks:
                    file.write(bytes(ROOM))
                    file.flush()
                    os.fsync(file.fileno())
            disks.add(disk)
        except OSError as error:
            raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> Refused:
    return refuse(
        f"{folder} cannot be written: {error.strerror or error}. No model was asked, and nothing "
        "is lost: fix this, and start again"
    )


def _held_sentence(folder: Path, other: Locked) -> str:
    about, by = other.holder, name_process(other.holder)
    since = f", since {about['at']}" if "at" in about else ""
    return (
        f"{about.get('doing') or 'something'} is already running in {folder} by {by}{since}. Wait "
        "for it to end, or stop it, and start again: what it has done will not be done twice"
    )
