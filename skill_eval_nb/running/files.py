"""The files and folders of a run: made far from their place, collected, and put there whole.

The working folder becomes the run's `outputs/`. Inputs that are as they were go to `inputs/`.
What is no file (pipes, sockets, devices), links that lead out of the folder or nowhere, and what
git would start as a program are taken away and told: whoever looks at the outputs later would
follow them, hang, or run them. An agent may have put a link in the place of any folder, so
nothing is followed here.
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
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.read import decoder

from .spec import AFTER_RUN, DONE, ERRORED, EXECUTED, JUDGINGS, Run, reason_errored
from .suite import Input, place_inputs

STAGING = ".staging"
"""In an iteration's folder: runs on their way to their place, and what is noted of them. What a
killed job left there holds nothing finished, and goes at the next start."""

_TEMPORARY = (tempfile.gettempdir, lambda: "/var/tmp", lambda: Path.home() / ".cache")  # noqa: S108
"""Where runs are made: in the first of these on the disk of the workspace, which one is moved
from in one step; if none is, in the first."""

NOTES = "spent"
"""In the staging folder: what each step can have cost, see `spending`."""


class InTheWay(Exception):
    """Something lies where a run is to go, and it is not a run of ours."""


class Unwritable(Exception):
    """The workspace cannot be written: no room, no permission. The job ends; nothing is lost."""


def work_folders(iteration: Path, key: str, launch: int) -> tuple[Path, Path]:
    """Where a run is made, and a private folder for its executor, thrown away at its end.

    Far from the workspace: an agent may learn the path of its folder on this machine, which
    stands in its /proc/self/mountinfo, and the workspace's tells what is tried. Each launch has
    its own: a worker that was given up for lost may still be writing.
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
    """Whether a folder is this user's: where it lies, others may make one of that name."""
    return folder.lstat().st_uid == _user_id()


def _user_id() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _disk_of(folder: Path) -> int | None:
    """The disk that a folder is on; None if nothing can be made in it."""
    return folder.stat().st_dev if os.access(folder, os.W_OK | os.X_OK) else None


def notes_of(iteration: Path, launch: int) -> Path:
    """The file that notes what a launched step can have cost."""
    return iteration / STAGING / NOTES / f"{launch}.jsonl"


def make_ready(staging: Path, scratch: Path, inputs: Sequence[Input]) -> None:
    """Make a run's folders again, and copy the input files into its working folder.

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
    """See to it that a run can go to its place in an iteration, before anything is spent on it.

    Raises:
        InTheWay: there is something else, which is not touched.
    """
    fault = leads_out(place, iteration)
    if fault is not None:
        raise InTheWay(f"{place} is in the way: {fault}")
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise InTheWay(f"{place} is in the way: it is not a folder. Move it elsewhere")
    if place.is_dir() and not (place / EXECUTED).is_file() and any(place.iterdir()):
        raise InTheWay(
            f"{place} is in the way: it holds files, but no {EXECUTED}, so it is not a "
            "finished run. Move it elsewhere, and start again"
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
    for folder in _run_places(iteration):
        if os.path.lexists(folder) and _is_own(folder):
            remove(folder)
    remove(iteration / STAGING)


def remove(folder: Path) -> None:
    """Take a folder away with all that is in it, closed folders too; it need not be one."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        remove_tree(folder)
        if folder.exists():
            open_up(folder)
            shutil.rmtree(folder)


def open_up(folder: Path) -> None:
    """Open the folders below that an agent closed to itself: their owner can."""
    for at, names, _ in os.walk(folder):
        for path in (Path(at), *(Path(at, name) for name in names)):
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                path.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)


OF_MACHINE = frozenset(
    (
        errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
        errno.EMFILE, errno.ENFILE, errno.ESTALE,
    )
)  # fmt: skip
"""Errors that no other run would be spared."""


def mark_errored(run: Run, reason: str) -> None:
    """Write into timing.json that a run is errored; one that was never executed gets a folder.

    Raises:
        Unwritable: it cannot be written.
    """
    timing = read_document(run.place / EXECUTED, Timing) or Timing()
    timing.status, timing.reason = ERRORED, reason
    write(run.place / EXECUTED, to_json(dump(timing)))


def clear_error(folder: Path) -> None:
    """Take back what `mark_errored` wrote of a check or a judge: the run itself is fine.

    Raises:
        Unwritable: it cannot be written.
    """
    timing = read_document(folder / EXECUTED, Timing)
    if timing is not None and (timing.reason or "").startswith(AFTER_RUN):
        timing.status, timing.reason = DONE, None
        write(folder / EXECUTED, to_json(dump(timing)))


def write_judging(folder: Path, number: int, judging: Judging) -> None:
    """Write judgings/N.json in a run's folder; a link that leads out of it is not followed.

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
        return decoder(kind).decode(data)  # as we wrote it
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
    """Call what writes files: an error of the machine is told as one.

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
    """What to say where a workspace cannot be written."""
    where = error.filename2 or error.filename  # of two, the one that was to be written
    at = f" at {where}" if where else ""
    return (
        f"the workspace cannot be written{at}: {error.strerror}. Nothing that was finished is "
        "lost: see to it, and start the plan again"
    )


_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}
_OF_GIT = ("config", "config.worktree", "hooks")
"""In a repository: what names programs that `git status` alone would start."""
TEXT_READ = 64 * 1024 * 1024
"""Bytes of one output file that are counted as characters; larger files are left uncounted."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run has put out.

    Attributes:
        files: the outputs, as paths below the folder, with slashes, in order.
        inputs: the inputs that were left as they were.
        left_out: what was not kept, each with the reason.
        chars: characters of the outputs that are text; None if there is no such file.
    """

    files: tuple[str, ...]
    inputs: tuple[str, ...]
    left_out: tuple[str, ...]
    chars: int | None


def collect(run: Path, inputs: Sequence[Input]) -> Collected:
    """Sort what lies in a run's `outputs`, its working folder until now.

    Args:
        run: the run's folder.
        inputs: the files that were copied there before.

    Raises:
        OSError: something cannot be read or moved.
    """
    work = run / "outputs"
    open_up(work)
    same = [input_.name for input_ in inputs if _keep_input(input_, work, run / "inputs")]
    left_out = _take_away(work)
    files = sorted(
        path.relative_to(work).as_posix()
        for folder, _, names in os.walk(work)
        for path in (Path(folder, name) for name in names)
        if not path.is_symlink()
    )
    return Collected(
        tuple(files), tuple(sorted(same)), tuple(left_out), _count_characters(work, files)
    )


def _keep_input(input_: Input, work: Path, inputs: Path) -> bool:
    """Put an input that is still as it was copied beside the outputs; whether it is."""
    path, target = work / input_.name, inputs / input_.name
    if not is_plain(path, work) or not path.is_file():
        return False
    with open_file(path, work) as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != input_.digest:
            return False
        file.seek(0)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as copy:
            shutil.copyfileobj(file, copy)
    remove_file(path, work)
    _drop_empty(path.parent, work)
    return True


def _take_away(work: Path) -> list[str]:
    """Remove what is neither a file nor a folder, and what git would start; gives what it was."""
    removed = []
    for folder, names, files in os.walk(work):
        if {"objects", "refs"} <= {name.lower() for name in names}:  # however it is called
            for name in [name for name in (*names, *files) if name.lower() in _OF_GIT]:
                below = os.path.relpath(Path(folder, name), work)
                removed.append(f"{below}: git would start the programs that it names")
                remove(Path(folder, name))
                (names if name in names else files).remove(name)
        for path in (Path(folder, name) for name in (*names, *files)):
            mode = path.lstat().st_mode
            what = _odd_kind(path, mode, work)
            if what is not None:
                removed.append(f"{path.relative_to(work).as_posix()}: {what}")
                path.unlink()
            elif stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                path.chmod(stat.S_IMODE(mode) | stat.S_IRUSR)
    return sorted(removed)


def _odd_kind(path: Path, mode: int, work: Path) -> str | None:
    """What something is that cannot be kept; None for what can be."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    if not stat.S_ISLNK(mode):
        return _KINDS.get(stat.S_IFMT(mode), "no file")
    if not os.path.realpath(path).startswith(os.path.realpath(work) + os.sep):
        return "a link that leads out of the folder"
    return None if os.path.exists(path) else "a link that leads nowhere"  # noqa: PTH110 -- circles


def _drop_empty(folder: Path, work: Path) -> None:
    """Folders that held nothing but inputs are no output."""
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
