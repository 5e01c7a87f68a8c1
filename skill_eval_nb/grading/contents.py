"""The files of a folder, and how each can be shown: as a text, a picture, or just its name.

The text of PDF and office files is extracted by a separate process in a sandbox (`extractor.py`);
whether the API accepts a picture is determined from its bytes. Everything has a stated limit.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from skill_eval_nb.disk import decode_text, open_file
from skill_eval_nb.text import natural_key

from . import sandbox
from .box import Ran, python

SHOWN_CHARS = 120_000
"""Room in characters; some 30,000 tokens of English."""

LIST_SHARE = 8
TRANSCRIPT_SHARE = 4
INPUTS_SHARE = 4
"""These parts get at most one eighth, one quarter and one quarter of the room."""

LEAST = 500
"""The shortest useful part of a file, in characters."""

READ_WHOLE = 4 * 2**20
"""Bytes; of larger text files only the beginning and the end are read."""

READ_ENDS = 2**18
"""Bytes that are read at each end of such a file."""

READ_TOGETHER = 64 * 2**20
"""Bytes; once this much was read, only the beginning and the end of further files are read."""

EXTRACTING_SECONDS = 120.0
"""Seconds that extracting texts by libraries may take in total, for one run."""

IMAGES = 20
"""Pictures in one request; beyond 20, the API only accepts smaller ones."""

IMAGE_BYTES = 3_750_000
"""Bytes of one picture; in base64 these are 5 MB."""

IMAGES_BYTES = 18_000_000
"""Bytes of all pictures together; a request may have 32 MB."""


MARK = "\n[… {left:,} characters left out here …]\n"
MARK_ROOM = 60
"""Room reserved for the line that says how much is left out."""


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """A fair share for each: none gets more than it wants, and large ones do not crowd out small.

    >>> shares([10, 500, 300], 400)
    [10, 195, 195]
    >>> shares([10, 500, 30], 400)
    [10, 360, 30]
    """
    given = [0] * len(wanted)
    left = max(room, 0)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for position, index in enumerate(order):
        given[index] = min(wanted[index], left // (len(order) - position))
        left -= given[index]
    return given


def count_admitted(wanted: Sequence[int], room: int, least: int) -> int:
    """How many of the first pieces can each get `least`, or all that they want.

    >>> count_admitted([900, 20, 900, 900], 1300, 500)
    3
    """
    for position, wish in enumerate(wanted):
        room -= min(wish, least)
        if room < 0:
            return position
    return len(wanted)


def cut_middle(text: str, room: int) -> tuple[str, int]:
    r"""Beginning and end of a text within this many characters, and how many are left out.

    >>> cut_middle("short", 100)
    ('short', 0)
    >>> cut_middle("a" * 60 + "b" * 60, 100)
    ('aaaaaaaaaaaaaaaaaaaa\n[… 80 characters left out here …]\nbbbbbbbbbbbbbbbbbbbb', 80)
    """
    if len(text) <= room:
        return text, 0
    kept = room - MARK_ROOM
    if kept <= 0:
        return "", len(text)
    tail = kept // 2
    head = kept - tail
    left = len(text) - kept
    return f"{text[:head]}{MARK.format(left=left)}{text[len(text) - tail :]}", left


OFFICE_KINDS = frozenset(("pdf", "xlsx", "docx", "pptx"))
MOST_BYTES = 50_000_000
MOST_CHARS = 2_000_000
SECONDS = 60
MEMORY = 2**30
_PROGRAM = Path(__file__).with_name("extractor.py")


class NotExtracted(Exception):
    """No text can be extracted; the message says why, for readers of the judging."""


def extract(path: str, kind: str, size: int, seconds: float = SECONDS) -> tuple[str, bool]:
    """The text of a file, and whether the file has more text than that.

    Args:
        path: the file.
        kind: one of `OFFICE_KINDS`; or `grid` for the cells of a workbook.
        size: its size in bytes.
        seconds: the time that reading may take, `SECONDS` at most.

    Raises:
        NotExtracted: it is damaged, too large or without text, or no library can read it here.
    """
    if size > MOST_BYTES:
        raise NotExtracted(f"a {kind} file of {size:,} bytes; up to {MOST_BYTES:,} are read")
    seconds = min(seconds, SECONDS)
    ran = _run_extractor(os.path.realpath(path), kind, seconds)
    if ran.ended == "time":
        raise NotExtracted(f"a {kind} file that took more than {seconds:.0f} s to read")
    try:
        answer = json.loads(ran.stdout)
    except ValueError:
        why = f" ({ran.message})" if ran.ended != "exit" else ""
        raise NotExtracted(f"a {kind} file that makes its reader fail{why}") from None
    if "missing" in answer:
        raise NotExtracted(
            f"a {kind} file; to show its text, `pip install 'skill-eval-nb[office]'` "
            f"(no module {answer['missing']})"
        )
    if "error" in answer:
        raise NotExtracted(f"a {kind} file that cannot be read ({answer['error']})")
    text = str(answer["text"])
    if not text.strip():
        raise NotExtracted(f"a {kind} file with no text in it")
    return text, bool(answer["more"])


def _run_extractor(path: str, kind: str, seconds: float) -> Ran:
    """Run the program in a box with only the file and the libraries.

    Without a sandbox it has limits and a clean environment, but the user's rights.
    """
    boxed = sandbox.available() is None
    libraries = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    libraries = [library for library in libraries if Path(library).is_dir()]
    shown = [("/extractor.py", _PROGRAM), (f"/file.{kind}", Path(path))]
    shown += [
        (library, Path(library))
        for library in libraries
        if not Path(library).is_relative_to("/usr")
    ]
    program, file = ("/extractor.py", f"/file.{kind}") if boxed else (str(_PROGRAM), path)
    kept_in: sandbox.BoxKind = "bubblewrap" if boxed else "none"
    with tempfile.TemporaryDirectory() as folder:
        box = sandbox.Box(
            Path(folder),
            readable=tuple(shown),
            limits=sandbox.BoxLimits(
                seconds=seconds, memory_bytes=MEMORY, output_bytes=16 * MOST_CHARS
            ),
            kind=kept_in,
        )
        command = [python(kept_in), "-I", "-S", "-B", program]
        command += [kind, file, str(MOST_CHARS), *libraries]
        return (
            sandbox.run_in_box(box, command)
            if os.name == "posix"
            else _run_unlimited(command, seconds)
        )


def _run_unlimited(command: list[str], seconds: float) -> Ran:
    """Run it without limits other than the time, on Windows."""
    own = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 -- our own program, and no shell
            command,
            capture_output=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            env=own,
        )
    except subprocess.TimeoutExpired:
        return Ran(1, b"", b"", cut=False, ended="time", message="")
    return Ran(done.returncode, done.stdout, done.stderr, cut=False, ended="exit", message="")


SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"\xff\xd8\xff": "jpeg",
}
_ENDS = {"png": b"IEND\xaeB`\x82", "jpeg": b"\xff\xd9"}
PICTURE_ENDINGS = frozenset(("png", "jpg", "jpeg", "gif", "webp"))
IMAGE_SIDE = 8000
"""Pixels: the API refuses larger pictures."""


def picture_kind(start: bytes) -> str | None:
    """png, jpeg, gif or webp, from the first bytes of a file.

    >>> picture_kind(b"GIF89a..."), picture_kind(b"%PDF-1.7")
    ('gif', None)
    """
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    return next((kind for sign, kind in SIGNATURES.items() if start.startswith(sign)), None)


def picture_fault(data: bytes, kind: str) -> str | None:
    """Why a picture cannot be shown; None if it can, as far as its beginning and end tell.

    The API refuses a whole request because of one picture that it cannot read.
    """
    match kind:
        case "gif":
            whole = data.rstrip(b"\x00").endswith(b";")
        case "webp":
            whole = len(data) >= 8 + int.from_bytes(data[4:8], "little")
        case _:
            whole = _ENDS[kind] in data[-4096:]
    if not whole:
        return "a damaged picture: its end is missing"
    width, height = (int.from_bytes(data[at : at + 4]) for at in (16, 20))
    if kind == "png" and max(width, height) > IMAGE_SIDE:
        pixels = f"{width} × {height} pixels"
        return f"a picture of {pixels}; the API takes up to {IMAGE_SIDE} a side"
    return None


TOOLS_OWN = frozenset(
    ".git .hg .svn node_modules __pycache__ .venv venv .tox .mypy_cache .pytest_cache "
    ".ruff_cache .ipynb_checkpoints .cache".split()
)
"""Folders that tools fill: only their names are listed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the outputs; `reason` says why it cannot be read, if so."""

    name: str
    path: str
    size: int
    reason: str | None = None


def entries(outputs: Path, ignored: Collection[str] = ()) -> list[Entry]:
    """The files below a folder, in the natural order of their names.

    Files directly in the folder with a name in `ignored` are not listed at all.

    Raises:
        OSError: the folder itself cannot be listed.
    """
    return sorted(
        _walk_below(os.fspath(outputs), set(ignored)), key=lambda entry: natural_key(entry.name)
    )


_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def safe(name: str) -> str:
    r"""A file's name in a form that can be shown: on one line, without quotes and controls.

    >>> print(safe('a"b<c>\n.txt'))
    a&quot;b&lt;c&gt;\n.txt
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in name.translate(_MARKUP)
    )


def _walk_below(folder: str, ignored: set[str]) -> Iterator[Entry]:
    waiting = [(folder, "")]
    while waiting:
        path, above = waiting.pop()
        try:
            with os.scandir(path) as listed:
                there = list(listed)
        except OSError as error:
            if not above:
                raise
            yield Entry(above, path, 0, f"a folder that cannot be listed ({error.strerror})")
            continue
        for found in there:
            name = f"{above}{found.name}"
            if not above and found.name in ignored:
                continue
            try:
                mode = found.stat(follow_symlinks=False)
            except OSError as error:
                yield Entry(name, found.path, 0, f"it cannot be read ({error.strerror})")
                continue
            if not stat.S_ISDIR(mode.st_mode):
                yield _make_entry(name, found.path, mode)
            elif found.name in TOOLS_OWN:
                reason = "a folder that tools fill; what is in it is not listed"
                yield Entry(f"{name}/", found.path, 0, reason)
            else:
                waiting.append((found.path, f"{name}/"))


def _make_entry(name: str, path: str, mode: os.stat_result) -> Entry:
    if stat.S_ISLNK(mode.st_mode):
        return Entry(name, path, 0, "a link; links are not followed")
    if not stat.S_ISREG(mode.st_mode):
        return Entry(name, path, 0, "not a regular file (a pipe, a socket or a device)")
    return Entry(name, path, mode.st_size)


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebook_text(source: str) -> str | None:
    r"""The cells of a notebook, each with its source and text outputs; None if it is not one.

    >>> cell = {"cell_type": "code", "source": ["1 + 1"], "outputs": [
    ...     {"output_type": "execute_result", "data": {"text/plain": "2"}}]}
    >>> print(notebook_text(json.dumps({"cells": [cell]})))
    [cell 1: code]
    1 + 1
    [output of cell 1]
    2
    """
    try:
        raw = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    cells = raw.get("cells")
    if not isinstance(cells, list):
        return None
    return "\n".join(line for n, cell in enumerate(cells, 1) for line in _cell_lines(n, cell))


def _cell_lines(number: int, cell: Any) -> Iterator[str]:
    if not isinstance(cell, dict):
        yield f"[cell {number}: damaged]"
        return
    yield f"[cell {number}: {cell.get('cell_type', 'unknown')}]"
    yield join_source(cell.get("source"))
    for output in _list(cell.get("outputs")):
        if isinstance(output, dict):
            yield f"[output of cell {number}]"
            yield output_text(output)


def output_text(output: dict[str, Any]) -> str:
    """An output of a cell, as text."""
    if output.get("output_type") == "error":
        trace = "\n".join(map(str, _list(output.get("traceback"))))
        return _COLOURS.sub("", trace) or f"{output.get('ename')}: {output.get('evalue')}"
    if "text" in output:
        return _COLOURS.sub("", join_source(output["text"]))
    data = output.get("data")
    if not isinstance(data, dict):
        return "(nothing)"
    if "text/plain" in data:
        others = [kind for kind in data if kind != "text/plain"]
        rest = f"\n(also as {', '.join(map(str, others))})" if others else ""
        return join_source(data["text/plain"]) + rest
    return f"({', '.join(map(str, data))})"


def join_source(value: Any) -> str:
    """What a notebook has as a text, or as the lines of one."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_START = 65_536


@dataclass(frozen=True, slots=True)
class Content:
    """A file's text or picture, or the reason why there is neither.

    `unread` is the number of bytes in the middle of a very large file that were not read; a line
    in `text` says so.
    """

    kind: str
    text: str | None = None
    picture: dict[str, Any] | None = None
    reason: str | None = None
    unread: int = 0


def read_contents(found: Iterable[Entry]) -> Iterator[tuple[Entry, Content]]:
    """What can be shown of each file, within limits for everything together."""
    read, seconds = 0, EXTRACTING_SECONDS
    for entry in found:
        whole = READ_WHOLE if read < READ_TOGETHER else 2 * READ_ENDS
        began = time.monotonic()
        content = content_of(entry, whole=whole, seconds=seconds)
        read += min(entry.size, whole) if content.text is not None else 0
        if content.kind in OFFICE_KINDS:
            seconds -= time.monotonic() - began
        yield entry, content


def content_of(entry: Entry, *, whole: int = READ_WHOLE, seconds: float) -> Content:
    """What can be shown of a file; its content never raises an error.

    Args:
        entry: the file.
        whole: bytes; of a larger text only the beginning and the end are read.
        seconds: the time for extracting text from a PDF or office file.
    """
    if entry.reason is not None:
        return Content("other", reason=entry.reason)
    try:
        with open_file(entry.path, Path(entry.path).parent) as file:
            start = file.read(_START)
            picture = picture_kind(start)
            if picture is not None:
                return _read_picture(picture, start + file.read(IMAGE_BYTES + 1 - len(start)))
            return _read_kind(entry, start, file, whole, seconds)
    except OSError as error:
        return Content("other", reason=f"it cannot be read ({error.strerror or error})")


def _read_kind(entry: Entry, start: bytes, file: BinaryIO, whole: int, seconds: float) -> Content:
    ending = entry.name.rsplit(".", 1)[-1].lower() if "." in entry.name else ""
    if ending in PICTURE_ENDINGS:
        return Content("image", reason=f"a damaged picture (it does not begin as a {ending} file)")
    kind = "pdf" if start.startswith(b"%PDF") else ending
    if kind in OFFICE_KINDS:
        if seconds <= 0:
            took = f"such files before it took {EXTRACTING_SECONDS:.0f} s to read, the most allowed"
            return Content(kind, reason=took)
        return _read_extracted(entry, kind, seconds)
    if decode_text(start) is None:
        return Content("binary", reason=_binary(ending))
    return _read_text(entry, start, file, ending, whole)


def _read_picture(kind: str, data: bytes) -> Content:
    if len(data) > IMAGE_BYTES:
        return Content("image", reason=f"a picture of more than {IMAGE_BYTES:,} bytes")
    if reason := picture_fault(data, kind):
        return Content("image", reason=reason)
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": f"image/{kind}", "data": encoded}
    return Content("image", picture={"type": "image", "source": source})


def _read_extracted(entry: Entry, kind: str, seconds: float) -> Content:
    try:
        text, more = extract(entry.path, kind, entry.size, seconds)
    except NotExtracted as why:
        return Content(kind, reason=str(why))
    if more:
        text += "\n[there is more text in this file; it was not read]\n"
    return Content(kind, text=text)


def _binary(ending: str) -> str:
    return f"a binary file of kind .{ending}" if ending else "a binary file"


def _read_text(entry: Entry, start: bytes, file: BinaryIO, ending: str, whole: int) -> Content:
    if entry.size > whole:
        head = start + file.read(READ_ENDS - len(start))
        file.seek(-READ_ENDS, os.SEEK_END)
        tail = file.read(READ_ENDS)
        first, last = decode_text(head, part=True), decode_text(tail, part=True)
        if first is None or last is None:
            return Content("binary", reason=_binary(ending))
        unread = max(entry.size - len(head) - len(tail), 0)
        seam = f"\n[… {unread:,} bytes in the middle of this file were not read …]\n"
        return Content("text", text=first + seam + last, unread=unread)
    data = start + file.read(whole)
    text = decode_text(data)
    if text is None:
        return Content("binary", reason=_binary(ending))
    cells = notebook_text(text) if ending == "ipynb" else None
    return Content("text", text=text) if cells is None else Content("notebook", text=cells)
