"""The files and folders of a run: made elsewhere, collected, and moved into place as a whole.

The working folder becomes the run's `outputs/`; unchanged inputs go to `inputs/`. Pipes, sockets
and devices, links that lead out of the folder or nowhere, and what git would start as a program are
removed and reported: whoever opens the outputs later would follow them, hang, or run them. An agent
may have replaced any folder by a link, so no link is followed here.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from skill_eval_nb.disk import is_plain, leads_out, open_file, read_bytes, remove_file, remove_tree
from skill_eval_nb.documents import Faults, Judging, Timing, dump, mend, parse, to_json
from skill_eval_nb.grading.box import take_back
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.read import decoder

from .journal import STAGING
from .spec import AFTER_RUN, DONE, ERRORED, EXECUTED, JUDGINGS, Run, reason_errored
from .suite import Input, place_inputs

_TEMPORARY = (tempfile.gettempdir, lambda: "/var/tmp", lambda: Path.home() / ".cache")  # noqa: S108
"""Where runs are made: in the first of these on the workspace's disk, so that moving a run is one
step; if none is on that disk, in the first."""


class InTheWay(Exception):
    """Something else is in the place where a run should go."""


class Unwritable(Exception):
    """The workspace cannot be written (no room, no permission). The job ends; nothing is lost."""


def work_folders(iteration: Path, key: str, launch: int) -> tuple[Path, Path]:
    """The folder where a run is made, and its executor's private folder, deleted afterwards.

    They are outside the workspace: an agent can see the path of its folder on this machine in
    /proc/self/mountinfo, and the workspace's path would reveal what is being tested. Each launch
    has its own folders, since a worker that was given up may still be writing.
    """
    places, disk = _run_places(iteration), _disk_of(iteration)
    near = (place for place in places if disk is not None and _disk_of(place.parent) == disk)
    place = next(near, places[0])
    staging = place / f"{key}-{launch}"
    return staging, staging.with_name(f"{staging.name}.scratch")


def _run_places(iteration: Path) -> list[Path]:
    """The folders in which an iteration's runs may be made."""
    name = hashlib.sha256(os.fsencode(f"{_user_id()}:{iteration.resolve()}")).hexdigest()[:16]
    return [Path(folder(), f"run-{name}") for folder in _TEMPORARY]


def _is_own(folder: Path) -> bool:
    """Whether a folder belongs to this user; others could make one with the same name there."""
    return folder.lstat().st_uid == _user_id()


def _user_id() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _disk_of(folder: Path) -> int | None:
    """The disk that a folder is on; None if the folder cannot be written."""
    return folder.stat().st_dev if os.access(folder, os.W_OK | os.X_OK) else None


def make_ready(staging: Path, scratch: Path, inputs: Sequence[Input]) -> None:
    """Make a run's folders, empty, and copy the input files into its working folder.

    Args:
        staging: the run's folder; the working folder is `outputs` in it.
        scratch: the executor's private folder.
        inputs: the eval's input files.

    Raises:
        Refused: an input file has changed since the plan was made.
        OSError: a folder cannot be made, or another user has made it.
    """
    staging.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(staging.parent):
        raise PermissionError(errno.EPERM, "another user's", str(staging.parent))
    for folder in (staging, scratch):
        remove(folder)
        folder.mkdir(parents=True)
    work = staging / "outputs"
    work.mkdir()
    place_inputs(inputs, work)


def refuse_strangers(place: Path, iteration: Path) -> None:
    """Make sure that a run can go into its place, before anything is spent on it.

    Raises:
        InTheWay: something else is there; it is not changed.
    """
    fault = leads_out(place, iteration)
    if fault is None and (place.is_symlink() or (place.exists() and not place.is_dir())):
        fault = "it is not a folder"
    elif fault is None and place.is_dir() and not (place / EXECUTED).is_file():
        fault = f"it has files, but no {EXECUTED}" if any(place.iterdir()) else None
    if fault is not None:
        raise InTheWay(f"{place} is in the way: {fault}. Move it elsewhere, and start again")


def put_in_place(staging: Path, iteration: Path, place: Path) -> None:
    """Move a complete run into its place, in one step.

    An errored run in its place is replaced. A sound one stays: it came in the meantime from a
    worker that had been given up.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    near = iteration / STAGING / staging.name
    near.parent.mkdir(parents=True, exist_ok=True)
    remove(near)
    _move_folder(staging, near)
    old = near.with_name(f"{near.name}.replaced")
    if (place / EXECUTED).is_file():
        if reason_errored(place) is None:
            remove(near)
            return
        place.rename(old)
    near.rename(place)
    remove(old)


def _move_folder(source: Path, target: Path) -> None:
    """Move a folder; from another disk it is copied.

    Raises:
        OSError: the first error; shutil only puts all errors into words, without the code that
            would say that the disk is full.
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
    """Delete what is left of unfinished runs."""
    for folder in _run_places(iteration):
        if os.path.lexists(folder) and _is_own(folder):
            remove(folder)
    remove(iteration / STAGING)


def remove(folder: Path) -> None:
    """Delete a folder with everything in it, even without permissions; or a file or link."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        remove_tree(folder)
        if folder.exists():
            take_back(folder)
            shutil.rmtree(folder)


OF_MACHINE = frozenset(
    (
        errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
        errno.EMFILE, errno.ENFILE, errno.ESTALE,
    )
)  # fmt: skip
"""Errors that would hit every other run, too."""


def mark_errored(run: Run, reason: str) -> None:
    """Write into timing.json that a run errored; a run that was never executed gets a folder.

    Raises:
        Unwritable: it cannot be written.
    """
    timing = read_document(run.place / EXECUTED, Timing) or Timing()
    timing.status, timing.reason = ERRORED, reason
    write(run.place / EXECUTED, to_json(dump(timing)))


def clear_error(folder: Path) -> None:
    """Undo what `mark_errored` wrote about a check or a judging: the run itself is fine.

    Raises:
        Unwritable: it cannot be written.
    """
    timing = read_document(folder / EXECUTED, Timing)
    if timing is not None and (timing.reason or "").startswith(AFTER_RUN):
        timing.status, timing.reason = DONE, None
        write(folder / EXECUTED, to_json(dump(timing)))


def write_judging(folder: Path, number: int, judging: Judging) -> None:
    """Write judgings/N.json in a run's folder; no link out of it is followed.

    Raises:
        Unwritable: it cannot be written.
    """
    path = folder / JUDGINGS / f"{number}.json"
    call_writer(partial(write_atomic, root=folder), path, to_json(dump(judging)))


def read_document(path: Path, kind: type[Any]) -> Any:
    """A document, or None if there is none."""
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return None
    try:
        return decoder(kind).decode(data)  # fast, if it is as we wrote it
    except msgspec.DecodeError:
        return mend(parse(data, Faults()), kind)[0]


def write(path: Path, data: bytes) -> None:
    """Write a file in one piece.

    Raises:
        Unwritable: no room, no permission, or a disk that fails.
    """
    call_writer(write_atomic, path, data)


T = TypeVar("T")


def call_writer(function: Callable[..., T], *given: Any) -> T:
    """Call a function that writes files, and turn errors of the machine into `Unwritable`.

    Raises:
        Unwritable: no room, no permission, or a disk that fails.
    """
    try:
        return function(*given)
    except OSError as error:
        if error.errno not in OF_MACHINE:
            raise
        raise Unwritable(unwritable(error)) from error


def unwritable(error: OSError) -> str:
    """The message about a workspace that cannot be written."""
    where = error.filename2 or error.filename  # of two, the one that was to be written
    at = f" at {where}" if where else ""
    return (
        f"the workspace cannot be written{at}: {error.strerror}. Finished work is kept: fix "
        "this, and start the plan again"
    )


_OF_GIT = ("config", "config.worktree", "hooks")
"""Parts of a repository that can name programs which even `git status` would start."""
TEXT_READ = 64 * 1024 * 1024
"""Bytes of one output file that are counted as characters; larger files are left uncounted."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The files that a run has produced.

    Attributes:
        files: the outputs, as paths below the folder, with slashes, in order.
        left_out: what was removed, each with the reason.
        chars: characters of the outputs that are text; None if none is text.
    """

    files: list[str]
    left_out: list[str]
    chars: int | None


def collect(run: Path, inputs: Sequence[Input]) -> Collected:
    """Sort the files in a run's `outputs`, which was its working folder.

    Args:
        run: the run's folder.
        inputs: the files that were copied there before the run.

    Raises:
        OSError: something cannot be read or moved.
    """
    work = run / "outputs"
    _open_folders(work)
    for input_ in inputs:
        _keep_input(input_, work, run / "inputs")
    left_out = _take_away(work)
    files = sorted(
        path.relative_to(work).as_posix()
        for folder, _, names in os.walk(work)
        for path in (Path(folder, name) for name in names)
        if not path.is_symlink()
    )
    return Collected(files, left_out, _count_characters(work, files))


def _open_folders(work: Path) -> None:
    """Restore the owner's permissions on folders that an agent took away."""
    for at, names, _ in os.walk(work):
        for path in (Path(at), *(Path(at, name) for name in names)):
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                path.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)


def _keep_input(input_: Input, work: Path, inputs: Path) -> None:
    """Move an input out of the outputs if it was not changed."""
    path, target = work / input_.name, inputs / input_.name
    if not is_plain(path, work) or not path.is_file():
        return
    with open_file(path, work) as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != input_.digest:
            return
        file.seek(0)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as copy:
            shutil.copyfileobj(file, copy)
    remove_file(path, work)
    _drop_empty(path.parent, work)


def _take_away(work: Path) -> list[str]:
    """Remove everything that is unsafe to keep; returns what it was."""
    removed = []
    for folder, names, files in os.walk(work):
        if {"objects", "refs"} <= {name.lower() for name in names}:  # a repository of any name
            for name in [name for name in (*names, *files) if name.lower() in _OF_GIT]:
                below = os.path.relpath(Path(folder, name), work)
                removed.append(f"{below}: git would start programs that it names")
                remove(Path(folder, name))
                (names if name in names else files).remove(name)
        for path in (Path(folder, name) for name in (*names, *files)):
            mode = path.lstat().st_mode
            what = _odd_kind(path, mode, work)
            if what is not None:
                removed.append(f"{path.relative_to(work).as_posix()}: {what}")
                path.unlink()
    return sorted(removed)


def _odd_kind(path: Path, mode: int, work: Path) -> str | None:
    """Why a file system entry cannot be kept; None if it can."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    if not stat.S_ISLNK(mode):
        return "not a regular file (a pipe, a socket or a device)"
    if not os.path.realpath(path).startswith(os.path.realpath(work) + os.sep):
        return "a link that leads out of the folder"
    return None if os.path.exists(path) else "a link that leads nowhere"  # noqa: PTH110 -- circles


def _drop_empty(folder: Path, work: Path) -> None:
    """Delete a folder that contained only inputs, and such folders above it."""
    while folder != work and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _count_characters(work: Path, files: list[str]) -> int | None:
    counted: list[int] = []
    for name in files:
        path = work / name
        if path.stat().st_size > TEXT_READ:
            continue
        try:
            counted.append(len(read_bytes(path, work).decode()))
        except UnicodeDecodeError:  # no text
            continue
    return sum(counted) if counted else None
