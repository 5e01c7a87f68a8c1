"""The files that a run put out: found, read without leaving the run, drawn on a sheet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

from skill_eval_nb.disk import decode, decode_text, decode_wide, open_file
from skill_eval_nb.documents import Timing
from skill_eval_nb.grading.contents import Entry, entries
from skill_eval_nb.running.stored_runs import TRANSCRIPTS
from skill_eval_nb.text import natural_key
from skill_eval_nb.workspace import Problems
from skill_eval_nb.workspace.layout import RESULTS_INSIDE
from skill_eval_nb.workspace.read import load_if_there

from ..ui import Bytes, Child, offer
from ..ui.source import Recent

OUTPUTS = "outputs"


@dataclass(frozen=True)
class OutputFile:
    """A file that a run put out.

    Attributes:
        name: below the outputs, with `/` between folders; `./…` where it lies beside them and
            there is another of its name.
        path: where it is.
        size: in bytes.
        mtime_ns: when it was last changed.
        root: the folder of the run, which reading it never leaves.
        reason: why it cannot be looked into; None where it can.
    """

    name: str
    path: str
    size: int
    mtime_ns: int
    root: str
    reason: str | None = None

    @cached_property
    def suffix(self) -> str:
        """What its name ends in, in small letters and without the dot; empty where nothing."""
        stem, dot, ending = self.name.rpartition("/")[2].rpartition(".")
        return ending.lower() if dot and stem else ""

    @cached_property
    def blob(self) -> str:
        """A name for its bytes, that tells nothing of the file: another one when they change."""
        return sha256(repr((self.path, self.mtime_ns, self.size)).encode()).hexdigest()[:20]

    def read(self, most: int | None = None) -> bytes:
        """What it holds, or the first `most` bytes.

        Raises:
            OSError: it cannot be read, or is no longer a file of this run.
        """
        with self.open() as file:
            return file.read() if most is None else file.read(most)

    def open(self) -> BinaryIO:
        """The file, open: a regular one that no link leads out of the run to.

        Raises:
            OSError: there is none.
        """
        if self.reason is not None:
            raise OSError(0, self.reason)
        return open_file(self.path, self.root)


def output_files(folder: Path) -> list[OutputFile]:
    """The files that a run put out: those in its `outputs`, and those beside that are not JSON.

    Results of other tools, transcripts and links are no outputs; a link is named, and is not
    followed. They are in the natural order of their names. Nothing raises: a folder that
    cannot be listed is an entry that says so.
    """
    aside = {file.path for file in transcript_files(folder)}
    inside = [entry for entry in _list_outputs(folder) if entry.path not in aside]
    names = {entry.name for entry in inside}
    beside = [
        replace(entry, name=f"./{entry.name}") if entry.name in names else entry
        for entry in _files_beside(folder)
        if entry.path not in aside
    ]
    found = sorted([*inside, *beside], key=lambda entry: natural_key(entry.name))
    return [_output_file(entry, folder) for entry in found]


def transcript_files(folder: Path) -> list[OutputFile]:
    """The forms of the run's transcript, the one that says most first."""
    for place in (folder, folder / OUTPUTS):
        paths = [place / name for name in TRANSCRIPTS]
        there = [path for path in paths if path.is_file() and not path.is_symlink()]
        if there:
            return [_output_file(Entry(path.name, str(path), 0), folder) for path in there]
    return []


def _list_outputs(folder: Path) -> list[Entry]:
    outputs = folder / OUTPUTS
    why = "a link; links are not followed"
    if not outputs.is_symlink():
        if not outputs.is_dir():
            return []
        try:
            return entries(outputs, _results_inside(folder))
        except OSError as error:
            why = f"a folder that cannot be listed ({error.strerror or error})"
    return [Entry(f"{OUTPUTS}/", str(outputs), 0, why)]


def _results_inside(folder: Path) -> frozenset[str]:
    """Results among the outputs; of runs made here, all that lies there is the agent's."""
    timing = load_if_there(f"{folder}/timing.json", Timing, Problems())
    ours = timing is not None and timing.executor is not None
    return frozenset() if ours else RESULTS_INSIDE


def _files_beside(folder: Path) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as listed:
            there = [entry.name for entry in listed if entry.is_file(follow_symlinks=False)]
    except OSError:
        return  # the run's own folder is gone, which is said elsewhere
    for name in there:
        if not name.lower().endswith(".json") and not name.startswith("."):
            yield Entry(name, f"{folder}/{name}", 0)


def _output_file(entry: Entry, folder: Path) -> OutputFile:
    try:
        now = os.lstat(entry.path)
    except OSError as error:
        why = entry.reason or f"it cannot be read ({error.strerror})"
        return OutputFile(entry.name, entry.path, entry.size, 0, str(folder), why)
    length = entry.size if entry.reason else now.st_size
    return OutputFile(entry.name, entry.path, length, now.st_mtime_ns, str(folder), entry.reason)


Get = Callable[[], Bytes]
"""Gives bytes and their media type, when a page asks for them."""

PER_ELEMENT = 30
"""Characters that an element weighs beside its text, on its way to the page."""
KEPT = 4_000_000
"""Weight of all the trees that are kept."""


class NotDrawn(Exception):
    """A file is not what its name promises; the message says why."""


@dataclass
class Sheet:
    """What is to be seen of a file.

    Attributes:
        file: the file.
        pictures: the pictures among the run's outputs, by path, which a text may show.
        waits: seconds that may still be waited for what another process reads.
        kind: what the file is shown as, in a word or two.
        view: the tree.
        blobs: what that refers to, by name; offered again each time that it is shown.
        lasting: whether it will look the same the next time.
    """

    file: OutputFile
    pictures: Mapping[str, OutputFile] = field(default_factory=dict)
    waits: float = 1.0
    kind: str = "file"
    view: Child = None
    blobs: dict[str, Get] = field(default_factory=dict)
    lasting: bool = True

    def offer(self, of: str, get: Get) -> str:
        """Let the page ask for bytes by this name; see `panel.offer`."""
        self.blobs[of] = get
        return of

    def show(self, file: OutputFile, media_type: str) -> str:
        """Let the page ask for all bytes of a file, to show them."""
        return self.offer(f"{file.blob} as {media_type}", lambda: (file.read(), media_type))

    @cached_property
    def weight(self) -> int:
        """What the tree weighs, in characters."""
        return weight(self.view)

    def offer_all(self) -> Child:
        """The tree, with its bytes to be had."""
        for name, get in self.blobs.items():
            offer(name, get)
        return self.view


def weight(node: Child) -> int:
    """What a tree weighs in characters; elements count, too."""
    if node is None:
        return 0
    if isinstance(node, str):
        return len(node)
    return PER_ELEMENT + sum(map(weight, node)) if isinstance(node, list | tuple) else 0


DRAWN: Recent[Sheet] = Recent(KEPT, lambda sheet: sheet.weight + 1_000)
"""What was drawn, as much as has room, by its file; with a name where other things tell, too."""


WHOLE = 4 * 2**20
"""Bytes: of a larger file the beginning is read."""
HEAD = 2**18
"""Bytes that are read of it."""


class Reading(NamedTuple):
    """What was read of a file.

    Attributes:
        text: its text, or the beginning of that.
        whole: whether that is all.
        note: what is odd about its bytes; None where nothing is.
    """

    text: str
    whole: bool = True
    note: str | None = None


def read_output(file: OutputFile) -> Reading:
    """Read a file as text.

    Raises:
        NotDrawn: it is not text.
        OSError: it cannot be read.
    """
    data = file.read(WHOLE + 1)
    whole = len(data) <= WHOLE
    text, note = as_text(data if whole else data[:HEAD], part=not whole)
    return Reading(text, whole, note)


def whole_text(file: OutputFile) -> Reading:
    """Read a file as text, where a part of it would be of no use.

    Raises:
        NotDrawn: it is not text, or too large.
        OSError: it cannot be read.
    """
    reading = read_output(file)
    if not reading.whole:
        raise NotDrawn(f"more than {WHOLE >> 20} MB, so only the beginning is shown, as text")
    return reading


def as_text(data: bytes, *, part: bool = False) -> tuple[str, str | None]:
    r"""Bytes as text, and what is odd about them.

    >>> as_text(b"caf\xc3\xa9"), as_text(b"caf\xe9")[0]
    (('café', None), 'café')
    >>> as_text(b"\xc3\xa4\xc3\xb6\xc3\xbc \xff")[0]
    'äöü �'

    Raises:
        NotDrawn: they are no text.
    """
    if decode_text(data, part=part) is None:
        raise NotDrawn("it is not text")
    text, odd = decode(data, part=part)
    return text, None if decode_wide(data) is not None else odd


def lines_in(text: str) -> int:
    r"""How many lines a text has.

    >>> lines_in(""), lines_in("a"), lines_in("a\nb\n")
    (0, 1, 2)
    """
    return text.count("\n") + bool(text and not text.endswith("\n"))
