"""Writing a report: benchmark.json in any dialect, benchmark.md, report.html, tables as files."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from skill_eval_nb.documents import Benchmark, BenchmarkRun, GradedExpectation, Stats, to_json
from skill_eval_nb.documents.dialects import canonical, form_of
from skill_eval_nb.documents.dialects.form import Plain, without_none
from skill_eval_nb.documents.dialects.iterations import DELTAS, OVERALL
from skill_eval_nb.tables import TABLES
from skill_eval_nb.text import clip, count, did_you_mean, some
from skill_eval_nb.workspace import write_atomic

from .document import Fitted, build_benchmark, fill_spread, fit_for_viewer, name_eval
from .measured import NO_ITERATION, IterationFigures, Slice, line, name_folders
from .page import Reported, latest_figures, measure_iterations, whole_report
from .page import render_html as html_of
from .page import render_markdown as markdown_of
from .verdicts import answers, full_name

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.stats.verdict import Answer
    from skill_eval_nb.tables import Workspace

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
    if (write := WRITERS.get(dialect)) is not None:
        return write(group)
    fitted, losses = fit_for_viewer(group[0].benchmark)
    return canonical(fitted), losses


def _write_codingbuddy(group: Sequence[OneIteration]) -> tuple[Plain, list[str]]:
    """The means of each eval with the skill and without it, and the totals with it."""
    (benchmark, losses), (_, measured, number) = _fit_two_sides(group[0]), group[0]
    evals = _eval_runs(benchmark.runs)
    ids = [key if type(key) is int else at for at, key in enumerate(evals)]
    stated = benchmark.run_summary.get("with_skill")
    summary = {
        name: without_none({"mean": figure.mean, "stddev": figure.stddev})
        for name, of in TOTALS.items()
        if isinstance(figure := getattr(stated, of, None), Stats)
    }
    losses += [
        f"`summary.{name}` is required, but no run of the skill has it: left out."
        for name in TOTALS.keys() - summary.keys()
        if benchmark.runs
    ]
    losses.append("Left out (no such field): verdicts, rubric scores and single runs.")
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
                    "with_skill": _average(_of_side(runs, "with_skill"), SIDE),
                    "baseline": _average(_of_side(runs, "without_skill"), SIDE),
                }
                for id_, runs in zip(ids, evals.values(), strict=True)
            ],
        }
    ), losses


def _fit_two_sides(one: OneIteration) -> Fitted:
    """The benchmark with the two configurations and the evals that there is a place for."""
    benchmark, measured, _ = one
    names = dict.fromkeys(measured.configurations[:1], "with_skill")
    if measured.baseline is not None:
        names = dict.fromkeys(measured.compared[:1], "with_skill")
        names |= {measured.baseline: "without_skill"}
    summary, losses = fill_spread(
        {names[name]: side for name, side in benchmark.run_summary.items() if name in names}
    )
    losses += [
        f"{line(name)} is written as {other}." for name, other in names.items() if name != other
    ]
    if others := [line(name) for name in measured.configurations if name not in names]:
        losses.append(f"Left out: {some(others, 6)}; this format holds two configurations.")
    runs = [
        structs.replace(run, configuration=names[run.configuration])
        for run in benchmark.runs
        if run.configuration in names
    ]
    whole = _whole_evals(runs)
    if missing := list(dict.fromkeys(name_eval(run) for run in runs if run.eval_id not in whole)):
        many = count(len(missing), "eval")
        losses.append(f"Left out for lack of figures on both sides: {many}, {some(missing, 6)}.")
    kept = [run for run in runs if run.eval_id in whole]
    return structs.replace(benchmark, runs=kept, run_summary=summary), losses


def _whole_evals(runs: Runs) -> set[Any]:
    """The evals that have on both sides every figure that is known on both sides of some eval."""
    both = {
        key: {
            of
            for of in SIDE.values()
            if all(_figures(_of_side(own, side), of) for side in ("with_skill", "without_skill"))
        }
        for key, own in _eval_runs(runs).items()
    }
    needed = set().union(*both.values())
    return {key for key, figures in both.items() if figures and figures == needed}


def _write_iterations(group: Sequence[OneIteration]) -> tuple[Plain, list[str]]:
    """Each iteration's configurations with their evals, the share of runs that passed a check."""
    blocks = [_iteration_entry(benchmark) for benchmark, _, _ in group]
    losses = ["Left out (no such field): rubric scores and single runs."]
    return without_none({"skill_name": _find_skill(group), "iterations": blocks}), losses


def _iteration_entry(benchmark: Benchmark) -> Plain:
    summary = benchmark.run_summary
    sides = []
    for name in dict.fromkeys([run.configuration for run in benchmark.runs] + list(summary)):
        tests = [_test_entry(runs) for runs in _eval_runs(_of_side(benchmark.runs, name)).values()]
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
    about = {"skill_name": _find_skill(group), "description_version": max(versions, default=None)}
    others = {run.configuration for one in group for run in one.benchmark.runs} - {"with_skill"}
    losses = ["Left out (no such field): verdicts, tokens, rubric scores and single runs."]
    if others:
        names = some([clip(name) for name in sorted(others)], 6)
        losses.append(f"Left out: {names}; this format holds one configuration.")
    return without_none({**about, "entries": entries}), losses


def _entry(benchmark: Benchmark, _: IterationFigures, number: int) -> Plain:
    metadata, stated = benchmark.metadata, benchmark.run_summary.get("with_skill")
    digits = re.sub(r"^(?:description|iteration)-", "", str(metadata.iteration))
    cases = _eval_runs(_of_side(benchmark.runs, "with_skill"))
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
                {"test_case_id": str(key), **_average(runs, figures)} for key, runs in cases.items()
            ],
            "num_test_cases": len(cases),
        }
    )


WRITERS: dict[str, Callable[[Sequence[OneIteration]], tuple[Plain, list[str]]]] = {
    "codingbuddy": _write_codingbuddy,
    "iterations": _write_iterations,
    "test-cases": _write_test_cases,
}


def _find_skill(group: Sequence[OneIteration]) -> str | None:
    return next((name for one in group if (name := one.benchmark.metadata.skill_name)), None)


def _eval_runs(runs: Runs) -> dict[Any, list[BenchmarkRun]]:
    groups: dict[Any, list[BenchmarkRun]] = {}
    for run in runs:
        groups.setdefault(run.eval_id if run.eval_id is not None else run.eval_name, []).append(run)
    return groups


def _of_side(runs: Runs, configuration: str) -> list[BenchmarkRun]:
    return [run for run in runs if run.configuration == configuration]


def _figures(runs: Runs, figure: str) -> list[float]:
    found = (getattr(run.result, figure, None) for run in runs)
    return [value for value in found if value is not None]


def _average(runs: Runs, names: dict[str, str]) -> Plain:
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


class Written(list[Path]):
    """The files that were written.

    Attributes:
        losses: the data that the files cannot hold.
        answers: for each skill's last iteration with a comparison, its name and its answer.
    """

    def __init__(
        self,
        paths: Iterable[Path] = (),
        losses: Iterable[str] = (),
        answers: Iterable[tuple[str, Answer]] = (),
    ) -> None:
        super().__init__(paths)
        self.losses = list(dict.fromkeys(losses))
        self.answers = list(answers)


def write_benchmark(
    ws: Workspace,
    folder: str | PathLike[str],
    dialect: str = "skill-creator",
    timestamp: str | None = None,
) -> Written:
    """Write benchmark.json and benchmark.md; the same workspace gives the same bytes.

    It writes one pair of files per iteration, or per skill of each workspace if the dialect's
    benchmark spans iterations. A single pair goes into `folder` itself, several into sub-folders
    `workspace/iteration`. If there is nothing to report, nothing is written.

    Args:
        ws: what `load` returned.
        folder: where to write; created if missing.
        dialect: the form of benchmark.json.
        timestamp: as for `benchmark`.

    Returns:
        the paths, and in `losses` what the dialect cannot hold.

    Raises:
        NoSuchDocument: the dialect does not exist or has no benchmark (a ValueError).
        OSError: a file cannot be written.
    """
    form_of("benchmark", dialect)
    return _write_benchmarks(ws, measure_iterations(ws), Path(folder), dialect, timestamp)


def write_report(
    ws: Workspace,
    folder: str | PathLike[str],
    dialect: str = "skill-creator",
    timestamp: str | None = None,
    progress: Callable[[str], object] | None = None,
) -> Written:
    """Write what `write_benchmark` writes, and report.html for all of it in `folder` itself.

    Arguments, result and errors are those of `write_benchmark`; `progress` is called with a
    description of each step.
    """
    form_of("benchmark", dialect)
    every = measure_iterations(ws, progress)
    if progress is not None:
        progress("drawing report.html")
    written = _write_benchmarks(ws, every, Path(folder), dialect, timestamp)
    page = write_atomic(Path(folder, "report.html"), html_of(whole_report(ws, every)))
    names = "" if len(every) == 1 else "{}: "
    said = [
        (names.format(full_name(measured)), answer)
        for measured in latest_figures(every)
        for answer in answers(measured)
    ]
    return Written([*written, page], written.losses, said)


def write_tables(
    ws: Workspace,
    folder: str | PathLike[str],
    format: str = "parquet",  # noqa: A002 - what the shell's option is called
    names: Sequence[str] | None = None,
    *,
    quote_formulas: bool = False,
) -> list[Path]:
    """Write tables as files, `runs.parquet` and so on.

    CSV has no lists: their texts are joined by `; `. There, an empty field is null and an empty
    text is `""`. Texts are written unchanged, and a spreadsheet runs a cell that begins with
    `=`, `+`, `-`, `@`, a tab or a carriage return as a formula, whoever wrote it.
    `quote_formulas` puts a `'` before each, so that the cell stays text.

    Args:
        ws: what `load` returned.
        folder: where to write; created if missing.
        format: `parquet`, `csv` or `json` (a list of objects).
        names: which tables; all if not given.
        quote_formulas: whether texts of a CSV that a spreadsheet would run get a `'` before
            them; the texts then differ from the files. The other formats have no formulas.

    Raises:
        ValueError: if the format is another; the message names the nearest.
        KeyError: if the name is not a table; the message names the nearest.
        OSError: a file cannot be written.
    """
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS)
        raise ValueError(
            f"Tables are not written as `{format}`.{hint} Formats: {', '.join(FORMATS)}."
        )
    frames = {name: ws.polars(name) for name in (TABLES if names is None else names)}
    if format == "csv" and quote_formulas:
        frames = {name: _quote_formulas(frame) for name, frame in frames.items()}
    return [
        write_atomic(Path(folder, f"{name}.{format}"), FORMATS[format](frame))
        for name, frame in frames.items()
    ]


def _write_benchmarks(
    ws: Workspace, every: Sequence[Reported], folder: Path, dialect: str, timestamp: str | None
) -> Written:
    written = Written()
    groups = _group_by_file(every, spans_iterations=dialect in SPANNING)
    for below, group in zip(name_folders(list(groups)), groups.values(), strict=True):
        ones = [
            OneIteration(build_benchmark(one.measured, timestamp), one.measured, number)
            for one, number in group
        ]
        value, losses = benchmark_as(dialect, ones)
        files = {
            "benchmark.json": to_json(value),
            "benchmark.md": markdown_of(whole_report(ws, [one for one, _ in group])),
        }
        written += [
            write_atomic(folder / below / name, data, root=folder) for name, data in files.items()
        ]
        written.losses += losses
    return Written(written, written.losses)


def _group_by_file(
    every: Sequence[Reported], *, spans_iterations: bool
) -> dict[Slice, list[tuple[Reported, int]]]:
    """What goes into one file: iterations, each with its number in its workspace and skill."""
    numbers: dict[Slice, int] = {}
    groups: dict[Slice, list[tuple[Reported, int]]] = {}
    for iteration in every:
        place = iteration.measured.place
        skill = replace(place, iteration=NO_ITERATION)
        numbers[skill] = numbers.get(skill, 0) + 1
        file = skill if spans_iterations else place
        groups.setdefault(file, []).append((iteration, numbers[skill]))
    return groups


def _parquet_bytes(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _join_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with each list of texts as one text."""
    import polars as pl
    import polars.selectors as cs

    return frame.with_columns(cs.by_dtype(pl.List(pl.String)).list.join("; "))


def _quote_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with a `'` before each text that a spreadsheet would run."""
    import polars.selectors as cs

    return _join_lists(frame).with_columns(cs.string().str.replace(r"\A[=+\-@\t\r]", "'${0}"))


FORMATS: dict[str, Callable[[pl.DataFrame], bytes | str]] = {
    "parquet": _parquet_bytes,
    "csv": lambda frame: _join_lists(frame).write_csv(),
    "json": lambda frame: frame.write_json() + "\n",
}
"""What tables can be written as."""
