"""Files opened and written only where their path says, and in one piece.

Whoever names a folder trusts it, but not what somebody else has put below: a link that leads
out of it is never followed, neither to read what may be shown to a model nor to write; a pipe
is never waited for; and a file is either the old one or the whole new one, never half of it.
Bytes become text here, if they are text.
"""

from __future__ import annotations

import codecs
import errno
import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

PathLike = str | os.PathLike[str]

LARGEST = 64 * 1024 * 1024
"""Bytes of a file beyond which `read_bytes` does not read it."""

NO_WAIT = getattr(os, "O_NONBLOCK", 0)
READ = os.O_RDONLY | NO_WAIT | getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = READ | NO_LINK | getattr(os, "O_DIRECTORY", 0)
_CHUNK = 1 << 14


class LeadsOut(OSError):
    """A link leads out of the folder that was named."""


class TooLarge(OSError):
    """A file above `LARGEST`."""


def resolve_inside(path: PathLike, root: PathLike) -> str:
    """Where a file or folder really lies, below `root`; it need not be there yet.

    `root` itself may be a link: somebody has named it.

    Raises:
        LeadsOut: a link leads elsewhere; the message says where to.
    """
    real, top = os.path.realpath(path), os.path.realpath(root)
    if not f"{real}{os.sep}".startswith(f"{top.rstrip(os.sep)}{os.sep}"):
        raise LeadsOut(
            errno.ELOOP,
            f"a link leads out of {os.fspath(root)}, to {real}; name what is there itself",
            os.fspath(path),
        )
    return real


def leads_out(path: PathLike, root: PathLike) -> str | None:
    """Why a path does not lie below `root`, in words; None if it does."""
    try:
        resolve_inside(path, root)
    except (OSError, ValueError) as fault:  # or the link's target is too long to be one
        return getattr(fault, "strerror", None) or str(fault)
    return None


def is_plain(path: PathLike, root: PathLike) -> bool:
    """Whether no link lies on the way from `root` to a path below it."""
    return Path(path).resolve() == Path(root).resolve() / os.path.relpath(path, root)


def open_file(path: PathLike, root: PathLike) -> BufferedReader:
    """A regular file below `root`, open for reading; no link is followed out, no pipe waited for.

    Raises:
        LeadsOut: a link leads out of `root`.
        OSError: it is not there, cannot be read, or is not a regular file.
    """
    with _folder_of(resolve_inside(path, root), os.path.realpath(root)) as (folder, name):
        handle = os.open(name, READ | NO_LINK, dir_fd=folder)
    return _wrap_regular(handle, path)


def open_regular(path: PathLike) -> BufferedReader:
    """A regular file, open for reading; links are followed, a pipe or device is never waited for.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    return _wrap_regular(os.open(path, READ), path)


def _wrap_regular(handle: int, path: PathLike) -> BufferedReader:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return os.fdopen(handle, "rb")


def read_bytes(path: PathLike, root: PathLike | None = None, *, flags: int = 0) -> bytes:
    """The bytes of a regular file; a pipe or device is never waited for.

    Args:
        path: the file.
        root: a folder that no link may lead out of; without it links are followed.
        flags: further ones for the system's `open`, such as `NO_LINK`.

    Raises:
        OSError: if it cannot be read, is not a regular file, is `TooLarge` or `LeadsOut`.
    """
    if root is not None:
        with open_file(path, root) as file:
            return _read_large(file.fileno(), b"")
    descriptor = os.open(path, READ | flags)
    try:
        data = os.read(descriptor, _CHUNK)
        return data if 0 < len(data) < _CHUNK else _read_large(descriptor, data)
    finally:
        os.close(descriptor)


def _read_large(descriptor: int, start: bytes) -> bytes:
    """All of a file that is perhaps larger than its `start`, if it is a regular one."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if status.st_size > LARGEST:
        raise TooLarge(
            errno.EFBIG,
            f"it has {status.st_size / 1e6:.0f} MB; at most {LARGEST >> 20} MB are read",
        )
    chunks = [start]
    while more := os.read(descriptor, 1 << 20):
        chunks.append(more)
    return b"".join(chunks)


def remove_file(path: PathLike, root: PathLike) -> None:
    """Remove a file (a link itself, not what it leads to) from a folder that lies below `root`.

    Raises:
        LeadsOut: its folder lies elsewhere.
        OSError: it cannot be removed.
    """
    real = Path(resolve_inside(Path(path).parent, root), Path(path).name)
    with _folder_of(os.fspath(real), os.path.realpath(root)) as (folder, name):
        os.unlink(name, dir_fd=folder)


def remove_tree(folder: PathLike) -> None:
    """Remove a folder of any depth and size as far as that can be done.

    Python's own `rmtree` fails on very deep ones, and takes several times as long on large ones.
    """
    if remove := shutil.which("rm"):
        command = [remove, "-rf", "--", os.fspath(folder)]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603
    else:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _folder_of(real: str, top: str) -> Iterator[tuple[int | None, str]]:
    """The folder of a real path, opened step by step from `top`, and the name in it.

    Nobody who puts a link in the place of a folder meanwhile leads elsewhere.
    """
    if os.open not in os.supports_dir_fd:  # not on this platform
        yield None, real
        return
    *folders, name = Path(os.path.relpath(real, top)).parts
    at = os.open(top, _FOLDER)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        yield at, name
    finally:
        os.close(at)


def write_atomic(
    path: PathLike, data: bytes | str, *, root: PathLike | None = None, private: bool = False
) -> Path:
    """Write `data` to `path` in one step; text is written as UTF-8, line ends as they are.

    A temporary file in the same folder takes the data and then the place of `path`, so a
    reader never sees a part of it, and whatever goes wrong leaves the old file as it was.
    An old file keeps its mode, a link below `root` keeps pointing, missing folders are made.

    Args:
        path: the file.
        data: what it is to hold.
        root: the folder that somebody has named, which no link may lead out of; the file's
            own folder where not given.
        private: whether a new file is for its owner's eyes alone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder, "new", "note.txt"), "done").read_text()
    'done'

    Raises:
        LeadsOut: a link leads out of `root`; nothing was written.
        OSError: if the folder or the file cannot be written.
    """
    given = Path(path)
    target = Path(resolve_inside(given, given.parent if root is None else root))
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o600 if private else None
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            if mode is not None:
                temporary.chmod(mode)
            file.write(data.encode() if isinstance(data, str) else data)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and not error.filename:  # as of a full disk
            error.filename = os.fspath(target)
        raise
    return given


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_LOOKED_AT = 65_536
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")


def decode(data: bytes, *, part: bool = False) -> tuple[str, str | None]:
    r"""Bytes as text, and what is odd about their encoding: the one rule for every file.

    UTF-16 and UTF-32, as `decode_wide` knows them; else UTF-8; else, where more than a quarter of
    what is not ASCII is not UTF-8, Windows-1252. What is no character stands as `\ufffd`. With
    `part`, the data may begin or end in the middle of a character.

    >>> decode("Ä".encode()), decode(b"caf\xe9")
    (('Ä', None), ('café', 'not UTF-8: it was read as Windows-1252'))
    >>> decode("äöü ".encode() + b"\xff")[0], decode("ä".encode("utf-16"))
    ('äöü �', ('ä', 'UTF-16 or UTF-32'))
    """
    text = decode_wide(data)
    if text is not None:
        return text, "UTF-16 or UTF-32"
    try:
        return _decode_utf8(data, part).removeprefix("\ufeff"), None
    except UnicodeDecodeError:
        rough = data.decode("utf-8-sig", "replace")
    damaged, others = rough.count("\ufffd"), sum(character > "\x7f" for character in rough)
    if damaged * 4 <= others:
        return rough, f"not all of it is UTF-8: {damaged:,} of its bytes are shown as �"
    return data.decode("cp1252", "replace"), "not UTF-8: it was read as Windows-1252"


def decode_text(data: bytes, *, part: bool = False) -> str | None:
    r"""The text, as `decode` knows it; None for what is none: it is full of control characters.

    >>> decode_text("Ä".encode()), decode_text(b"caf\xe9"), decode_text(b"\x00\x01\x02")
    ('Ä', 'café', None)
    """
    start = data[:_LOOKED_AT]
    if decode_wide(data) is None and (b"\x00" in start or not _mostly_printed(start)):
        return None
    return decode(data, part=part)[0]


def _decode_utf8(data: bytes, part: bool) -> str:
    if not part:
        return data.decode()
    begins = next((n for n in range(min(4, len(data))) if data[n] & 0xC0 != 0x80), 0)
    return codecs.getincrementaldecoder("utf-8")().decode(data[begins:], final=False)


def decode_wide(data: bytes) -> str | None:
    r"""The text of UTF-16 and UTF-32; None for all else.

    UTF-16 without a byte-order mark is known by its zeros: most characters have them on the same
    side, none on the other, and what comes out is printed.

    >>> [decode_wide(data) for data in ("Grüße".encode("utf-16-be"), b"Gr\xfc", b"a\0\1\0" * 9)]
    ['Grüße', None, None]
    >>> decode_wide(b"x" * 99 + bytes(99)), decode_wide(("x" * 99).encode("utf-32-le"))
    (None, None)
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    start = data[:_LOOKED_AT]
    if b"\x00" not in start:
        return None
    units = len(start) // 2
    even, odd = start[: 2 * units : 2], start[1 : 2 * units : 2]
    for encoding, low, high in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if units > 1 and 0 not in low and high.count(0) > 0.8 * units:
            text = data.decode(encoding, "replace")
            return text if _mostly_printed(text[:_LOOKED_AT].encode("utf-8", "replace")) else None
    return None


def _mostly_printed(start: bytes) -> bool:
    controls = len(start) - len(start.translate(None, _CONTROL))
    return controls <= 0.02 * len(start)
