"""The harness as a program: where it is, how it is started, in which box, and how it is ended.

One start has the shape of the SDK's `Transport`, so that the process is ours: in a group of its
own, with an environment made from nothing, ended at once and with all that it started.
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

from skill_eval_nb.grading.sandbox import Box, BoxLimits, lent, python, wrap_command
from skill_eval_nb.grading.sandbox.limits import descendants
from skill_eval_nb.grading.sandbox.process import LONGEST_END
from skill_eval_nb.models import load_prices
from skill_eval_nb.models.usage import Usage

from ..protocol import Task

TOOLS = ("Skill", "Bash", "Read", "Write", "Edit", "Glob", "Grep")
"""What the agent may use, with the skill and without."""

_BUILT_IN = ("cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring")
"""Plugins that come with the harness and would stand beside the skill, or in its place."""

_SWITCHES = (
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    # Nothing of one run is to reach another, nor the model be told to write elsewhere.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    # The model of this run and no other, whatever becomes of its answers.
    "CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP",
    "CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "IS_SANDBOX",  # without it, root may not do without questions
)


def session_id(key: str) -> str:
    """The harness's id of the session: derived from the run's key, so that it can be repeated.

    >>> session_id("a") == session_id("a") != session_id("b")
    True
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"skill-eval-nb:run:{key}"))


def arguments(task: Task) -> list[str]:
    """The harness's arguments; what it is to do comes through its standard input."""
    settings: dict[str, Any] = {
        # A program that says it, so that no key stands in the environment.
        "apiKeyHelper": "echo none",
        "enabledPlugins": {f"{name}@builtin": False for name in _BUILT_IN},
        # As it must be in a transcript that is to be compared.
        "includeCoAuthoredBy": False,
    }
    options = {
        "--input-format": "stream-json",
        "--output-format": "stream-json",
        # The home of this run only: what lies in or above the working folder, such as a
        # CLAUDE.md or skills of a project of the user's, is not looked for.
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
        # What it asks beside the work, it asks the same model.
        ("ANTHROPIC_SMALL_FAST_MODEL", task.model),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", task.model),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", str(task.limits.output_tokens)),
        *((name, "1") for name in _SWITCHES),
    )


def _has_cost(model: str) -> bool:
    """Whether the model costs anything: the harness has a price of its own for any name."""
    return load_prices().cost(Usage(input_tokens=1_000_000, output_tokens=1_000_000), model) != 0


_PROC = Path("/proc")
_LOOKS = 5


def end_marked(mark: str) -> None:
    """End the processes that were started with this in their environment.

    The harness starts commands in process groups of their own, which ending its group does
    not reach. A process that was given another environment is not found, and none is where
    there is no /proc (macOS): only the sandbox lets nothing out.

    Args:
        mark: `NAME=value`.
    """
    for _ in range(_LOOKS):  # one that starts another as it is looked at makes a second look needed
        found = find_marked(mark)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def find_marked(mark: str) -> list[int]:
    """The processes that have this in their environment, by their numbers."""
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
    """The harness: the one that is given, else the SDK's own, else the one on the PATH.

    None if there is none.
    """
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
    if sandbox != "bubblewrap":
        return f'There is no sandbox "{sandbox}": there are "bubblewrap" and "none".'
    with found.open("rb") as file:
        script = file.read(2) == b"#!"
    if script:
        return (
            f"The harness at {found} is a script, and what it needs is not in the sandbox. Use "
            "the one that claude-agent-sdk brings, or the native installation of Claude Code."
        )
    from skill_eval_nb.grading.sandbox import available

    return available()


MOST_LINE_BYTES = 64 * 1024 * 1024
"""A message longer than this ends the run: nothing that is to be graded is so long."""
_PIECE = 64 * 1024
_TAIL = 4096


class Process:
    """A harness that runs, and the lines that it has said so far; it makes its own environment.

    Attributes:
        lines: its messages as they came, each with the time where it had none.
        fault: why its messages could not be read on, in words; None if they could.
        over: whether it came to its end by itself.
        left: how many processes it left behind when it ended by itself; they are ended.
        silent: set when nothing more will be read from it.
    """

    def __init__(self, arguments: Sequence[str], box: Box, mark: str | None = None) -> None:
        """One that is not started yet.

        Args:
            arguments: a program and its arguments.
            box: where it is started.
            mark: a variable of the environment, `NAME=value`, that its children inherit and by
                which those are found that left its process group; None if there is none.
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
        """Say something to it; what it no longer hears is lost, and its end tells why."""
        stdin = self._process.stdin if self._process is not None else None
        if stdin is not None and not stdin.is_closing():
            with contextlib.suppress(OSError):
                stdin.write(data.encode("utf-8", "backslashreplace"))
                await stdin.drain()

    async def end_input(self) -> None:
        """Say that nothing more will be said."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Its messages, until it ends; each is kept in `lines` too."""
        assert self._process is not None
        try:
            async for line in self._read_lines():
                message = _read_message(line)
                if message is None:
                    continue
                if message.get("subtype") == "left_behind":  # by the forwarder, not the harness
                    self.left = int(message.get("left", 0))
                else:
                    self.lines.append(message)
                    yield message
            # It has closed its output, and is about to end: its exit code is wanted.
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
        """End it, if it has not ended, and all that it started; it may be called again."""
        process = self._process
        if process is None:
            return
        if self.over and self._mark is not None and not self._boxed:
            self.left = len(find_marked(self._mark))
        # Whether or not it has ended by itself: its children may live on. In any case, so that
        # nothing is left even if this is cancelled.
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
            # Ended with the last process that could write there.
            await asyncio.wait((self._draining,), timeout=5)
            self._draining.cancel()

    async def _end_inside(self, process: asyncio.subprocess.Process) -> None:
        """End the first process inside; bubblewrap, which must not go before it, ends after."""
        if not self._boxed or process.returncode is not None:
            return
        for pid in [*descendants(process.pid)][1:2]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_wait_for_end(process), LONGEST_END)

    @property
    def pid(self) -> int | None:
        """The process that leads its group; None if it was never started."""
        return self._process.pid if self._process is not None else None

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs, and where it never did."""
        return self._process.returncode if self._process is not None else None

    @property
    def complaint(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._errors.decode("utf-8", "replace").strip()

    async def _drain_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(_PIECE):
            self._errors += data
            del self._errors[:-_TAIL]


async def _wait_for_end(process: asyncio.subprocess.Process) -> None:
    """Wait for its end; its own `wait` awaits that of its output too, which may stand unread."""
    while process.returncode is None:  # noqa: ASYNC110 -- nothing public tells of it
        await asyncio.sleep(0.01)


def _read_message(line: bytes | bytearray) -> dict[str, Any] | None:
    """A message with a timestamp; None for a line that is none."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    message.setdefault("timestamp", datetime.now(UTC).isoformat(timespec="milliseconds"))
    return message


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

    def process(self, program: Path, port: int) -> Process:
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
        return Process(argv, box, f"{MARK}={value}")

    def box(self, program: Path, given: Sequence[tuple[str, str]] = ()) -> Box:
        """The box that the harness is in, with all that it needs."""
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
def make_place(task: Task) -> Iterator[Place]:
    """Make a place ready, and clear it away.

    Raises:
        OSError: if a folder cannot be made or the skill cannot be copied.
    """
    home = task.scratch / "home"
    home.mkdir(parents=True)  # HOME and TMPDIR, in a sandbox or not
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
