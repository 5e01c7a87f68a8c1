"""A benchmark as the readers of a dialect need it, and what that costs.

Our documents leave out what is not known; some of their readers cannot take that.
skill-creator's viewer shows a run without a pass rate as 0 %, a verdict that was not scored
as a failure, and nothing at all where a standard deviation is missing. The schema of
`codingbuddy` demands both sides of every eval. So such things are left out, or something
stands in for the unknown, and every time it is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import asdict, replace

from ..documents import Benchmark, BenchmarkRun, ConfigurationSummary, RunResult, Stats
from .measured import Measured
from .plain import line
from .words import counted, listed

NO_SPREAD = "A standard deviation of 0 beside the mean of a single run stands for: not known."

FIGURES = ("pass_rate", "tokens", "time_seconds")
"""What `codingbuddy` demands of both sides of an eval."""

Fitted = tuple[Benchmark, list[str]]
"""A benchmark, and what of it was left out or stands in for the unknown."""


def fit(benchmark: Benchmark, measured: Measured, number: int, dialect: str) -> Fitted:
    """The benchmark for a dialect.

    Args:
        benchmark: the document as it is; it is not changed.
        measured: what it was made from.
        number: which of its skill's iterations it is, from 1.
        dialect: the dialect that it will be written in.
    """
    match dialect:
        case "skill-creator" | "skill-evaluator":
            return _for_viewer(benchmark)
        case "codingbuddy":
            return _for_schema(benchmark, measured, number)
    return benchmark, []


def _for_viewer(benchmark: Benchmark) -> Fitted:
    rated = [run for run in benchmark.runs if _has(run, ["pass_rate"])]
    summary, told = _with_spread(benchmark.run_summary)
    if missing := [_name(run) for run in benchmark.runs if not _has(run, ["pass_rate"])]:
        many = counted(len(missing), "run")
        told.append(f"Not in the list of runs, for lack of a pass rate: {many}, {listed(missing)}.")
    if any(one.passed is None for run in rated for one in run.expectations):
        told.append("Verdicts that were not scored are not in the lists of expectations.")
    return replace(
        benchmark,
        runs=[_scored(run) for run in rated],
        run_summary=summary,
        notes=[*benchmark.notes, *told],
    ), told


def _scored(run: BenchmarkRun) -> BenchmarkRun:
    """The run with the expectations that were scored, and as many in all."""
    result = run.result or RunResult()
    if result.passed is not None and result.failed is not None:
        result = replace(result, total=result.passed + result.failed)
    scored = [one for one in run.expectations if one.passed is not None]
    return replace(run, result=result, expectations=scored)


def _for_schema(benchmark: Benchmark, measured: Measured, number: int) -> Fitted:
    names = _names(measured)
    summary, told = _with_spread(
        {names[name]: one for name, one in benchmark.run_summary.items() if name in names}
    )
    told += [
        f"{line(name)} is written as {other}." for name, other in names.items() if name != other
    ]
    others = [line(name) for name in measured.configurations if name not in names]
    if others:
        told.append(f"Left out: {listed(others)}; there is a place for two configurations.")
    runs = [
        replace(run, configuration=names[run.configuration])
        for run in benchmark.runs
        if run.configuration in names
    ]
    whole = _whole_evals(runs)
    if missing := list(dict.fromkeys(_eval(run) for run in runs if run.eval_id not in whole)):
        many = counted(len(missing), "eval")
        told.append(f"Left out, for lack of figures on both sides: {many}, {listed(missing)}.")
    iteration = benchmark.metadata.iteration
    if not isinstance(iteration, int):
        told.append(f"The iteration {line(measured.place.iteration)} is written as {number}.")
        iteration = number
    return replace(
        benchmark,
        metadata=replace(benchmark.metadata, iteration=iteration),
        runs=[run for run in runs if run.eval_id in whole],
        run_summary=summary,
    ), told


def _names(measured: Measured) -> dict[str, str]:
    """What the two configurations that there is a place for are to be called."""
    if measured.baseline is None:
        return dict.fromkeys(measured.configurations[:1], "with_skill")
    compared = dict.fromkeys(measured.compared[:1], "with_skill")
    return compared | {measured.baseline: "without_skill"}


def _whole_evals(runs: Iterable[BenchmarkRun]) -> set[Any]:
    """The evals that have on both sides every figure that is known on both sides of some eval."""
    known: dict[Any, dict[str, set[str]]] = {}
    for run in runs:
        sides = known.setdefault(run.eval_id, {"with_skill": set(), "without_skill": set()})
        sides[run.configuration] |= {name for name in FIGURES if _has(run, [name])}
    both = {key: set.intersection(*sides.values()) for key, sides in known.items()}
    needed = set().union(*both.values())
    return {key for key, figures in both.items() if figures and figures == needed}


def _with_spread(
    summary: dict[str, ConfigurationSummary],
) -> tuple[dict[str, ConfigurationSummary], list[str]]:
    """The summary with a 0 for each standard deviation of a single run, and whether there are."""
    filled = {name: _filled(one) for name, one in summary.items()}
    return filled, [NO_SPREAD] if filled != summary else []


def _filled(summary: ConfigurationSummary) -> ConfigurationSummary:
    changes: dict[str, Any] = {
        name: _spread(value) for name, value in asdict(summary).items() if isinstance(value, Stats)
    }
    dimensions = {name: _spread(value) for name, value in summary.rubric_dimensions.items()}
    return replace(summary, **changes, rubric_dimensions=dimensions)


def _spread(stats: Stats) -> Stats:
    return replace(stats, stddev=0.0) if stats.stddev is None else stats


def _has(run: BenchmarkRun, figures: Iterable[str]) -> bool:
    return all(getattr(run.result, name, None) is not None for name in figures)


def _eval(run: BenchmarkRun) -> str:
    return line(str(run.eval_name or run.eval_id), 60)


def _name(run: BenchmarkRun) -> str:
    return f"{_eval(run)} {line(run.configuration, 60)} {run.run_number}"
