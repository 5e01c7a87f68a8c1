"""Results of other tools: a file a tool, each with `recognise` and `read`; see `Tool`."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import Any, cast

from skill_eval_nb.disk import decode, open_regular, read_bytes

from ..base import Faults
from ..parsing import parse_lines
from ..sides import UNSTATED, WITH, WITHOUT
from . import (
    deepeval,
    harbor,
    inspect_ai,
    nvidia_skillevaluator,
    own_layout,
    plugin_eval,
    promptfoo,
    vally,
    waza,
)
from .harbor import TRIAL_FILES, trial_file
from .identity import settle_runs
from .inspect_ai import open_log
from .own_layout import OWN_LAYOUT
from .part import Aggregate, Part, Results, Run, Tool, checks, without_keys

__all__ = [
    "ENDINGS",
    "GROUP",
    "OWN_LAYOUT",
    "TRIAL_FILES",
    "UNSTATED",
    "WITH",
    "WITHOUT",
    "Aggregate",
    "Part",
    "Results",
    "Run",
    "Tool",
    "checks",
    "open_other",
    "read_tool_file",
    "settle_runs",
    "tool_of",
    "trial_file",
    "without_keys",
]


TOOLS: dict[str, Tool] = {
    "plugin-eval": plugin_eval,
    "nvidia-skillevaluator": nvidia_skillevaluator,
    "harbor": harbor,
    "vally": vally,
    "inspect": inspect_ai,
    "waza": waza,
    "promptfoo": promptfoo,
    "deepeval": deepeval,
}
"""The tools whose results are read."""

GROUP = "skill_eval_nb.tools"
"""The entry point group of others; each entry is a name and what is a `Tool`, a module mostly."""

ENDINGS = (".jsonl", ".eval", "reward.txt", "reward.json", "benchmark.md", OWN_LAYOUT)
"""How the files of tools end that are no plain JSON documents."""

_LINE = 1 << 22
"""How many bytes the first line of a `.jsonl` file may have."""


@cache
def _others() -> dict[str, Tool]:
    found = {}
    for entry in entry_points(group=GROUP):
        try:
            found[entry.name] = cast("Tool", entry.load())
        except Exception as fault:  # noqa: BLE001 -- somebody else's package must not end a load
            _warn_once(f"the reader {entry.name!r} of {GROUP} cannot be imported: {fault!r}")
    return found


@cache
def _warn_once(message: str) -> None:
    warnings.warn(f"{message}; what it would read is left out", stacklevel=2)


def tool_of(raw: Any, *, others: bool = False) -> str | None:
    """The tool that a file is of, from what is in it; `others` asks those that were registered.

    >>> tool_of({"task_name": "a", "trial_name": "a__1", "agent_info": {}})
    'harbor'
    """
    if not others:
        if isinstance(raw, dict) and OWN_LAYOUT in raw:
            return "table"
        return next((name for name, tool in TOOLS.items() if tool.recognise(raw)), None)
    for name, tool in _others().items():
        try:
            if tool.recognise(raw):
                return name
        except Exception as fault:  # noqa: BLE001 -- somebody else's package must not end a load
            _warn_once(f"the reader {name!r} of {GROUP} failed on a file with {fault!r}")
    return None


def read_tool_file(name: str, raw: Any, path: str) -> list[Results]:
    """What a file of a tool tells; what a registered reader raises is a fault of its file."""
    if name == "table":
        return own_layout.read(raw, path)
    if name in TOOLS:
        return [TOOLS[name].read(raw, path)]
    try:
        return [_others()[name].read(raw, path)]
    except Exception as fault:  # noqa: BLE001 -- somebody else's package must not end a load
        results = Results()
        message = f"the reader {name!r} ended in {type(fault).__name__}: the file was not used"
        results.faults.add("error", "reader-failed", "$", message)
        return [results]


def open_other(path: str, faults: Faults) -> Any:
    """What a file of one of `ENDINGS` holds; None if no tool knows it by its first line.

    Raises:
        OSError: it cannot be read.
        ValueError: it cannot be unpacked, or holds no reward; the message says what was found.
    """
    if path.lower().endswith(".eval"):
        return open_log(path, faults)
    if path.endswith(OWN_LAYOUT):
        return own_layout.open_own_layout(path)
    if path.endswith(("reward.txt", "reward.json")):
        return harbor.wrap_reward(path)
    if path.lower().endswith("benchmark.md"):
        return nvidia_skillevaluator.open_card(decode(read_bytes(path))[0])
    with open_regular(path) as file:
        begin = file.readline(_LINE)
        begin += file.read() if b"\0" in begin else b""  # characters of two or four bytes
    first = next(parse_lines(begin, Faults()), None)
    if not (tool_of([first]) or tool_of([first], others=True)):
        return None
    found = list(parse_lines(read_bytes(path), faults))
    objects = [line for line in found if isinstance(line, dict)]
    if len(objects) < len(found):
        message = f"{len(found) - len(objects)} lines are not JSON objects: left out"
        faults.add("error", "not-json", "$", message)
    return objects
