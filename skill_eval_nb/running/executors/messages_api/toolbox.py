"""The tools of one run: every one acts through the sandbox."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from skill_eval_nb.grading.sandbox import Box, BoxLimits, Ran, arun, python, used
from skill_eval_nb.running.executors.protocol import Task

from .opening import Offered
from .prompts import fault

_LONGEST = 100_000
"""Bytes of a command that fit into an argument; Linux takes 131,071."""
_THROUGH_A_FILE = 'cat > "$TMPDIR/.command" && exec "$0" "$TMPDIR/.command" < /dev/null'


@dataclass(frozen=True)
class Result:
    """What a tool gave.

    Attributes:
        text: what the model is shown.
        is_error: whether the tool failed.
    """

    text: str
    is_error: bool = False


class Toolbox:
    """Uses tools as the model asks for them, and knows whether the task's skill was opened."""

    def __init__(
        self,
        task: Task,
        offered: Sequence[Offered],
        schemas: Mapping[str, Mapping[str, Any]],
        limits: BoxLimits,
        characters: int,
    ) -> None:
        self.skill_used = False
        self._offered = {one.skill.name: one for one in offered}
        self._wanted = None if task.skill is None else self._offered[task.skill.name]
        self._schemas = schemas
        self._characters = characters
        temporary = task.scratch / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        self._box = Box(
            folder=task.folder,
            readable=tuple((one.place, one.folder) for one in offered),
            limits=limits,
            kind=task.sandbox,
            temporary=temporary,
        )
        self._before = used(self._box)

    async def use(self, name: object, given: object, seconds: float) -> Result:
        """Use a tool.

        Args:
            name: the tool's name, as the model gave it.
            given: its arguments, as the model gave them.
            seconds: what is left of the run.

        Raises:
            SandboxMissing: no sandbox works here.
            OSError: the working folder cannot be used.
        """
        schema = self._schemas.get(name) if isinstance(name, str) else None
        if schema is None:
            return Result(f"There is no tool {name!r}. There are {', '.join(self._schemas)}.", True)  # noqa: FBT003
        wrong = fault(schema, given) or _unsayable(given)
        if wrong is not None or not isinstance(given, Mapping):
            return Result(f"The tool was not used: {wrong}.", is_error=True)
        if name == "Skill":
            return self._open(given["skill"])
        result = await (
            self._bash(given["command"], seconds)
            if name == "Bash"
            else self._file(str(name), given, seconds)
        )
        text = capped(result.text, self._characters)
        if self._wanted is not None and self._wanted.shown_in(text):
            self.skill_used = True
        return Result(text, result.is_error)

    def _open(self, skill: str) -> Result:
        if not self._offered:
            return Result(f"There is no skill {skill!r}: no skills are installed.", is_error=True)
        found = self._offered.get(skill.strip().removeprefix("/"))
        if found is None:
            there = ", ".join(map(repr, self._offered))
            verb = "is" if len(self._offered) == 1 else "are"
            return Result(f"There is no skill {skill!r}. There {verb} {there}.", is_error=True)
        self.skill_used |= found is self._wanted
        return Result(found.opened)  # whole: the skill is what is tried here

    async def _bash(self, command: str, seconds: float) -> Result:
        if "\0" in command:
            return Result("The command has a character NUL in it.", is_error=True)
        argv, stdin = [_shell(), "-c", command], b""
        if len(command.encode()) > _LONGEST:
            argv, stdin = [_shell(), "-c", _THROUGH_A_FILE, _shell()], command.encode()
        ran = await arun(self._limited(seconds), argv, stdin)
        failed = ran.ended != "exit" or ran.exit_code != 0
        said = [_decoded(ran.stdout), _decoded(ran.stderr)]
        if ran.cut:
            kept = self._box.limits.output_bytes
            said.append(f"[Of each stream only the first {kept:,} bytes were kept.]")
        if failed or ran.left:
            said.append(f"[{ran.message if failed else ran.left_words}]")
        return Result("\n".join(filter(None, said)) or "(no output)", failed)

    async def _file(self, name: str, given: Mapping[str, Any], seconds: float) -> Result:
        request: dict[str, Any] = {"tool": name, "input": dict(given)}
        if name == "Read":
            request["input"]["characters"] = self._characters - 200  # room for what is said below
        argv = [python(self._box.kind), "-I", "-S", "-c", _program()]
        limits = self._limited(seconds)
        # numbers and escapes make a text longer; what was read is cut by lines, not by bytes
        limits = dataclasses.replace(
            limits,
            limits=dataclasses.replace(limits.limits, output_bytes=16 * self._characters + 65536),
        )
        ran = await arun(limits, argv, json.dumps(request).encode())
        answer = _answer(ran)
        if answer is None:
            errors = _decoded(ran.stderr).strip().rpartition("\n")[2]
            return Result(f"{errors}\n[{ran.message}]".lstrip(), is_error=True)
        return answer

    def _limited(self, seconds: float) -> Box:
        """The box for one command: time and disk are those of the run, as far as is left."""
        limits = self._box.limits
        used_now, before = used(self._box), self._before
        # with nothing left, a command that makes room may still run
        left = max(limits.disk_bytes - (used_now.bytes - before.bytes), 0)
        entries = max(limits.entries - (used_now.entries - before.entries), 0)
        return dataclasses.replace(
            self._box,
            limits=dataclasses.replace(
                limits,
                seconds=min(limits.seconds, max(seconds, 0.1)),
                disk_bytes=left,
                entries=entries,
            ),
        )


def capped(text: str, most: int) -> str:
    r"""A text of at most so many characters: its beginning and its end, and what is left out.

    >>> capped("a" * 300, 90)
    'aaaaaa\n[… 291 of 300 characters are left out here …]\naaa'
    """
    if len(text) <= most:
        return text
    room = max(most - 80, 3)
    head, tail = text[: room * 2 // 3], text[-(room // 3) :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left_out:,} of {len(text):,} characters are left out here …]\n{tail}"


def _unsayable(given: object) -> str | None:
    """Why arguments cannot be handed on; None where they can."""
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "its arguments have half of a surrogate pair in them"
    return None


def _answer(ran: Ran) -> Result | None:
    """What the program in the box answered; None where it was ended before, or failed."""
    try:
        answer = json.loads(ran.stdout)
        return Result(answer["text"], answer["is_error"])
    except (ValueError, KeyError, TypeError):
        return None


@cache
def _program() -> str:
    return Path(__file__).with_name("inside.py").read_text("utf-8")


@cache
def _shell() -> str:
    return "bash" if shutil.which("bash") or os.path.exists("/bin/bash") else "sh"  # noqa: PTH110


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").removesuffix("\n")
