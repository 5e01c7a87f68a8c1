"""Where a run takes place: its home, its skill, its sandbox, and its way to the relay."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skill_eval_nb.grading.sandbox import Box, BoxLimits, lent, python, wrap
from skill_eval_nb.grading.sandbox.command import arranged, limited
from skill_eval_nb.grading.sandbox.command import program as tool
from skill_eval_nb.running.executors.protocol import Task

from .command import arguments, environment
from .process import Command

PORT = 8080
"""On the loopback of the sandbox, where nothing else listens."""
MARK = "AGENT_RUN_ID"
"""The variable by which the processes of one start are known."""
_INSIDE = "/opt/harness"
_MIB = 1024 * 1024
_LONGEST_SOCKET = 90
"""Bytes; the path of a Unix socket has room for little more than a hundred."""


@dataclass(frozen=True)
class Place:
    """A place that is ready.

    Attributes:
        task: what is to be done there.
        home: the run's own, thrown away with the task's scratch folder.
        socket: where the relay is to listen; None for loopback, without a sandbox.
    """

    task: Task
    home: Path
    socket: Path | None

    def command(self, program: Path, port: int) -> Command:
        """What is to be started.

        Args:
            program: the harness.
            port: the relay's, where it listens on loopback.
        """
        boxed = self.socket is not None
        url = f"http://127.0.0.1:{PORT if boxed else port}"
        value = secrets.token_hex(8)
        box = self.box(program, [*environment(self.task, url), (MARK, value)])
        mark = f"{MARK}={value}"
        if not boxed:
            argv = wrap(box, [os.fspath(program), *arguments(self.task)])
            return Command(argv, (), (), box.folder, mark)
        options, hands = arranged(box)
        argv = [*_forwarded(), f"{_INSIDE}/claude", *arguments(self.task)]
        return Command(
            [*hands, tool("bwrap")], options, ["--", *limited(box.limits, argv)], Path("/"), mark
        )

    def box(self, program: Path, given: Sequence[tuple[str, str]] = ()) -> Box:
        """The box that the harness is in, with all that it needs."""
        shown: list[tuple[str, Path]] = []
        if self.socket is not None:
            script = Path(__file__).with_name("forwarder.py")
            shown = [
                (f"{_INSIDE}/claude", program),
                (f"{_INSIDE}/forwarder.py", script),
                (f"{_INSIDE}/relay", self.socket),
            ]
        return Box(
            folder=self.task.folder,
            readable=tuple(shown),
            limits=BoxLimits(
                seconds=self.task.limits.seconds,
                # The harness alone takes 0.2 GB, but asks for 3.5 GB of address space (ulimit -d).
                memory_bytes=8192 * _MIB,
                processes=512,
                disk_bytes=1024 * _MIB,
            ),
            environment=tuple(given),
            kind=self.task.sandbox,
            temporary=self.home,
        )


@contextmanager
def place(task: Task) -> Iterator[Place]:
    """Make a place ready, and clear it away.

    Raises:
        OSError: where a folder cannot be made or the skill cannot be copied.
    """
    home = task.scratch / "home"
    home.mkdir(parents=True)  # HOME and TMPDIR, inside and where there is no inside
    for skill in task.skills:
        # A copy: it becomes the property of whoever the sandbox runs as.
        shutil.copytree(skill.folder, home / ".claude" / "skills" / skill.name)
    if task.sandbox == "none":
        yield Place(task, home, None)
        return
    short = None if len(os.fsencode(tempfile.gettempdir())) < _LONGEST_SOCKET - 30 else "/tmp"  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="sen-", dir=short) as folder:
        yield Place(task, home, Path(folder, "relay"))


@contextmanager
def handed_over(at: Place) -> Iterator[None]:
    """Let whoever the sandbox runs as write in the place's folders, and take them back."""
    if at.socket is not None:
        at.socket.chmod(0o666)  # its folder is ours alone
    with lent(at.box(Path())):
        yield


def _forwarded() -> list[str]:
    own = [python("bubblewrap"), "-I", "-S"]
    return [*own, f"{_INSIDE}/forwarder.py", f"{_INSIDE}/relay", str(PORT)]
