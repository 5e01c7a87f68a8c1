"""The folders of a run: where it is made, and where it goes when it is whole."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from skill_eval_nb.disk import leads_out

from ..given.inputs import Input, place_inputs
from .state import EXECUTED, errored

STAGING = ".staging"
"""In an iteration's folder: runs on their way to their place, and what is noted of them. What a
killed job left there holds nothing finished, and goes at the next start."""

_TEMPORARY = (tempfile.gettempdir, lambda: "/var/tmp", lambda: Path.home() / ".cache")  # noqa: S108
"""Where runs are made: in the first of these on the disk of the workspace, which one is moved
from in one step; where none is, in the first."""

NOTES = "spent"
"""In the staging folder: what each step can have cost, see `spending`."""


class InTheWay(Exception):
    """Something lies where a run is to go, and it is no run of ours."""


class Unwritable(Exception):
    """The workspace cannot be written: no room, no permission. The job ends; nothing is lost."""


def made_by(iteration: Path, key: str, launch: int) -> tuple[Path, Path]:
    """Where a run is made, and a private folder for its executor, thrown away at its end.

    Far from the workspace: an agent may learn the path of its folder on this machine, which
    stands in its /proc/self/mountinfo, and the workspace's tells what is tried. Each launch has
    its own: a worker that was given up for lost may still be writing.
    """
    places, disk = _places(iteration), _disk(iteration)
    near = (one for one in places if disk is not None and _disk(one.parent) == disk)
    place = next(near, places[0])
    staging = place / f"{key}-{launch}"
    return staging, staging.with_name(f"{staging.name}.scratch")


def _places(iteration: Path) -> list[Path]:
    """The folders in which an iteration's runs may be made."""
    name = hashlib.sha256(os.fsencode(f"{_user()}:{iteration.resolve()}")).hexdigest()[:16]
    return [Path(folder(), f"run-{name}") for folder in _TEMPORARY]


def _own(folder: Path) -> bool:
    """Whether a folder is this user's: where it lies, others may make one of that name."""
    return folder.lstat().st_uid == _user()


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _disk(folder: Path) -> int | None:
    """The disk that a folder is on; None where nothing can be made in it."""
    return folder.stat().st_dev if os.access(folder, os.W_OK | os.X_OK) else None


def notes_of(iteration: Path, launch: int) -> Path:
    """The file that notes what a launched step can have cost."""
    return iteration / STAGING / NOTES / f"{launch}.jsonl"


def make_ready(staging: Path, scratch: Path, inputs: Sequence[Input]) -> None:
    """Make a run's folders anew, and copy the input files into its working folder.

    Args:
        staging: the run's folder; the working folder is `outputs` in it.
        scratch: the executor's private folder.
        inputs: the eval's input files.

    Raises:
        Refused: an input file has changed since the plan was made.
        OSError: a folder cannot be made, or another user has made it.
    """
    staging.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _own(staging.parent):
        raise PermissionError(errno.EPERM, "another user's", str(staging.parent))
    for folder in (staging, scratch):
        remove(folder)
        folder.mkdir(parents=True)
    work = staging / "outputs"
    work.mkdir()
    place_inputs(inputs, work)


def refuse_strangers(place: Path, iteration: Path) -> None:
    """See to it that a run can go to its place in an iteration, before anything is spent on it.

    Raises:
        InTheWay: there is something else, which is not touched.
    """
    fault = leads_out(place, iteration)
    if fault is not None:
        raise InTheWay(f"{place} is in the way: {fault}")
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise InTheWay(f"{place} is in the way: it is no folder. Move it elsewhere")
    if place.is_dir() and not (place / EXECUTED).is_file() and any(place.iterdir()):
        raise InTheWay(
            f"{place} is in the way: it holds files, but no {EXECUTED}, so it is no finished run. "
            "Move it elsewhere, and start again"
        )


def put_in_place(staging: Path, iteration: Path, place: Path) -> None:
    """Give a whole run its place, in one step.

    An errored one that it replaces goes. Where a sound one has come meanwhile, from a worker
    that was given up for lost, that one stays.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    near = iteration / STAGING / staging.name
    near.parent.mkdir(parents=True, exist_ok=True)
    remove(near)
    _move(staging, near)
    old = near.with_name(f"{near.name}.replaced")
    if (place / EXECUTED).is_file():
        if errored(place) is None:
            remove(near)
            return
        place.rename(old)
    near.rename(place)
    remove(old)


def _move(source: Path, target: Path) -> None:
    """Move a folder; from another disk it is copied.

    Raises:
        OSError: the first thing that went wrong; shutil tells of all of them in words alone, from
            which nobody learns that the disk is full.
    """
    failed: list[OSError] = []

    def copy(own: str, other: str) -> str:
        try:
            return shutil.copy2(own, other)
        except OSError as error:
            failed.append(error)
            raise

    try:
        shutil.move(source, target, copy_function=copy)
    except shutil.Error as error:
        raise (failed or [OSError(errno.EIO, str(error), os.fspath(target))])[0] from error


def clear(iteration: Path) -> None:
    """Take away what is left of runs that are not whole."""
    for folder in _places(iteration):
        if os.path.lexists(folder) and _own(folder):
            remove(folder)
    remove(iteration / STAGING)


def remove(folder: Path) -> None:
    """Take a folder away with all that is in it, closed folders too; it need not be there."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        try:
            shutil.rmtree(folder)
        except PermissionError:
            open_up(folder)
            shutil.rmtree(folder)


def open_up(folder: Path) -> None:
    """Open the folders below that an agent closed to itself: their owner can."""
    for at, names, _ in os.walk(folder):
        for path in (Path(at), *(Path(at, name) for name in names)):
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                path.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
