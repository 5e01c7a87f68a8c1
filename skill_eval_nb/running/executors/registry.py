"""Which executors there are: those registered as entry points, ours among them."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any

from ..refused import no_such
from .protocol import Executor

GROUP = "skill_eval_nb.executors"
"""The entry point group; each entry is a name and what makes an executor, a class mostly."""


def executor_names() -> tuple[str, ...]:
    """The names of all executors that are installed, in order of the alphabet."""
    return tuple(sorted(_registered().names))


def _registered() -> EntryPoints:
    """The entries of our group, looked up again only where something was installed since.

    To look, every package that is installed has to be opened: a tenth of a second, each time
    that a form is drawn.
    """
    return _found(tuple((place, _changed(place)) for place in sys.path))


@lru_cache(maxsize=1)
def _found(_: tuple[tuple[str, int], ...]) -> EntryPoints:
    return entry_points(group=GROUP)


def _changed(place: str) -> int:
    """When something was last put into a folder that modules are looked for in."""
    try:
        return Path(place).stat().st_mtime_ns
    except OSError:
        return 0


def executor(name: str, **options: Any) -> Executor:
    """Make the executor of a name.

    Args:
        name: the name under which it is registered.
        options: what its class takes.

    Raises:
        ValueError: no executor has this name, it cannot be imported, it does not take
            these options, or what it makes is no executor.
    """
    found = _registered().select(name=name)
    if not found:
        raise ValueError(
            f"{no_such('executor', name, executor_names())}. Others are registered under the "
            f"entry point group `{GROUP}`"
        )
    entry = next(iter(found))
    try:
        made = entry.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"executor `{name}` is registered as `{entry.value}`, which cannot be imported: {error}"
        ) from error
    try:
        one = made(**options)
    except TypeError as error:
        raise ValueError(f"executor `{name}` does not take these options: {error}") from error
    if not isinstance(one, Executor):
        raise ValueError(  # noqa: TRY004 -- the user gave a name, not a type
            f"`{entry.value}`, registered as executor `{name}`, made a {type(one).__name__}, "
            "which lacks `name`, `why_not` or `execute`"
        )
    return one
