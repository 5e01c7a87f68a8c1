"""The versions of a skill: which runs each has, what changed in its files, and whether it won."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents.sides import is_earlier, likeness
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.skill import contents, digest
from skill_eval_nb.stats import deltas, pairing
from skill_eval_nb.stats.values import EVAL, natural_key, sort_stamps, values_of
from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import (
    Row,
    blocks_of,
    clip,
    compare_lines,
    count,
    format_figure,
    in_quotes,
    lines_of,
)
from skill_eval_nb.view import Block, Items, Shown, Text, Title
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.jobs import (
    SKILL_FILE,
    KeptSkill,
    find_kept_skill,
    iteration_folder,
    kept_skills,
)

from .values import only_suite, write_own

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables.columns import Backend


@dataclass(frozen=True, slots=True)
class VersionRuns:
    """The runs of a version: all runs of one configuration in one iteration."""

    version: str
    iteration: str
    configuration: str

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that belong to these runs."""
        return frame.filter(iteration=self.iteration, configuration=self.configuration)


def find_earlier(names: Sequence[str]) -> str | None:
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
    for iteration in sorted(runs["iteration"].unique(), key=natural_key):
        names = sorted({*runs.filter(iteration=iteration)["configuration"]}, key=pairing.side_key)
        skilled = [name for name in names if likeness(name) is None]
        if not skilled:
            notes.append(f"{iteration} is not a version: it has no runs with the skill.")
            continue
        own, *others = sorted(skilled, key=lambda name: name != "with_skill")
        if others:
            notes.append(f"{iteration} also ran {', '.join(others)}: {own} is taken as the skill.")
        earlier = find_earlier(names)
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
        return "Only its line endings differ." if self.kind == "changed" else "It is empty."


def _say_content(data: bytes) -> str:
    """What to say of a file whose lines are not shown."""
    size = f"{len(data):,} bytes"
    if len(data) > LARGEST or data.count(b"\n") > LONGEST:
        return f"{size}, too much to compare line by line"
    return f"{size} that is not text" if text_of(data) is None else f"{size} of text"


def changes(old: Path, new: Path) -> tuple[FileChange, ...]:
    """The differences between the skills in two folders, SKILL.md first.

    Files about the evals and files of other programs are not part of a skill. For a link, its
    target counts as its content; for an unreadable file, the reason does.
    """
    before, after = _read_files(old), _read_files(new)
    gone = {name: data for name, data in before.items() if name not in after}
    found = []
    for name, data in after.items():
        if name in before:
            if data != before[name]:
                found.append(_compare_file(name, "changed", before[name], data))
            continue
        was = next((path for path, other in gone.items() if other == data and data), None)
        if was is None:
            found.append(_compare_file(name, "added", None, data))
        else:
            found.append(FileChange(name, "moved", gone.pop(was), data, 0, 0, was=was))
    found += [_compare_file(name, "removed", data, None) for name, data in gone.items()]
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
    name = clip(change.name, 60)
    if change.added is None or change.removed is None or change.kind == "moved":
        return f"{name} {change.kind}"
    if change.kind != "changed":
        return f"{name} {change.kind}, {count(change.added or change.removed, 'line')}"
    first = "" if change.first is None else f", first: {in_quotes(change.first)}"
    return f"{name} +{change.added} −{change.removed} lines{first}"


def _read_files(folder: Path) -> dict[str, bytes]:
    root = folder.resolve()
    found = contents(root)
    return {name: _read_or_reason(root / name) for name in sorted([*found.files, *found.links])}


def _read_or_reason(path: Path) -> bytes:
    try:
        return str(path.readlink()).encode() if path.is_symlink() else read_bytes(path)
    except OSError as error:
        return f"(it could not be read: {error.strerror})".encode()


def _compare_file(name: str, kind: Kind, old: bytes | None, new: bytes | None) -> FileChange:
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


def workspace_folder(ws: Workspace, runs: pl.DataFrame) -> Path | None:
    """The folder above the iterations of runs, else what was loaded; None if that is no folder."""
    if not ws.path:
        return None
    base = Path(ws.path).absolute()
    rows = runs.select("iteration", "path").iter_rows()
    folders = (iteration_folder(base / path, iteration) for iteration, path in rows if path)
    found = next((folder.parent for folder in folders if folder), base)
    return found if found.is_dir() else None


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
    names = ", ".join(clip(str(row["version"])) for row in rows)
    why = (
        f"history.json names the versions {names}, but not which runs belong to which, so it was "
        "not used."
    )
    return {}, [why]


# ── whether they won ─────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a skill, and how it did against its parent.

    Attributes:
        version: v0, v1, ….
        iteration: the iteration that its runs are of.
        configuration: the configuration that its runs are of.
        parent: the version that it was made from; None for the first.
        parent_from: how the parent is known: `stated` by a history.json, or `best so far`.
        compared: what was compared with what; None for the first.
        expectation_pass_rate: 0–1, the mean over evals of the means over runs; None if no
            run has a pass rate.
        mean: the same, under the name that charts look for.
        n_evals: evals with a pass rate.
        n_runs: runs with a pass rate.
        estimate: its difference from the parent over the evals that both have; None if no eval is
            in both.
        low: the lower end of the interval of the difference; None if there is none.
        high: the upper end.
        p: exact and two-sided; None if it cannot be calculated.
        verdict: what `stats.deltas` says; None for the first, and if nothing can be compared.
        grading_result: `baseline`, `won`, `lost` or `tie`; None if nothing can be compared.
        reason: the reason for the result, in a sentence.
        is_current_best: whether it is the best of all.
        what_changed: what differs from the parent's files, in words; None if either
            version was not kept.
        lines_added: lines added in all files; None like `what_changed`.
        lines_removed: lines removed; a changed line counts in both.
        stated_pass_rate: its pass rate in the workspace's history.json.
        started_at: when its first run began, ISO 8601; None if no run says.
    """

    version: str
    iteration: str
    configuration: str
    parent: str | None = None
    parent_from: str | None = None
    compared: str | None = None
    expectation_pass_rate: float | None = None
    mean: float | None = None
    n_evals: int = 0
    n_runs: int = 0
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    verdict: str | None = None
    grading_result: str | None = None
    reason: str = ""
    is_current_best: bool = False
    what_changed: str | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    stated_pass_rate: float | None = None
    started_at: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Lineage(Shown):
    """The versions of a skill in the order in which they were tried.

    Attributes:
        workspace: the workspace's name.
        skill: the skill's name.
        versions: oldest first; none if the workspace has no runs.
        started_at: when the first of all runs began, ISO 8601; None if no run says.
        notes: anything else worth knowing.
    """

    workspace: str
    skill: str
    versions: tuple[Version, ...] = ()
    started_at: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def current_best(self) -> str | None:
        """The version that is the best of all; None if none is proven to be."""
        return next((version.version for version in self.versions if version.is_current_best), None)

    def table(self, backend: Backend = "polars") -> Any:
        """One row per version: workspace, skill, metric and the fields of `Version`."""
        import polars as pl

        from skill_eval_nb.tables.columns import to_pandas

        shared = {"workspace": pl.String, "skill": pl.String, "metric": pl.String}
        known = {"workspace": self.workspace, "skill": self.skill, "metric": METRIC}
        rows = [known | asdict(version) for version in self.versions]
        kinds = {"float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean}
        types = {field.name: str(field.type).split(" ")[0] for field in fields(Version)}
        schema = shared | {name: kinds.get(kind, pl.String) for name, kind in types.items()}
        frame = pl.DataFrame(rows, schema)
        return to_pandas(frame) if backend == "pandas" else frame

    def document(self) -> dict[str, Any]:
        """The content of history.json, with rates to four digits."""
        return {
            "current_best": self.current_best,
            "skill_name": self.skill,
            "started_at": self.started_at,
            "iterations": list(map(_stated_version, self.versions)),
        }

    def write(self, path: PathLike, *, force: bool = False) -> Path:
        """Write history.json, in one step.

        Args:
            path: the file, or the folder for it.
            force: whether to replace a history.json written by something else; it is kept next to
                the new one, under the next free history.json.N.bak.

        Raises:
            Refused: there are no versions; or the file is not ours, and `force` is not set.
            OSError: the file cannot be written.
        """
        if not self.versions:
            raise refuse("there are no versions to write: the workspace has no runs")
        return write_own(path, "history.json", self.document(), _is_ours, force)

    def _blocks(self) -> Iterator[Block]:
        if not self.versions:
            yield Title("No versions: the workspace has no runs with a skill")
            return
        best = self.current_best
        which = "none is proven better" if best is None else f"the best is {best}"
        versions = count(len(self.versions), "version")
        yield Title(f"{versions} of {clip(self.skill)} by pass rate; {which}")
        for version in self.versions:
            parent = f", from {version.parent} ({version.parent_from})" if version.parent else ""
            mean = "no figure" if version.mean is None else format_figure(version.mean)
            result = version.grading_result or "not compared"
            result += ", the best" if version.is_current_best else ""
            where = f"{clip(version.iteration)}, {clip(version.configuration)}"
            lines = [
                f"compared: {version.compared}" if version.compared else "",
                version.reason,
                f"changed: {version.what_changed}" if version.what_changed else "",
            ]
            if version.stated_pass_rate is not None:
                lines.append(f"history.json states a pass rate of {version.stated_pass_rate:g}")
            title = f"{version.version}  {where}: {mean}, {result}{parent}"
            yield Items([*filter(None, lines)], title)
        yield from (Text(note, "!") for note in self.notes)


def _is_ours(raw: Mapping[str, Any]) -> bool:
    """Whether we wrote a history: every version has a reason, which no other tool writes."""
    versions = raw.get("iterations")
    entries = versions if isinstance(versions, list) else []
    return bool(entries) and all(isinstance(one, dict) and "reason" in one for one in entries)


STATED = (
    *("expectation_pass_rate", "grading_result", "is_current_best", "iteration", "configuration"),
    *("reason", "what_changed"),
)
"""What history.json has of a version, if it is known."""


def _stated_version(version: Version) -> dict[str, Any]:
    known = {name: getattr(version, name) for name in STATED}
    rate = version.expectation_pass_rate
    known |= {"expectation_pass_rate": rate and round(rate, 4)}
    known = {name: value for name, value in known.items() if value is not None}
    return {"version": version.version, "parent": version.parent, **known}


METRIC = "pass_rate"
"""What decides."""
TABLES = ("runs", "rubric_scores", "expectations")
RESULTS = {"helps": "won", "hurts": "lost"}
"""The result that a verdict gives a version; every other verdict is a tie."""
CHILD, PARENT = "child", "parent"


@dataclass(frozen=True, slots=True)
class _Trace:
    """Goes through the versions in order.

    Attributes:
        tables: the run-level tables of the skill, by name.
        sides: the runs of each version, oldest first.
        stated: the row of the table `history` of each version that a history.json names.
        skills: the versions of the skill that were kept.
    """

    tables: Mapping[str, pl.DataFrame]
    sides: Sequence[VersionRuns]
    stated: Mapping[str, Mapping[str, Any]]
    skills: Sequence[KeptSkill]

    def versions(self) -> tuple[Version, ...]:
        """Each version against its parent; the best is the last that won against the previous best.

        If a later version ties with it, neither is proven better. A version without a figure is the
        best only until one has a figure.
        """
        found: list[Version] = []
        best: VersionRuns | None = None
        measured = tied = False
        for place, side in enumerate(self.sides):
            version = self._measure_version(side)
            if best is None:
                first = {"grading_result": "baseline", "reason": "The first version."}
                found.append(replace(version, **first))
                best, measured = side, version.mean is not None
                continue
            parent, known_from = self._find_parent(place, best)
            version = self._compare_with(place, parent, version)
            before, after = self._kept_folder(parent), self._kept_folder(side)
            changed = None if before is None or after is None else changes(before, after)
            files: dict[str, Any] = {}
            if changed is not None:
                files["what_changed"] = in_words(changed)
                files["lines_added"] = sum(file.added or 0 for file in changed)
                files["lines_removed"] = sum(file.removed or 0 for file in changed)
            found.append(replace(version, parent=parent.version, parent_from=known_from, **files))
            over_best = version if parent == best else self._compare_with(place, best, version)
            if over_best.grading_result == "won" or (not measured and version.mean is not None):
                best, measured, tied = side, True, False
            elif over_best.grading_result == "tie":
                tied = True
        proven = None if best is None or tied else best.version
        return tuple(
            replace(version, is_current_best=version.version == proven) for version in found
        )

    def _kept_folder(self, side: VersionRuns) -> Path | None:
        """The folder with the version of a side; None if it was not kept."""
        alone = not is_earlier(side.configuration)
        found = find_kept_skill(self.skills, side.iteration, side.configuration, alone=alone)
        return found and found.folder

    def _is_same(self, *both: VersionRuns) -> bool | None:
        """Whether two sides had the same files; None if either was not kept."""
        found = [folder.resolve() for side in both if (folder := self._kept_folder(side))]
        if len(found) < 2:
            return None
        return len({digest(folder, contents(folder)) for folder in found}) == 1

    def _measure_version(self, side: VersionRuns) -> Version:
        import polars as pl

        values = values_of(Workspace.from_tables(self.tables), METRIC)
        found = pairing.average_runs(side.rows(values)).drop_nulls("mean")
        by_eval = found.group_by(EVAL).agg(pl.col("mean").sort().mean(), pl.col("n_runs").sum())
        means = sorted(by_eval["mean"].to_list())
        mean = sum(means) / len(means) if means else None
        return Version(
            version=side.version,
            iteration=side.iteration,
            configuration=side.configuration,
            expectation_pass_rate=mean,
            mean=mean,
            n_evals=by_eval.height,
            n_runs=int(by_eval["n_runs"].sum()),
            stated_pass_rate=self.stated.get(side.version, {}).get("expectation_pass_rate"),
            started_at=next(iter(sort_stamps(side.rows(self.tables["runs"])["started_at"])), None),
        )

    def _find_parent(self, place: int, best: VersionRuns) -> tuple[VersionRuns, str]:
        """The version that the one at this position was made from, and how that is known."""
        mine = self.sides[place].version
        before = {side.version: side for side in self.sides[:place]}
        stated = self.stated.get(mine, {}).get("parent")
        if stated in before:
            return before[stated], "stated"
        return best, "best so far"

    def _compare_with(self, place: int, parent: VersionRuns, version: Version) -> Version:
        """A version compared, on these evals, with the runs of its parent.

        Those of the version's own iteration count, if it ran the parent. If nothing says which
        version that was, it was the one before.
        """
        side = self.sides[place]
        runs = self.tables["runs"].filter(iteration=side.iteration)
        earlier = find_earlier(runs["configuration"].unique().to_list())
        if earlier is not None and parent.iteration != side.iteration:
            own = VersionRuns(parent.version, side.iteration, earlier)
            same = self._is_same(own, parent)
            if same or (same is None and parent == self.sides[place - 1]):
                parent = own
        version = replace(version, compared=_comparison_words(side, parent))
        row = self._delta_row(side, parent)
        if not row["n_evals"]:
            reason = "Nothing to compare: no eval has a pass rate in both."
            return replace(version, reason=reason)
        result = RESULTS.get(row["verdict"], "tie")
        so = f"{row['verdict'] or 'no verdict'}, so {'a tie' if result == 'tie' else result}"
        reason = f"{so.capitalize()}: {row['reason']}"
        if row["n_unpaired"]:
            reason += f" {count(row['n_unpaired'], 'eval')} in one of them only."
        return replace(
            version,
            **{name: row[name] for name in ("estimate", "low", "high", "p", "verdict")},
            grading_result=result,
            reason=reason,
        )

    def _delta_row(self, child: VersionRuns, parent: VersionRuns) -> Mapping[str, Any]:
        """The row of `stats.deltas` of two sides, whichever iterations they are of."""
        import polars as pl

        apart = child.iteration != parent.iteration
        together = {
            name: pl.concat(
                side.rows(table).with_columns(
                    iteration=pl.lit(called if apart else ""),
                    configuration=pl.lit("" if apart else called),
                )
                for side, called in ((child, CHILD), (parent, PARENT))
            )
            for name, table in self.tables.items()
        }
        ws = Workspace.from_tables(together)
        found = deltas(ws, METRIC, versus=(CHILD, PARENT), pool="model")
        return found.row(0, named=True)


def _comparison_words(child: VersionRuns, parent: VersionRuns) -> str:
    if child.iteration == parent.iteration:
        return f"{child.configuration} against {parent.configuration} in {child.iteration}"
    if child.configuration == parent.configuration:
        return f"{child.iteration} against {parent.iteration}, both {child.configuration}"
    named = (f"{side.configuration} in {side.iteration}" for side in (child, parent))
    return " against ".join(named)


def history(ws: Workspace) -> Lineage:
    """The versions of a skill: what each was made from, what changed, and whether it won.

    A version is the with-skill side of an iteration; v0 is the first one, or the `old_skill` that
    the first iteration also ran. A version was made from the one that the workspace's history.json
    names as its parent, else from the best version before.

    `won` and `lost` need a verdict of `stats.deltas` on these evals (`helps`, `hurts`); everything
    else is a `tie`, whatever the means are. If the iteration also ran its parent as `old_skill`,
    the two sides of that iteration are compared (the same evals at the same time), else the two
    iterations. Intervals are not adjusted for the number of versions.

    Args:
        ws: a workspace with the runs of one skill.

    Returns:
        A `Lineage`; without versions if the workspace has no runs.

    Raises:
        Refused: there are several skills or workspaces.

    >>> import skill_eval_nb as sen
    >>> found = history(sen.load("data/tdd-workspace"))
    >>> [(one.version, one.parent, one.grading_result) for one in found.versions]
    [('v0', None, 'baseline'), ('v1', 'v0', 'tie')]
    """
    workspace, skill = only_suite(ws, "a history")
    tables = {name: ws.polars(name) for name in TABLES}
    sides, notes = versions_of(tables["runs"])
    rows = ws.polars("history").filter(workspace=workspace, skill=skill).to_dicts()
    known, why_not = stated_by_version(rows, sides)
    runs = tables["runs"]
    folder, names = workspace_folder(ws, runs), (runs["iteration"], runs["configuration"])
    skills = kept_skills(folder, *(column.unique() for column in names)) if folder else ()
    versions = _Trace(tables, sides, known, skills).versions()
    notes += why_not
    started = next(iter(sort_stamps(version.started_at for version in versions)), None)
    return Lineage(workspace, skill, versions, started, tuple(notes))
