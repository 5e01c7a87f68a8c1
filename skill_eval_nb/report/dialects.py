"""benchmark.json in the forms of other dialects: an export, which loads again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from msgspec.structs import replace

from skill_eval_nb.documents import Benchmark, BenchmarkRun, GradedExpectation, Stats
from skill_eval_nb.documents.dialects import canonical
from skill_eval_nb.documents.dialects.form import Plain, without_none
from skill_eval_nb.documents.dialects.iterations import DELTAS, OVERALL
from skill_eval_nb.text import brief, count, some

from .document import Fitted, for_viewer, has_figures, name_eval, with_spread
from .measured import IterationFigures, line

SPANNING = ("iterations", "test-cases")
"""Dialects whose file is of all iterations of a skill."""
SIDE = {"pass_rate": "pass_rate", "tokens": "tokens", "duration": "time_seconds"}
"""What `codingbuddy` calls the figures of a side of an eval, all of which it demands."""
TOTALS = {"pass_rate": "pass_rate", "tokens": "tokens", "duration_seconds": "time_seconds"}
"""And those over all evals."""

Runs = Iterable[BenchmarkRun]


class OneIteration(NamedTuple):
    """An iteration as a document, what it was made from, and its number in its skill, from 1."""

    benchmark: Benchmark
    measured: IterationFigures
    number: int


def benchmark_as(dialect: str, group: Sequence[OneIteration]) -> tuple[Any, list[str]]:
    """The plain value of a benchmark.json, and what of the iterations it cannot hold.

    Args:
        dialect: the form.
        group: the iterations of one file: one, but for the `SPANNING`.
    """
    write = WRITERS.get(dialect)
    if write is not None:
        return write(group)
    fitted, losses = for_viewer(group[0].benchmark)
    return canonical(fitted), losses


def _write_codingbuddy(group: Sequence[OneIteration]) -> tuple[Plain, list[str]]:
    """The means of each eval with the skill and without it, and the totals with it."""
    (benchmark, losses), (_, measured, number) = _for_two_sides(group[0]), group[0]
    evals = _by_eval(benchmark.runs)
    ids = [key if type(key) is int else at for at, key in enumerate(evals)]
    stated = benchmark.run_summary.get("with_skill")
    summary = {
        name: without_none({"mean": figure.mean, "stddev": figure.stddev})
        for name, of in TOTALS.items()
        if isinstance(figure := getattr(stated, of, None), Stats)
    }
    losses += [
        f"`summary.{name}` is demanded, but no run of the skill has it: it is left out."
        for name in TOTALS.keys() - summary.keys()
        if benchmark.runs
    ]
    losses.append("Verdicts, rubric scores and single runs have no place: evals have means.")
    iteration = benchmark.metadata.iteration
    if not isinstance(iteration, int):
        losses.append(f"The iteration {line(measured.place.iteration)} is written as {number}.")
    skill = re.sub(r"[^a-z0-9]+", "-", (benchmark.metadata.skill_name or "").lower()).strip("-")
    return without_none(
        {
            "skill_name": skill or None,
            "iteration": iteration if isinstance(iteration, int) else number,
            "summary": summary,
            "eval_results": [
                {
                    "eval_id": id_,
                    "with_skill": _means(_of_side(runs, "with_skill"), SIDE),
                    "baseline": _means(_of_side(runs, "without_skill"), SIDE),
                }
                for id_, runs in zip(ids, evals.values(), strict=True)
            ],
        }
    ), losses


def _for_two_sides(one: OneIteration) -> Fitted:
    """The benchmark with the two configurations and the evals that there is a place for."""
    benchmark, measured, _ = one
    names = dict.fromkeys(measured.configurations[:1], "with_skill")
    if measured.baseline is not None:
        names = dict.fromkeys(measured.compared[:1], "with_skill")
        names |= {measured.baseline: "without_skill"}
    summary, losses = with_spread(
        {names[name]: side for name, side in benchmark.run_summary.items() if name in names}
    )
    losses += [
        f"{line(name)} is written as {other}." for name, other in names.items() if name != other
    ]
    if others := [line(name) for name in measured.configurations if name not in names]:
        losses.append(f"Left out: {some(others, 6)}; there is a place for two configurations.")
    runs = [
        replace(run, configuration=names[run.configuration])
        for run in benchmark.runs
        if run.configuration in names
    ]
    whole = _whole_evals(runs)
    if missing := list(dict.fromkeys(name_eval(run) for run in runs if run.eval_id not in whole)):
        many = count(len(missing), "eval")
        losses.append(f"Left out, for lack of figures on both sides: {many}, {some(missing, 6)}.")
    kept = [run for run in runs if run.eval_id in whole]
    return replace(benchmark, runs=kept, run_summary=summary), losses


def _whole_evals(runs: Runs) -> set[Any]:
    """The evals that have on both sides every figure that is known on both sides of some eval."""
    both = {
        key: {
            of
            for of in SIDE.values()
            if all(
                any(has_figures(run, [of]) for run in _of_side(own, side))
                for side in ("with_skill", "without_skill")
            )
        }
        for key, own in _by_eval(runs).items()
    }
    needed = set().union(*both.values())
    return {key for key, figures in both.items() if figures and figures == needed}


def _write_iterations(group: Sequence[OneIteration]) -> tuple[Plain, list[str]]:
    """Each iteration's configurations with their evals, the share of runs that passed a check."""
    blocks = [_iteration_entry(benchmark) for benchmark, _, _ in group]
    losses = ["Rubric scores and single runs have no place: checks have the share that passed."]
    return without_none({"skill_name": _skill(group), "iterations": blocks}), losses


def _iteration_entry(benchmark: Benchmark) -> Plain:
    summary = benchmark.run_summary
    sides = []
    for name in dict.fromkeys([run.configuration for run in benchmark.runs] + list(summary)):
        tests = [_test_entry(runs) for runs in _by_eval(_of_side(benchmark.runs, name)).values()]
        overall = {
            of: _mean_of(getattr(summary.get(name), own, None)) for own, of in OVERALL.items()
        }
        side = without_none(
            {"name": name, "tests": tests or None, "overall": without_none(overall) or None}
        )
        sides += [side] if name != "delta" and len(side) > 1 else []
    deltas = {name: getattr(summary.get("delta"), own, None) for own, name in DELTAS.items()}
    about = {"iteration": benchmark.metadata.iteration, "timestamp": benchmark.metadata.timestamp}
    return without_none({**about, "configurations": sides, "deltas": without_none(deltas) or None})


def _test_entry(runs: Sequence[BenchmarkRun]) -> Plain:
    checks: dict[str, list[GradedExpectation]] = {}
    for expectation in (one for run in runs for one in run.expectations):
        checks.setdefault(expectation.text, []).append(expectation)
    return without_none(
        {
            "eval_id": runs[0].eval_id,
            "eval_name": runs[0].eval_name,
            "assertions": [_write_check(text, verdicts) for text, verdicts in checks.items()],
            "tokens": _spread(_figures(runs, "tokens")),
            "duration_seconds": _spread(_figures(runs, "time_seconds")),
        }
    )


def _write_check(text: str, verdicts: Sequence[GradedExpectation]) -> Plain:
    scored = [verdict.passed for verdict in verdicts if verdict.passed is not None]
    details = f"passed {sum(scored)}/{len(scored)} runs" if scored else None
    if len(verdicts) == 1:
        details = verdicts[0].evidence or details
    return without_none(
        {"name": text, "pass_rate": fmean(scored) if scored else None, "details": details}
    )


def _write_test_cases(group: Sequence[OneIteration]) -> tuple[Plain, list[str]]:
    """Each iteration as a version of the description, with the mean of each test case."""
    entries = [_entry(*one) for one in group]
    versions = [entry["description_version"] for entry in entries]
    about = {"skill_name": _skill(group), "description_version": max(versions, default=None)}
    others = {run.configuration for one in group for run in one.benchmark.runs} - {"with_skill"}
    losses = ["Verdicts, tokens, rubric scores and single runs have no place: cases have means."]
    if others:
        names = some([brief(name) for name in sorted(others)], 6)
        losses.append(f"Left out: {names}; there is a place for one configuration.")
    return without_none({**about, "entries": entries}), losses


def _entry(benchmark: Benchmark, _: IterationFigures, number: int) -> Plain:
    metadata, stated = benchmark.metadata, benchmark.run_summary.get("with_skill")
    digits = re.sub(r"^(?:description|iteration)-", "", str(metadata.iteration))
    cases = _by_eval(_of_side(benchmark.runs, "with_skill"))
    rate = getattr(stated, "pass_rate", None)
    scores = {"mean": _mean_of(rate)}
    if isinstance(rate, Stats):
        scores |= {"std_dev": rate.stddev, "min": rate.min, "max": rate.max}
    figures = {"score": "pass_rate", "duration_seconds": "time_seconds"}
    return without_none(
        {
            "description_version": int(digits) if re.fullmatch(r"\d{1,9}", digits) else number,
            "timestamp": metadata.timestamp,
            "scores": without_none(scores) or None,
            "per_test_case": [
                {"test_case_id": str(key), **_means(runs, figures)} for key, runs in cases.items()
            ],
            "num_test_cases": len(cases),
        }
    )


WRITERS: dict[str, Callable[[Sequence[OneIteration]], tuple[Plain, list[str]]]] = {
    "codingbuddy": _write_codingbuddy,
    "iterations": _write_iterations,
    "test-cases": _write_test_cases,
}


def _skill(group: Sequence[OneIteration]) -> str | None:
    return next((name for one in group if (name := one.benchmark.metadata.skill_name)), None)


def _by_eval(runs: Runs) -> dict[Any, list[BenchmarkRun]]:
    groups: dict[Any, list[BenchmarkRun]] = {}
    for run in runs:
        groups.setdefault(run.eval_id if run.eval_id is not None else run.eval_name, []).append(run)
    return groups


def _of_side(runs: Runs, configuration: str) -> list[BenchmarkRun]:
    return [run for run in runs if run.configuration == configuration]


def _figures(runs: Runs, figure: str) -> list[float]:
    found = (getattr(run.result, figure, None) for run in runs)
    return [value for value in found if value is not None]


def _means(runs: Runs, names: dict[str, str]) -> Plain:
    """The means of figures over runs, by their names; tokens are whole."""
    values = {name: own for name, of in names.items() if (own := _figures(runs, of))}
    means = {name: fmean(own) for name, own in values.items()}
    return means | ({"tokens": round(means["tokens"])} if "tokens" in means else {})


def _spread(values: list[float]) -> Plain | None:
    if not values:
        return None
    deviation = {"stddev": stdev(values)} if len(values) > 1 else {}
    return {"mean": fmean(values), **deviation, "min": min(values), "max": max(values)}


def _mean_of(stated: Any) -> float | None:
    value = stated.mean if isinstance(stated, Stats) else stated
    return value if isinstance(value, int | float) else None
