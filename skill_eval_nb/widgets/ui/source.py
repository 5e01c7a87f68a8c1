"""What a widget looks at, and what is worked out in the background: figures, and other work."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.tables import NothingToLoad, Workspace, load

log = logging.getLogger(__name__)


class RunKey(NamedTuple):
    """What tells a run from every other of what was loaded: values that JSON has, too."""

    workspace: str
    skill: str
    iteration: str
    eval_id: str
    configuration: str
    run_number: int


def key_of(row: dict[str, Any]) -> RunKey:
    """The key of a row of any table of runs."""
    return RunKey(*(row[name] for name in RunKey._fields))


_WATCHED: weakref.WeakSet[Source] = weakref.WeakSet()
_LOCK = threading.Lock()

_Key = tuple[str, str | int]
"""What two widgets have in common that may share one reading."""

_Read = tuple[Workspace, str | None]
"""What was read, or why there is nothing."""


class Source:
    """A workspace, and its next state when runs have landed in it.

    Attributes:
        ws: the workspace as it was last read; one without rows where there is nothing yet.
        path: of what it was read from; empty for one that was made of tables.
        lacking: why there is nothing; None where there is something.
    """

    def __init__(self, given: Any, notify: Callable[[], object] = lambda: None) -> None:
        """Read it.

        Args:
            given: a `Workspace`, or the path of one, which need not be there yet.
            notify: called, in whatever thread, when `ws` is another one.

        Raises:
            TypeError: for anything else.
        """
        self._notify = notify
        self._reading = threading.Lock()  # so that what was read last is what stays
        self.lacking: str | None = None
        if isinstance(given, Workspace):
            self._given, self.path = None, given.path
            self._good = self.ws = given
        elif isinstance(given, str | Path):
            self._given, self.path = str(Path(given).absolute()), str(given)
            self._good = self.ws = Workspace.from_tables({}, self.path)
            self._set_workspace(*self._read_again())
        else:
            raise TypeError(
                f"Give a Workspace or a path, not a {type(given).__name__}: see sen.load"
            )
        self._place = Path(self.path).absolute()  # the notebook may go elsewhere
        with _LOCK:
            _WATCHED.add(self)

    @property
    def gone(self) -> str | None:
        """What to say if the place that was read from no longer exists; else None."""
        if not self.path or self.lacking is not None or self._place.exists():
            return None
        return f"{self.path} no longer exists: this shows what was read before."

    def reload(self, shared: dict[_Key, _Read] | None = None) -> None:
        """Read it again, and notify; `shared` is what others that look at the same have read."""
        if not self.path:
            return  # it was made of tables: there is nothing to read
        shared = {} if shared is None else shared
        with self._reading:
            key = ("path", self._given) if self._given is not None else ("ws", id(self._good))
            if key not in shared:
                shared[key] = self._read_again()
            self._set_workspace(*shared[key])
        self._notify()

    def _read_again(self) -> _Read:
        try:
            return self._good.again() if self._given is None else load(self._given), None
        except (FileNotFoundError, NothingToLoad) as error:
            return Workspace.from_tables({}, self.path, self._good.backend), str(error)

    def _set_workspace(self, ws: Workspace, lacking: str | None) -> None:
        self.ws, self.lacking = ws, lacking
        if lacking is None:
            self._good = ws

    def _is_concerned(self, place: Path) -> bool:
        own = self._place.resolve()
        return bool(self.path) and (own == place or own in place.parents or place in own.parents)


def tell_landed(folder: str | Path) -> None:
    """Have the widgets that look at this workspace, or at a folder above or below it, read it anew.

    It is read once for all who look at the same. What goes wrong with one of them is logged, and
    the others hear of it all the same.
    """
    place = Path(folder).resolve()
    with _LOCK:
        watched = [source for source in _WATCHED if source._is_concerned(place)]  # noqa: SLF001
    shared: dict[_Key, _Read] = {}
    for source in watched:
        try:
            source.reload(shared)
        except Exception:
            log.exception("A widget could not follow new files in %s", folder)


BETWEEN = 0.4
"""Seconds between two drawings while more is being counted."""
MOST = 400
"""Figures that are remembered; those not asked for the longest time go first."""


class Failed(NamedTuple):
    """What stands for figures that cannot be counted."""

    error: Exception
    trace: TracebackType | None


Count = Callable[[Sequence[Hashable]], Mapping[Hashable, Any]]
"""Gives the figures of these names."""


class Later:
    """Figures by name, each counted once and remembered.

    Every view calls `begin` and then `get` for all that it shows: what an earlier one asked
    for, and this one does not, is no longer counted.
    """

    def __init__(self, notify: Callable[[], object], patience: float) -> None:
        """Nothing is known yet.

        Args:
            notify: called, in a thread, when something is there that a view went without.
            patience: seconds that a view waits, for all that it asks for together.
        """
        self.patience = patience
        self._notify = notify
        self._done: OrderedDict[Hashable, Any] = OrderedDict()
        self._wanted: dict[Hashable, tuple[Count, int]] = {}  # in order, with how many at once
        self._requested: set[Hashable] = set()
        self._missed: set[Hashable] = set()
        self._changed = threading.Condition()
        self._at_work = False
        self._state = 0
        self._until = 0.0

    def begin_view(self) -> None:
        """Start a new view: forget what earlier ones asked for."""
        with self._changed:
            self._wanted.clear()
            self._missed.clear()
            self._requested.clear()
            self._until = time.monotonic() + self.patience

    def get(self, key: Hashable, count: Callable[[], Any]) -> Any:
        """The figures of that name; None where they are not there yet.

        Args:
            key: the name; other figures have another.
            count: gives them. What it raises is raised here.
        """
        return self.get_all([key], lambda _: {key: count()})[key]

    def get_all(
        self, keys: Sequence[Hashable], count: Count, at_once: int = 1
    ) -> dict[Hashable, Any]:
        """The figures of these names; None for those that are not there yet.

        Args:
            keys: the names.
            count: gives the figures of some of them. What it raises is raised here.
            at_once: of how many together, where that is quicker than one after the other.
        """
        with self._changed:
            self._requested.update(keys)
            for key in keys:
                if key not in self._done:
                    self._wanted.setdefault(key, (count, at_once))
            if self._wanted and not self._at_work:
                self._at_work = True
                import_module("numpy")  # others would take one half imported for a whole one
                threading.Thread(target=self._count_wanted, daemon=True).start()
            patience = self._until - time.monotonic()
            self._changed.wait_for(lambda: self._done.keys() >= set(keys), max(patience, 0))
            self._missed.update(key for key in keys if key not in self._done)
            found = {key: self._done.get(key) for key in keys}
            for key in keys:
                if key in self._done:
                    self._done.move_to_end(key)
        for figures in found.values():
            if isinstance(figures, Failed):
                raise figures.error.with_traceback(figures.trace)
        return found

    def forget(self) -> None:
        """Forget everything: the data have changed."""
        with self._changed:
            self._state += 1
            self._done.clear()
            self._wanted.clear()

    def wait(self, seconds: float = 60) -> bool:
        """Wait until nothing is being counted; whether that was reached."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._at_work, seconds)

    def _count_wanted(self) -> None:
        last = time.monotonic()
        while self._has_work():
            self._count_next()
            with self._changed:
                late = not self._wanted or time.monotonic() - last > BETWEEN
                tell = late and bool(self._missed & self._done.keys())
                if tell:
                    self._missed.clear()
            if tell:
                self._notify()
                last = time.monotonic()

    def _has_work(self) -> bool:
        with self._changed:
            self._at_work = bool(self._wanted or self._missed & self._done.keys())
            self._changed.notify_all()
            return self._at_work

    def _count_next(self) -> None:
        with self._changed:
            if not self._wanted:
                return
            count, at_once = next(iter(self._wanted.values()))
            alike = [key for key, (by, _) in self._wanted.items() if by is count]
            state = self._state
        found = _count_each(count, alike[:at_once])
        with self._changed:
            if state != self._state:
                return  # the data have changed, and what is still wanted was asked for anew
            for key in found:
                self._wanted.pop(key, None)
            self._done.update(found)
            while len(self._done) > max(MOST, len(self._requested)):
                self._done.popitem(last=False)
            self._changed.notify_all()


def _count_each(count: Count, keys: Sequence[Hashable]) -> Mapping[Hashable, Any]:
    """The figures of these names; where one of several cannot be counted, the others can."""
    try:
        return count(keys)
    except Exception as error:  # noqa: BLE001 -- raised where it is asked for
        if len(keys) == 1:
            return {keys[0]: Failed(error, error.__traceback__)}
    return {key: value for key in keys for value in _count_each(count, [key]).values()}


T = TypeVar("T")

PATIENCE = 0.3
"""Seconds for which a click waits, so that what is quick is drawn in one go."""


class Background:
    """One kind of work; what is begun anew takes the place of what is not ready yet."""

    def __init__(self, ready: Callable[[], object], failed: Callable[[Exception], object]) -> None:
        """Say whom to tell.

        Args:
            ready: called when something has been done, from its thread.
            failed: called before with what was raised, if anything was.
        """
        self._ready, self._failed = ready, failed
        self._turn, self._done = 0, threading.Event()
        self._done.set()
        self.busy = False
        """Whether something is being done."""

    def begin(
        self, work: Callable[[], T], take: Callable[[T], object], patience: float = PATIENCE
    ) -> None:
        """Begin; returns when it is done, or after `patience` seconds.

        Args:
            work: what to do, without touching what others see.
            take: called with its result, unless something newer was begun since.
            patience: seconds.
        """
        self._turn += 1
        turn, done = self._turn, threading.Event()
        self._done, self.busy = done, True

        def work_and_take() -> None:
            try:
                value = work()
                if turn == self._turn:
                    take(value)
            except Exception as error:  # noqa: BLE001 -- shown, whatever it is
                if turn == self._turn:
                    self._failed(error)
            if turn == self._turn:
                self.busy = False
            self._ready()
            done.set()

        threading.Thread(target=work_and_take, name="skill-eval-nb panel", daemon=True).start()
        done.wait(patience)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is done and shown, at most `seconds`; whether that was reached."""
        until = None if seconds is None else time.monotonic() + seconds
        done = None
        while done is not self._done:  # something newer may have been begun meanwhile
            done = self._done
            if not done.wait(None if until is None else max(until - time.monotonic(), 0)):
                return False
        return True


TOLD = 0.2
"""Seconds at least between two times that progress is shown."""

TICK = 1.0
"""Seconds between two times that it is shown without progress."""


class Task(Generic[T]):
    """Work that takes its time, in a thread of its own.

    Attributes:
        doing: what it does, after "it is": "running iteration-1".
        status: `done` if it came to a result, `failed` if it raised.
        stopping: whether somebody asked it to stop.
        progress: the last progress; its `share` is how much is done, 0 to 1.
        result: None until there is one.
        message: why it ended without a result; None otherwise.
    """

    def __init__(
        self,
        doing: str,
        do: Callable[..., T],
        progress: Any,
        progressed: Callable[[], object],
        ended: Callable[[Any], object] = lambda _: None,
    ) -> None:
        """Begin it.

        Args:
            doing: what it does.
            do: the work; `progress` is where to report it, and `stop` is set once it is to stop.
            progress: the progress at first.
            progressed: called, in its thread, when there is progress to see.
            ended: called with it, in its thread, once it is over.
        """
        self.doing = doing
        self.status: Literal["running", "done", "stopped", "failed"] = "running"
        self.stopping = False
        self.progress = progress
        self.result: T | None = None
        self.message: str | None = None
        self._do, self._progressed, self._ended = do, progressed, ended
        self._first: tuple[float, float] | None = None  # when progress came first, and how much
        self._stop = threading.Event()
        self._began, self._shown, self._took = time.monotonic(), 0.0, 0.0
        self.ended = threading.Event()
        """Set when all is over, and everybody has been told."""
        for each in (self._run_work, self._show_ticks):
            threading.Thread(target=each, name="skill-eval-nb task", daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.status == "running"

    @property
    def seconds(self) -> float:
        """How long it has gone on, or did."""
        return time.monotonic() - self._began if self.running else self._took

    @property
    def left_seconds(self) -> float | None:
        """How long it will go on, about; None where nothing can be told yet."""
        if self._first is None or not self.running:
            return None
        (since, before), now = self._first, self.progress.share
        if now <= before:
            return None
        return (time.monotonic() - since) * (1 - now) / (now - before)

    def stop(self, grace: float = 0.0) -> None:  # noqa: ARG002 -- not all can wait
        """Cancel what is in flight; what was written stays, and is not paid for again.

        Args:
            grace: seconds that what is in flight has to end, if it can wait.
        """
        self.stopping = True
        self._stop.set()

    def _run_work(self) -> None:
        status: Literal["done", "stopped", "failed"] = "done"
        try:
            self.result = self._do(progress=self._take_progress, stop=self._stop)
        except Stopped:
            status = "stopped"
            self.message = "Stopped. Finished work is kept and not paid for again."
        except Exception as error:
            log.warning("work of a panel failed", exc_info=error)
            status, self.message = "failed", str(error) or type(error).__name__
        self._took = time.monotonic() - self._began
        self.status = status
        try:
            self._ended(self)
        finally:
            self.ended.set()

    def _show_ticks(self) -> None:
        """Show that time passes, where there is nothing else to see."""
        while not self.ended.wait(TICK):
            self._progressed()

    def _take_progress(self, now: Any) -> None:
        self.progress = now
        self._first = self._first or (time.monotonic(), now.share)
        if time.monotonic() - self._shown >= TOLD:
            self._shown = time.monotonic()
            self._progressed()


class Recent(Generic[T]):
    """Values by key; the least recently used go first."""

    def __init__(self, most: int, cost: Callable[[T], int] = lambda _: 1) -> None:
        """Keep values of at most this total cost, and always the last one."""
        self._most, self._cost, self._held = most, cost, 0
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """The value of that key, if it is still there."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of that key, made and kept where it is not there."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found

    def put(self, key: Hashable, value: T) -> T:
        """Keep a value, and give it back."""
        cost = self._cost(value)
        with self._lock:
            if key in self._kept:
                self._held -= self._kept.pop(key)[1]
            self._kept[key] = value, cost
            self._held += cost
            while self._held > self._most and len(self._kept) > 1:
                self._held -= self._kept.popitem(last=False)[1][1]
        return value
