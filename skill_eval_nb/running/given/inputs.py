"""The input files of an eval: found inside the skill's folder, put into the working folder."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from ..refused import Refused
from .skill_files import OF_EVALS


@dataclass(frozen=True, slots=True)
class Input:
    """An input file.

    Attributes:
        source: where it lies.
        name: where it goes in the working folder: its path as the suite states it, so that
            a prompt that names it is true.
        digest: a hash of what is in it.
        size: its bytes.
    """

    source: Path
    name: str
    digest: str
    size: int


def find_inputs(
    stated: Sequence[str], roots: Sequence[Path], forbidden: Iterable[Path] = ()
) -> tuple[Input, ...]:
    """Find the files that an eval states.

    Args:
        stated: paths of files or folders; of a folder every file in it is taken.
        roots: the folders that they are looked for in, in this order: the skill's folder
            first. None may lead out of its root, by `..`, as an absolute path or over a link.
        forbidden: files that no executor may see: the evals themselves and SKILL.md, which
            would give the baseline the skill.

    Raises:
        Refused: one leaves its root, does not exist, or may not be seen; all of them at once.
    """
    faults: list[str] = []
    hidden = {one.resolve() for one in forbidden}
    found: dict[str, Input] = {}
    for text in stated:
        try:
            found.update((one.name, one) for one in _inputs(text, roots, hidden))
        except Refused as error:
            faults += error.faults
    if faults:
        raise Refused(faults)
    return tuple(found[name] for name in sorted(found))


def place_inputs(inputs: Iterable[Input], folder: Path) -> None:
    """Copy input files into a working folder.

    Raises:
        Refused: one has changed since it was found.
        OSError: one cannot be copied.
    """
    for one in inputs:
        there = folder / one.name
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(one.source, there)
        if _digest(there) != one.digest:
            raise Refused([f"input file {one.source} has changed since the plan: plan again"])


def _inputs(text: str, roots: Sequence[Path], hidden: set[Path]) -> list[Input]:
    name = _relative(text)
    for root in roots:
        path = root / name
        if not os.path.lexists(path):
            continue
        _contain(path, text, root)
        if not path.exists():
            raise Refused(
                [f"input file `{text}` is a link to {path.readlink()}, which is not there"]
            )
        if not path.is_dir():
            return [_input(path, name, text, hidden)]
        below = sorted(one for one in path.rglob("*") if one.is_symlink() or one.is_file())
        for one in below:
            _contain(one, text, root)
        files = [one for one in below if one.is_file()]
        return [
            _input(one, f"{name}/{one.relative_to(path).as_posix()}", text, hidden) for one in files
        ]
    raise Refused([_missing(text, name, roots)])


def _relative(text: str) -> str:
    """A stated path in its shortest form; refused where it is absolute or goes upwards."""
    plain = text.strip()
    parts = PurePosixPath(plain).parts
    if not parts or "\0" in plain:
        raise Refused([f"input file {text!r} names no file"])
    if plain.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", plain):
        raise Refused(
            [f"input file `{text}` is an absolute path; state it from the skill's folder"]
        )
    if ".." in re.split(r"[\\/]", plain):
        raise Refused(
            [f"input file `{text}` leaves the skill's folder by `..`; put a copy into it"]
        )
    return PurePosixPath(*parts).as_posix()


def _contain(path: Path, text: str, root: Path) -> None:
    real = path.resolve()
    if not real.is_relative_to(root.resolve()):
        raise Refused(
            [f"input file `{text}` leaves {root} over a link, to {real}; put a copy in its place"]
        )


def _input(path: Path, name: str, text: str, hidden: set[Path]) -> Input:
    lower = path.resolve().name.lower()
    if path.resolve() in hidden or any(fnmatchcase(lower, one) for one in OF_EVALS):
        fault = (
            f"input file `{text}` holds {path.name}, which no executor may see: it tells the "
            "evals, or gives the skill to the baseline"
        )
        raise Refused([fault])
    if not path.is_file() or not os.access(path, os.R_OK):
        raise Refused([f"input file `{text}`: {path} cannot be read as a file"])
    return Input(path.resolve(), name, _digest(path), path.stat().st_size)


def _missing(text: str, name: str, roots: Sequence[Path]) -> str:
    """What to say of a file that is not there: the nearest name beside it."""
    for root in roots:
        there = (root / name).parent
        if there.is_dir():
            names = [one.name for one in there.iterdir()]
            near = difflib.get_close_matches(PurePosixPath(name).name, names, n=1)
            if near:
                folder = PurePosixPath(name).parent
                return f"input file `{text}` does not exist; did you mean `{folder / near[0]}`?"
    looked = " and ".join(str(root) for root in roots)
    return f"input file `{text}` does not exist in {looked}"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
