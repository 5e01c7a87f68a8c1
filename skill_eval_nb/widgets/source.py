"""What a widget looks at: a workspace that may grow while it is looked at."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skill_eval_nb.tables import NothingToLoad, Workspace, load

_WATCHED: weakref.WeakSet[Source] = weakref.WeakSet()
_LOCK = threading.Lock()


class Source:
    """A workspace, and its next state when runs have landed in it.

    Attributes:
        ws: the workspace as it was last read; one without rows where there is nothing yet.
        lacking: why there is nothing; None where there is something.
    """

    def __init__(self, given: Any, told: Callable[[], object] = lambda: None) -> None:
        """Read it.

        Args:
            given: a `Workspace`, or the path of one, which need not be there yet.
            told: called, in whatever thread, when `ws` is another one.

        Raises:
            TypeError: for anything else.
        """
        self.lacking: str | None = None
        self._told = told
        if isinstance(given, Workspace):
            self.ws, self.path = given, given.path
        elif isinstance(given, str | Path):
            self.path = str(given)
            self.ws = self._read("polars")
        else:
            raise TypeError(
                f"A Workspace or a path is wanted, not a {type(given).__name__}: see sen.load"
            )
        with _LOCK:
            _WATCHED.add(self)

    def reload(self) -> None:
        """Read it anew, and tell."""
        if not self.path:
            return  # it was made of tables: there is nothing to read
        self.ws = self._read(self.ws.backend)
        self._told()

    def _read(self, backend: Any) -> Workspace:
        try:
            ws = load(self.path, backend)
        except (FileNotFoundError, NothingToLoad) as error:
            self.lacking = str(error)
            return Workspace.from_tables({}, self.path, backend)
        self.lacking = None
        return ws


def landed(folder: str | Path) -> None:
    """Tell whoever looks at this workspace, or at a folder above or below it, to read it anew."""
    place = Path(folder).resolve()
    with _LOCK:
        watched = list(_WATCHED)
    for source in watched:
        if not source.path:
            continue
        own = Path(source.path).resolve()
        if own == place or own in place.parents or place in own.parents:
            source.reload()
