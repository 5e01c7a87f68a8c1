"""The tools of one run, and how they are described to the model; all act in the sandbox."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from skill_eval_nb import skill_md
from skill_eval_nb.grading.box import Box, BoxLimits, measure_used, python
from skill_eval_nb.grading.sandbox import arun

from ..protocol import SandboxKind, Skill, Task

SYSTEM = """\
You are an agent that works on one task, alone. Do all of it without asking back: nobody \
answers questions. Files that belong to the task lie in the current folder, which is your \
working folder; what the task asks for as a file must be there at the end. Use your tools to \
look, to work and to check what you made. When the task is done, say in a few sentences what \
you did and which files hold the result."""

_BASH = """\
Runs a command in Bash and returns what it prints. Each command starts anew in the working \
folder: variables and changes of folder do not carry over, and processes that it leaves behind \
are ended. There is no network. A command that takes longer than {seconds:g} seconds is ended."""

_READ = """\
Reads a text file and returns its lines, numbered from 1. Long files are returned in parts: \
`offset` is the first line to return, `limit` how many."""

_WRITE = "Writes a file as a whole; missing folders are made, and an old file is replaced."

_EDIT = """\
Replaces a piece of a text file. `old_string` must occur exactly once, character by character, \
unless `replace_all` is true."""

_SKILL = """\
Opens a skill: instructions, and often files, for one kind of task. Where a skill of this list \
fits the task, open it before you begin, and follow it.

{listed}"""

_Path = Annotated[str, Meta(description="The file's path, absolute or from the working folder.")]
_Number = Annotated[int, Meta(ge=1)] | UnsetType


class _Arguments(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Bash(_Arguments):
    command: Annotated[str, Meta(description="The command.")]


class _Read(_Arguments):
    file_path: _Path
    offset: _Number = UNSET
    limit: _Number = UNSET


class _Write(_Arguments):
    file_path: _Path
    content: Annotated[str, Meta(description="The whole text.")]


class _Edit(_Arguments):
    file_path: _Path
    old_string: Annotated[str, Meta(description="What is replaced.")]
    new_string: Annotated[str, Meta(description="What takes its place.")]
    replace_all: bool | UnsetType = UNSET


class _Skill(_Arguments):
    skill: Annotated[str, Meta(description="Its name.")]


TOOLS = {"Bash": _Bash, "Read": _Read, "Write": _Write, "Edit": _Edit, "Skill": _Skill}
"""The tools by name, each with its arguments."""


def tools(skills: Sequence[Skill], seconds: float) -> list[dict[str, Any]]:
    """The tools, in the form of a request.

    Args:
        skills: the skills to list, in this order.
        seconds: how long a command may take.
    """
    lines = [f"- {skill.name}: {' '.join(skill.description.split())}" for skill in skills]
    listed = "\n".join(["Skills:", *lines]) if lines else "No skills are installed."
    texts = (_BASH.format(seconds=seconds), _READ, _WRITE, _EDIT, _SKILL.format(listed=listed))
    return [
        {"name": name, "description": text, "input_schema": _schema(arguments)}
        for (name, arguments), text in zip(TOOLS.items(), texts, strict=True)
    ]


def _schema(arguments: type[_Arguments]) -> dict[str, Any]:
    [schema] = msgspec.json.schema_components([arguments])[1].values()
    del schema["title"]
    return schema


def find_fault(tool: str, given: object) -> str | None:
    """What is wrong with the arguments of a tool; None if nothing is.

    >>> find_fault("Bash", {"command": "ls"}) is None
    True
    >>> find_fault("Bash", {"cmd": "ls"})
    'Object contains unknown field `cmd`'
    """
    try:
        msgspec.convert(given, TOOLS[tool])
        json.dumps(given, ensure_ascii=False).encode()
    except msgspec.ValidationError as error:
        return str(error)
    except UnicodeEncodeError:
        return "its arguments have half of a surrogate pair in them"
    return None


@dataclass(frozen=True)
class StagedSkill:
    """A skill as the agent sees it.

    Attributes:
        skill: the staged skill.
        place: the path of its folder for the agent.
        folder: the folder that is shown there.
    """

    skill: Skill
    place: str
    folder: Path

    @cached_property
    def text(self) -> str:
        """All of SKILL.md.

        Raises:
            OSError: if there is none, or it is a link that leads out of the folder.
        """
        return skill_md.read_text(self.folder)

    @cached_property
    def body(self) -> str:
        """SKILL.md below its front matter."""
        return skill_md.body(self.text).rstrip()

    @property
    def opened(self) -> str:
        """The text that the agent gets when it opens the skill."""
        return f"Base directory for this skill: {self.place}\n\n{self.body}"


def stage_for_agent(skill: Skill, sandbox: SandboxKind, scratch: Path) -> StagedSkill:
    """Prepare a skill for an agent.

    Args:
        skill: the staged skill.
        sandbox: how the agent's commands are confined.
        scratch: the folder for its copy.

    Raises:
        OSError: if the skill cannot be read.
    """
    # A copy, because the list of mounts inside shows the paths of folders, and staged skills are in
    # the workspace; also, for root the agent runs as nobody, who may read less than root.
    folder = scratch / "skills" / skill.name
    shutil.copytree(skill.folder, folder, symlinks=True)
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    return StagedSkill(
        skill, os.fspath(folder) if sandbox == "none" else f"/skills/{skill.name}", folder
    )


_LONGEST = 100_000
"""Bytes of a command that fit into an argument; Linux takes 131,071."""
_THROUGH_A_FILE = 'cat > "$TMPDIR/.command" && exec "$0" "$TMPDIR/.command" < /dev/null'


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool.

    Attributes:
        text: what the model sees.
        is_error: whether the tool failed.
    """

    text: str
    is_error: bool = False


class Toolbox:
    """Uses tools for the model, and knows whether the task's skill was opened."""

    def __init__(
        self, task: Task, offered: Sequence[StagedSkill], limits: BoxLimits, characters: int
    ) -> None:
        self.skill_used = False
        self._offered = {skill.skill.name: skill for skill in offered}
        self._wanted = None if task.skill is None else self._offered[task.skill.name]
        self._characters = characters
        temporary = task.scratch / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        self._box = Box(
            folder=task.folder,
            readable=tuple((skill.place, skill.folder) for skill in offered),
            limits=limits,
            kind=task.sandbox,
            temporary=temporary,
        )
        self._before = measure_used(self._box)

    async def use(self, name: object, given: object, seconds: float) -> ToolResult:
        """Use a tool.

        Args:
            name: the tool's name, as the model gave it.
            given: its arguments, as the model gave them.
            seconds: the time left for the run.

        Raises:
            SandboxMissing: no sandbox works here.
            OSError: the working folder cannot be used.
        """
        if not isinstance(name, str) or name not in TOOLS:
            there = f"There is no tool {name!r}. There are {', '.join(TOOLS)}."
            return ToolResult(there, is_error=True)
        wrong = find_fault(name, given)
        if wrong is not None or not isinstance(given, Mapping):
            return ToolResult(f"The tool was not used: {wrong}.", is_error=True)
        if name == "Skill":
            return self._open_skill(given["skill"])
        result = await (
            self._run_bash(given["command"], seconds)
            if name == "Bash"
            else self._use_file(name, given, seconds)
        )
        text = cap_text(result.text, self._characters)
        if self._wanted is not None and skill_md.shows_body(text, self._wanted.body):
            self.skill_used = True
        return ToolResult(text, result.is_error)

    def _open_skill(self, skill: str) -> ToolResult:
        found = self._offered.get(skill.strip().removeprefix("/"))
        if found is None:
            there = ", ".join(map(repr, self._offered)) or "none"
            return ToolResult(f"There is no skill {skill!r}. Skills: {there}.", is_error=True)
        self.skill_used |= found is self._wanted
        return ToolResult(found.opened)  # never shortened: the skill is what is tested

    async def _run_bash(self, command: str, seconds: float) -> ToolResult:
        if "\0" in command:
            return ToolResult("The command has a character NUL in it.", is_error=True)
        argv, stdin = [_shell(), "-c", command], b""
        if len(command.encode()) > _LONGEST:
            argv, stdin = [_shell(), "-c", _THROUGH_A_FILE, _shell()], command.encode()
        kept = self._box.limits.output_bytes
        ran = await arun(self._box_now(seconds, kept), argv, stdin)
        failed = ran.ended != "exit" or ran.exit_code != 0
        texts = [_decode_output(ran.stdout), _decode_output(ran.stderr)]
        if ran.cut:
            texts.append(f"[Of each stream only the first {kept:,} bytes were kept.]")
        if failed:
            texts.append(f"[{ran.message}]")
        return ToolResult("\n".join(filter(None, texts)) or "(no output)", failed)

    async def _use_file(self, name: str, given: Mapping[str, Any], seconds: float) -> ToolResult:
        request: dict[str, Any] = {"tool": name, "input": dict(given)}
        if name == "Read":
            request["input"]["characters"] = self._characters - 200  # leaves room for a note
        argv = [python(self._box.kind), "-I", "-S", "-c", _file_program()]
        # line numbers and escapes make the text longer, and it is cut by lines, not by bytes
        box = self._box_now(seconds, 16 * self._characters + 65536)
        ran = await arun(box, argv, json.dumps(request).encode())
        try:
            answer = json.loads(ran.stdout)
            return ToolResult(answer["text"], answer["is_error"])
        except (ValueError, KeyError, TypeError):  # it was ended before it answered, or failed
            errors = _decode_output(ran.stderr).strip().rpartition("\n")[2]
            return ToolResult(f"{errors}\n[{ran.message}]".lstrip(), is_error=True)

    def _box_now(self, seconds: float, output_bytes: int) -> Box:
        """The box for one command, with what is left of the run's time and disk space."""
        limits, now, before = self._box.limits, measure_used(self._box), self._before
        left = dataclasses.replace(
            limits,
            seconds=min(limits.seconds, max(seconds, 0.1)),
            output_bytes=output_bytes,
            # even with no space left, a command that frees some may run
            disk_bytes=max(limits.disk_bytes - (now.bytes - before.bytes), 0),
            entries=max(limits.entries - (now.entries - before.entries), 0),
        )
        return dataclasses.replace(self._box, limits=left)


def cap_text(text: str, most: int) -> str:
    r"""A text of at most this many characters: beginning and end, with a note between them.

    >>> cap_text("a" * 300, 90)
    'aaaaaa\n[… 291 of 300 characters are left out here …]\naaa'
    """
    if len(text) <= most:
        return text
    room = max(most - 80, 3)
    head, tail = text[: room * 2 // 3], text[-(room // 3) :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left_out:,} of {len(text):,} characters are left out here …]\n{tail}"


@cache
def _file_program() -> str:
    return Path(__file__).with_name("inside.py").read_text("utf-8")


@cache
def _shell() -> str:
    return "bash" if shutil.which("bash") or os.path.exists("/bin/bash") else "sh"  # noqa: PTH110


def _decode_output(data: bytes) -> str:
    return data.decode("utf-8", "replace").removesuffix("\n")
