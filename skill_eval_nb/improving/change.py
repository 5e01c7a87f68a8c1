"""Write accepted drafts into evals.json after showing the diff; nothing else in it changes.

It also prepares the folder of the next iteration: its evals, without runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import to_json
from skill_eval_nb.running.journal import NAME
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.skill import SKILL_FILE
from skill_eval_nb.running.spec import METADATA, PREPARED, is_prepared, iterations_of
from skill_eval_nb.running.suite import SUITE, PlannedEval, is_ours, metadata_of
from skill_eval_nb.tables import check
from skill_eval_nb.text import count
from skill_eval_nb.view import Block, Diff, Shown, Text, Title
from skill_eval_nb.workspace import NothingToLoad, PathLike, Problem, Problems, write_atomic
from skill_eval_nb.workspace.writing import diff_of, now, replace_kept, written_like

from .edits import OpenSuite, edits_of, open_suite, planned_evals, text_of
from .inputs import root_of
from .values import Draft

_COUNTED = re.compile(r" \(\d+ times, first at .*\)$|\[\*\]|\[\d+\]|\d+")
"""The parts of a message that say how often a fault occurs, and where in a list."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        kept: the file as it was before; None if nothing was to be changed.
        iteration: the folder that was prepared for the next runs; None if there is none.
        why: why no iteration was prepared; empty if one was, or none was asked for.
    """

    kept: Path | None = None
    iteration: Path | None = None
    why: str = ""


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
        refused = (f"{key} is refused: {why}" for key, why in self.refused.items())
        problems = (
            f"{problem.severity} at {problem.where or '$'}: {problem.message}"
            for problem in self.problems
        )
        return (*refused, *problems)

    @property
    def results(self) -> tuple[str, ...]:
        """What was written, one line each; nothing before that."""
        if self.written is None:
            return ()
        kept, iteration, why = self.written.kept, self.written.iteration, self.written.why
        lines = (
            f"wrote {self.path}" if self.applied and not self.before else "",
            kept and f"the old file is {kept}",
            iteration and f"{iteration} is ready for the next runs",
            why and f"no iteration was prepared: {why}",
        )
        return tuple(line for line in lines if line)

    def write(self, *, next_iteration: bool = True) -> Change:
        """Write it; the old file is kept next to it, under the next free NAME.N.bak.

        Args:
            next_iteration: whether to prepare the workspace's next iteration.

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
        if self.after == self.before:
            return replace(self, written=Written())
        for path, data in self.inputs.items():
            write_atomic(path, data, root=root_of(self.path))
        if not self.before:
            write_atomic(self.path, self.after, root=root_of(self.path))
            return replace(self, written=Written())
        kept = replace_kept(self.path, self.before, self.after)
        if not next_iteration:
            return replace(self, written=Written(kept))
        try:
            folder, why = prepare(self.suite, self.after, self.applied)
        except OSError as error:  # the suite is written: that is to be told in any case
            folder, why = None, str(error)
        return replace(self, written=Written(kept, folder, why))

    def _blocks(self) -> Iterator[Block]:
        yield Title(self.headline, str(self.path))
        yield from (Text(line) for line in (*self.notes, *self.results))
        yield Diff(self.diff)


def preview(
    drafts: Draft | Iterable[Draft], evals: PathLike, *, workspace: PathLike | None = None
) -> Change:
    """Apply drafts to a suite, and show the result; nothing is written.

    The file is changed as text: everything that the drafts do not mention stays the same, byte for
    byte, and new lines are indented like their neighbours. A draft whose target does not exist, or
    was taken by an earlier draft, is refused with the reason.

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
    """Write drafts into a suite, keep the old file, and prepare the next iteration.

    Args:
        drafts: as `preview` takes them.
        evals: as `preview` takes it.
        workspace: as `preview` takes it.

    Returns:
        The change as written; `written` says where the old file is.

    Raises:
        Refused: there is no suite, its file cannot be changed in place, or it would have faults
            that it does not have now; nothing was written. It is a ValueError.
        OSError: it cannot be read or written.
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
    known = Counter(map(_kind, _check_suite(name, suite.data, suite.text.dialect)))
    for problem in _check_suite(name, after, suite.text.dialect):
        # Whatever occurs more often than before, anywhere in its list.
        if known[_kind(problem)]:
            known[_kind(problem)] -= 1
        else:
            found.add(problem.severity, problem.code, path, problem.message, where=problem.where)
    _, old = planned_evals(suite.text.document)
    _, new = planned_evals(text.document)
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


def _kind(problem: Problem) -> tuple[str, str, str]:
    return problem.code, _COUNTED.sub("", problem.where or ""), _COUNTED.sub("", problem.message)


# ── the next iteration ───────────────────────────────────────────────────────────────────────


def prepare(suite: OpenSuite, after: bytes, drafts: Sequence[str]) -> tuple[Path | None, str]:
    """Prepare the next iteration for a suite that was changed.

    A folder that was prepared before, and that nothing was run in, is made again.

    Args:
        suite: the suite as it was.
        after: what was written.
        drafts: the keys of the drafts that were applied.

    Returns:
        The iteration's folder, or None with the reason.

    Raises:
        OSError: it cannot be written.
    """
    home = suite.workspace
    if home is None:
        return None, "there is no workspace next to this suite: name one with `workspace`"
    there = iterations_of(home)
    if why := _why_not(suite, home, there):
        return None, why
    evals, _ = planned_evals(text_of(suite.path.name, after).document)
    number = max(there, default=0)
    if not (number and is_prepared(there[number])):
        number += 1
    mark = hashlib.sha256(after).hexdigest()
    folder = home / f"iteration-{number}"
    _write(folder, evals, {"suite": mark, "drafts": list(drafts)})
    _keep_suite(suite, home, after)
    return folder, ""


def _why_not(suite: OpenSuite, home: Path, there: Mapping[int, Path]) -> str:
    folders = [home] if there else [home, home.parent]
    if any((folder / SKILL_FILE).is_file() for folder in folders):
        return f"{home} is the skill's own, and runs do not go there: name another folder"
    stated = [eval_.id for eval_ in planned_evals(suite.text.document)[0]]
    if any(key.id != id_ for key, id_ in zip(suite.keys, stated, strict=True)):
        return (
            "the runs call the evals by other ids than the suite does, and a run from here would "
            "call them as the suite does: make the ids the same first"
        )
    return ""


def _write(folder: Path, evals: Sequence[PlannedEval], about: dict[str, object]) -> None:
    """Make the folder, whole or not at all."""
    half = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    half.chmod(folder.parent.stat().st_mode & 0o777)  # mkdtemp closes it to everybody else
    line = {"event": PREPARED, "at": now(), **about}
    (half / NAME).write_text(json.dumps(line) + "\n")
    for eval_ in evals:
        write_atomic(half / eval_.folder / METADATA, to_json(metadata_of(eval_)))
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        if folder.exists():
            folder.rename(old / folder.name)
        half.rename(folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _keep_suite(suite: OpenSuite, home: Path, after: bytes) -> None:
    """Bring the suite that the workspace keeps up to date, as the start of its runs would."""
    kept = home / SUITE
    if suite.path.name != SUITE.name or suite.path.is_relative_to(home):
        return
    if kept.is_file():
        there = read_bytes(kept)
        ours = is_ours(home, hashlib.sha256(there).hexdigest())
        if there != suite.data and not ours:
            return
    write_atomic(kept, after)
