"""The files that a run has put out: found without following links to elsewhere, read once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from skill_eval_nb.disk import NO_LINK, LeadsOut, inside, read_bytes
from skill_eval_nb.documents import Faults, NotJSON, parse

from .verdict import in_order

_OF_RUNNER = {
    "metrics.json": frozenset(("tool_calls", "total_tool_calls", "total_steps")),
    "structural.json": frozenset(("gate_passed", "expectations")),
    "grading.json": frozenset(("expectations",)),
}
"""Files of the runner that may lie among the outputs, and keys by which they are known."""

RUNNER = tuple(_OF_RUNNER)
"""Their names."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The regular files below a folder.

    Attributes:
        root: the folder.
        names: their paths below it, with slashes, in order.
        links: of those that are links, where they really lie.
        folders: the paths of the folders below it.
        left_out: what was not looked at, with the reason: links, unreadable folders.
    """

    root: str
    names: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """The bytes of one of the files.

        Raises:
            OSError: where it cannot be read, or is `TooLarge`.
        """
        return read_bytes(self.links.get(name) or f"{self.root}/{name}", flags=NO_LINK)


def list_outputs(folder: str, *, of_runner: Iterable[str] = RUNNER) -> Outputs:
    """List the files below `folder`; one that is not there holds none.

    Links to files inside of `folder` count as files; other links are left out, and so are
    the runner's own documents.

    Args:
        folder: the folder of the outputs.
        of_runner: names of `RUNNER` that are looked into; fewer where no check asks for them.
    """
    found = Outputs(folder.rstrip("/") or "/")
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(f"{found.root}/{below}") as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        found.names.append(below + entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        found.folders.append(below + entry.name)
                        waiting.append(f"{below}{entry.name}/")
                    else:
                        _add_other(entry, below + entry.name, found)
        except OSError as error:
            if below or not isinstance(error, FileNotFoundError):
                found.left_out[below or "."] = f"cannot be listed ({error.strerror})"
    for name in of_runner:
        if name in found.names and _is_of_runner(found, name, _OF_RUNNER[name]):
            found.names.remove(name)
    found.names[:] = in_order(found.names)
    found.folders.sort()
    return found


def _add_other(entry: os.DirEntry[str], name: str, found: Outputs) -> None:
    """A link to a file among the outputs is a file too; whatever else there is is left out."""
    try:
        real = inside(entry.path, found.root)
        is_file = Path(real).is_file()
    except LeadsOut:
        found.left_out[name] = "is a link that leads out of the outputs"
    except (OSError, ValueError) as error:  # its target is too long, say
        why = getattr(error, "strerror", None) or error
        found.left_out[name] = f"is a link that cannot be followed ({why})"
    else:
        if not entry.is_symlink():
            found.left_out[name] = "is no regular file"
        elif is_file:
            found.names.append(name)
            found.links[name] = real
        else:
            found.left_out[name] = "is a link to a folder, or to nothing"


def _is_of_runner(found: Outputs, name: str, keys: frozenset[str]) -> bool:
    """Whether a file of the runner's name is the runner's: an output may have that name too."""
    try:
        data = found.read(name)
        try:
            raw = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError):  # `parse` may read it all the same
            raw = parse(data, Faults())
    except (OSError, NotJSON):
        return False
    return isinstance(raw, dict) and not keys.isdisjoint(raw)
