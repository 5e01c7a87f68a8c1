"""Read, Write and Edit, as a program that runs inside the box: standard library only.

It is sent into the box as text and reads one request from its standard input. So a link that the
agent made is followed inside the box, and never on the host.
"""

# importing pathlib would take longer than everything that is done here:
# ruff: noqa: PTH103, PTH116, PTH120, PTH123
from __future__ import annotations

import json
import os
import stat
import sys
from typing import Any

LINES = 2000
"""Lines that are returned if nothing else is asked for."""
LONGEST = 2000
"""Characters of a line."""


class ToolRefused(Exception):
    """The tool refused; the message says why."""


def main() -> None:
    """Answer the request on standard input."""
    request = json.load(sys.stdin.buffer)
    try:
        answer = {"text": TOOLS[request["tool"]](**request["input"]), "is_error": False}
    except ToolRefused as fault:
        answer = {"text": str(fault), "is_error": True}
    except OSError as fault:
        answer = {"text": f"{fault.filename}: {fault.strerror}", "is_error": True}
    sys.stdout.write(json.dumps(answer))


def read_file_lines(
    file_path: str, offset: int = 1, limit: int = LINES, characters: int = 30_000
) -> str:
    """Lines of a file with their numbers, and a note about what is left out."""
    shown: list[str] = []
    room, number = characters, 0
    with os.fdopen(_open_regular(file_path), encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if offset <= number < offset + limit and room > 0:
                if "\0" in line:
                    size = os.stat(file_path).st_size
                    raise ToolRefused(f"{file_path} is not a text file; it has {size:,} bytes")
                text = f"{number:>6}\t{_cut_line(line.rstrip(chr(10)))}"
                room -= len(text) + 1
                if room > 0 or not shown:
                    shown.append(text)
    if number == 0:
        return "(The file is empty.)"
    if not shown:
        raise ToolRefused(f"{file_path} has {number:,} lines, and none from line {offset:,} on")
    last = offset + len(shown) - 1
    if offset == 1 and last == number:
        return "\n".join(shown)
    more = f"; offset {last + 1} reads on" if last < number else ""
    return "\n".join([*shown, f"[Lines {offset:,} to {last:,} of {number:,}{more}.]"])


def write_file(file_path: str, content: str) -> str:
    """Write a file as a whole."""
    data = content.encode()
    folder = os.path.dirname(file_path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(file_path, "wb") as file:
        file.write(data)
    return f"Wrote {len(data):,} bytes to {file_path}."


def edit_file(
    file_path: str, old_string: str, new_string: str, *, replace_all: bool = False
) -> str:
    """Replace a part of a file."""
    if not old_string:
        raise ToolRefused("`old_string` is empty; a new file is made with Write")
    if old_string == new_string:
        raise ToolRefused("`old_string` and `new_string` are the same")
    with os.fdopen(_open_regular(file_path), "rb") as file:
        data = file.read()
    old, new = old_string.encode(), new_string.encode()
    found = data.count(old)
    if found == 0:
        raise ToolRefused(f"`old_string` does not occur in {file_path}; read the file again")
    if found > 1 and not replace_all:
        raise ToolRefused(
            f"`old_string` occurs {found:,} times in {file_path}: give more of what is around "
            "it, or set `replace_all`"
        )
    with open(file_path, "wb") as file:
        file.write(data.replace(old, new))
    return f"Replaced {found:,} in {file_path}."


def _open_regular(path: str) -> int:
    """Open a regular file; a pipe or a device might never end."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        os.close(file)
        raise ToolRefused(f"{path} is {'a folder; list it with Bash' if is_folder else 'no file'}")
    return file


def _cut_line(line: str) -> str:
    left_out = len(line) - LONGEST
    return line if left_out <= 0 else f"{line[:LONGEST]} [… {left_out:,} more characters]"


TOOLS: dict[str, Any] = {"Read": read_file_lines, "Write": write_file, "Edit": edit_file}

if __name__ == "__main__":
    main()
