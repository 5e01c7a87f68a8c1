"""Paid for by one at a time, into folders that are seen to take what will be paid for.

Whoever asks a model for something that is stored holds the folders of it meanwhile, and looks
at what is stored only then: so nothing is paid for twice. A second one is refused, and says who
is at it. The folders are written to on trial first: what cannot be kept is not asked for.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from skill_eval_nb.workspace.layout import OWN
from skill_eval_nb.workspace.writing import Locked, locked, who

from .protocol import Refused, refuse

LOCK, TRIAL = f"{OWN}.lock", f"{OWN}.trial"
HALF = re.compile(r"\.[0-9a-f]{16}\.tmp")
"""The names of files that `write_atomic` has not finished."""
STALE = 60.0
"""Seconds after which nobody alive is still writing such a file."""
ROOM = 1 << 16
"""Bytes that are written on trial."""
PATIENCE = 0.2
"""Seconds that are waited for somebody who is just letting go."""


class Held(Refused):
    """Somebody else is at work in a folder; the message says who, where, and what to do."""


@contextmanager
def held(folders: Iterable[Path], doing: str) -> Iterator[None]:
    """Hold folders, which are made where they are missing, until the end of this process.

    Args:
        folders: which; whoever holds several takes them in the same order.
        doing: what is being done there, for others: "a comparison".

    Raises:
        Held: somebody else holds one of them.
        Refused: one of them cannot be written.
    """
    with ExitStack() as stack:
        for folder in sorted({Path(os.path.realpath(path)) for path in folders}):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(folder / LOCK, PATIENCE, doing=doing))
            except Locked as other:
                raise Held([_sentence(folder, other)]) from None
            except OSError as error:
                raise _unwritable(folder, error) from error
        yield


@contextmanager
def paying(
    folders: Iterable[Path], doing: str, *, into: Iterable[Path] | None = None
) -> Iterator[None]:
    """Hold folders as `held` does, cleared of half files, and sure to take what is paid for.

    Args:
        folders: which are held.
        doing: what is being done there, for others.
        into: the folders that are written to; the same where they are not given. They need not
            be there yet.

    Raises:
        Held: somebody else holds one of them.
        Refused: one of them cannot be written.
    """
    folders = list(folders)
    with held(folders, doing):
        make_ready(folders if into is None else into)
        yield


def make_ready(folders: Iterable[Path]) -> None:
    """Clear folders of half files, and see to it that they can be written.

    Raises:
        Refused: one of them cannot be written.
    """
    places = list(dict.fromkeys(folders))
    for folder in places:
        sweep(folder)
    probe(places)


def sweep(folder: Path, older: float = STALE) -> None:
    """Take away the half files that a killed process has left in a folder.

    Args:
        folder: which; it need not be there.
        older: seconds since one was last written to; 0 where nobody else writes there.
    """
    with suppress(OSError):  # it goes the next time
        for path in folder.iterdir():
            if HALF.fullmatch(path.name) and time.time() - path.lstat().st_mtime >= older:
                path.unlink(missing_ok=True)


def probe(folders: Iterable[Path]) -> None:
    """See to it that folders can be written, and that there is room on their disks.

    Raises:
        Refused: one cannot; nothing is left in any of them.
    """
    disks: set[int] = set()
    for folder in folders:
        at = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
        trial = at / TRIAL
        try:
            disk = at.stat().st_dev
            with open(trial, "wb", opener=_no_link) as file:
                if disk not in disks:
                    file.write(bytes(ROOM))
                    file.flush()
                    os.fsync(file.fileno())
            disks.add(disk)
        except OSError as error:
            raise _unwritable(folder, error) from error
        finally:
            with suppress(OSError):
                trial.unlink()


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _unwritable(folder: Path, error: OSError) -> Refused:
    return refuse(
        f"{folder} cannot be written: {error.strerror or error}. Nothing was asked of a model, "
        "and nothing is lost: see to it, and start again"
    )


def _sentence(folder: Path, other: Locked) -> str:
    about, by = other.holder, "another process"
    if {"pid", "host"} <= set(about):
        here = {name: about[name] for name in ("pid", "host")} == who()
        by = "this process" if here else f"process {about['pid']} on {about['host']}"
    since = f", since {about['at']}" if "at" in about else ""
    return (
        f"{about.get('doing') or 'something'} is already running in {folder} by {by}{since}. Wait "
        "for it to end, or stop it, and start again: what it has done will not be done twice"
    )
