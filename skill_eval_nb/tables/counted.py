"""Every run counted once, with its figures, however many folders and files speak of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from skill_eval_nb.documents import Expectation, TriggerQuery, TriggerSet
from skill_eval_nb.documents.base import plainly
from skill_eval_nb.workspace import (
    Catalogue,
    EvalKey,
    Files,
    Layout,
    Place,
    Problems,
    RunDocuments,
    RunId,
    SecondGraders,
    StatedRuns,
    compare,
    complete,
    folder_of,
    read_run,
    skill_named,
    stated_runs,
    stated_text,
)
from skill_eval_nb.workspace.layout import eval_parts

from .columns import RUN_KEYS, TABLES, RunRef
from .run_rows import figures, match_checks

_PLACES = {
    column.name: position for position, column in enumerate(TABLES["runs"].columns[len(RUN_KEYS) :])
}
_RESULTS = tuple(_PLACES[name] for name in ("passed", "failed", "total", "rubric_weighted_mean"))
_MEASURED = tuple(_PLACES[name] for name in ("time_seconds", "tokens", "pass_rate"))

Results = tuple[Any, ...]
"""What tells two runs of the same keys apart; most runs share theirs with others."""


class SeenRuns:
    """The runs that were met so far, to tell what speaks of one of them again.

    What only benchmarks need is remembered if there are some.
    """

    def __init__(self, benchmarked: bool) -> None:
        self._benchmarked = benchmarked
        self._runs: dict[tuple[str, ...], dict[int, tuple[int, str, Results, Any]]] = {}
        self._results: dict[Results, Results] = {}
        self._measured: dict[tuple[Any, ...], str] = {}
        self._unknown: dict[tuple[Any, ...], str | None] = {}
        self._claimed: set[tuple[str | None, str]] = set()

    def number(
        self, run: RunId, row: tuple[Any, ...], documents: RunDocuments, problems: Problems
    ) -> RunId | None:
        """The id under which to count a run on disk, or None for one that was counted.

        Folders with the same keys and the same results are one run, kept twice, if they took
        the same time and tokens, or their paths differ only in how they name the eval. Any other
        folder is a further run: two runs may well come out alike.
        """
        path, results = documents.path, _results_of_row(row)
        seconds, tokens, _ = (row[place] for place in _MEASURED)
        took = None if seconds is None or tokens is None else (seconds, tokens)
        results = self._results.setdefault(results, results)
        beside = self._runs.setdefault(run[:-1], {})
        number = run.number
        if number in beside:
            for own, first, known, other in beside.values():
                same = (took is not None and took == other) or _is_kept_twice(path, first)
                if own == run.number and known == results and same:
                    message = f"the same run as in {first}; counted once"
                    problems.add("info", "duplicate-run", path, message)
                    return None
            while number in beside:
                number += 1
            _, first, known, _ = beside[run.number]
            but = "from another folder" if known == results else "but other results"
            message = f"the keys of {first}, {but}; counted as run {number}"
            problems.add("warning", "duplicate-run", path, message)
        beside[number] = run.number, path, results, took
        run = run._replace(number=number)
        if self._benchmarked:
            self._remember_run(run, row, path)
        return run

    def _remember_run(self, run: RunId, row: tuple[Any, ...], path: str) -> None:
        fingerprint = _run_fingerprint(run, row)
        if fingerprint is not None:
            self._measured.setdefault(fingerprint, path)
            several = self._unknown.setdefault(fingerprint[1:], path) != path
            self._unknown[fingerprint[1:]] = None if several else path

    def elsewhere(
        self, run: RunId, row: tuple[Any, ...], documents: RunDocuments, problems: Problems
    ) -> bool:
        """Whether a run that only a benchmark states is one on disk, of another iteration.

        Benchmarks of later iterations repeat earlier runs, above all those of the
        baseline. Time, tokens and pass rate together are never the same twice by chance.
        Where a row does not tell its eval, they tell the one run that has them.
        """
        fingerprint = _run_fingerprint(run, row)
        path = self._measured.get(fingerprint) if fingerprint is not None else None
        if fingerprint is not None and documents.unnamed:
            path = self._unknown.get(fingerprint[1:])
            path = None if (path, documents.path) in self._claimed else path
            self._claimed.add((path, documents.path))
        if path is None:
            return False
        message = (
            f"its {run.eval_id} / {run.configuration} duplicates the run in {path}; counted once"
        )
        problems.add("info", "repeated-run", documents.path, message, where="$.runs")
        return True


def _is_kept_twice(path: str, first: str) -> bool:
    """Whether two paths are the same but for an eval's number, or a folder that lies in itself.

    >>> _is_kept_twice("ws/eval-0-inbox/old/run-1", "ws/inbox/old/old/run-1")
    True
    >>> _is_kept_twice("ws/first/eval-0/old/run-1", "ws/second/eval-0/old/run-1")
    False
    """
    one, other = (
        [plainly(eval_parts(name)[1]) for name, _ in groupby(text.split("/"))]
        for text in (path, first)
    )
    return one == other


def _results_of_row(row: tuple[Any, ...]) -> Results:
    """The verdicts and the rubric score of a run; all its figures if it has neither."""
    results = tuple([row[place] for place in _RESULTS])
    return row[: _PLACES["path"]] if results.count(None) == len(results) else results


def _run_fingerprint(run: RunId, row: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What only the same run has; None if too little was measured to tell."""
    seconds, tokens, rate = (row[place] for place in _MEASURED)
    if seconds is None or rate is None:
        return None
    side = run.configuration.split(" ")[0]
    return (run.eval_id, run.workspace, side, seconds, tokens, round(rate, 2))


class Copies:
    """Tells what was read before, byte for byte or result for result, from somewhere else."""

    def __init__(self) -> None:
        self._sets: dict[Any, str] = {}
        self._runs: dict[str, set[int]] = {}

    def is_copy(self, document: TriggerSet, path: str, problems: Problems) -> bool:
        """Whether a set of queries is another file's as well: then it is a problem, too."""
        first = self._sets.setdefault(repr(document), path)
        if first != path:
            problems.add("info", "copy", path, f"the same queries as in {first}; counted once")
        return first != path

    def add(self, folder: str, run: tuple[Any, ...]) -> None:
        """Note a run of a workspace's folder: its keys in it and its figures."""
        self._runs.setdefault(folder, set()).add(hash(run))

    def report(self, problems: Problems) -> None:
        """Report workspaces that hold the runs of another one."""
        first: dict[frozenset[int], str] = {}
        for folder, runs in self._runs.items():
            other = first.setdefault(frozenset(runs), folder)
            if other != folder and len(runs) > 1:
                message = f"the same {len(runs)} runs as in {other}: a copy? Both are counted"
                problems.add("info", "copy", folder, message)


def join_queries(sets: list[tuple[str, str, TriggerSet]], problems: Problems) -> None:
    """Give measured queries the words of their set, and leave out what the set repeats of them.

    A result may know a query by its id alone, and a set beside it is the same queries once.

    Args:
        sets: each with the skill that it is of, and its file.
        problems: gets how many of a set's queries were measured elsewhere.
    """
    found = [(skill, path, query) for skill, path, own in sets for query in own.queries]
    asked: dict[tuple[str, str], TriggerQuery] = {}
    for skill, _, query in found:
        if query.rate is None:
            names = [query.query] if query.id is None else [query.query, str(query.id)]
            asked |= {(skill, plainly(name)): query for name in names}
    measured: dict[tuple[str, str], str] = {}
    for skill, path, query in found:
        if query.rate is not None:
            known = asked.get((skill, plainly(query.query)), query)
            query.query, should = known.query, known.should_trigger
            query.should_trigger = should if query.should_trigger is None else query.should_trigger
            measured[skill, plainly(query.query)] = path
    for skill, path, own in sets:
        keys = [
            None if one.rate is not None else (skill, plainly(one.query)) for one in own.queries
        ]
        again = [measured[key] for key in keys if key in measured]
        if again:
            message = f"{len(again)} of its queries were measured in {again[0]}; counted once"
            problems.add("info", "copy", path, message)
            both = zip(own.queries, keys, strict=True)
            own.queries = [query for query, key in both if key not in measured]


class Shared(NamedTuple):
    """What the runs of an eval and a configuration share."""

    names: tuple[str, str]
    key: EvalKey
    ids: tuple[str, str, str, str]
    weights: Mapping[str, float]
    model: str | None
    skill: str | None = None
    checks: Sequence[Expectation] = ()

    def keys(self, number: int, skill: str | None) -> RunRef:
        """The keys of the run of this number, which may name a skill of its own."""
        _, iteration, _, configuration = self.ids
        workspace, named = self.names
        own = skill_named(skill) or skill_named(self.skill) or named
        return RunRef(workspace, own, iteration, *self.key, configuration, number)

    def run_id(self, number: int) -> RunId:
        """The id of the run of this number."""
        return RunId(*self.ids, number)


class Counted(NamedTuple):
    """A run: its keys, its columns of `runs` after them, its documents, its rubric's weights.

    `folder` is that of its workspace.
    """

    keys: RunRef
    figures: tuple[Any, ...]
    documents: RunDocuments
    weights: Mapping[str, float]
    folder: str


def count_runs(
    layout: Layout, files: Files, catalogue: Catalogue, problems: Problems
) -> Iterator[Counted]:
    """The runs on disk, completed by what benchmarks state of them; then those only stated."""
    sides = _Sides(files, catalogue)
    on_disk = {sides[run.place].run_id(run.number) for run in layout.runs if catalogue.benchmarks}
    stated = stated_runs(catalogue.benchmarks, catalogue.index, on_disk, problems)
    met = SeenRuns(bool(catalogue.benchmarks))
    second = SecondGraders()
    yield from _on_disk(layout, sides, stated, met, second, problems)
    for run_id, (key, documents) in stated.items():
        side = sides.of(run_id, key)
        match_checks(side.checks, documents, problems)
        row = figures(documents, side.weights, problems)
        if documents.others:
            second.add(run_id, row[1], documents)
        if not met.elsewhere(run_id, row, documents, problems):
            keys = side.keys(run_id.number, documents.skill)
            yield Counted(keys, row, documents, side.weights, run_id.workspace)
    second.report(problems)


def _on_disk(
    layout: Layout,
    sides: _Sides,
    stated: StatedRuns,
    met: SeenRuns,
    second: SecondGraders,
    problems: Problems,
) -> Iterator[Counted]:
    """The runs on disk; what benchmarks state of them is taken out of `stated`."""
    met_place, side = None, None
    for run in layout.runs:
        for place, number, documents in read_run(run, problems):
            if side is None or place is not met_place:  # runs of a side follow one another
                met_place, side = place, sides[place]
            run_id = side.run_id(number)
            documents.executor_model = side.model
            of_it = stated.pop(run_id, None)
            if of_it is not None:
                complete(documents, of_it[1], problems)
            match_checks(side.checks, documents, problems)
            row = figures(documents, side.weights, problems)
            if of_it is not None and not second.add(run_id, row[1], of_it[1]):
                compare(run_id, row[1], of_it[1], documents.path, problems)
            run_id = met.number(run_id, row, documents, problems)
            if run_id is not None:
                grading = documents.grading
                own = (grading and grading.skill) or (of_it and of_it[1].skill)
                keys = side.keys(run_id.number, own)
                yield Counted(keys, row, documents, side.weights, run_id.workspace)


class _Sides(dict[Place, Shared]):
    """The sides by their places, each worked out when it is first asked for."""

    def __init__(self, files: Files, catalogue: Catalogue) -> None:
        super().__init__()
        self._files = files
        self._catalogue = catalogue
        self._checks = {
            (workspace, key.id): definition.expectations
            for workspace, key, definition in catalogue.definitions
        }

    def __missing__(self, place: Place) -> Shared:
        described = self._files.metadata.get(folder_of(place))
        key = self._catalogue.eval_of(place)
        run_id = RunId(place.workspace, place.iteration, key.id, place.configuration, 0)
        side = self.of(run_id, key)
        if described is not None or place.model is not None:
            model = stated_text(described.model) if described else None
            own = (described and described.skill) or side.skill
            side = side._replace(model=model or place.model, skill=own)
        if described is not None and described.assertions:
            side = side._replace(checks=described.assertions)
        self[place] = side
        return side

    def of(self, run_id: RunId, key: EvalKey) -> Shared:
        """The side of a run."""
        return Shared(
            self._catalogue.names[run_id.workspace],
            key,
            run_id[:4],
            self._catalogue.weights.get((run_id.workspace, run_id.eval_id), {}),
            None,
            self._catalogue.skills.get((run_id.workspace, run_id.eval_id)),
            self._checks.get((run_id.workspace, run_id.eval_id), ()),
        )
