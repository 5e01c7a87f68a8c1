"""The money of one step, written down where it is spent.

A step may run in another process, which may be killed. So whoever runs it notes before each
call what the step can have cost by then. The next start reads the last note: it is less than
what was allotted to the step, and never less than what was billed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .budget import Purse

if TYPE_CHECKING:
    from skill_eval_nb.models import Usage


class BegunBefore(RuntimeError):
    """A step that was sent out once was begun twice; it is not done a second time."""


class Halted(BaseException):
    """No more calls are to be made; like a cancellation, no executor takes it for a fault."""


class Noted:
    """A meter that notes the most that its step can have cost, before each call is sent."""

    def __init__(self, purse: Purse, path: Path, *, halt: Path | None = None) -> None:
        """Begin the notes of a step in a file of its own.

        Args:
            purse: what the step may spend.
            path: the file.
            halt: a file that, once it is there, lets no call through.

        Raises:
            BegunBefore: the file is there: another worker has begun this step, and was lost.
            OSError: it cannot be written.
        """
        self.purse = purse
        self._halt = halt
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        try:
            self._file = os.open(path, flags, 0o600)
        except FileExistsError:
            raise BegunBefore(f"this step was begun before: {path.name}") from None
        self._note()

    def reserve(self, model: str, worst: Usage, **options: Any) -> Any:
        """As the purse; the call may be sent when this has returned.

        Raises:
            BudgetSpent: as the purse.
            Halted: the job was stopped.
        """
        if self._halt is not None and self._halt.exists():
            raise Halted
        ticket = self.purse.reserve(model, worst, **options)
        try:
            self._note()
        except BaseException:
            self.purse.release(ticket)
            raise
        return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """As the purse."""
        self.purse.settle(ticket, usage)
        self._note()

    def release(self, ticket: Any) -> None:
        """As the purse."""
        self.purse.release(ticket)
        self._note()

    def close(self) -> None:
        """End the notes; they stay where they are. Closing twice does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _note(self) -> None:
        if self._file >= 0:
            os.write(self._file, json.dumps(self.purse.worst_usd).encode() + b"\n")


def noted(path: Path) -> float | None:
    """US dollars that a step can have cost by its notes; None where there are none.

    A note that was cut short is passed over: it is written before the call that it counts.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    lines = data[: data.rfind(b"\n") + 1].split()
    return float(lines[-1]) if lines else None
