"""What is under way in a workspace, watched once for every panel that shows the workspace."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from skill_eval_nb.running.refused import refuse

from ..source import landed

SECONDS = 0.25
"""Between two looks."""

LANDING = 2.0
"""Seconds at least between two times that the other widgets are told of new runs."""

log = logging.getLogger(__name__)

_LOCK = threading.Lock()
_AT: dict[Path, UnderWay] = {}
_SHOWN_IN: weakref.WeakSet[Shows] = weakref.WeakSet()


class Shows:
    """Whoever shows what is under way in a workspace."""

    home: Path

    def looked(self, at: UnderWay) -> None:
        """It has been looked at: show how far it is. Any thread may call it."""
        raise NotImplementedError


class UnderWay(ABC):
    """A job, or stored outputs being judged, in a workspace."""

    doing: str
    """What is being done, after "is": "running iteration-1"."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.ended = threading.Event()
        """Set when all is over, and everybody has been told."""

    @property
    @abstractmethod
    def going(self) -> bool:
        """Whether it goes on, as it was when last looked at."""

    @property
    @abstractmethod
    def results(self) -> int:
        """How much has come of it so far: when it changes, others have something to read."""

    @abstractmethod
    def look(self) -> None:
        """Take in how far it is."""

    @abstractmethod
    def conclude(self) -> None:
        """Find out what came of it, once it has ended."""

    def follow(self) -> None:
        """Look at it until it has ended, and tell."""
        telling, told, at = None, self.results, time.monotonic()
        while True:
            self.look()
            self._show()
            if not self.going:
                break
            free = telling is None or not telling.is_alive()
            if self.results != told and free and time.monotonic() - at >= LANDING:
                told, at = self.results, time.monotonic()
                telling = threading.Thread(target=self._tell, daemon=True)
                telling.start()
            time.sleep(SECONDS)
        if telling is not None:
            telling.join()
        self._tell()
        try:
            self.conclude()
        except Exception:
            log.exception("what came of it could not be told")
        with _LOCK:
            if _AT.get(self.home) is self:
                del _AT[self.home]
        self._show()
        self.ended.set()

    def _show(self) -> None:
        for one in list(_SHOWN_IN):
            if one.home == self.home:
                one.looked(self)

    def _tell(self) -> None:
        try:
            landed(self.home)
        except Exception:
            log.exception("a widget could not read %s anew", self.home)


U = TypeVar("U", bound=UnderWay)


def watch(one: Shows) -> UnderWay | None:
    """Tell it from now on; gives what is under way there already."""
    with _LOCK:
        _SHOWN_IN.add(one)
        return _AT.get(one.home)


def begin(home: Path, start: Callable[[], U]) -> U:
    """Begin something in a workspace where nothing is under way, and watch it.

    Raises:
        Refused: something is under way there, in this process.
    """
    with _LOCK:
        other = _AT.get(home)
        if other is not None:
            raise refuse(
                f"{home.name} is busy: it is {other.doing}. Wait until it ends, or stop it"
            )
        thing = start()
        _AT[home] = thing
    threading.Thread(target=thing.follow, name="skill-eval-nb watch", daemon=True).start()
    return thing
