"""The file of a set: found, read, and written where nobody else has been at it."""

from __future__ import annotations

from pathlib import Path

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.triggers import Query, read_queries, write_queries

USUAL = "trigger-eval-set.json"
"""What the file is called where there is none yet."""


class Stored:
    """The files that a panel has read or written, each as it was then.

    Attributes:
        path: the file that Save writes.
        saved: the queries that it holds, as far as is known; None before it was read or written.
    """

    def __init__(self, skill: Path, name: str) -> None:
        """Nothing is read yet.

        Args:
            skill: the skill's folder.
            name: the skill's name, for sets of several skills.
        """
        self.path = skill / USUAL
        self.saved: tuple[Query, ...] | None = None
        self._name = name
        self._known: dict[Path, tuple[bytes, tuple[Query, ...]]] = {}

    def read(self, file: Path) -> tuple[Query, ...]:
        """The queries of a file.

        Raises:
            OSError, ValueError: it cannot be read, or has no queries.
        """
        before = read_bytes(file)
        queries = read_queries(file, skill=self._name)
        self._known[file.absolute()] = before, queries
        self.choose(self.path)
        return queries

    def choose(self, file: Path) -> None:
        """Choose the file that Save writes."""
        self.path = file
        _, self.saved = self._known.get(file.absolute(), (b"", None))

    def write(self, queries: tuple[Query, ...]) -> None:
        """Write the queries to `path`; what else the file says stays.

        Raises:
            Refused: the file holds what this panel has not seen.
            OSError: it cannot be written.
        """
        file = self.path.absolute()
        if file.exists():
            seen = self._known.get(file)
            if seen is None or read_bytes(file) != seen[0]:
                how = "is there already" if seen is None else "has changed since it was read"
                raise refuse(f"{file} {how}: import it first, or choose another name")
        write_queries(file, queries)
        self._known[file] = read_bytes(file), queries
        self.choose(self.path)
