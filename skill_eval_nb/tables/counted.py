"""Every run counted once, with its figures, however many folders and files speak of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from skill_eval_nb.documents import Expectation, RunRecord
from skill_eval_nb.documents.base import plain_key
from skill_eval_nb.workspace import (
    NO_ITERATION,
    UNSTATED,
    Catalogue,
    EvalKey,
    Layout,
    Place,
    Problems,
    folder_of,
    read_run,
)
from skill_eval_nb.workspace.benchmarks import (
    RunId,
    SecondGraders,
    StatedRuns,
    compare_rates,
    complete_record,
    stated_runs,
)
from skill_eval_nb.workspace.evals import skill_named, stated_text
from skill_eval_nb.workspace.folders import eval_parts

from .columns import RunRef
from .run_rows import Figures, find_figures, match_checks


class SeenRuns:
    """The runs on disk that were met so far, to tell what speaks of one of them again."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str, str, str], dict[int, tuple[int, Figures]]] = {}
        self._claimed: set[tuple[str | None, str]] = set()

    def number(self, run: RunId, row: Figures, problems: Problems) -> RunId | None:
        """The id under which to count a run on disk, or None for one that was counted.

        Folders with the same keys and the same results are one run, kept twice, if they took
        the same time and tokens, or their paths differ only in how they name the eval. Any other
        folder is a further run: two runs may well come out alike.
        """
        beside = self._runs.setdefault(run[:-1], {})
        number = run.number
        if number in beside:
            for own, other in beside.values():
                if own == number and _is_same_run(row, other):
                    message = f"the same run as in {other.path}; counted once"
                    problems.add("info", "duplicate-run", row.path, message)
                    return None
            first = beside[number][1]
            alike = _results_of_row(row) == _results_of_row(first)
            while number in beside:
                number += 1
            but = "from another folder" if alike else "but different results"
            message = f"the keys of {first.path}, {but}; counted as run {number}"
            problems.add("warning", "duplicate-run", row.path, message)
        beside[number] = run.number, row
        return run if number == run.number else run._replace(number=number)

    @cached_property
    def _paths_by_figures(self) -> dict[tuple[Any, ...], dict[str, None]]:
        """By what only the same run has, and by the same without its eval: the paths of such."""
        found: dict[tuple[Any, ...], dict[str, None]] = {}
        for keys, beside in self._runs.items():
            for number, (_, row) in beside.items():
                fingerprint = _run_fingerprint(RunId(*keys, number), row)
                for known in (fingerprint, fingerprint[1:]) if fingerprint else ():
                    found.setdefault(known, {})[row.path] = None
        return found

    def is_elsewhere(self, run: RunId, row: Figures, unnamed: bool, problems: Problems) -> bool:
        """Whether a run that only a benchmark states is one on disk, of another iteration.

        Benchmarks of later iterations repeat earlier runs, above all those of the
        baseline. Time, tokens and pass rate together are never the same twice by chance.
        Where a row does not tell its eval, they tell the one run that has them. All runs on disk
        were met before.
        """
        fingerprint = _run_fingerprint(run, row) or ()
        paths = [*self._paths_by_figures.get(fingerprint[1:] if unnamed else fingerprint, ())]
        path = next(iter(paths), None)
        if unnamed:
            path = None if len(paths) > 1 or (path, row.path) in self._claimed else path
            self._claimed.add((path, row.path))
        if path is None:
            return False
        message = (
            f"its {run.eval_id} / {run.configuration} duplicates the run in {path}; counted once"
        )
        problems.add("info", "repeated-run", row.path, message, where="$.runs")
        return True


def _is_same_run(row: Figures, other: Figures) -> bool:
    """Whether two folders with the same keys hold one run, kept twice."""
    took = (row.time_seconds, row.tokens)
    alike = None not in took and took == (other.time_seconds, other.tokens)
    same = _results_of_row(row) == _results_of_row(other)
    return same and (alike or _is_kept_twice(row.path, other.path))


def _is_kept_twice(path: str, first: str) -> bool:
    """Whether two paths are the same but for an eval's number, or a folder that lies in itself.

    >>> _is_kept_twice("ws/eval-0-inbox/old/run-1", "ws/inbox/old/old/run-1")
    True
    >>> _is_kept_twice("ws/first/eval-0/old/run-1", "ws/second/eval-0/old/run-1")
    False
    """
    one, other = (
        [plain_key(eval_parts(name)[1]) for name, _ in groupby(text.split("/"))]
        for text in (path, first)
    )
    return one == other


def _results_of_row(row: Figures) -> tuple[Any, ...]:
    """The verdicts and the rubric score of a run; all its figures if it has neither."""
    results = (row.passed, row.failed, row.total, row.rubric_weighted_mean)
    return row[:-1] if results.count(None) == len(results) else results


def _run_fingerprint(run: RunId, row: Figures) -> tuple[Any, ...] | None:
    """What only the same run has; None if too little was measured to tell."""
    if row.time_seconds is None or row.pass_rate is None:
        return None
    side, rate = run.configuration.split(" ")[0], round(row.pass_rate, 2)
    return (run.eval_id, run.workspace, side, row.time_seconds, row.tokens, rate)


class Side(NamedTuple):
    """What the runs of an eval and a configuration share; `run` is the id of any of them."""

    workspace: str
    skill: str
    key: EvalKey
    run: RunId
    weights: Mapping[str, float]
    checks: Sequence[Expectation]
    model: str | None = None

    def keys(self, number: int, skill: str | None) -> RunRef:
        """The keys of the run of this number, which may name a skill of its own."""
        own = (skill and skill_named(skill)) or self.skill
        side = self.run.configuration
        return RunRef(self.workspace, own, self.run.iteration, *self.key, side, number)


class CountedRun(NamedTuple):
    """A run that counts: its keys, its columns of `runs` after them, its side, what was read of it.

    `reason` says why it ended in an error, or is not taken for a result.
    """

    keys: RunRef
    figures: Figures
    side: Side
    reason: str | None
    record: RunRecord


_UNGRADED = {
    "executed": "was run but not graded",
    "errored": "ended in an error and was not graded",
    "ungraded": "has nothing that could be used as a grading",
}


def report_gaps(runs: Iterable[CountedRun], problems: Problems) -> None:
    """Report runs without grading, and evals that lack a configuration of their iteration."""
    ungraded: Counter[tuple[str, str, str | None]] = Counter()
    iterations: dict[tuple[str, ...], dict[str, tuple[str, str, set[str]]]] = {}
    for keys, row, _, reason, _ in runs:
        if row.status in _UNGRADED:
            ungraded[row.status, row.path, reason] += 1
        if keys.configuration != UNSTATED:
            evals = iterations.setdefault(keys[:3], {})
            _, _, sides = evals.setdefault(keys.eval_id, (keys.eval_name, row.path, set()))
            sides.add(keys.configuration)
    for (status, path, reason), number in ungraded.items():
        why = f" ({reason})" if reason else ""
        each = "" if number == 1 else f"each of {number} runs "
        message = f"{each}{_UNGRADED[status]}{why}; it counts in no rate"
        problems.add("warning", f"{status}-run", path, message)
    for (_, _, iteration), evals in iterations.items():
        every = set[str]().union(*(sides for _, _, sides in evals.values()))
        for eval_id, (name, path, sides) in evals.items():
            for side in sorted(every - sides):
                message = (
                    f"eval {eval_id} ({name}) has no run of {side} in {iteration}: "
                    "it cannot be compared"
                )
                problems.add("warning", "missing-side", path, message)


def report_copies(runs: Iterable[CountedRun], problems: Problems) -> None:
    """Report workspaces that hold the runs of another one."""
    folders: dict[str, set[int]] = {}
    for keys, row, side, *_ in runs:
        folders.setdefault(side.run.workspace, set()).add(hash((keys[2:], row[:-1])))
    first: dict[frozenset[int], str] = {}
    for folder, own in folders.items():
        other = first.setdefault(frozenset(own), folder)
        if other != folder and len(own) > 1:
            message = f"the same {len(own)} runs as in {other}, perhaps a copy; both are counted"
            problems.add("info", "copy", folder, message)


def report_single_layers(runs: Iterable[CountedRun], catalogue: Catalogue) -> None:
    """Report the iterations in which runs have one layer of two.

    Two layers are expected where an eval of the workspace has both checks and rubric
    dimensions, or a run of it has verdicts and scores.
    """
    layered = {
        workspace
        for workspace, _, eval_ in catalogue.definitions
        if eval_.quality_rubric is not None and eval_.quality_rubric.dimensions
        if eval_.expectations or eval_.structural_expectations
    }
    iterations = defaultdict[tuple[str, ...], Counter[str]](Counter)
    for run in runs:
        row, at = run.figures, run.side.run[:2]
        has_checks = row.structural_pass_rate is not None or row.pass_rate is not None
        has_scores = row.rubric_normalized is not None
        iterations[at]["runs"] += 1
        if has_checks and has_scores:
            layered.add(at[0])
        elif has_checks or has_scores:
            iterations[at]["rubric scores" if has_checks else "verdicts"] += 1
    for (folder, iteration), found in iterations.items():
        of = f"{found.pop('runs')} runs" + ("" if iteration == NO_ITERATION else f" of {iteration}")
        lacking = " and ".join(f"no {what} in {number} of {of}" for what, number in found.items())
        if folder in layered and lacking:
            message = f"{lacking}: there, overall_efficiency uses the other layer only"
            name, problems = catalogue.names[folder][0], catalogue.layout.problems
            problems.add("info", "efficiency-of-one", name, message, workspace=name)


def count_runs(catalogue: Catalogue) -> Iterator[CountedRun]:
    """The runs on disk, completed by what benchmarks state of them; then those only stated."""
    layout, problems = catalogue.layout, catalogue.layout.problems
    sides = _Sides(catalogue)
    on_disk = {
        sides[run.place].run._replace(number=run.number)
        for run in layout.runs
        if catalogue.benchmarks
    }
    stated = stated_runs(catalogue.benchmarks, catalogue.index, on_disk, problems)
    met, second = SeenRuns(), SecondGraders()
    for run_id, side, record in _all_runs(layout, sides, stated):
        entry = stated.pop(run_id, None)
        if entry is not None and entry is not record:
            complete_record(record, entry, problems)
        match_checks(side.checks, record, problems)
        row = find_figures(record, side.weights, problems, is_judged=bool(side.checks))
        rate = row.pass_rate
        if entry is record:
            if record.others:
                second.add(rate, record)
            numbered = None if met.is_elsewhere(run_id, row, record.unnamed, problems) else run_id
        else:
            if entry is not None and not second.add(rate, entry):
                compare_rates(run_id, rate, entry, record.path, problems)
            numbered = met.number(run_id, row, problems)
        if numbered is not None:
            grading = record.grading
            keys = side.keys(numbered.number, (grading and grading.skill) or record.skill)
            timing = record.timing if row.status == "errored" else None
            reason = record.incomplete or (timing and timing.reason)
            yield CountedRun(keys, row, side, reason, record)
    second.report(problems)


def _all_runs(
    layout: Layout, sides: _Sides, stated: StatedRuns
) -> Iterator[tuple[RunId, Side, RunRecord]]:
    """The runs on disk; after them those that are still among the `stated`."""
    met_place, side = None, None
    for run in layout.runs:
        for place, record in read_run(run, layout):
            if side is None or place is not met_place:  # runs of a side follow one another
                met_place, side = place, sides[place]
            record.model = side.model
            yield RunId(*side.run[:4], record.run_number or 0), side, record
    for run_id, record in list(stated.items()):
        yield run_id, sides.of(run_id, EvalKey(str(record.eval_id), record.eval_name or "")), record


class _Sides(dict[Place, Side]):
    """The sides by their places, each worked out when it is first asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._definitions = {
            (workspace, key.id): definition for workspace, key, definition in catalogue.definitions
        }

    def __missing__(self, place: Place) -> Side:
        key = self._catalogue.eval_of(place)
        run = RunId(place.workspace, place.iteration, key.id, place.configuration, 0)
        side = self.of(run, key)._replace(model=place.model)
        if (described := self._catalogue.files.metadata.get(folder_of(place))) is not None:
            side = side._replace(
                checks=described.assertions or side.checks,
                skill=skill_named(described.skill) or side.skill,
                model=stated_text(described.model) or place.model,
            )
        self[place] = side
        return side

    def of(self, run: RunId, key: EvalKey) -> Side:
        """The side of a run."""
        known, eval_ = self._catalogue, (run.workspace, run.eval_id)
        workspace, skill = known.names[run.workspace]
        own = skill_named(known.skills.get(eval_)) or skill
        definition = self._definitions.get(eval_)
        rubric = definition and definition.quality_rubric
        weights = {one.name: one.weight for one in rubric.dimensions} if rubric else {}
        checks = definition.expectations if definition else ()
        return Side(workspace, own, key, run, weights, checks)
