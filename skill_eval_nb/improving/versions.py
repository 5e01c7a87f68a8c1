"""What a history.json of the workspace says of the versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.running.refused import no_such, refuse
from skill_eval_nb.running.skill_files import contents, digest
from skill_eval_nb.stats.names import natural
from skill_eval_nb.stats.pairing import WITHOUT, likeness, side
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.text import brief, count, quoted
from skill_eval_nb.workspace import NO_ITERATION
from skill_eval_nb.workspace.snapshots import (
    SKILL_FILE,
    KeptSkill,
    iteration_folder,
    kept_skills,
    skill_of,
)

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class VersionRuns:
    """The runs of a version: all those of a configuration in an iteration."""

    version: str
    iteration: str
    configuration: str

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that are of these runs."""
        return frame.filter(iteration=self.iteration, configuration=self.configuration)


def is_earlier(configuration: str) -> bool:
    """Whether a configuration is by its name an earlier version of the skill.

    >>> is_earlier("old_skill"), is_earlier("without_skill"), is_earlier("with_skill")
    (True, False, False)
    """
    like = likeness(configuration)
    return like is not None and like[0] >= len(WITHOUT)


def earlier_of(names: Sequence[str]) -> str | None:
    """The configuration that is an earlier version, where it is clear which."""
    earlier = [name for name in names if is_earlier(name)]
    return earlier[0] if len(earlier) == 1 else None


def versions_of(
    runs: pl.DataFrame, configuration: str | None = None
) -> tuple[list[VersionRuns], list[str]]:
    """The versions in natural order of their iterations, and what is to be said of them.

    The with-skill side of each iteration is a version. Where the first iteration also ran an
    earlier version of the skill (`old_skill`), that is v0: what the first change was made to.

    Args:
        runs: the table of one skill.
        configuration: the side that is the skill's; told by names where it is not given.

    Raises:
        Refused: there is no such configuration.
    """
    known = sorted(runs["configuration"].unique(), key=side)
    if configuration is not None and configuration not in known:
        raise refuse(no_such("configuration", configuration, known))
    notes: list[str] = []
    found: list[tuple[str, str]] = []
    for iteration in sorted(runs["iteration"].unique(), key=natural):
        names = sorted(runs.filter(iteration=iteration)["configuration"].unique(), key=side)
        own = _own(names, configuration)
        if own is None:
            notes.append(f"{iteration} is no version: it has no runs with the skill.")
            continue
        others = [name for name in names if name != own and likeness(name) is None]
        if others and configuration is None:
            notes.append(f"{iteration} also ran {', '.join(others)}: {own} is taken as the skill.")
        earlier = earlier_of(names)
        if not found and earlier is not None and earlier != own:
            found.append((iteration, earlier))
            notes.append(f"v0 is {earlier} of {iteration}, which the first change was made to.")
        found.append((iteration, own))
    return [VersionRuns(f"v{number}", *one) for number, one in enumerate(found)], notes


def _own(names: Sequence[str], configuration: str | None) -> str | None:
    """The skill's side among the configurations of an iteration, if it is there."""
    if configuration is not None:
        return configuration if configuration in names else None
    if "with_skill" in names:
        return "with_skill"
    return next((name for name in names if likeness(name) is None), None)


Kind = Literal["changed", "added", "removed"]
LARGEST, LONGEST = 500_000, 2_000
"""Bytes and lines of a file that is compared line by line."""
THOROUGH = 250_000
"""Products of lines up to which lines that come often are compared, too."""
NAMED = 4
"""Files that are named in words; more are counted."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs between two versions of a skill.

    Attributes:
        name: its path in the skill's folder.
        kind: what became of it.
        added: lines that came; None where it is no text that is compared line by line.
        removed: lines that went.
        first: the first line that came, else that went.
    """

    name: str
    kind: Kind
    added: int | None = None
    removed: int | None = None
    first: str | None = None


def changes(old: Path, new: Path) -> tuple[FileChange, ...]:
    """What differs between the skills in two folders, SKILL.md first.

    Files that tell about its evals, and what other programs left there, are no part of a skill.

    Raises:
        OSError: a file cannot be read.
    """
    before, after = _files(old), _files(new)
    found = [
        _change(name, before.get(name), after.get(name))
        for name in sorted({*before, *after}, key=lambda name: (name != SKILL_FILE, name))
        if before.get(name) != after.get(name)
    ]
    return tuple(found)


def in_words(found: Sequence[FileChange]) -> str:
    """The changes in a line.

    >>> in_words([FileChange("SKILL.md", "changed", 3, 1, "Run it once more.")])
    'SKILL.md +3 −1 lines, first: ‘Run it once more.’'
    >>> in_words([])
    'nothing in the skill’s files'
    """
    if not found:
        return "nothing in the skill’s files"
    named = [_in_words(one) for one in found[:NAMED]]
    more = [f"{count(len(found) - NAMED, 'more file')}"] if len(found) > NAMED else []
    return "; ".join([*named, *more])


def _in_words(change: FileChange) -> str:
    name = brief(change.name, 60)
    if change.added is None or change.removed is None:
        return f"{name} {change.kind}"
    if change.kind != "changed":
        return f"{name} {change.kind}, {count(change.added or change.removed, 'line')}"
    first = "" if change.first is None else f", first: {quoted(change.first)}"
    return f"{name} +{change.added} −{change.removed} lines{first}"


def _files(folder: Path) -> dict[str, bytes]:
    root = folder.resolve()
    found = contents(root)
    links = {name: f"link to {where}".encode() for name, where in found.links.items()}
    return {name: (root / name).read_bytes() for name in found.files} | links


def _change(name: str, old: bytes | None, new: bytes | None) -> FileChange:
    kind: Kind = "added" if old is None else "removed" if new is None else "changed"
    before, after = _lines(old), _lines(new)
    if before is None or after is None:
        return FileChange(name, kind)
    thorough = len(before) * len(after) <= THOROUGH
    blocks = SequenceMatcher(None, before, after, autojunk=not thorough).get_opcodes()
    other = [block for block in blocks if block[0] != "equal"]
    added = sum(end - start for _, _, _, start, end in other)
    removed = sum(end - start for _, start, end, _, _ in other)
    if not other:  # only how lines end differs
        return FileChange(name, kind, 0, 0)
    _, i, j, start, end = other[0]
    first = _first(after[start:end]) or _first(before[i:j])
    return FileChange(name, kind, added, removed, first)


def _lines(data: bytes | None) -> list[str] | None:
    """The lines of a text; None of what is no text, or more than is compared."""
    if data is None:
        return []
    if len(data) > LARGEST or data.count(b"\n") > LONGEST or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return None


def _first(lines: Sequence[str]) -> str | None:
    return next((line.strip() for line in lines if line.strip()), None)


@dataclass(frozen=True, slots=True)
class Kept:
    """The versions of a skill that were kept."""

    skills: tuple[KeptSkill, ...] = ()

    def folder(self, side: VersionRuns) -> Path | None:
        """Where the version of a side lies; None where it was not kept."""
        alone = not is_earlier(side.configuration)
        found = skill_of(self.skills, side.iteration, side.configuration, alone=alone)
        return found and found.folder

    def same(self, one: VersionRuns, other: VersionRuns) -> bool | None:
        """Whether two sides had the same files; None where either was not kept."""
        first, second = self.folder(one), self.folder(other)
        if first is None or second is None:
            return None
        return _digest(first) == _digest(second)

    def changes(self, old: VersionRuns, new: VersionRuns) -> tuple[FileChange, ...] | None:
        """What differs between two sides; None where either was not kept."""
        before, after = self.folder(old), self.folder(new)
        return None if before is None or after is None else changes(before, after)


def kept(ws: Workspace, runs: pl.DataFrame) -> Kept:
    """Look for the versions in the folder above the iterations that the runs lie in."""
    if not ws.path or runs.is_empty():
        return Kept()
    base = Path(ws.path).absolute()
    folders = (
        iteration_folder(base / path, iteration)
        for iteration, path in runs.select("iteration", "path").iter_rows()
        if path
    )
    workspace = next((folder.parent for folder in folders if folder), base)
    if not workspace.is_dir():
        return Kept()
    found = kept_skills(workspace, runs["iteration"].unique(), runs["configuration"].unique())
    return Kept(tuple(found))


def _digest(folder: Path) -> str:
    root = folder.resolve()
    return digest(root, contents(root))


DESCRIPTION = re.compile(r"description-\d+")
"""What the tables call the versions that a benchmark of `test-cases` tells of."""
NEAR = 0.001
"""Pass rates that differ by less are the same: benchmarks round them."""


def by_version(ws: Workspace) -> Workspace:
    """The workspace with each version of the description as an iteration of its own.

    Runs of the `test-cases` dialect lie in no iteration: `run-1`, `run-2`, … are passes over
    all test cases. They are the versions that the benchmark tells of where there are as many,
    and each pass has the mean pass rate that is stated for the version in its place. Any other
    workspace is given back as it is.

    >>> import skill_eval_nb as sen
    >>> ws = by_version(sen.load("data/test-cases-workspace"))
    >>> sorted(ws.runs["iteration"].unique())
    ['description-1', 'description-2', 'description-3']
    """
    passes = _passes(ws)
    if not passes:
        return ws
    tables = {name: _named(ws.polars(name), passes) for name in TABLES}
    return Workspace.from_tables(tables, ws.path, ws.backend)


def _passes(ws: Workspace) -> dict[int, str]:
    """Which pass was of which version; empty where that is not clear."""
    import polars as pl

    runs, stated = ws.polars("runs"), ws.polars("stated")
    means = stated.filter(
        pl.col("iteration").str.contains(f"^{DESCRIPTION.pattern}$"),
        metric="pass_rate",
        statistic="mean",
    )
    versions = sorted(means["iteration"].unique(), key=natural)
    passes = sorted(runs["run_number"].unique())
    alone = runs["iteration"].unique().to_list() == [NO_ITERATION]
    if not alone or len(versions) < 2 or len(passes) != len(versions):
        return {}
    pairs = dict(zip(passes, versions, strict=True))
    same = all(
        _near(runs.filter(run_number=one)["pass_rate"].mean(), means.filter(iteration=name))
        for one, name in pairs.items()
    )
    return pairs if same else {}


def _near(mean: object, stated: pl.DataFrame) -> bool:
    values = stated["value"].to_list()
    return isinstance(mean, float) and all(
        value is not None and abs(mean - value) < NEAR for value in values
    )


def _named(frame: pl.DataFrame, passes: dict[int, str]) -> pl.DataFrame:
    """A run-level table with the version as iteration, of which it is the only run."""
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


def stated(
    rows: Sequence[Mapping[str, object]], versions: Sequence[VersionRuns]
) -> tuple[dict[str, Mapping[str, Any]], str]:
    """The row of each version, its parent by our name, and what to say where none can be told.

    Stated versions are ours of the same name, else those in their place.

    Args:
        rows: of the table `history`, of one skill.
        versions: the versions that there are runs of.
    """
    names = [str(row["version"]) for row in rows]
    ours = [version.version for version in versions]
    if len(set(names)) < len(names):
        return {}, "Several files tell the versions' history; none of them was used."
    if len(names) > len(ours):
        there = f"the workspace has runs of {len(ours)}"
        return {}, (
            f"history.json tells of {len(names)} versions, {there}: which are which is not "
            "said, so it was not used."
        )
    places = names if set(names) <= set(ours) else ours
    called = dict(zip(names, places, strict=False))
    return {
        called[name]: {**row, "parent": called.get(str(row["parent"]))}
        for name, row in zip(names, rows, strict=True)
    }, ""


def given(parents: Mapping[str, str] | None, versions: Iterable[VersionRuns]) -> dict[str, str]:
    """Who was made from whom, by our names; iterations may be named as well as versions.

    Raises:
        Refused: a name is not there, or a parent does not come before its child.
    """
    every = list(versions)
    places = {one.version: place for place, one in enumerate(every)}
    # An iteration's with-skill side comes after the earlier version that it also ran.
    called = {one.iteration: one.version for one in every} | {one: one for one in places}
    found: dict[str, str] = {}
    for child, parent in (parents or {}).items():
        for name in (child, parent):
            if name not in called:
                raise refuse(no_such("version or iteration", name, called))
        mine, other = called[child], called[parent]
        if places[other] >= places[mine]:
            raise refuse(
                f"`{parent}` cannot be the parent of `{child}`: it does not come before it"
            )
        found[mine] = other
    return found
