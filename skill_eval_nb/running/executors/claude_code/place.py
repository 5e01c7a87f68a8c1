"""Where a run takes place: its home, its skill, its sandbox, and its way to the relay."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from skill_eval_nb.grading.sandbox import Box, BoxLimits, lent, python
from skill_eval_nb.running.executors.protocol import Task

from .command import arguments, environment
from .process import Command

PORT = 8080
"""On the loopback of the sandbox, where nothing else listens."""
MARK = "AGENT_RUN_ID"
"""The variable by which the processes of one start are known."""
_INSIDE = "/opt/harness"
_MIB = 1024 * 1024
_SOCKET = "relay"


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
        harness = [f"{_INSIDE}/claude" if boxed else os.fspath(program), *arguments(self.task)]
        argv = [*_forwarder(), *harness] if boxed else harness
        return Command(argv, box, f"{MARK}={value}")

    def box(self, program: Path, given: Sequence[tuple[str, str]] = ()) -> Box:
        """The box that the harness is in, with all that it needs."""
        shown: list[tuple[str, Path]] = []
        if self.socket is not None:
            relay = self.task.scratch / _SOCKET
            shown = [(f"{_INSIDE}/claude", self._near(program)), (f"{_INSIDE}/relay", relay)]
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

    def _near(self, program: Path) -> Path:
        """The harness under a path that tells nothing: the box's list of mounts shows it.

        Of another disk, or another user's, it stays where it is.
        """
        near = self.task.scratch / "claude"
        try:
            os.link(program, near)
        except OSError:
            return near if near.exists() else program
        return near


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
    # The path of a Unix socket has room for little more than a hundred bytes, so this is not its
    # own; and whoever connects to it may ask for its path.
    folder = os.open(task.scratch, os.O_PATH)
    try:
        yield Place(task, home, Path(f"/proc/self/fd/{folder}", _SOCKET))
    finally:
        os.close(folder)


@contextmanager
def handed_over(at: Place) -> Iterator[None]:
    """Let whoever the sandbox runs as write in the place's folders, and take them back."""
    if at.socket is not None:
        at.task.scratch.chmod(0o700)
        at.socket.chmod(0o666)  # its folder is ours alone
    with lent(at.box(Path())):
        yield


@cache
def _forwarder() -> list[str]:
    """Sent in as text: a file would be known inside by where it lies on this machine."""
    program = Path(__file__).with_name("forwarder.py").read_text("utf-8")
    return [python("bubblewrap"), "-I", "-S", "-c", program, f"{_INSIDE}/relay", str(PORT)]
