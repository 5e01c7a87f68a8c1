"""What the model is told besides the task: the same on both sides, but for the listed skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skill_eval_nb.running.executors.protocol import Skill

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

_FILE = "The file's path, absolute or from the working folder."


def tools(skills: Sequence[Skill], seconds: float) -> list[dict[str, Any]]:
    """The tools as a request offers them.

    Args:
        skills: those that are listed, in this order.
        seconds: how long a command may take.
    """
    return [
        _tool("Bash", _BASH.format(seconds=seconds), {"command": _text("The command.")}),
        _tool(
            "Read",
            _READ,
            {
                "file_path": _text(_FILE),
                "offset": {"type": "integer", "minimum": 1},
                "limit": {"type": "integer", "minimum": 1},
            },
            optional=("offset", "limit"),
        ),
        _tool("Write", _WRITE, {"file_path": _text(_FILE), "content": _text("The whole text.")}),
        _tool(
            "Edit",
            _EDIT,
            {
                "file_path": _text(_FILE),
                "old_string": _text("What is replaced."),
                "new_string": _text("What takes its place."),
                "replace_all": {"type": "boolean"},
            },
            optional=("replace_all",),
        ),
        _tool("Skill", _SKILL.format(listed=_listed(skills)), {"skill": _text("Its name.")}),
    ]


def fault(schema: Mapping[str, Any], given: object) -> str | None:
    """What is wrong with the arguments of a tool; None where nothing is.

    >>> schema = tools((), 60)[0]["input_schema"]
    >>> fault(schema, {"command": "ls"}) is None
    True
    >>> fault(schema, {"cmd": "ls"})
    '`command` is missing; there is no `cmd` (it takes `command`)'
    """
    if not isinstance(given, Mapping):
        return f"its arguments are {_kind(given)}, not an object"
    known = schema["properties"]
    faults = [f"`{name}` is missing" for name in schema["required"] if name not in given]
    for name, value in given.items():
        if name not in known:
            names = ", ".join(f"`{one}`" for one in known)
            faults.append(f"there is no `{name}` (it takes {names})")
        elif _kind(value) != known[name]["type"]:
            faults.append(f"`{name}` is of type {_kind(value)}, not {known[name]['type']}")
        elif isinstance(value, int) and value < known[name].get("minimum", value):
            faults.append(f"`{name}` is {value}, below {known[name]['minimum']}")
    return "; ".join(faults) or None


def _tool(
    name: str, description: str, properties: dict[str, Any], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [one for one in properties if one not in optional],
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "input_schema": schema}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _listed(skills: Sequence[Skill]) -> str:
    if not skills:
        return "No skills are installed."
    lines = [f"- {one.name}: {' '.join(one.description.split())}" for one in skills]
    return "\n".join(["Skills:", *lines])


def _kind(value: object) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return "null" if value is None else kinds.get(type(value), "object")
