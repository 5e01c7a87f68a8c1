"""What a widget looks at: a workspace that may grow while it is looked at."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skill_eval_nb.tables import NothingToLoad, Workspace, load

log = logging.getLogger(__name__)


def rows_of(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table of either kind, pandas or polars."""
    import narwhals as nw

    return nw.from_native(table, eager_only=True).iter_rows(named=True)


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
            self._take(*self._read())
        else:
            raise TypeError(
                f"A Workspace or a path is wanted, not a {type(given).__name__}: see sen.load"
            )
        self._place = Path(self.path).absolute()  # the notebook may go elsewhere
        with _LOCK:
            _WATCHED.add(self)

    @property
    def gone(self) -> str | None:
        """What to say where the place that was read from is not there any more; else None."""
        if not self.path or self.lacking is not None or self._place.exists():
            return None
        return f"{self.path} is not there any more: what is shown is what was read before."

    def reload(self) -> None:
        """Read it anew, and tell."""
        self._reload({})

    def _reload(self, shared: dict[_Key, _Read]) -> None:
        if not self.path:
            return  # it was made of tables: there is nothing to read
        with self._reading:
            key = ("path", self._given) if self._given is not None else ("ws", id(self._good))
            if key not in shared:
                shared[key] = self._read()
            self._take(*shared[key])
        self._notify()

    def _read(self) -> _Read:
        try:
            return self._good.again() if self._given is None else load(self._given), None
        except (FileNotFoundError, NothingToLoad) as error:
            return Workspace.from_tables({}, self.path, self._good.backend), str(error)

    def _take(self, ws: Workspace, lacking: str | None) -> None:
        self.ws, self.lacking = ws, lacking
        if lacking is None:
            self._good = ws

    def _concerns(self, place: Path) -> bool:
        own = self._place.resolve()
        return bool(self.path) and (own == place or own in place.parents or place in own.parents)


def landed(folder: str | Path) -> None:
    """Tell whoever looks at this workspace, or at a folder above or below it, to read it anew.

    It is read once for all who look at the same. What goes wrong with one of them is logged, and
    the others hear of it all the same.
    """
    place = Path(folder).resolve()
    with _LOCK:
        watched = [source for source in _WATCHED if source._concerns(place)]  # noqa: SLF001
    shared: dict[_Key, _Read] = {}
    for source in watched:
        try:
            source._reload(shared)  # noqa: SLF001
        except Exception:
            log.exception("A widget could not follow what has landed in %s", folder)
