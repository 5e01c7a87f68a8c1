"""The versions of a skill: which runs each has, what changed, and what a history.json states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents.sides import is_earlier, likeness
from skill_eval_nb.running.skill import contents, digest
from skill_eval_nb.stats.pairing import side
from skill_eval_nb.stats.values import natural
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.text import Row, blocks_of, brief, compare_lines, count, in_quotes, lines_of
from skill_eval_nb.workspace import NO_ITERATION
from skill_eval_nb.workspace.jobs import (
    SKILL_FILE,
    KeptSkill,
    find_kept_skill,
    iteration_folder,
    kept_skills,
)

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class VersionRuns:
    """The runs of a version: all runs of one configuration in one iteration."""

    version: str
    iteration: str
    configuration: str

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that belong to these runs."""
        return frame.filter(iteration=self.iteration, configuration=self.configuration)


def earlier_of(names: Sequence[str]) -> str | None:
    """The configuration that is an earlier version of the skill; None if that is unclear."""
    earlier = [name for name in names if is_earlier(name)]
    return earlier[0] if len(earlier) == 1 else None


def versions_of(runs: pl.DataFrame) -> tuple[list[VersionRuns], list[str]]:
    """The versions in natural order of their iterations, and notes about them.

    The with-skill side of each iteration is a version. If the first iteration also ran an earlier
    version of the skill (`old_skill`), that is v0, to which the first change was made.

    Args:
        runs: the table of one skill.
    """
    notes: list[str] = []
    found: list[tuple[str, str]] = []
    for iteration in sorted(runs["iteration"].unique(), key=natural):
        names = sorted(runs.filter(iteration=iteration)["configuration"].unique(), key=side)
        skilled = [name for name in names if likeness(name) is None]
        if not skilled:
            notes.append(f"{iteration} is not a version: it has no runs with the skill.")
            continue
        own, *others = sorted(skilled, key=lambda name: name != "with_skill")
        if others:
            notes.append(f"{iteration} also ran {', '.join(others)}: {own} is taken as the skill.")
        earlier = earlier_of(names)
        if not found and earlier is not None:
            found.append((iteration, earlier))
            notes.append(f"v0 is {earlier} of {iteration}: the first change was made to it.")
        found.append((iteration, own))
    return [VersionRuns(f"v{number}", *place) for number, place in enumerate(found)], notes


Kind = Literal["changed", "added", "removed", "moved"]
LARGEST, LONGEST = 500_000, 2_000
"""Bytes and lines of a file that is compared line by line: more takes seconds, and nobody reads
it."""
NAMED = 4
"""The most files that are named; more are only counted."""


@dataclass(frozen=True)
class FileChange:
    """A file that differs between two versions, or exists in only one.

    Attributes:
        name: its path in the skill's folder.
        kind: how it changed.
        old: its old content; None if it was added.
        new: its new content; None if it was removed.
        added: how many lines were added; None if it was not compared line by line.
        removed: how many lines were removed.
        first: the first added line, else the first removed one.
        was: its path before it was moved.
    """

    name: str
    kind: Kind
    old: bytes | None = None
    new: bytes | None = None
    added: int | None = None
    removed: int | None = None
    first: str | None = None
    was: str = ""

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Its old and new lines, side by side; none where they were not compared, or are alike."""
        if self.kind == "moved" or not (self.added or self.removed):
            return ()
        return compare_lines(*(text_of(data or b"") or "" for data in (self.old, self.new)))

    @property
    def note(self) -> str:
        """What is to be said instead of lines; "" if there are lines."""
        if self.kind == "moved":
            return f"It was {self.was}; nothing in it changed."
        if self.added is None:
            there = (data for data in (self.old, self.new) if data is not None)
            return f"{', then '.join(map(_say_content, there))}."
        if self.rows:
            return ""
        return "Only how its lines end differs." if self.kind == "changed" else "It is empty."


def _say_content(data: bytes) -> str:
    """What a file is of which no lines are shown."""
    size = f"{len(data):,} bytes"
    if len(data) > LARGEST or data.count(b"\n") > LONGEST:
        return f"{size}, too much to compare line by line"
    return f"{size} that are no text" if text_of(data) is None else f"{size} of text"


def changes(old: Path, new: Path) -> tuple[FileChange, ...]:
    """The differences between the skills in two folders, SKILL.md first.

    Files about the evals and files of other programs are not part of a skill. For a link, its
    target counts as its content; for an unreadable file, the reason does.
    """
    before, after = _files(old), _files(new)
    gone = {name: data for name, data in before.items() if name not in after}
    found = []
    for name, data in after.items():
        if name in before:
            if data != before[name]:
                found.append(_change(name, "changed", before[name], data))
            continue
        was = next((path for path, other in gone.items() if other == data and data), None)
        if was is None:
            found.append(_change(name, "added", None, data))
        else:
            found.append(FileChange(name, "moved", gone.pop(was), data, 0, 0, was=was))
    found += [_change(name, "removed", data, None) for name, data in gone.items()]
    return tuple(sorted(found, key=lambda change: (change.name != SKILL_FILE, change.name)))


def in_words(found: Sequence[FileChange]) -> str:
    """The changes in a line.

    >>> in_words([FileChange("SKILL.md", "changed", added=3, removed=1, first="Run it once more.")])
    'SKILL.md +3 −1 lines, first: ‘Run it once more.’'
    >>> in_words([])
    'nothing in the skill’s files'
    """
    if not found:
        return "nothing in the skill’s files"
    named = [_in_words(change) for change in found[:NAMED]]
    more = [f"{count(len(found) - NAMED, 'more file')}"] if len(found) > NAMED else []
    return "; ".join([*named, *more])


def _in_words(change: FileChange) -> str:
    name = brief(change.name, 60)
    if change.added is None or change.removed is None or change.kind == "moved":
        return f"{name} {change.kind}"
    if change.kind != "changed":
        return f"{name} {change.kind}, {count(change.added or change.removed, 'line')}"
    first = "" if change.first is None else f", first: {in_quotes(change.first)}"
    return f"{name} +{change.added} −{change.removed} lines{first}"


def _files(folder: Path) -> dict[str, bytes]:
    root = folder.resolve()
    found = contents(root)
    return {name: _read_or_reason(root / name) for name in sorted([*found.files, *found.links])}


def _read_or_reason(path: Path) -> bytes:
    try:
        return str(path.readlink()).encode() if path.is_symlink() else read_bytes(path)
    except OSError as error:
        return f"(it could not be read: {error.strerror})".encode()


def _change(name: str, kind: Kind, old: bytes | None, new: bytes | None) -> FileChange:
    before, after = (lines_of("" if data is None else text_of(data)) for data in (old, new))
    if before is None or after is None:
        return FileChange(name, kind, old, new)
    other = [block for block in blocks_of(before, after) if block[0] != "equal"]
    added = [line for *_, start, end in other for line in after[start:end]]
    removed = [line for _, start, end, *_ in other for line in before[start:end]]
    _, i, j, start, end = other[0] if other else ("", 0, 0, 0, 0)
    lines = (line.strip() for line in (*after[start:end], *before[i:j]))
    first = next((line for line in lines if line), None)
    return FileChange(name, kind, old, new, len(added), len(removed), first)


def text_of(data: bytes) -> str | None:
    """The text of a file; None if it is not text, or too large to be compared."""
    if len(data) > LARGEST or data.count(b"\n") > LONGEST or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True, slots=True)
class Kept:
    """The versions of a skill that were kept."""

    skills: Sequence[KeptSkill] = ()

    def folder(self, side: VersionRuns) -> Path | None:
        """The folder with the version of a side; None if it was not kept."""
        alone = not is_earlier(side.configuration)
        found = find_kept_skill(self.skills, side.iteration, side.configuration, alone=alone)
        return found and found.folder

    def same(self, first: VersionRuns, second: VersionRuns) -> bool | None:
        """Whether two sides had the same files; None if either was not kept."""
        found = [folder.resolve() for side in (first, second) if (folder := self.folder(side))]
        if len(found) < 2:
            return None
        return len({digest(folder, contents(folder)) for folder in found}) == 1

    def changes(self, old: VersionRuns, new: VersionRuns) -> tuple[FileChange, ...] | None:
        """The differences between two sides; None if either was not kept."""
        before, after = self.folder(old), self.folder(new)
        return None if before is None or after is None else changes(before, after)


def find_kept(ws: Workspace, runs: pl.DataFrame) -> Kept:
    """Look for kept versions in the workspace of runs."""
    folder, names = workspace_folder(ws, runs), (runs["iteration"], runs["configuration"])
    return Kept(kept_skills(folder, *(column.unique() for column in names)) if folder else ())


def workspace_folder(ws: Workspace, runs: pl.DataFrame) -> Path | None:
    """The folder above the iterations of runs, else what was loaded; None if that is no folder."""
    if not ws.path:
        return None
    base = Path(ws.path).absolute()
    rows = runs.select("iteration", "path").iter_rows()
    folders = (iteration_folder(base / path, iteration) for iteration, path in rows if path)
    found = next((folder.parent for folder in folders if folder), base)
    return found if found.is_dir() else None


NEAR = 0.001
"""Pass rates that differ by less are equal: benchmarks round them."""


def by_version(ws: Workspace) -> Workspace:
    """The workspace with each version of the description as its own iteration.

    Runs of the `test-cases` dialect are in no iteration: `run-1`, `run-2`, … are passes over all
    test cases. They are the versions in the benchmark if their numbers agree, and each pass has
    the mean pass rate that the benchmark states for its version. Any other workspace is returned
    unchanged.

    >>> import skill_eval_nb as sen
    >>> ws = by_version(sen.load("data/test-cases-workspace"))
    >>> sorted(ws.runs["iteration"].unique())
    ['description-1', 'description-2', 'description-3']
    """
    passes = _passes(ws)
    if not passes:
        return ws
    tables = {name: _name_versions(ws.polars(name), passes) for name in TABLES}
    return Workspace.from_tables(tables, ws.path, ws.backend)


def _passes(ws: Workspace) -> dict[int, str]:
    """The version of each pass; empty if that is unclear."""
    import polars as pl

    runs = ws.polars("runs")
    described = pl.col("iteration").str.contains(r"^description-\d+$")
    stated = ws.polars("stated").filter(described, metric="pass_rate", statistic="mean")
    versions = sorted(stated["iteration"].unique(), key=natural)
    own = runs.group_by("run_number").agg(pl.mean("pass_rate")).sort("run_number")
    if {*runs["iteration"]} != {NO_ITERATION} or not 2 <= len(versions) == own.height:
        return {}
    both = own.with_columns(iteration=pl.Series(versions)).join(stated, on="iteration")
    is_near = (pl.col("pass_rate") - pl.col("value")).abs() < NEAR
    same = both.select(is_near.fill_null(value=False).all()).item()
    return dict(zip(own["run_number"], versions, strict=True)) if same else {}


def _name_versions(frame: pl.DataFrame, passes: dict[int, str]) -> pl.DataFrame:
    """A run-level table with each version as an iteration with a single run."""
    import polars as pl

    if "run_number" not in frame.columns:
        return frame
    named = pl.col("run_number").replace_strict(
        passes, default=NO_ITERATION, return_dtype=pl.String
    )
    alone = pl.when(pl.col("run_number").is_in(list(passes))).then(1).otherwise("run_number")
    return frame.with_columns(
        named.alias("iteration"), alone.cast(frame.schema["run_number"]).alias("run_number")
    )


def stated_by_version(
    rows: Sequence[Mapping[str, Any]], versions: Iterable[VersionRuns]
) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    """The stated row of each version, or a note if it is unclear which row is which version.

    Args:
        rows: the rows of the table `history` for one skill.
        versions: the versions that have runs.
    """
    named = {row["version"]: row for row in rows}
    if len(named) == len(rows) and named.keys() <= {version.version for version in versions}:
        return named, []
    names = ", ".join(brief(str(row["version"])) for row in rows)
    why = (
        f"history.json names the versions {names}, but not which runs belong to which, so it was "
        "not used."
    )
    return {}, [why]
