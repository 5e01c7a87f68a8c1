"""What a run has put out: the files in its working folder that are new or changed.

The working folder becomes the run's `outputs/`. Inputs that are as they were go to `inputs/`.
What is no file (pipes, sockets, devices), links that lead out of the folder or nowhere, and what
git would start as a program are taken away and told: whoever looks at the outputs later would
follow them, hang, or run them. An agent may have put a link in the place of any folder, so
nothing is followed here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skill_eval_nb.disk import is_plain, open_file, remove_file

from ..given.inputs import Input
from .folders import open_up, remove

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
        chars: characters of the outputs that are text; None where there is no such file.
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
    same = [one.name for one in inputs if _keep(one, work, run / "inputs")]
    left_out = _take_away(work)
    files = sorted(
        path.relative_to(work).as_posix()
        for folder, _, names in os.walk(work)
        for path in (Path(folder, name) for name in names)
        if not path.is_symlink()
    )
    return Collected(tuple(files), tuple(sorted(same)), tuple(left_out), _characters(work, files))


def _keep(one: Input, work: Path, inputs: Path) -> bool:
    """Put an input that is still as it was copied beside the outputs; whether it is."""
    path, target = work / one.name, inputs / one.name
    if not is_plain(path, work) or not path.is_file():
        return False
    with open_file(path, work) as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != one.digest:
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
    told = []
    for folder, names, files in os.walk(work):
        if {"objects", "refs"} <= {name.lower() for name in names}:  # however it is called
            for name in [name for name in (*names, *files) if name.lower() in _OF_GIT]:
                below = os.path.relpath(Path(folder, name), work)
                told.append(f"{below}: git would start the programs that it names")
                remove(Path(folder, name))
                (names if name in names else files).remove(name)
        for path in (Path(folder, name) for name in (*names, *files)):
            mode = path.lstat().st_mode
            what = _odd(path, mode, work)
            if what is not None:
                told.append(f"{path.relative_to(work).as_posix()}: {what}")
                path.unlink()
            elif stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                path.chmod(stat.S_IMODE(mode) | stat.S_IRUSR)
    return sorted(told)


def _odd(path: Path, mode: int, work: Path) -> str | None:
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


def _characters(work: Path, files: list[str]) -> int | None:
    counted: list[int] = []
    for name in files:
        path = work / name
        if path.stat().st_size > TEXT_READ:
            continue
        try:
            counted.append(len(path.read_bytes().decode()))
        except UnicodeDecodeError:  # no text
            continue
    return sum(counted) if counted else None
