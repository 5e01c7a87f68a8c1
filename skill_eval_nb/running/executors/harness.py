"""The harness as a program: where it is, how it is started, in which box, and how it is ended.

`Process` has the interface of the SDK's `Transport`, so that the process is ours: in its own group,
with a new environment, and ended at once with everything that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from skill_eval_nb.grading.box import Box, BoxLimits, lend_folders, python, wrap_command
from skill_eval_nb.grading.sandbox import LONGEST_END, descendants
from skill_eval_nb.models import load_prices
from skill_eval_nb.models.usage import Usage

from ..protocol import Task

TOOLS = ("Skill", "Bash", "Read", "Write", "Edit", "Glob", "Grep")
"""What the agent may use, with the skill and without."""

_BUILT_IN = ("cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring")
"""Plugins of the harness that would be listed next to the skill, or replace it."""

_SWITCHES = (
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    # No run may affect another, and the model must not be told to write elsewhere.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    # Only this run's model, whatever happens to its answers.
    "CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP",
    "CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "IS_SANDBOX",  # without it, root cannot skip permission questions
)


def session_id(key: str) -> str:
    """The harness's session id: derived from the run's key, so that it is reproducible.

    >>> session_id("a") == session_id("a") != session_id("b")
    True
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"skill-eval-nb:run:{key}"))


def arguments(task: Task) -> list[str]:
    """The harness's arguments; its task comes through its standard input."""
    settings: dict[str, Any] = {
        # A program returns it, so that there is no key in the environment.
        "apiKeyHelper": "echo none",
        "enabledPlugins": {f"{name}@builtin": False for name in _BUILT_IN},
        # It would make transcripts differ.
        "includeCoAuthoredBy": False,
    }
    options = {
        "--input-format": "stream-json",
        "--output-format": "stream-json",
        # Only the home of this run: files in or above the working folder, such as a CLAUDE.md or
        # skills of a user's project, are ignored.
        "--setting-sources": "user",
        "--settings": json.dumps(settings),
        "--model": task.model,
        "--tools": ",".join(TOOLS),
        "--max-turns": str(task.limits.turns),
        "--session-id": session_id(task.key),
    }
    if task.limits.usd is not None and _has_cost(task.model):
        options["--max-budget-usd"] = str(task.limits.usd)
    flags = ["--print", "--verbose", "--dangerously-skip-permissions", "--strict-mcp-config"]
    return [*flags, "--no-session-persistence", *(x for pair in options.items() for x in pair)]


def environment(task: Task, base_url: str) -> tuple[tuple[str, str], ...]:
    """The variables that the harness finds, besides PATH, HOME, LANG and TMPDIR."""
    return (
        ("ANTHROPIC_BASE_URL", base_url),
        # Its side requests go to the same model.
        ("ANTHROPIC_SMALL_FAST_MODEL", task.model),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", task.model),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", str(task.limits.output_tokens)),
        *((name, "1") for name in _SWITCHES),
    )


def _has_cost(model: str) -> bool:
    """Whether the model costs anything; the harness would assume a price for any name."""
    return load_prices().cost(Usage(input_tokens=1_000_000, output_tokens=1_000_000), model) != 0


_PROC = Path("/proc")
_LOOKS = 5


def end_marked(mark: str) -> None:
    """End the processes that were started with this in their environment.

    The harness starts commands in their own process groups, which ending its group does not
    reach. Processes with another environment are not found, nor any if there is no /proc (macOS):
    only the sandbox contains everything.

    Args:
        mark: `NAME=value`.
    """
    for _ in range(_LOOKS):  # a process may start another one while we look
        found = find_marked(mark)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def find_marked(mark: str) -> list[int]:
    """The ids of the processes that have this in their environment."""
    sought, found = mark.encode(), []
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if sought in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


INSTALL = (
    "The executor `claude-code` needs the package claude-agent-sdk, which brings the harness "
    "with it. Install it with `pip install 'skill-eval-nb[claude-code]'`, and restart the kernel."
)


def program(given: str | None = None) -> Path | None:
    """The harness: the given one, else the SDK's, else the one on the PATH; None if none."""
    if given is not None:
        found = shutil.which(given)
        return Path(os.path.realpath(found)) if found is not None else None
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "_bundled" / "claude"
        if bundled.is_file():
            return bundled
    return program("claude") if shutil.which("claude") is not None else None


def why_not(given: str | None, sandbox: str) -> str | None:
    """Why the harness cannot be started here, in words for the user; None if it can."""
    if os.name != "posix":
        return "The executor `claude-code` runs on Linux and macOS only."
    if importlib.util.find_spec("claude_agent_sdk") is None:
        return INSTALL
    found = program(given)
    if found is None:
        what = f"at `{given}`" if given is not None else "in claude-agent-sdk or on the PATH"
        return f"No harness was found {what}: the command `claude` of Claude Code is needed."
    if sandbox == "none":
        return None
    with found.open("rb") as file:
        script = file.read(2) == b"#!"
    if script:
        return (
            f"The harness at {found} is a script, and what it needs is not in the sandbox. Use "
            "the one in claude-agent-sdk, or the native installation of Claude Code."
        )
    from skill_eval_nb.grading.sandbox import available

    return available()


MOST_LINE_BYTES = 64 * 1024 * 1024
"""A longer message ends the run: nothing that should be graded is so long."""
_PIECE = 64 * 1024
_TAIL = 4096


class Process:
    """A harness and its messages so far.

    Attributes:
        lines: its messages in order; a time is added if a message has none.
        fault: why no more messages could be read, in words; None if they could.
        over: whether it ended by itself.
        left: how many processes it left behind when it ended by itself; they are ended, too.
        silent: set when nothing more will be read from it.
    """

    def __init__(self, arguments: Sequence[str], box: Box, mark: str | None = None) -> None:
        """Prepare a process, without starting it.

        Args:
            arguments: a program and its arguments.
            box: where to start it.
            mark: an environment variable, `NAME=value`, which its children inherit, to find those
                that left its process group; None if there is none.
        """
        self.lines: list[dict[str, Any]] = []
        self.fault: str | None = None
        self.over = False
        self.left = 0
        self.silent = asyncio.Event()
        self._arguments, self._box, self._mark = arguments, box, mark
        self._boxed = box.kind != "none"
        self._process: asyncio.subprocess.Process | None = None
        self._errors = bytearray()
        self._draining: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Start it.

        Raises:
            OSError: if it cannot be started.
        """
        with wrap_command(self._box, self._arguments) as (argv, files):
            self._process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd="/" if self._boxed else self._box.folder,
                env={},
                pass_fds=files,
                start_new_session=True,
            )
        self._draining = asyncio.create_task(self._drain_errors())

    def is_ready(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.returncode is None

    async def write(self, data: str) -> None:
        """Write to its input; if it has closed that, the data is lost, and its end says why."""
        stdin = self._process.stdin if self._process is not None else None
        if stdin is not None and not stdin.is_closing():
            with contextlib.suppress(OSError):
                stdin.write(data.encode("utf-8", "backslashreplace"))
                await stdin.drain()

    async def end_input(self) -> None:
        """Close its input."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Its messages, until it ends; each is kept in `lines`, too."""
        assert self._process is not None
        try:
            async for line in self._read_lines():
                message = _read_message(line)
                if message is None:
                    continue
                if message.get("subtype") == "left_behind":  # from the forwarder, not the harness
                    self.left = int(message.get("left", 0))
                else:
                    self.lines.append(message)
                    yield message
            # It has closed its output and is about to end: wait for its exit code.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_wait_for_end(self._process), timeout=5)
                self.over = self.fault is None
        finally:
            self.silent.set()

    async def _read_lines(self) -> AsyncIterator[bytes | bytearray]:
        assert self._process is not None
        assert self._process.stdout is not None
        pending = bytearray()
        while data := await self._process.stdout.read(_PIECE):
            pending += data
            if b"\n" in data:
                *lines, pending = pending.split(b"\n")
                for line in lines:
                    yield line
            elif len(pending) > MOST_LINE_BYTES:
                self.fault = f"The harness wrote a message of more than {MOST_LINE_BYTES:,} bytes."
                await self.close()

    async def close(self) -> None:
        """End it and everything that it started; this may be called again."""
        process = self._process
        if process is None:
            return
        if self.over and self._mark is not None and not self._boxed:
            self.left = len(find_marked(self._mark))
        # Even if it has ended by itself, its children may still run. In `finally`, so that nothing
        # is left even if this is cancelled.
        try:
            await self._end_inside(process)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        if self._mark is not None:
            await asyncio.to_thread(end_marked, self._mark)
        await _wait_for_end(process)
        if process.stdin is not None:
            process.stdin.close()
        if self._draining is not None:
            # This ends with the last process that can write there.
            await asyncio.wait((self._draining,), timeout=5)
            self._draining.cancel()

    async def _end_inside(self, process: asyncio.subprocess.Process) -> None:
        """End the first process inside; then bubblewrap, which must not end earlier, ends, too."""
        if not self._boxed or process.returncode is not None:
            return
        for pid in [*descendants(process.pid)][1:2]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_wait_for_end(process), LONGEST_END)

    @property
    def pid(self) -> int | None:
        """The id of the process that leads its group; None if it was never started."""
        return self._process.pid if self._process is not None else None

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs, and if it was never started."""
        return self._process.returncode if self._process is not None else None

    @property
    def complaint(self) -> str:
        """The end of its standard error."""
        return self._errors.decode("utf-8", "replace").strip()

    async def _drain_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(_PIECE):
            self._errors += data
            del self._errors[:-_TAIL]


async def _wait_for_end(process: asyncio.subprocess.Process) -> None:
    """Wait for its end; its own `wait` would also wait until its output is read."""
    while process.returncode is None:  # noqa: ASYNC110 -- there is no public event for it
        await asyncio.sleep(0.01)


def _read_message(line: bytes | bytearray) -> dict[str, Any] | None:
    """A message with a timestamp; None for a line that is not one."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    message.setdefault("timestamp", datetime.now(UTC).isoformat(timespec="milliseconds"))
    return message


PORT = 8080
"""The port on the loopback of the sandbox, where nothing else listens."""
MARK = "AGENT_RUN_ID"
"""The variable that marks the processes of one start."""
_INSIDE = "/opt/harness"
_MIB = 1024 * 1024
_SOCKET = "relay"


@dataclass(frozen=True)
class Place:
    """A prepared place to work in.

    Attributes:
        task: the task to do there.
        home: the run's own home, deleted with the task's scratch folder.
        socket: the socket for the relay; None for loopback, without a sandbox.
    """

    task: Task
    home: Path
    socket: Path | None

    def process(self, program: Path, port: int) -> Process:
        """The process to start.

        Args:
            program: the harness.
            port: the relay's port, if it listens on loopback.
        """
        boxed = self.socket is not None
        url = f"http://127.0.0.1:{PORT if boxed else port}"
        value = secrets.token_hex(8)
        box = self.box(program, [*environment(self.task, url), (MARK, value)])
        harness = [f"{_INSIDE}/claude" if boxed else os.fspath(program), *arguments(self.task)]
        argv = [*_forwarder(), *harness] if boxed else harness
        return Process(argv, box, f"{MARK}={value}")

    def box(self, program: Path, given: Sequence[tuple[str, str]] = ()) -> Box:
        """The box for the harness, with everything that it needs."""
        shown: list[tuple[str, Path]] = []
        if self.socket is not None:
            relay = self.task.scratch / _SOCKET
            shown = [(f"{_INSIDE}/claude", self._link_near(program)), (f"{_INSIDE}/relay", relay)]
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

    def _link_near(self, program: Path) -> Path:
        """The harness under a path that reveals nothing, since the box's list of mounts shows it.

        On another disk, or if it is another user's, it stays where it is.
        """
        near = self.task.scratch / "claude"
        try:
            os.link(program, near)
        except OSError:
            return near if near.exists() else program
        return near


@contextmanager
def make_place(task: Task) -> Iterator[Place]:
    """Prepare a place, and clean up afterwards.

    Raises:
        OSError: if a folder cannot be made or the skill cannot be copied.
    """
    home = task.scratch / "home"
    home.mkdir(parents=True)  # HOME and TMPDIR, in a sandbox or not
    for skill in task.skills:
        # A copy, since the user that the sandbox runs as becomes its owner.
        shutil.copytree(skill.folder, home / ".claude" / "skills" / skill.name)
    if task.sandbox == "none":
        yield Place(task, home, None)
        return
    # The path of a Unix socket is limited to about a hundred bytes, and whoever connects can see
    # it, so this is not its real path.
    folder = os.open(task.scratch, os.O_PATH)
    try:
        yield Place(task, home, Path(f"/proc/self/fd/{folder}", _SOCKET))
    finally:
        os.close(folder)


@contextmanager
def handed_over(at: Place) -> Iterator[None]:
    """Let the user that the sandbox runs as write in the place's folders, and take them back."""
    if at.socket is not None:
        at.task.scratch.chmod(0o700)
        at.socket.chmod(0o666)  # only we can enter its folder
    with lend_folders(at.box(Path())):
        yield


@cache
def _forwarder() -> list[str]:
    """The forwarder as a command; sent as text, since a file would reveal its path inside."""
    program = Path(__file__).with_name("forwarder.py").read_text("utf-8")
    return [python("bubblewrap"), "-I", "-S", "-c", program, f"{_INSIDE}/relay", str(PORT)]
