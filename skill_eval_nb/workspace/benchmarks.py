"""The runs that benchmark.json files state, and which of those on disk they are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from skill_eval_nb.documents import (
    Benchmark,
    BenchmarkRun,
    Grading,
    Metrics,
    RunRecord,
    RunResult,
    Summary,
    Timing,
)
from skill_eval_nb.documents.parsing import ERRORED
from skill_eval_nb.documents.sides import SIDES, UNSTATED, find_side, model_and_side

from .evals import EvalIndex, EvalKey, eval_named, slug, stated_text
from .folders import NO_ITERATION, Place, is_configuration, is_container
from .layout import FilePlace, is_summary
from .problems import Problems


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """A benchmark.json, or what a tool tells, of one iteration, which its `place` names.

    `runs` are those of a tool; the rows of a benchmark.json are in its document.
    """

    path: str
    place: Place
    document: Benchmark
    tool: str | None = None
    runs: Sequence[RunRecord] = ()

    @property
    def is_benchmark(self) -> bool:
        """Whether it is called so, or a tool's: others state runs of their own, or grade again."""
        return self.tool is not None or is_benchmark_file(self.path)


def is_benchmark_file(path: str) -> bool:
    """Whether a file's name is that of a benchmark, also with its folder's name in it.

    >>> is_benchmark_file("pdf/benchmark.json"), is_benchmark_file("pdf/pdf-benchmark.json")
    (True, True)
    """
    folder, name = os.path.split(path)
    whole = f"{slug(os.path.basename(folder))}-benchmark"
    return name.startswith("benchmark") or slug(name.removesuffix(".json")) == whole


ROUNDING = 0.0101
"""How far a rate may be from its counts: rates are often printed with two digits."""


def find_contradictions(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """Where the pass rate, the counts and the verdicts of a run contradict each other, and how."""
    for index, run in enumerate(benchmark.runs):
        where, result = f"runs[{index}].result", run.result or RunResult()
        passed, failed, total = result.passed, result.failed, result.total
        if passed is not None and total is not None and passed > total:
            yield where, f"{passed} passed of only {total}"
        scored = passed + failed if passed is not None and failed is not None else total
        if total is not None and scored is not None and scored > total:
            yield where, f"{passed} passed and {failed} failed, but {total} in all"
        if passed is not None and scored and result.pass_rate is not None and passed <= scored:
            shares = {passed / scored, passed / (total or scored)}
            if all(abs(result.pass_rate - share) > ROUNDING for share in shares):
                yield where, f"pass_rate is {result.pass_rate:g}, but {passed} of {scored} passed"
        verdicts = [one.passed for one in run.expectations]
        counted = verdicts.count(True)
        if verdicts and None not in verdicts and passed not in (None, counted):
            yield f"runs[{index}]", f"passed is {passed}, but {counted} expectations passed"


def iteration_named(iteration: str | int | None, known: Collection[str]) -> str:
    """The name of an iteration that a document gives as a number or a name.

    >>> iteration_named(2, ["iteration-2"]), iteration_named("5b", []), iteration_named(None, [])
    ('iteration-2', 'iteration-5b', 'none')
    """
    text = "" if iteration is None else str(iteration)
    for candidate in (text, f"iteration-{text}"):
        if candidate in known:
            return candidate
    return f"iteration-{text}" if text[:1].isdigit() else text or NO_ITERATION


def split_benchmarks(
    file: FilePlace, documents: Sequence[Benchmark], known: Collection[str], ran: Collection[str]
) -> Iterator[BenchmarkFile]:
    """The benchmarks of a file, each at the iteration it is of.

    That is the folder's, where the file is of one iteration and lies in its folder, else
    the one that the benchmark names; a file of a name of its own is an iteration of its own,
    but for one that is called a summary. What is of none is of the only one that was run.

    Args:
        file: the file.
        documents: what it says, a document an iteration.
        known: the iterations there are.
        ran: those of the file's workspace that have runs.
    """
    lies_in = file.place.iteration != NO_ITERATION and len(documents) == 1
    name = os.path.basename(file.path)
    stem = name.removesuffix(".json")
    found = find_side(stem)
    side = found[0].lower().replace("-", "_") if found else None
    side = side or (stem if is_configuration(stem) else None)
    plain = side or is_container(stem) or is_benchmark_file(file.path) or is_summary(name)
    for document in documents:
        for run in document.runs:
            if side and run.configuration == UNSTATED:
                run.configuration = side
        of = iteration_named(document.metadata.iteration or (None if plain else stem), known)
        of = min(ran) if of == NO_ITERATION and len(ran) == 1 else of
        place = file.place if lies_in else file.place._replace(iteration=of)
        yield BenchmarkFile(file.path, place, document)


def drop_copies(benchmarks: Iterable[BenchmarkFile], problems: Problems) -> Iterator[BenchmarkFile]:
    """The same without files of a workspace that repeat another's runs of the same time."""
    first: dict[tuple[str, str, str], BenchmarkFile] = {}
    for benchmark in benchmarks:
        time, runs = benchmark.document.metadata.timestamp, benchmark.document.runs
        key = (benchmark.place.workspace, time, repr(runs)) if time and runs else None
        other = first.setdefault(key, benchmark) if key else benchmark
        if other is benchmark:
            yield benchmark
        else:
            message = f"the same runs of the same time as in {other.path}; counted once"
            problems.add("info", "copy", benchmark.path, message)


StatedRuns = dict["RunId", RunRecord]
"""Runs that benchmarks state, with the eval that they are of."""

Nested = dict[tuple[str, str], dict[str, dict[str, list[int]]]]
"""Runs by workspace and iteration, then by side, then by eval: their numbers."""


class RunId(NamedTuple):
    """A run, wherever it is spoken of; `workspace` is its folder."""

    workspace: str
    iteration: str
    eval_id: str
    configuration: str
    number: int


def stated_runs(
    benchmarks: Iterable[BenchmarkFile],
    index: EvalIndex,
    on_disk: Iterable[RunId],
    problems: Problems,
) -> StatedRuns:
    """The runs that the benchmarks state, by the keys of the run on disk if there is one.

    The first benchmark to state a run counts; the verdicts of another file on it are those of
    a second grader.
    """
    there = _nest_runs(on_disk)
    found: StatedRuns = {}
    for benchmark in benchmarks:
        mine = _runs_of(benchmark, index, there, problems)
        mine = _rename_configurations(mine, there, problems)
        if not benchmark.is_benchmark:
            mine = _keep_known(mine, there, benchmark.path, problems)
        for run, record in _renumber_runs(mine, there, benchmark.path, problems).items():
            known = found.setdefault(run, record)
            if known is record:
                continue
            if benchmark.is_benchmark:
                compare_rates(run, _rate(known), record, known.path, problems)
            else:
                known.others.append(record)
                known.timing = known.timing or record.timing
    return found


def _nest_runs(runs: Iterable[RunId]) -> Nested:
    """The runs by their places, to look up which ones a place has."""
    found: Nested = {}
    for workspace, iteration, eval_id, side, number in runs:
        sides = found.setdefault((workspace, iteration), {})
        sides.setdefault(side, {}).setdefault(eval_id, []).append(number)
    return found


def _keep_known(entries: StatedRuns, on_disk: Nested, path: str, problems: Problems) -> StatedRuns:
    """The same without runs of evals that are not among those on disk, if there are some."""
    unknown = set[RunId]()
    for run in entries:
        evals = on_disk.get(run[:2], {}).get(run.configuration, {}).keys() - {UNSTATED}
        if evals and run.eval_id not in evals:
            unknown.add(run)
    if unknown:
        message = (
            f"{len(unknown)} of its entries name evals without a run here "
            f"({', '.join(sorted({run.eval_id for run in unknown})[:5])}); they were not used"
        )
        problems.add("warning", "unknown-eval", path, message)
    return {run: entry for run, entry in entries.items() if run not in unknown}


def _runs_of(
    benchmark: BenchmarkFile, index: EvalIndex, on_disk: Nested, problems: Problems
) -> StatedRuns:
    """The runs that one benchmark states.

    Rows that name no eval are never runs of the same: where a configuration has several, each
    is an eval of its own.
    """
    place = benchmark.place
    runs = benchmark.runs or [_record_of_row(row, benchmark) for row in benchmark.document.runs]
    found: StatedRuns = {}
    met: Counter[tuple[str, str]] = Counter()
    each = _has_unnamed_rows(runs, benchmark.path, problems)
    from_zero = any(run.run_number == 0 for run in runs)
    for position, run in enumerate(runs, 1):
        id_ = None if run.eval_id is None else str(run.eval_id)
        name = eval_named(run)
        unnamed = each and id_ is None and name is None
        name = f"row {position}" if unnamed else name
        model, iteration, side = None, place.iteration, run.configuration
        if benchmark.tool is None:
            iteration, side = _own_iteration(side, place, on_disk)
            model, side = model_and_side(side)
        key = index.find(place.workspace, iteration, id_, name)
        key = key or EvalKey(id_ or name or UNSTATED, name or id_ or UNSTATED)
        met[key.id, side] += 1
        number = met[key.id, side] if run.run_number is None else run.run_number + from_zero
        run_id = RunId(place.workspace, iteration, key.id, side, number)
        while run_id in found and run.run_number is None:
            run_id = run_id._replace(number=run_id.number + 1)
        if again := run_id in found:
            key, run_id = _of_another(key, run_id, found, benchmark.path, problems)
        found[run_id] = msgspec.structs.replace(
            run,
            eval_id=key.id,
            eval_name=key.name,
            model=run.model or model,
            unnamed=unnamed or again,
            others=[],
        )
    return found


def _of_another(
    key: EvalKey, run: RunId, found: StatedRuns, path: str, problems: Problems
) -> tuple[EvalKey, RunId]:
    """The eval and the id of a row that gives the keys of another row: one of another eval."""
    message = "the same eval, configuration and run number as another row: taken as a separate eval"
    problems.add("warning", "duplicate-id", path, message, where="$.runs[*]")
    copy = 2
    while (other := run._replace(eval_id=f"{key.id} ({copy})")) in found:
        copy += 1
    return EvalKey(other.eval_id, f"{key.name} ({copy})"), other


def _has_unnamed_rows(runs: Iterable[RunRecord], path: str, problems: Problems) -> bool:
    """Whether a configuration has several rows that name no eval, which is a problem."""
    sides = Counter(
        run.configuration for run in runs if run.eval_id is None and eval_named(run) is None
    )
    several = max(sides.values(), default=0) > 1
    if several:
        message = (
            f"{sides.total()} rows name no eval: each counts as an eval of its own, "
            "compared with nothing; add `eval_id`"
        )
        problems.add("warning", "unnamed-eval", path, message, where="$.runs[*]")
    return several


class SecondGraders(dict[str, list[bool]]):
    """By files that are no benchmarks: whether each run that has a grading of its own differs."""

    def add(self, used: float | None, stated: RunRecord) -> bool:
        """Note what `stated` gives for a run and what was used; whether a second grader has it."""
        others = [other for other in (stated, *stated.others) if not is_benchmark_file(other.path)]
        for other in others:
            rate = _rate(other)
            if used is not None and rate is not None:
                self.setdefault(other.path, []).append(abs(used - rate) > 0.011)
        return stated in others

    def report(self, problems: Problems) -> None:
        """One problem a file: how many runs it grades, and how many of them differently."""
        for path, differ in self.items():
            message = (
                f"it grades {len(differ)} runs that have their own grading, {sum(differ)} of them "
                "differently; their own were used"
            )
            problems.add("warning" if any(differ) else "info", "second-grader", path, message)


def _rate(record: RunRecord) -> float | None:
    """The pass rate that a stated run gives."""
    grading = record.grading
    if grading is None:
        return None
    if grading.summary is not None and grading.summary.pass_rate is not None:
        return grading.summary.pass_rate
    verdicts = [one.passed for one in grading.expectations if one.passed is not None]
    return verdicts.count(True) / len(verdicts) if verdicts else None


def compare_rates(
    run: RunId, known: float | None, record: RunRecord, path: str, problems: Problems
) -> None:
    """Report where a benchmark states another pass rate for a run than `path` gives."""
    other = _rate(record)
    if known is not None and other is not None and abs(known - other) > 0.011:
        message = (
            f"states a pass rate of {other:.2f} for {run.eval_id} / {run.configuration} / run "
            f"{run.number}, but {path} gives {known:.2f}, which was used"
        )
        problems.add("warning", "disagree", record.path, message, where="$.runs")


def _rename_configurations(entries: StatedRuns, on_disk: Nested, problems: Problems) -> StatedRuns:
    """The same with configurations called as on disk.

    Some tools know two names for configurations only, and write with_skill and
    without_skill whatever was compared. If one side is called the same, one more is on
    disk, one more is stated, and their evals are the same, these are the same runs.
    """
    names: dict[tuple[str, str, str], str] = {}
    for iteration, sides in _nest_runs(entries).items():
        there = on_disk.get(iteration, {})
        alone = [side for side in sides if side not in there]
        other = [side for side in there if side not in sides]
        if len(alone) != 1 or len(other) != 1 or {*alone, *other} == {*SIDES}:
            continue
        if len(sides) > 1 and sides[alone[0]].keys() == there[other[0]].keys():
            names[(*iteration, alone[0])] = other[0]
            path = next(row.path for run, row in entries.items() if run[:2] == iteration)
            message = f"its {alone[0]} are the runs that are called {other[0]} on disk"
            problems.add("info", "renamed-configuration", path, message)
    return {
        run._replace(configuration=names.get((*run[:2], run.configuration), run.configuration)): row
        for run, row in entries.items()
    }


def _renumber_runs(
    entries: StatedRuns, on_disk: Nested, path: str, problems: Problems
) -> StatedRuns:
    """The same with sole runs of an eval and configuration fitted to those on disk.

    A sole one on disk is the same run, whatever its number. If there are several on
    disk, the one stated is taken for their aggregate: it is not a run, and that is told.
    """
    times = Counter(run[:4] for run in entries)
    fitted: StatedRuns = {}
    for run, entry in entries.items():
        sides = on_disk.get(run[:2], {})
        there = sides.get(run.configuration, {}).get(run.eval_id, [])
        if times[run[:4]] > 1 or not there:
            fitted[run] = entry
        elif len(there) == 1:
            fitted[run._replace(number=there[0])] = entry
    left_out = len(entries) - len(fitted)
    if left_out:
        message = (
            f"{left_out} of its entries stand for several runs on disk each; those were counted"
        )
        problems.add("info", "aggregate", path, message, where="$.runs")
    return fitted


def _own_iteration(configuration: str, place: Place, on_disk: Nested) -> tuple[str, str]:
    """A configuration such as ``with_skill (iter5)`` names the iteration its runs are of."""
    found = re.fullmatch(r"(?P<plain>[^()]+?) \((?:.*\()?(?P<told>[^()]+)\)+", configuration)
    if found:
        number = re.sub(r"^(?:iteration|iter)[-_ ]?", "", found["told"], flags=re.IGNORECASE)
        iteration = f"iteration-{number}"
        if (place.workspace, iteration) in on_disk:
            return iteration, found["plain"]
    return place.iteration, configuration


def _record_of_row(run: BenchmarkRun, benchmark: BenchmarkFile) -> RunRecord:
    """A stated run, with its figures in the documents that would lie in its folder."""
    result = run.result or RunResult()
    calls = result.tool_calls
    metadata = benchmark.document.metadata
    return RunRecord(
        configuration=stated_text(run.configuration) or UNSTATED,
        eval_id=run.eval_id,
        eval_name=run.eval_name,
        run_number=run.run_number,
        skill=run.skill,
        model=stated_text(run.model) or stated_text(metadata.executor_model),
        harness=stated_text(run.harness) or stated_text(metadata.harness),
        judge_model=stated_text(metadata.analyzer_model),
        path=benchmark.path,
        grading=Grading(
            expectations=run.expectations,
            summary=Summary(result.passed, result.failed, result.total, result.pass_rate),
            rubric_scores=run.rubric_scores,
        ),
        timing=Timing(
            total_duration_seconds=result.time_seconds,
            duration_ms=result.duration_ms,
            total_tokens=result.tokens,
            status=run.status if str(run.status).lower() in ERRORED else None,
        ),
        metrics=Metrics(
            tool_calls=calls if isinstance(calls, dict) else None,
            total_tool_calls=None if isinstance(calls, dict) else calls,
            errors_encountered=result.errors,
            cost_usd=result.cost_usd,
        ),
        took_place=True,
    )


def complete_record(run: RunRecord, entry: RunRecord, problems: Problems) -> None:
    """Fill in what a run's own files lack with what a benchmark states of it.

    A pass rate that the two state differently is a problem; the run's own counts.
    """
    for name in ("skill", "model", "harness", "judge_model"):
        setattr(run, name, getattr(run, name) or getattr(entry, name))
    if run.grading is None and (run.structural is None or run.structural.gate_passed is not False):
        run.grading = entry.grading
        if entry.grading is not None:
            message = f"no grading here; taken from {entry.path}"
            problems.add("info", "graded-in-benchmark", run.path, message)
    if entry.timing is None or entry.metrics is None:
        return
    metrics = run.known_metrics
    chars = metrics.output_chars if metrics is not None else None
    if chars and chars == entry.timing.total_tokens:
        entry.timing.total_tokens = None
        message = "its `tokens` are the characters of the outputs; they were not used as tokens"
        problems.add("warning", "characters-as-tokens", entry.path, message)
    run.timing = _fill_nulls(run.timing, entry.timing)
    run.metrics = _fill_nulls(metrics, entry.metrics)


def _fill_nulls(own: Any, entry: Any) -> Any:
    """A copy of `own` in which what is null or 0 there is taken from `entry`."""
    if own is None:
        return entry
    gaps = {
        name: getattr(entry, name)
        for name in own.__struct_fields__
        if not getattr(own, name) and getattr(entry, name)
    }
    return msgspec.structs.replace(own, **gaps) if gaps else own
