"""What benchmark.json files state: runs, to be counted once, and figures, to be audited."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from skill_eval_nb.documents import (
    Benchmark,
    BenchmarkRun,
    ConfigurationSummary,
    Grading,
    Metrics,
    RunResult,
    Stats,
    Summary,
    Timing,
)
from skill_eval_nb.documents.scalars import Unreadable, read_number
from skill_eval_nb.workspace import NO_ITERATION, UNSTATED, Place, Problems

from .identity import EvalIndex, EvalKey, iteration_named, stated
from .rows import RunKey, Rows
from .runs import RunDocuments

DELTA = "delta"
"""The key of `run_summary` that holds differences and is no configuration."""


Told = dict["RunId", tuple[EvalKey, RunDocuments]]
"""Runs that benchmarks state, with the eval they are of and their figures as documents."""


class RunId(NamedTuple):
    """A run, wherever it is spoken of; `workspace` is its folder."""

    workspace: str
    iteration: str
    eval_id: str
    configuration: str
    number: int


@dataclass(frozen=True, slots=True)
class Stating:
    """A benchmark.json that was read, of one iteration."""

    path: str
    place: Place
    document: Benchmark
    iteration: str


def stating(
    path: str, place: Place, documents: Iterable[Benchmark], iterations: Iterable[str]
) -> list[Stating]:
    """The benchmarks of a file, each with the iteration it is of.

    That is the folder's, where the file is of one iteration and lies in its folder, else
    the one that the benchmark names.
    """
    documents = list(documents)
    known = list(iterations)
    lies_in = place.iteration != NO_ITERATION
    return [
        Stating(
            path,
            place,
            one,
            place.iteration
            if lies_in and len(documents) == 1
            else iteration_named(one.metadata.iteration, known),
        )
        for one in documents
    ]


def stated_runs(
    benchmarks: Iterable[Stating], index: EvalIndex, on_disk: Set[RunId], problems: Problems
) -> Told:
    """The runs that the benchmarks state, by the keys of the run on disk where there is one.

    The first benchmark to state a run counts.
    """
    iterations = {(run.workspace, run.iteration) for run in on_disk}
    found: Told = {}
    for one in benchmarks:
        met: Counter[tuple[str, str]] = Counter()
        first = min((run.run_number for run in one.document.runs if run.run_number is not None), default=1)
        for run in one.document.runs:
            id_ = None if run.eval_id is None else str(run.eval_id)
            name = stated(run.eval_name)
            iteration, configuration = _own_iteration(
                stated(run.configuration) or UNSTATED, one, iterations
            )
            key = index.find(one.place.workspace, iteration, id_, name)
            key = key or EvalKey(id_ or name or UNSTATED, name or id_ or UNSTATED)
            met[key.id, configuration] += 1
            number = met[key.id, configuration]
            if run.run_number is not None:
                number = run.run_number + (first == 0)
            run_id = RunId(one.place.workspace, iteration, key.id, configuration, number)
            found.setdefault(run_id, (key, _documents(run, one)))
    return _renumbered(_renamed(found, on_disk, problems), on_disk)


def _renamed(told: Told, on_disk: Set[RunId], problems: Problems) -> Told:
    """The same with configurations called as on disk.

    Some tools know two names for configurations only, and write with_skill and
    without_skill whatever was compared. Where one configuration is on disk alone, one is
    stated alone, and their evals are the same, they are the same runs.
    """
    disk: dict[tuple[str, str], dict[str, set[str]]] = {}
    stated_: dict[tuple[str, str], dict[str, set[str]]] = {}
    for runs, groups in ((on_disk, disk), (told, stated_)):
        for run in runs:
            sides = groups.setdefault((run.workspace, run.iteration), {})
            sides.setdefault(run.configuration, set()).add(run.eval_id)
    names: dict[tuple[str, str, str], str] = {}
    for iteration, sides in stated_.items():
        there = disk.get(iteration, {})
        alone = [side for side in sides if side not in there]
        other = [side for side in there if side not in sides]
        if len(alone) == len(other) == 1 and sides[alone[0]] == there[other[0]]:
            names[(*iteration, alone[0])] = other[0]
            path = next(one.path for run, (_, one) in told.items() if run[:2] == iteration)
            problems.add(
                "info",
                "renamed-configuration",
                path,
                f"its {alone[0]} are the runs that are called {other[0]} on disk",
            )
    return {
        run._replace(configuration=names.get((*run[:2], run.configuration), run.configuration)): one
        for run, one in told.items()
    }


def _renumbered(told: Told, on_disk: Set[RunId]) -> Told:
    """The same with sole runs of an eval and configuration fitted to those on disk.

    A sole one on disk is the same run, whatever its number. Where there are several on
    disk, the one stated is their aggregate, and no run.
    """
    numbers: dict[tuple[str, ...], list[int]] = {}
    for run in on_disk:
        numbers.setdefault(run[:4], []).append(run.number)
    times = Counter(run[:4] for run in told)
    fitted: Told = {}
    for run, one in told.items():
        there = numbers.get(run[:4], [])
        if times[run[:4]] > 1 or not there:
            fitted[run] = one
        elif len(there) == 1:
            fitted[run._replace(number=there[0])] = one
    return fitted


def _own_iteration(
    configuration: str, one: Stating, iterations: set[tuple[str, str]]
) -> tuple[str, str]:
    """A configuration such as ``with_skill (iter5)`` names the iteration its runs are of."""
    found = re.fullmatch(r"(?P<plain>[^()]+?) \((?:.*\()?(?P<told>[^()]+)\)+", configuration)
    if found:
        told = re.sub(r"^(?:iteration|iter)[-_ ]?", "", found["told"], flags=re.IGNORECASE)
        iteration = f"iteration-{told}"
        if (one.place.workspace, iteration) in iterations:
            return iteration, found["plain"]
    return one.iteration, configuration


def _documents(run: BenchmarkRun, one: Stating) -> RunDocuments:
    """A stated run as the documents that would lie in its folder."""
    result = run.result or RunResult()
    calls = result.tool_calls
    metadata = one.document.metadata
    return RunDocuments(
        one.path,
        grading=Grading(
            expectations=run.expectations,
            summary=Summary(
                passed=result.passed,
                failed=result.failed,
                total=result.total,
                pass_rate=result.pass_rate,
            ),
            rubric_scores=run.rubric_scores,
        ),
        timing=Timing(
            total_duration_seconds=result.time_seconds,
            duration_ms=result.duration_ms,
            total_tokens=result.tokens,
        ),
        metrics=Metrics(
            tool_calls=calls if isinstance(calls, dict) else None,
            total_tool_calls=None if isinstance(calls, dict) else calls,
            errors_encountered=result.errors,
            cost_usd=result.cost_usd,
        ),
        took_place=True,
        executor_model=stated(run.model) or stated(metadata.executor_model),
        judge_model=stated(metadata.analyzer_model),
    )


def complete(run: RunDocuments, told: RunDocuments, problems: Problems) -> None:
    """Fill in what a run's own files lack with what a benchmark states of it.

    A pass rate that the two state differently is a problem; the run's own counts.
    """
    run.executor_model = run.executor_model or told.executor_model
    run.judge_model = run.judge_model or told.judge_model
    if run.grading is None and (run.structural is None or run.structural.gate_passed is not False):
        run.grading = told.grading
        if told.grading is not None:
            problems.add(
                "info", "graded-in-benchmark", run.path, f"no grading here; taken from {told.path}"
            )
    if told.timing is None or told.metrics is None:
        return
    metrics = run.metrics or (run.grading.execution_metrics if run.grading else None)
    if metrics is not None and metrics.output_chars and metrics.output_chars == told.timing.total_tokens:
        told.timing.total_tokens = None
        problems.add(
            "info",
            "characters-as-tokens",
            told.path,
            "its `tokens` are the characters of the outputs; they were not used as tokens",
        )
    run.timing = _filled(run.timing, told.timing)
    run.metrics = _filled(metrics, told.metrics)


def _filled(own: Any, told: Any) -> Any:
    """A copy of `own` in which what is null or 0 there is taken from `told`."""
    if own is None:
        return told
    gaps = {
        name: getattr(told, name)
        for name in own.__struct_fields__
        if not getattr(own, name) and getattr(told, name)
    }
    return msgspec.structs.replace(own, **gaps) if gaps else own


def compare(
    run: RunId, own: float | None, told: RunDocuments, path: str, problems: Problems
) -> None:
    """Report where a benchmark states another pass rate for a run than its own grading gives."""
    other = told.grading.summary.pass_rate if told.grading and told.grading.summary else None
    if own is not None and other is not None and abs(own - other) > 0.011:
        problems.add(
            "warning",
            "disagree",
            told.path,
            f"states a pass rate of {other:.2f} for {run.eval_id} / {run.configuration} / run "
            f"{run.number}, its grading in {path} gives {own:.2f}; the grading was used",
            where="$.runs",
        )


def add_stated(names: tuple[str, str], one: Stating, path: str, rows: Rows) -> None:
    """Add the figures that a benchmark states to the table `stated`, and its notes to `notes`."""
    if one.document.notes:
        key = rows.key(RunKey(*names, one.iteration, UNSTATED, UNSTATED, UNSTATED, 0))
        rows["notes"].extend((key, "analyst", text) for text in one.document.notes)
    for configuration, summary in one.document.run_summary.items():
        for metric, statistic, value in _figures(summary, configuration == DELTA):
            rows["stated"].append(
                (
                    *names,
                    one.iteration,
                    configuration,
                    metric,
                    statistic,
                    _number(value, metric),
                    value if isinstance(value, str) else json.dumps(value),
                    path,
                )
            )


def _figures(
    summary: ConfigurationSummary, is_delta: bool
) -> Iterator[tuple[str, str, float | str]]:
    for metric in summary.__struct_fields__:
        value = getattr(summary, metric)
        if metric == "rubric_dimensions":
            for dimension, stats in value.items():
                yield from _statistics(f"rubric:{dimension}", stats, "mean")
        elif value is not None:
            alone = "value" if is_delta or metric == "consistency" else "mean"
            yield from _statistics(metric, value, alone)


def _statistics(
    metric: str, value: Stats | float | str, alone: str
) -> Iterator[tuple[str, str, float | str]]:
    if not isinstance(value, Stats):
        yield metric, alone, value
        return
    for statistic in value.__struct_fields__:
        figure = getattr(value, statistic)
        if figure is not None:
            yield metric, statistic, figure


_RATES = ("pass_rate", "rubric_normalized", "overall_efficiency")


def _number(value: float | str, metric: str) -> float | None:
    """The number in a figure as it was printed: the first one, in the metric's unit."""
    if not isinstance(value, str):
        return float(value)
    found = re.match(r"\s*[+−-]?\s*\d[\d,]*(?:\.\d+)?\s*(?:%|pp|ms|s\b)?", value)
    if not found:
        return None
    unit = "rate" if metric in _RATES else "seconds" if metric == "time_seconds" else None
    try:
        return read_number(found[0].replace(" ", ""), unit)
    except Unreadable:
        return None
