"""What a command in the sandbox may see and use, and how it ended: values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

BoxKind = Literal["bubblewrap", "none"]
"""How a command is kept in. "none" only bounds its time and its use of the machine: it may
read, change and reach whatever its user may, so it is for users who spelled it out."""

Ended = Literal["exit", "time", "disk", "killed"]
"""Why a command ended: by itself, at its time limit, at its disk limit, or because it passed
another limit (processes, memory, output) or was cancelled."""

MIB = 1024 * 1024


@dataclass(frozen=True)
class BoxLimits:
    """What one command may use; it is ended with all its processes where it passes one.

    Attributes:
        seconds: wall clock.
        memory_bytes: of all its processes together, with what they hold in files in memory and
            in sockets; also the most that one may ask for.
        file_bytes: of one file that it writes.
        processes: at one time.
        disk_bytes: by which its folders may grow; each file counts 4 KiB at least.
        entries: files and folders by which its folders may grow.
        output_bytes: of stdout, and of stderr, that are kept; the rest is read and left out,
            up to a hundred times as much.
    """

    seconds: float = 60.0
    memory_bytes: int = 2048 * MIB
    file_bytes: int = 256 * MIB
    processes: int = 128
    disk_bytes: int = 512 * MIB
    entries: int = 100_000
    output_bytes: int = MIB


@dataclass(frozen=True)
class Box:
    """What a command sees: its folder, what else it may read, and nothing more of the host.

    Attributes:
        folder: read and written, at /box, where the command starts; with kind "none" it is
            the folder itself.
        readable: pairs of a path inside and the path on the host that is shown there,
            read-only; without meaning where the kind is "none".
        limits: what the command may use.
        environment: names and values besides PATH, HOME, LANG, TMPDIR.
        kind: how the command is kept in.
        temporary: a folder of the host that is /tmp inside, for what is to last from one
            command to the next; None for a small one in memory, gone with the command.
    """

    folder: Path
    readable: tuple[tuple[str, Path], ...] = ()
    limits: BoxLimits = field(default_factory=BoxLimits)
    environment: tuple[tuple[str, str], ...] = ()
    kind: BoxKind = "bubblewrap"
    temporary: Path | None = None


@dataclass(frozen=True)
class Ran:
    """How a command went.

    Attributes:
        exit_code: what it ended with; 128 + N where signal N ended it.
        stdout: the first `output_bytes` of what it printed.
        stderr: the same of its errors.
        cut: whether more was printed than is kept.
        ended: why it ended.
        message: the same in words, with the limit that was passed and what was left behind.
        left: processes that were still running when the command had ended by itself, and
            were ended then. With kind "none" those of its group, counted on Linux only.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    cut: bool
    ended: Ended
    message: str
    left: int = 0

    @property
    def left_words(self) -> str:
        """What it left behind as a sentence; empty where nothing was left.

        >>> Ran(0, b"", b"", False, "exit", "", left=2).left_words
        '2 processes it left behind were ended.'
        """
        return left_words(self.left)


def left_words(left: int) -> str:
    """So many processes that were left behind, as a sentence; empty where there were none."""
    if left < 1:
        return ""
    return (
        "1 process it left behind was ended."
        if left == 1
        else f"{left:,} processes it left behind were ended."
    )
