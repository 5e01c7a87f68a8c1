"""A check under way: what it wants to see of the outputs, and its verdict when it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from .content import Content
from .globs import matching
from .outputs import Outputs
from .verdict import Verdict

Sandbox = Literal["bubblewrap", "none"]


class Looks(Protocol):
    """What wants to see the content of files."""

    done: bool
    """Whether it needs to see no more."""

    def look(self, name: str, content: Content) -> None:
        """See one file."""
        ...

    def cannot_read(self, name: str, error: OSError) -> None:
        """Be told of a file that cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class Planned:
    """A check that is under way: what wants to see which files, and its verdict when they did."""

    verdict: Callable[[], Verdict]
    looks: tuple[tuple[Looks, Sequence[str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """What all checks of a run share."""

    outputs: Outputs
    transcript: Path | None
    near: int
    allow_scripts: bool
    sandbox: Sandbox
    matched: dict[str, list[str]] = field(default_factory=dict)

    def files(self, pattern: str | None) -> list[str]:
        """The files that a pattern matches: the same list each time; all without one.

        Raises:
            BadGlob: where the pattern cannot name an output.
        """
        if pattern is None:
            return self.outputs.names
        if pattern not in self.matched:
            self.matched[pattern] = matching(pattern, self.outputs.names)
        return self.matched[pattern]
