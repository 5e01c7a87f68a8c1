"""Writing into a JSON file that others write, too: it keeps its indentation and line ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from difflib import unified_diff
from itertools import count
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import open_regular, write_atomic
from skill_eval_nb.documents import Faults, NotJSON, parse, to_json

from .folders import OWN

OPENED = 1
"""Where the holder's line begins: Windows lets nobody read the byte that is locked."""


class Locked(Exception):
    """Somebody else holds the lock; `holder` says who, as far as it can be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is held")
        self.holder = lock_holder(path)


@contextmanager
def hold_lock(path: Path, patience: float = 0.0, **about: Any) -> Iterator[None]:
    """Hold a lock; its file, in a folder that must be there, goes when the lock is let go.

    Args:
        path: the lock's file.
        patience: seconds that are waited for somebody else.
        about: what is written into it, beside which process holds it, and since when.

    Raises:
        Locked: somebody else holds it, in this process or in another.
        OSError: its file cannot be written, or the file system knows no locks.
    """
    from filelock import FileLock, Timeout

    line = json.dumps({**about, **this_process(), "at": now()}).encode()

    def note_holder(descriptor: int) -> None:
        try:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, OPENED, os.SEEK_SET)
            os.write(descriptor, line)
        except OSError:
            path.unlink(missing_ok=True)
            raise

    # Not of a thread: a job is begun in one, and ends in another.
    lock = FileLock(path, timeout=patience, thread_local=False, on_acquired=note_holder)
    try:
        lock.acquire()
    except Timeout:
        raise Locked(path) from None
    try:
        yield
    finally:
        # While it is held: whoever has opened it meanwhile sees that it is gone, and looks again.
        with suppress(OSError):
            path.unlink()
        lock.release()


def name_process(about: Mapping[str, Any]) -> str:
    """The process that wrote this about itself, in words."""
    if not {"pid", "host"} <= set(about):
        return "another process"
    here = {name: about[name] for name in ("pid", "host")} == this_process()
    return "this process" if here else f"process {about['pid']} on {about['host']}"


def this_process() -> dict[str, Any]:
    """This process, for those who meet what it holds."""
    return {"pid": os.getpid(), "host": socket.gethostname()}


def now() -> str:
    """This instant, in ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lock_holder(path: Path) -> dict[str, Any]:
    """What the file of a lock says of who holds it; nothing if that cannot be read."""
    try:
        with open_regular(path) as file:
            file.seek(OPENED)
            found = json.loads(file.read())
    except (OSError, ValueError):  # it has just been let go, or is being written
        return {}
    return found if isinstance(found, dict) else {}


NO_END = "\\ No newline at end of file"
"""What a diff says of a last line without an end."""
PATIENCE = 2.0
"""Seconds that are waited for somebody else who is just writing."""

_WRITING = threading.Lock()


def keep_beside(path: Path, data: bytes) -> Path:
    """Keep an old file as the first NAME.N.bak that is free, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    for number in count(1):
        kept = path.with_name(f"{path.name}.{number}.bak")
        try:
            file = kept.open("xb")
        except FileExistsError:
            continue
        try:
            with file:
                file.write(data)
            shutil.copymode(path, kept)
        except OSError:
            kept.unlink()
            raise
        return kept
    raise AssertionError


def replace_kept(path: Path, before: bytes, after: bytes) -> Path:
    """Write a file again in one step, what it held kept beside it; returns the path of that copy.

    Raises:
        OSError: it cannot be written.
    """
    kept = keep_beside(path, before)
    write_atomic(path, after)
    return kept


def diff_of(path: Path, before: bytes, after: bytes) -> str:
    """A change of a file as a unified diff, which `patch` takes; empty if there is none."""
    old, new = (
        [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
        for lines in (data.decode("utf-8-sig").split("\n") for data in (before, after))
    )
    found = unified_diff(old, new, str(path), f"{path.name} (new)")
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_END}\n" for line in found)


@contextmanager
def lock_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Read and write with nobody else between, neither in this process nor in another.

    Somebody who does not come to an end is not waited for for ever.
    """
    file = Path(os.path.realpath(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    with _WRITING, ExitStack() as held:
        with suppress(Locked, OSError):  # a file system without locks, say: the chance is small
            held.enter_context(hold_lock(file.with_name(f"{OWN}.{file.name}.writing"), PATIENCE))
        yield


class NotPlain(ValueError):
    """The text is not strict JSON; the message says why."""


def plain_value(text: str) -> Any:
    """The value of a strict JSON text in which no name stands twice in an object.

    Raises:
        NotPlain: it is no such text.

    >>> plain_value('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    skill_eval_nb.workspace.writing.NotPlain: not strict JSON: keys given twice (the last counts): a
    """
    faults = Faults()
    try:
        value = parse(text.encode("utf-8", "surrogatepass"), faults)
    except NotJSON as error:
        raise NotPlain(str(error)) from None
    if faults:
        raise NotPlain("; ".join(fault.message for fault in faults))
    return value


def is_same(one: Any, other: Any) -> bool:
    """Whether two plain values say the same; true is not 1.

    >>> is_same({"a": [1, 2.0]}, {"a": [1.0, 2]}), is_same(1, True)
    (True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def written_like(value: Any, data: bytes | None) -> bytes:
    r"""A value as JSON, indented, escaped, spaced and with line ends as a file has it.

    What stands on one line there stays on one. Where the file says the same already, it stays byte
    for byte.

    Args:
        value: what the file is to say.
        data: what it holds now; None if there is no file.

    >>> written_like({"a": [1, 2], "b": 3}, b'{\r\n\t"a": [1, 2]\r\n}')
    b'{\r\n\t"a": [1, 2],\r\n\t"b": 3\r\n}'
    >>> written_like({"b": "é", "c": "è"}, b'{"b":"\\u00e9"}')
    b'{"b":"\\u00e9","c":"\\u00e8"}'
    """
    if data is None:
        return to_json(value)
    text = data.decode("utf-8")
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    one_liners: dict[str, str] = {}
    with suppress(NotPlain):
        if is_same(plain_value(text), value):
            return data
        one_liners = _one_liners(text)
    indent = re.search(r"\n([ \t]+)\S", text)
    colon = re.search(r'"(\s*:[ \t]*)', text)
    between = colon[1] if colon else ": "
    encoder = json.JSONEncoder(
        ensure_ascii=text.isascii() and "\\u" in text,
        separators=("," if between == ":" else ", ", between),
    )
    new = _format_lines(value, encoder, indent[1], one_liners) if indent else encoder.encode(value)
    new += text[len(text.rstrip()) :].replace("\r\n", "\n")
    if "\r\n" in text:
        new = new.replace("\n", "\r\n")
    return (mark + new).encode("utf-8", "backslashreplace")  # half of a surrogate pair


def _one_liners(text: str) -> dict[str, str]:
    """The lists and objects that stand on one line in a text, by their plain JSON."""
    found: dict[str, str] = {}
    for opening in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]', text):
        if opening[0] in "[{":
            value, end = json.JSONDecoder().raw_decode(text, opening.start())
            piece = text[opening.start() : end]
            if "\n" not in piece:
                found[json.dumps(value)] = piece
    return found


def _format_lines(
    value: Any, encoder: json.JSONEncoder, unit: str, one_liners: Mapping[str, str]
) -> str:
    """A value as JSON in lines that `unit` indents, but for what stands on one line."""
    if not isinstance(value, list | dict) or not value:
        return encoder.encode(value)
    if (piece := one_liners.get(json.dumps(value))) is not None:
        return piece
    parts = value if isinstance(value, list) else value.values()
    items = [_format_lines(part, encoder, unit, one_liners) for part in parts]
    if isinstance(value, dict):
        names = (encoder.encode(name) + encoder.key_separator for name in value)
        items = map("".join, zip(names, items, strict=True))
    inner = ",\n".join(items).replace("\n", "\n" + unit)
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n{unit}{inner}\n{closing}"
