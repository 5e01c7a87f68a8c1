"""The folders of a run: where it is made, and where it goes when it is whole."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from skill_eval_nb.disk import leads_out

from ..given.inputs import Input, place_inputs
from .state import EXECUTED, errored

STAGING = ".staging"
"""In an iteration's folder: runs that are being made. What a killed job left there holds
nothing finished, and goes at the next start."""

NOTES = "spent"
"""In the staging folder: what each step can have cost, see `spending`."""


class InTheWay(Exception):
    """Something lies where a run is to go, and it is no run of ours."""


class Unwritable(Exception):
    """The workspace cannot be written: no room, no permission. The job ends; nothing is lost."""


def made_by(iteration: Path, key: str, launch: int) -> tuple[Path, Path]:
    """Where a run is made, and a private folder for its executor, thrown away at its end.

    Each launch has its own: a worker that was given up for lost may still be writing.
    """
    staging = iteration / STAGING / f"{key}-{launch}"
    return staging, staging.with_name(f"{staging.name}.scratch")


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
    """
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


def put_in_place(staging: Path, place: Path) -> None:
    """Give a whole run its place, in one step.

    An errored one that it replaces goes. Where a sound one has come meanwhile, from a worker
    that was given up for lost, that one stays.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    old = staging.with_name(f"{staging.name}.replaced")
    if (place / EXECUTED).is_file():
        if errored(place) is None:
            remove(staging)
            return
        place.rename(old)
    staging.rename(place)
    remove(old)


def clear(iteration: Path) -> None:
    """Take away what is left in the staging folder."""
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
