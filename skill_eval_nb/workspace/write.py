"""Safe writing: a file is either the old one or the whole new one, never half of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes | str) -> Path:
    """Write `data` to `path` in one step; text is written as UTF-8, line ends as they are.

    A temporary file in the same folder takes the data and then the place of `path`, so a
    reader never sees a part of it, and whatever goes wrong leaves the old file as it was.
    An old file keeps its mode, a link keeps pointing, missing folders are made.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder, "new", "note.txt"), "done").read_text()
    'done'

    Raises:
        OSError: where the folder or the file cannot be written.
    """
    given = Path(path)
    target = Path(os.path.realpath(given))
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return given
