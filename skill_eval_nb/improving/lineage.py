"""`history`: the versions of a skill, what each was made from, and whether it won."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.pairing import cells
from skill_eval_nb.stats.values import EVAL, RUBRIC, better, sort_stamps, values_of
from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import brief, count, figure
from skill_eval_nb.view import Block, Items, Shown, Text, Title
from skill_eval_nb.workspace import PathLike

from .values import only_suite, write_own
from .versions import (
    Kept,
    VersionRuns,
    by_version,
    earlier_of,
    find_kept,
    in_words,
    stated_by_version,
    versions_of,
)

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables.columns import Backend


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
        mean: the same of the metric that decides.
        n_evals: evals with that metric.
        n_runs: runs with that metric.
        estimate: its difference from the parent over the evals that both have, in the metric's
            unit; None if no eval is in both.
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
        metric: what decides.
        versions: oldest first; none if the workspace has no runs.
        started_at: when the first of all runs began, ISO 8601; None if no run says.
        notes: anything else worth knowing.
    """

    workspace: str
    skill: str
    metric: str
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
        known = {name: getattr(self, name) for name in shared}
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
        versions, metric = count(len(self.versions), "version"), self.metric.replace("_", " ")
        yield Title(f"{versions} of {brief(self.skill)} by {metric}; {which}")
        for version in self.versions:
            parent = f", from {version.parent} ({version.parent_from})" if version.parent else ""
            mean = "no figure" if version.mean is None else figure(version.mean)
            result = version.grading_result or "not compared"
            result += ", the best" if version.is_current_best else ""
            where = f"{brief(version.iteration)}, {brief(version.configuration)}"
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
        metric: what decides.
        stated: the row of the table `history` of each version that a history.json names.
        kept: the skill's files.
    """

    tables: Mapping[str, pl.DataFrame]
    sides: Sequence[VersionRuns]
    metric: str
    stated: Mapping[str, Mapping[str, Any]]
    kept: Kept

    def versions(self) -> tuple[Version, ...]:
        """Each version against its parent; the best is the last that won against the previous best.

        If a later version ties with it, neither is proven better. A version without a figure is the
        best only until one has a figure.
        """
        found: list[Version] = []
        best: VersionRuns | None = None
        measured = tied = False
        for place, side in enumerate(self.sides):
            version = self._figures(side)
            if best is None:
                first = {"grading_result": "baseline", "reason": "The first version."}
                found.append(replace(version, **first))
                best, measured = side, version.mean is not None
                continue
            parent, known_from = self._find_parent(place, best)
            version = self._compare_with(place, parent, version)
            changed = self.kept.changes(parent, side)
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

    def _by_eval(self, side: VersionRuns, metric: str) -> pl.DataFrame:
        """The evals of one side that have a metric, with their means over runs, and models."""
        import polars as pl

        values = values_of(Workspace.from_tables(self.tables), metric)
        found = cells(side.of(values)).drop_nulls("mean")
        return found.group_by(EVAL).agg(pl.col("mean").sort().mean(), pl.col("n_runs").sum())

    def _figures(self, side: VersionRuns) -> Version:
        by_eval = self._by_eval(side, self.metric)
        return Version(
            version=side.version,
            iteration=side.iteration,
            configuration=side.configuration,
            expectation_pass_rate=_mean(self._by_eval(side, "pass_rate")),
            mean=_mean(by_eval),
            n_evals=by_eval.height,
            n_runs=int(by_eval["n_runs"].sum()),
            stated_pass_rate=self.stated.get(side.version, {}).get("expectation_pass_rate"),
            started_at=next(iter(sort_stamps(side.of(self.tables["runs"])["started_at"])), None),
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
        """Against the parent's runs: those of the version's own iteration, if it ran the parent.

        If nothing says which version that was, it was the one before.
        """
        side = self.sides[place]
        runs = self.tables["runs"].filter(iteration=side.iteration)
        earlier = earlier_of(runs["configuration"].unique().to_list())
        if earlier is not None and parent.iteration != side.iteration:
            own = VersionRuns(parent.version, side.iteration, earlier)
            same = self.kept.same(own, parent)
            if same or (same is None and parent == self.sides[place - 1]):
                parent = own
        return self._decide_version(side, parent, version)

    def _decide_version(self, child: VersionRuns, parent: VersionRuns, version: Version) -> Version:
        """A version compared with another one, on these evals."""
        version = replace(version, compared=_comparison_words(child, parent))
        before, after = (self._by_eval(side, self.metric) for side in (parent, child))
        name = self.metric.removeprefix(RUBRIC).replace("_", " ")
        if before.is_empty() or after.is_empty():
            return replace(version, reason=f"Nothing to compare: one of them has no {name}.")
        row = self._delta_row(child, parent)
        if not row["n_evals"]:
            return replace(version, reason=f"Nothing to compare: no eval has a {name} in both.")
        result = RESULTS.get(row["verdict"], "tie")
        so = f"{row['verdict'] or 'no verdict'}, so {'a tie' if result == 'tie' else result}"
        # Only of the evals that both have, like the difference.
        means = [
            _mean(own.join(other, on=EVAL, how="semi", nulls_equal=True))
            for own, other in ((before, after), (after, before))
        ]
        figures = " → ".join(figure(mean) for mean in means if mean is not None)
        reason = f"{name} {figures}; {so}: {row['reason']}"
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
                side.of(table).with_columns(
                    iteration=pl.lit(called if apart else ""),
                    configuration=pl.lit("" if apart else called),
                )
                for side, called in ((child, CHILD), (parent, PARENT))
            )
            for name, table in self.tables.items()
        }
        ws = Workspace.from_tables(together)
        found = deltas(ws, self.metric, versus=(CHILD, PARENT), pool="model")
        return found.row(0, named=True)


def _mean(by_eval: pl.DataFrame) -> float | None:
    means = sorted(by_eval["mean"].to_list())
    return sum(means) / len(means) if means else None


def _comparison_words(child: VersionRuns, parent: VersionRuns) -> str:
    if child.iteration == parent.iteration:
        return f"{child.configuration} against {parent.configuration} in {child.iteration}"
    if child.configuration == parent.configuration:
        return f"{child.iteration} against {parent.iteration}, both {child.configuration}"
    named = (f"{side.configuration} in {side.iteration}" for side in (child, parent))
    return " against ".join(named)


def history(
    ws: Workspace,
    *,
    metric: str = "pass_rate",
) -> Lineage:
    """The versions of a skill: what each was made from, what changed, and whether it won.

    A version is the with-skill side of an iteration; v0 is the first one, or the `old_skill` that
    the first iteration also ran. In the `test-cases` dialect, the versions of the description are
    versions if its benchmark says which pass belongs to which. A version was made from the one that
    the workspace's history.json names as its parent, else from the best version before.

    `won` and `lost` need a verdict of `stats.deltas` on these evals (`helps`, `hurts`); everything
    else is a `tie`, whatever the means are. If the iteration also ran its parent as `old_skill`,
    the two sides of that iteration are compared (the same evals at the same time), else the two
    iterations. Intervals are not adjusted for the number of versions.

    Args:
        ws: a workspace with the runs of one skill.
        metric: what decides: a number column of `runs`, or a rubric dimension by its name.

    Returns:
        A `Lineage`; without versions if the workspace has no runs.

    Raises:
        Refused: there are several skills or workspaces, or neither more nor less of the metric is
            better.
        ValueError: the metric does not exist.

    >>> import skill_eval_nb as sen
    >>> found = history(sen.load("data/tdd-workspace"))
    >>> [(one.version, one.parent, one.grading_result) for one in found.versions]
    [('v0', None, 'baseline'), ('v1', 'v0', 'tie')]
    """
    if better(metric) is None:
        raise refuse(f"no version can win by {metric}: neither more nor less of it is better")
    workspace, skill = only_suite(ws, "a history")
    ws = by_version(ws)
    tables = {name: ws.polars(name) for name in TABLES}
    sides, notes = versions_of(tables["runs"])
    rows = ws.polars("history").filter(workspace=workspace, skill=skill).to_dicts()
    known, why_not = stated_by_version(rows, sides)
    versions = _Trace(
        tables,
        sides,
        metric,
        known,
        find_kept(ws, tables["runs"]),
    ).versions()
    notes += why_not
    started = next(iter(sort_stamps(version.started_at for version in versions)), None)
    return Lineage(workspace, skill, metric, versions, started, tuple(notes))
