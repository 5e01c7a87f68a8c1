"""The tables of an iteration as `Benchmark`, the document that every dialect writes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from skill_eval_nb.documents import (
    Benchmark,
    BenchmarkMetadata,
    BenchmarkRun,
    ConfigurationSummary,
    GradedExpectation,
    RubricScore,
    RunResult,
    Stats,
)
from skill_eval_nb.stats.values import RUBRIC, RUN, natural_key, run_key, sort_stamps
from skill_eval_nb.tables.document_rows import DELTA
from skill_eval_nb.text import count, some
from skill_eval_nb.workspace.evals import number_id

from .left_out import list_remarks
from .measured import (
    NO_ITERATION,
    IterationFigures,
    Row,
    line,
    list_slices,
    measure,
    print_difference,
    unit,
)

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


SHOWN = (
    "pass_rate",
    "rubric_normalized",
    "overall_efficiency",
    "time_seconds",
    "tokens",
    "tool_calls",
    "cost_usd",
)
"""The metrics that the document has a field for, besides consistency and the dimensions."""


def run_summary(measured: IterationFigures) -> dict[str, ConfigurationSummary]:
    """Each configuration's figures, and under `delta` what the first changes.

    The first two configurations are the one that is compared and its baseline, in this
    order: readers of the document take them so. A figure that no run has is absent.
    """
    names = order_sides(measured)
    summary = {name: _summarize_side(measured, name) for name in names}
    if measured.compared:
        summary[DELTA] = _summarize_delta(measured, measured.compared[0])
    return summary


def order_sides(measured: IterationFigures) -> list[str]:
    """The compared configuration, its baseline, then all others."""
    first = [*measured.compared[:1], *filter(None, [measured.baseline])]
    return [*first, *(name for name in measured.configurations if name not in first)]


def _list_metrics(measured: IterationFigures) -> list[str]:
    """The metrics that have a field; no efficiency where it only repeats the pass rate."""
    rubric = "rubric_normalized" in measured.known_metrics
    return [name for name in SHOWN if rubric or name != "overall_efficiency"]


def _summarize_side(measured: IterationFigures, name: str) -> ConfigurationSummary:
    return ConfigurationSummary(
        **{metric: _make_stats(measured, name, metric) for metric in _list_metrics(measured)},
        consistency=round_figure(measured.figure(name, "consistency"), "consistency"),
        rubric_dimensions={
            dimension: found
            for dimension in measured.dimensions
            if (found := _make_stats(measured, name, RUBRIC + dimension))
        },
    )


def _summarize_delta(measured: IterationFigures, name: str) -> ConfigurationSummary:
    """The differences of the two means, as the document has them, if some eval is paired."""
    figures: dict[str, Any] = {
        metric: print_difference(measured.gap(name, metric), metric)
        for metric in _list_metrics(measured)
        if measured.delta(name, metric) is not None
    }
    return ConfigurationSummary(**figures)


def _make_stats(measured: IterationFigures, name: str, metric: str) -> Stats | None:
    if measured.figure(name, metric) is None:
        return None
    return Stats(
        **{
            statistic: round_figure(measured.figure(name, metric, statistic), metric)
            for statistic in ("mean", "stddev", "min", "max")
        }
    )


def round_figure(value: float | None, metric: str) -> Any:
    """A figure without the digits that mean nothing; whole if it counts things and is whole.

    >>> (round_figure(0.1 + 0.2, "pass_rate"), round_figure(3800.0, "tokens"),
    ...  round_figure(None, "tokens"))
    (0.3, 3800, None)
    """
    if value is None:
        return None
    kept = round(value, 6 if unit(metric) == "usd" else 4)
    counts = unit(metric) not in ("rate", "seconds", "usd") and kept == int(kept)
    return int(kept) if counts else kept


def benchmark(ws: Workspace, timestamp: str | None = None) -> list[Benchmark]:
    """The aggregate of every iteration, in the form from which all dialects are written.

    One document per iteration (of a skill, of a workspace), the newest last. Runs, verdicts and
    notes come from the tables; `run_summary` is `stats.summarize`. Its `delta` is the first
    configuration's mean minus that of the baseline, printed with its sign, as the documents have
    it; if pairing by eval gives another figure, `notes` says so. Unknown figures are absent,
    never 0.

    Args:
        ws: what `load` returned.
        timestamp: the time to write; if not given, the newest `started_at` of the runs, or none
            if no run has one. It is never the time of writing, so the same workspace always
            gives the same document.

    >>> from skill_eval_nb.tables import Workspace
    >>> benchmark(Workspace.from_tables({}))
    []
    """
    return [build_benchmark(measure(ws, place), timestamp) for place in list_slices(ws)]


def build_benchmark(measured: IterationFigures, timestamp: str | None = None) -> Benchmark:
    """The aggregate of one iteration."""
    runs = order_runs(measured)
    notes, verdicts, scores = (
        measured.ws.polars(table).rows_by_key(RUN, named=True, include_key=True)
        for table in ("notes", "expectations", "rubric_scores")
    )
    return Benchmark(
        metadata=_metadata(measured, runs, timestamp),
        runs=[
            _benchmark_run(row, notes[key], verdicts[key], scores[key])
            for row in runs
            for key in (run_key(row),)
        ],
        run_summary=run_summary(measured),
        notes=list_remarks(measured),
    )


def order_runs(measured: IterationFigures) -> list[Row]:
    """The runs by eval, the compared configuration before the baseline, by number."""
    place = {name: at for at, name in enumerate(order_sides(measured))}
    return sorted(
        measured.ws.polars("runs").iter_rows(named=True),
        key=lambda row: (
            natural_key(row["eval_id"]),
            natural_key(row["eval_name"]),
            place[row["configuration"]],
            row["run_number"],
        ),
    )


def _metadata(
    measured: IterationFigures, runs: list[Row], timestamp: str | None
) -> BenchmarkMetadata:
    place, table = measured.place, measured.ws.polars("runs")

    def name_models(column: str) -> str | None:
        return ", ".join(sorted(filter(None, table[column].unique()))) or None

    return BenchmarkMetadata(
        skill_name=place.skill,
        executor_model=name_models("executor_model"),
        analyzer_model=name_models("judge_model"),
        timestamp=timestamp or next(reversed(sort_stamps(table["started_at"])), None),
        evals_run=list(dict.fromkeys(number_id(row["eval_id"]) for row in runs)),
        runs_per_configuration=max(table.group_by(RUN[:-1]).len()["len"], default=None),
        iteration=_iteration_number(place.iteration),
    )


def _benchmark_run(
    row: Row, notes: Sequence[Row], verdicts: Sequence[Row], scores: Sequence[Row]
) -> BenchmarkRun:
    status = [] if row["status"] == "graded" else [f"status: {row['status']}"]
    return BenchmarkRun(
        configuration=row["configuration"],
        eval_id=number_id(row["eval_id"]),
        eval_name=row["eval_name"],
        run_number=row["run_number"],
        result=RunResult(
            **{
                name: round_figure(row[name], name)
                for name in RunResult.__struct_fields__
                if name in row
                and (name != "overall_efficiency" or row["rubric_normalized"] is not None)
            }
        ),
        expectations=[_graded_expectation(verdict) for verdict in counted_checks(verdicts)],
        notes=status + [note["text"] for note in notes if note["kind"] != "analyst"],
        rubric_scores=_average_scores(scores),
        model=row["executor_model"],
    )


def counted_checks(verdicts: Sequence[Row]) -> Sequence[Row]:
    """The expectations that a run's pass rate counts: the judged, else the structural ones."""
    return [verdict for verdict in verdicts if verdict["layer"] == "judged"] or verdicts


def _graded_expectation(row: Row) -> GradedExpectation:
    return GradedExpectation(
        **{
            name: row[name]
            for name in ("text", "passed", "evidence", "type", "critical", "confidence")
        },
        id=row["expectation_id"],
    )


def group_scores(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The judgings that gave a score, by dimension."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["score"] is not None:
            found.setdefault(row["dimension"], []).append(row)
    return found


def _average_scores(rows: Sequence[Row]) -> dict[str, RubricScore]:
    """Each dimension's score, the mean over judgings, with the evidence of the first."""
    judgings = group_scores(rows)
    return {
        dimension: RubricScore(
            score=round_figure(sum(row["score"] for row in rows) / len(rows), dimension),
            evidence=next((row["evidence"] for row in rows if row["evidence"]), None),
            weight=rows[0]["weight"],
        )
        for dimension, rows in judgings.items()
    }


def _iteration_number(name: str) -> int | str | None:
    found = re.fullmatch(r"iteration-([1-9][0-9]{0,8})", name)
    return int(found[1]) if found else None if name == NO_ITERATION else name


NO_SPREAD = "With a single run the standard deviation is unknown; it is written as 0."


Fitted = tuple[Benchmark, list[str]]
"""A benchmark, and what of it was left out or stands in for the unknown."""


def fit_for_viewer(benchmark: Benchmark) -> Fitted:
    """The benchmark as the viewer of skill-creator shows it, and what of it was left out."""
    rated = [run for run in benchmark.runs if _is_rated(run)]
    summary, losses = fill_spread(benchmark.run_summary)
    if missing := [_fitted_name(run) for run in benchmark.runs if not _is_rated(run)]:
        many = count(len(missing), "run")
        losses.append(
            f"Not in the list of runs, for lack of a pass rate: {many}, {some(missing, 6)}."
        )
    if any(expectation.passed is None for run in rated for expectation in run.expectations):
        losses.append("Verdicts that were not scored are not in the lists of expectations.")
    return replace(
        benchmark,
        runs=[_fitted_scores(run) for run in rated],
        run_summary=summary,
        notes=[*benchmark.notes, *losses],
    ), losses


def _fitted_scores(run: BenchmarkRun) -> BenchmarkRun:
    """The run with the expectations that were scored, and as many in all."""
    result = run.result or RunResult()
    if result.passed is not None and result.failed is not None:
        result = replace(result, total=result.passed + result.failed)
    scored = [expectation for expectation in run.expectations if expectation.passed is not None]
    return replace(run, result=result, expectations=scored)


def fill_spread(
    summary: dict[str, ConfigurationSummary],
) -> tuple[dict[str, ConfigurationSummary], list[str]]:
    """The summary with 0 as standard deviation of a single run, and where that was filled in."""

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: fill(own) for name, own in value.items()}
        lacks = isinstance(value, Stats) and value.stddev is None
        return replace(value, stddev=0.0) if lacks else value

    filled = {
        name: replace(side, **{field: fill(value) for field, value in asdict(side).items()})
        for name, side in summary.items()
    }
    return filled, [NO_SPREAD] if filled != summary else []


def _is_rated(run: BenchmarkRun) -> bool:
    return run.result is not None and run.result.pass_rate is not None


def name_eval(run: BenchmarkRun) -> str:
    """The eval of a run, as a sentence names it."""
    return line(str(run.eval_name or run.eval_id), 60)


def _fitted_name(run: BenchmarkRun) -> str:
    return f"{name_eval(run)} {line(run.configuration, 60)} {run.run_number}"
