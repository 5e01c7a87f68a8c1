"""The rows of documents: suites, reviews, comparisons, versions, triggers, stated figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isclose
from statistics import fmean
from typing import Any, NamedTuple

from skill_eval_nb.documents import (
    Analysis,
    Benchmark,
    CheckLabel,
    Comparison,
    ConfigurationSummary,
    Feedback,
    History,
    Optimization,
    RunResult,
    Stats,
    SuggestionAggregate,
    TriggerQuery,
    TriggerSet,
    find_broken_rates,
)
from skill_eval_nb.documents.base import plain_key
from skill_eval_nb.documents.parsing import Unreadable, read_number
from skill_eval_nb.documents.results import ComparedRun
from skill_eval_nb.text import lower_first
from skill_eval_nb.workspace import UNSTATED, Catalogue, EvalKey, Problems
from skill_eval_nb.workspace.benchmarks import BenchmarkFile
from skill_eval_nb.workspace.catalogue import named_by
from skill_eval_nb.workspace.evals import EvalIndex, skill_named
from skill_eval_nb.workspace.folders import eval_parts

from .columns import Rows, RunRef
from .counted import CountedRun
from .run_rows import Row


class Home(NamedTuple):
    """Where a document belongs: its workspace's folder and names, its iteration, its file.

    `names` are those of the workspace and of its skill; `runs` all runs that were found.
    """

    folder: str
    names: tuple[str, str]
    iteration: str
    path: str
    runs: Sequence[RunRef]


def add_documents(catalogue: Catalogue, runs: Sequence[RunRef], rows: Rows) -> None:
    """Add the rows of all documents but those of runs, suites and benchmarks."""
    problems = catalogue.layout.problems
    _join_queries(catalogue)
    sets: dict[str, str] = {}
    for kind, file, document in catalogue.files.others:
        if kind == "triggers":
            if not document.queries:
                continue
            first = sets.setdefault(repr(document), file.path)
            if first != file.path:
                message = f"the same queries as in {first}; counted once"
                problems.add("info", "copy", file.path, message)
                continue
            rates = ((query.should_trigger, query.rate) for query in document.queries)
            for _, broken in find_broken_rates(rates):
                message = f"the measurement is broken: {lower_first(broken)}"
                problems.add("warning", "broken-measurement", file.path, message)
        folder, path = file.place.workspace, catalogue.shorten_path(file.path)
        home = Home(folder, catalogue.names[folder], file.place.iteration, path, runs)
        if kind == "feedback":
            _add_feedback(home, document, catalogue.index, rows, problems)
        elif kind == "suggestions":
            _add_aggregate(home, document, rows)
        else:
            table, rows_of = _ROWS_OF[kind]
            rows[table].extend(rows_of(home, document))


def _join_queries(catalogue: Catalogue) -> None:
    """Give measured queries the words of their set, and leave out what the set repeats of them.

    A result may know a query by its id alone, and a set beside it is the same queries once; how
    many of a set's queries were measured elsewhere is a problem.
    """
    skills = {folder: skill for folder, (_, skill) in catalogue.names.items()}
    sets: list[tuple[str, str, TriggerSet]] = [
        (skill_named(own.skill_name) or skills[file.place.workspace], file.path, own)
        for kind, file, own in catalogue.files.others
        if kind == "triggers"
    ]
    found = [(skill, path, query) for skill, path, own in sets for query in own.queries]
    asked: dict[tuple[str, str], TriggerQuery] = {}
    for skill, _, query in found:
        if query.rate is None:
            names = [query.query] if query.id is None else [query.query, str(query.id)]
            asked |= {(skill, plain_key(name)): query for name in names}
    measured: dict[tuple[str, str], str] = {}
    for skill, path, query in found:
        if query.rate is not None:
            known = asked.get((skill, plain_key(query.query)), query)
            query.query, should = known.query, known.should_trigger
            query.should_trigger = should if query.should_trigger is None else query.should_trigger
            measured[skill, plain_key(query.query)] = path
    for skill, path, own in sets:
        found_at = [
            None if one.rate is not None else measured.get((skill, plain_key(one.query)))
            for one in own.queries
        ]
        if again := [at for at in found_at if at is not None]:
            message = f"{len(again)} of its queries were measured in {again[0]}; counted once"
            catalogue.layout.problems.add("info", "copy", path, message)
            both = zip(own.queries, found_at, strict=True)
            own.queries = [query for query, at in both if at is None]


def _add_feedback(
    home: Home, document: Feedback, index: EvalIndex, rows: Rows, problems: Problems
) -> None:
    """Add the reviews; a run id that names no known run is kept, and is a problem."""
    configurations = {run.configuration for run in home.runs}
    evals: dict[str, EvalKey] = {}
    known: dict[tuple[str, str], set[int]] = {}
    for own in home.runs:
        if (own.workspace, own.iteration) == (home.names[0], home.iteration):
            evals[own.eval_id] = EvalKey(own.eval_id, own.eval_name)
            known.setdefault((own.eval_id, own.configuration), set()).add(own.run_number)
    for position, review in enumerate(document.reviews):
        named, side, number = named_by(review.run_id, configurations)
        id_ = eval_parts(named)[0]
        key = index.find(home.folder, home.iteration, id_, named) or evals.get(id_ or named)
        there = known.get((key.id, side), set()) if key and side else set()
        if not there or number not in (None, *there):
            message = (
                f"run id {review.run_id!r} names no run that was found here; "
                "write eval-<id>-<configuration>"
            )
            where = f"$.reviews[{position}].run_id"
            problems.add("warning", "unknown-run", home.path, message, where=where)
        key = key or EvalKey(named, named)
        number = 1 if number is None else number
        keys = RunRef(*home.names, home.iteration, *key, side or UNSTATED, number)
        given = scores_text(review.scores), labels_text(review.labels)
        said = review.feedback if review.reviewed else None
        row = (rows.begin_run(keys), said, review.timestamp, document.status, *given)
        rows["feedback"].append(row)


def scores_text(scores: Mapping[str, float]) -> str | None:
    """A human's scores as the table has them; whole numbers stay whole."""
    if not scores:
        return None
    whole = {name: int(score) if score == int(score) else score for name, score in scores.items()}
    return json.dumps(whole, ensure_ascii=False)


def labels_text(labels: Iterable[CheckLabel]) -> str | None:
    """A human's labels of checks as the table has them; those without a verdict are none."""
    rows = [
        {"text": label.text, "passed": label.passed, "sampled": label.sampled}
        for label in labels
        if label.passed is not None
    ]
    return json.dumps(rows, ensure_ascii=False) if rows else None


def _comparison_rows(home: Home, comparison: Comparison) -> Iterator[Row]:
    """A row a side and criterion."""
    eval_id = None if comparison.eval_id is None else str(comparison.eval_id)
    about = (comparison.comparison_id or home.path, comparison.pair, eval_id, comparison.winner)
    for side, configuration, version in (
        ("A", comparison.configuration_a, comparison.version_a),
        ("B", comparison.configuration_b, comparison.version_b),
    ):
        scores: list[tuple[str, str, float | None]] = []
        if rubric := comparison.rubric.get(side):
            scores += [("content", name, score) for name, score in rubric.content.items()]
            scores += [("structure", name, score) for name, score in rubric.structure.items()]
            for name in ("content_score", "structure_score", "overall_score"):
                scores.append(("overall", name, getattr(rubric, name)))
        if quality := comparison.output_quality.get(side):
            scores.append(("overall", "output_quality", quality.score))
        behind = comparison.runs.get(side) or ComparedRun()
        version = None if version is None else str(version)  # noqa: PLW2901
        mine = (*home.names, *about, side, configuration, version, behind.path)
        for score in scores or [("overall", "overall_score", None)]:
            if score[2] is not None or not scores:
                yield (*mine, *score, comparison.reasoning)


def _analysis_rows(home: Home, document: Analysis) -> Iterator[Row]:
    for advice in document.improvement_suggestions:
        about = advice.priority, advice.category
        yield (*home.names, home.path, *about, advice.suggestion, advice.expected_impact)


def _history_rows(home: Home, document: History) -> Iterator[Row]:
    for step in document.iterations:
        best = step.is_current_best
        if best is None and document.current_best:
            best = document.current_best == step.version
        result = step.expectation_pass_rate, step.grading_result
        yield (*home.names, step.version, step.parent, *result, best)


def _trigger_rows(home: Home, document: TriggerSet) -> Iterator[Row]:
    names = home.names[0], skill_named(document.skill_name) or home.names[1]
    for query in document.queries:
        measured = query.triggered, query.runs, query.rate
        about = query.split, query.tags, query.description or document.description
        yield (*names, query.query, query.should_trigger, *measured, *about)


def _optimization_rows(home: Home, document: Optimization) -> Iterator[Row]:
    for index, step in enumerate(document.iterations, 1):
        number = index if step.iteration is None else step.iteration
        best = step.description == document.best_description
        yield (*home.names, number, step.description, step.train_score, step.test_score, best)


_ROWS_OF: dict[str, tuple[str, Callable[[Home, Any], Iterator[Row]]]] = {
    "comparison": ("comparisons", _comparison_rows),
    "analysis": ("analyses", _analysis_rows),
    "history": ("history", _history_rows),
    "triggers": ("triggers", _trigger_rows),
    "optimization": ("optimizations", _optimization_rows),
}
"""By the kind of document: its table, and what gives the rows."""


_OF_NO_RUN = (UNSTATED, UNSTATED, UNSTATED, 0)
"""The keys, from the eval on, of what was said of an iteration."""


def _add_aggregate(home: Home, document: SuggestionAggregate, rows: Rows) -> None:
    """Add the suggestions that were collected over runs; they belong to no single one."""
    at = rows.begin_run(RunRef(*home.names, home.iteration, *_OF_NO_RUN))
    for suggestion in document.suggestions:
        times = "once" if suggestion.frequency == 1 else f"{suggestion.frequency} times"
        reason = f"{suggestion.reason} (said {times})"
        reason += f" Proposed: {suggestion.action}" if suggestion.action else ""
        rows["suggestions"].append((at, suggestion.assertion, "aggregate", reason))


DELTA = "delta"
"""The key of `run_summary` that holds differences and is not a configuration."""

RATES = frozenset(("pass_rate", "rubric_normalized", "overall_efficiency"))

RUNS_EACH = "runs_per_configuration"
"""What a benchmark calls the number of runs that each eval has on a side."""
Figures = dict[str, float | str]
"""What is stated of a metric: statistic to figure."""


_SUMMED = ("tokens", "time_seconds")


def turn_sums_into_means(catalogue: Catalogue, runs: Iterable[CountedRun]) -> None:
    """Turn totals of runs that a benchmark states where means are meant into means, saying so."""
    values: dict[tuple[str, str, str, str], list[float]] = {}
    for run in runs if catalogue.benchmarks else ():
        for metric in _SUMMED:
            if (figure := getattr(run.figures, metric)) is not None:
                side = (*run.side.run[:2], run.keys.configuration, metric)
                values.setdefault(side, []).append(figure)
    for benchmark in catalogue.benchmarks:
        place = benchmark.place
        for configuration, summary in benchmark.document.run_summary.items():
            for metric in _SUMMED:
                own = values.get((place.workspace, place.iteration, configuration, metric), [])
                stated = getattr(summary, metric)
                is_number = len(own) > 1 and isinstance(stated, int | float)
                if is_number and isclose(stated, sum(own), rel_tol=0.01):
                    setattr(summary, metric, stated / len(own))
                    message = (
                        f"{metric} of {configuration}: {stated} is the sum of its {len(own)} "
                        "runs; read as their mean"
                    )
                    catalogue.layout.problems.add("info", "sum-over-runs", benchmark.path, message)


def add_stated(names: tuple[str, str], benchmark: BenchmarkFile, path: str, rows: Rows) -> None:
    """Add the figures that a benchmark states to the table `stated`, and its notes to `notes`."""
    if benchmark.document.notes:
        at = rows.begin_run(RunRef(*names, benchmark.place.iteration, *_OF_NO_RUN))
        rows["notes"] += ((at, "analyst", text) for text in benchmark.document.notes)
    for configuration, summary in benchmark.document.run_summary.items():
        for metric, figures in _stated_metrics(summary, configuration == DELTA):
            values = _as_numbers(figures, metric)
            about = (*names, benchmark.place.iteration, configuration, metric)
            for statistic, figure in figures.items():
                printed = figure if isinstance(figure, str) else json.dumps(figure)
                rows["stated"].append((*about, statistic, values[statistic], printed, path))
    for configuration, metric, statistic, figure in _beside_summary(benchmark.document):
        about = (*names, benchmark.place.iteration, configuration, metric, statistic)
        rows["stated"].append((*about, float(figure), json.dumps(figure), path))


def _beside_summary(document: Benchmark) -> Iterator[tuple[str, str, str, float]]:
    """What a benchmark states of each side elsewhere than in its summary.

    That is how many runs an eval has, and the mean of a cost that its runs alone state.
    """
    sides: dict[str, list[RunResult]] = {name: [] for name in document.run_summary if name != DELTA}
    for run in document.runs:
        sides.setdefault(run.configuration, []).append(run.result or RunResult())
    for configuration, results in sides.items():
        number = document.metadata.runs_per_configuration
        if number is not None:
            yield configuration, RUNS_EACH, "value", number
        summary = document.run_summary.get(configuration)
        for metric in _SUMMED:
            own = [figure for result in results if (figure := getattr(result, metric)) is not None]
            if own and getattr(summary, metric, None) is None:
                yield configuration, metric, "runs", fmean(own) if len(set(own)) > 1 else own[0]


def _stated_metrics(summary: ConfigurationSummary, is_delta: bool) -> Iterator[tuple[str, Figures]]:
    for metric in summary.__struct_fields__:
        value = getattr(summary, metric)
        if metric == "rubric_dimensions":
            for dimension, stats in value.items():
                yield f"rubric:{dimension}", _statistics(stats)
        elif metric == "others":
            for name, figure in value.items():
                yield name, {"value": figure}
        elif isinstance(value, Stats):
            yield metric, _statistics(value)
        elif value is not None:
            yield metric, {"value" if is_delta or metric == "consistency" else "mean": value}


def _statistics(stats: Stats) -> Figures:
    every = {name: getattr(stats, name) for name in stats.__struct_fields__}
    return {name: figure for name, figure in every.items() if figure is not None}


def _as_numbers(figures: Figures, metric: str) -> dict[str, float | None]:
    """The figures as numbers, in the metric's unit.

    No rate and no difference of rates is above 1: where one is, all of them are in percent.

    >>> _as_numbers({"mean": 78.5, "stddev": 0.5}, "pass_rate")
    {'mean': 0.785, 'stddev': 0.005}
    """
    values = {name: _number(figure, metric) for name, figure in figures.items()}
    plain = [
        abs(values[name] or 0) for name, figure in figures.items() if not isinstance(figure, str)
    ]
    if metric not in RATES or not 1 < max(plain, default=0) <= 100:
        return values
    return {
        name: value if value is None or isinstance(figures[name], str) else value / 100
        for name, value in values.items()
    }


_PRINTED = re.compile(
    r"\s*+(?P<sign>[+\-−–]?)\s*+"
    r"(?P<number>[~≈$]?[\d.][\d.,]*+\s?(?:%|pp\b|[A-Za-z]++)?)\s*+(?:[(,;±].*)?",
    re.DOTALL,
)
"""A number with its unit, and perhaps a remark on it."""


def _number(figure: float | str, metric: str) -> float | None:
    """The number in a figure, however it was printed; None if a text says anything else.

    >>> _number("-0.5s (3.9% faster)", "time_seconds"), _number("+9pp", "pass_rate")
    (-0.5, 0.09)
    >>> _number("about the same", "tokens")
    """
    if not isinstance(figure, str):
        try:
            return float(figure)
        except OverflowError:  # a whole number that is too large for any
            return None
    found = _PRINTED.fullmatch(figure)
    if not found:
        return None
    unit = "rate" if metric in RATES else "seconds" if metric == "time_seconds" else None
    try:
        value = read_number(found["number"].strip(), unit)
    except Unreadable:
        return None
    return -value if found["sign"] in ("-", "−", "–") and value else value


def add_suites(catalogue: Catalogue, runs: Iterable[RunRef], rows: Rows) -> None:
    """Add the rows of `evals` and `dimensions`.

    An eval whose runs are of a skill of their own is of this skill; `runs` are all that were found.
    """
    defined: set[tuple[str, str]] = set()
    skills: dict[tuple[str, str], dict[str, None]] = {}
    for run in runs:
        skills.setdefault((run.workspace, run.eval_id), {})[run.skill] = None

    def name_and_skill(workspace: str, eval_id: str) -> tuple[str, str]:
        name, skill = catalogue.names[workspace]
        own = skills.get((name, eval_id), {})
        return name, skill if skill in own or not own else next(iter(own))

    for workspace, key, definition in catalogue.definitions:
        if (workspace, key.id) in defined:
            continue
        defined.add((workspace, key.id))
        rubric = definition.quality_rubric.dimensions if definition.quality_rubric else []
        own = (*name_and_skill(workspace, key.id), *key)
        task = definition.prompt, definition.expected_output, definition.files, definition.tags
        checks = len(definition.expectations), len(definition.structural_expectations)
        rows["evals"].append((*own, *task, definition.weight, *checks, len(rubric)))
        for dimension in rubric:
            scoring = dimension.scoring
            anchors = json.dumps(scoring, ensure_ascii=False) if scoring else None
            about = dimension.name, dimension.id, dimension.weight, dimension.description
            rows["dimensions"].append((*own, *about, anchors))
    for workspace, evals in catalogue.seen.items():
        for eval_ in evals:
            if (workspace, eval_.key.id) not in defined:
                defined.add((workspace, eval_.key.id))
                task = min(eval_.prompts, default=None), None, [], []
                own = (*name_and_skill(workspace, eval_.key.id), *eval_.key)
                rows["evals"].append((*own, *task, 1.0, eval_.n_assertions, 0, 0))
