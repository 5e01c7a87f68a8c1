"""Write accepted drafts into evals.json after showing the diff; nothing else in it changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.suite import name_evals
from skill_eval_nb.tables import check
from skill_eval_nb.text import count
from skill_eval_nb.view import Block, Diff, Shown, Text, Title
from skill_eval_nb.workspace import NothingToLoad, PathLike, Problem, Problems, write_atomic
from skill_eval_nb.workspace.writing import diff_of, replace_kept, written_like

from .edits import OpenSuite, edits_of, open_suite, text_of
from .values import Draft, root_of

_COUNTED = re.compile(r" \(\d+ times, first at .*\)$|\[\*\]|\[\d+\]|\d+")
"""The parts of a message that say how often a fault occurs, and where in a list."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        kept: the file as it was before; None if there was none, or nothing was to be changed.
    """

    kept: Path | None = None


@dataclass(frozen=True, repr=False)
class Change(Shown):
    """A suite with a set of drafts applied.

    Attributes:
        suite: the suite as it was.
        after: the new content of its file.
        applied: keys of the drafts that were applied.
        refused: why a draft was not applied, by its key.
        problems: what `skill-eval-nb check` finds in it that was not there before.
        inputs: the input files of new evals, with their content.
        written: what was written; None if nothing was yet.
    """

    suite: OpenSuite
    after: bytes
    applied: tuple[str, ...]
    refused: Mapping[str, str]
    problems: tuple[Problem, ...]
    inputs: Mapping[Path, bytes] = field(default_factory=dict)
    written: Written | None = None

    @property
    def path(self) -> Path:
        """The suite's file."""
        return self.suite.path

    @property
    def before(self) -> bytes:
        """What its file held when the change was made; nothing if there was none."""
        return self.suite.data

    @cached_property
    def diff(self) -> str:
        """The change as a unified diff, input files included; empty if there is none."""
        new = (diff_of(path, b"", data) for path, data in self.inputs.items())
        return "".join((diff_of(self.path, self.before, self.after), *new))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that prevent writing it."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def headline(self) -> str:
        """How many drafts are in it and how many lines it changes, in a sentence."""
        lines, heads = self.diff.split("\n")[2:], len(self.inputs)
        new, old = (sum(line.startswith(sign) for line in lines) - heads for sign in "+-")
        drafts = len(self.applied) + len(self.refused)
        state = "written" if self.written is not None else "not written yet"
        inputs = f", {count(len(self.inputs), 'input file')}" if self.inputs else ""
        return (
            f"{len(self.applied)} of {count(drafts, 'draft')} in {self.path.name}: "
            f"{count(new, 'line')} new, {count(old, 'line')} gone{inputs}; {state}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about it besides its diff: refused drafts and new problems."""
        refused = (f"{key} was refused: {why}" for key, why in self.refused.items())
        problems = (
            f"{problem.severity} at {problem.where or '$'}: {problem.message}"
            for problem in self.problems
        )
        return (*refused, *problems)

    @property
    def results(self) -> tuple[str, ...]:
        """What was written, one line each; nothing before that."""
        if self.written is None or self.after == self.before:
            return ()
        kept = f"The old file is {self.written.kept}" if self.written.kept else ""
        wrote = f"{count(len(self.applied), 'draft')} written to {self.path}"
        return tuple(filter(None, (wrote, kept)))

    def write(self) -> Change:
        """Write it; the old file is kept next to it, under the next free NAME.N.bak.

        The next plan of runs sees that the evals have changed, and begins a new iteration.

        Returns:
            The same change, which now knows where the old file is. If no draft changes anything,
            nothing is written.

        Raises:
            Refused: it has errors, it was written before, or the file has changed since.
            OSError: it cannot be written.
        """
        if self.errors:
            faults = "; ".join(problem.message for problem in self.errors)
            raise refuse(f"{self.path} would have new faults: {faults}")
        if (read_bytes(self.path) if self.path.exists() else b"") != self.before:
            raise refuse(f"{self.path} has changed since it was looked at: preview again")
        kept = None
        if self.after != self.before:
            for path, data in self.inputs.items():
                write_atomic(path, data, root=root_of(self.path))
            if self.before:
                kept = replace_kept(self.path, self.before, self.after)
            else:
                write_atomic(self.path, self.after, root=root_of(self.path))
        return replace(self, written=Written(kept))

    def _blocks(self) -> Iterator[Block]:
        yield Title(self.headline, str(self.path))
        yield from (Text(line) for line in (*self.notes, *self.results))
        yield Diff(self.diff)


def preview(
    drafts: Draft | Iterable[Draft], evals: PathLike, *, workspace: PathLike | None = None
) -> Change:
    """Apply drafts to a suite, and show the result; nothing is written.

    What the drafts do not mention keeps its names, its order and its words, and the file its
    indentation and line ends. A draft is refused, with the reason, if its target does not exist or
    was taken by an earlier draft, or if a part that it changes cannot be read whole.

    A new item that replaces another keeps its id and any unknown fields. Known fields that the new
    item does not have are removed from checks and dimensions, and kept in evals.

    Args:
        drafts: the accepted ones.
        evals: the suite's file, or the folder of a skill or a workspace with one; a skill without
            one gets a new file.
        workspace: the workspace that the drafts are about; if not given, the one that contains the
            suite or is next to it.

    Returns:
        The change, which displays itself and can be written.

    Raises:
        Refused: there is no suite, or its file is not strict JSON in UTF-8. It is a ValueError.
        OSError: it cannot be read.
    """
    suite = open_suite(evals, workspace)
    edits = edits_of([drafts] if isinstance(drafts, Draft) else drafts, suite)
    after = written_like(edits.value, suite.data or None) if edits.applied else suite.data
    problems = _new_problems(suite, after) if after != suite.data else ()
    return Change(suite, after, edits.applied, edits.refused, tuple(problems), edits.inputs)


def apply(
    drafts: Draft | Iterable[Draft], evals: PathLike, *, workspace: PathLike | None = None
) -> Change:
    """Write drafts into a suite, and keep the old file.

    Arguments and errors are those of `preview` and of `Change.write`; gives the change as written.
    """
    return preview(drafts, evals, workspace=workspace).write()


def _new_problems(suite: OpenSuite, after: bytes) -> Problems:
    """The errors and warnings that a change adds, as `skill-eval-nb check` finds them.

    The new text is checked against the dialect of the old one, and read as a plan of runs
    would read it.
    """
    found, path, name = Problems(), str(suite.path), suite.path.name
    try:
        text = text_of(name, after)
    except Refused as error:
        found.add("error", "unreadable", path, str(error))
        return found
    if not text.document.evals:
        found.add("error", "no-evals", path, "the suite would have no evals")
    known = Counter(map(_problem_key, _check_suite(name, suite.data, suite.text.dialect)))
    for problem in _check_suite(name, after, suite.text.dialect):
        # Whatever occurs more often than before, anywhere in its list.
        if known[_problem_key(problem)]:
            known[_problem_key(problem)] -= 1
        else:
            found.add(problem.severity, problem.code, path, problem.message, where=problem.where)
    old: list[str] = []
    new: list[str] = []
    for document, faults in ((suite.text.document, old), (text.document, new)):
        name_evals(document.evals, faults)
    for fault in sorted(set(new) - set(old)):
        found.add("error", "not-runnable", path, fault)
    return found


def _check_suite(name: str, data: bytes, dialect: str) -> list[Problem]:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            return [problem for problem in check(path, dialect) if problem.severity != "info"]
        except NothingToLoad as error:
            return [Problem("error", "nothing-to-load", str(path), str(error))]


def _problem_key(problem: Problem) -> tuple[str, str, str]:
    return problem.code, _COUNTED.sub("", problem.where or ""), _COUNTED.sub("", problem.message)
