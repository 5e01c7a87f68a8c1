"""One run on disk to its row of `runs`, and to its rows of the tables that hold texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skill_eval_nb.documents import GradedExpectation, Grading, RubricScore, Structural, Summary
from skill_eval_nb.workspace import Problems, RunDocuments

from .rows import Rows

FAILURES = frozenset(("error", "errored", "failed", "failure", "timeout", "timed_out", "crashed"))
"""What a run's `status` says where the executor failed."""


def counts(expectations: Iterable[GradedExpectation]) -> tuple[int, int, int]:
    """How many expectations passed, failed and were not scored."""
    passed = failed = unscored = 0
    for one in expectations:
        if one.passed:
            passed += 1
        elif one.passed is None:
            unscored += 1
        else:
            failed += 1
    return passed, failed, unscored


def share(passed: int, failed: int) -> float | None:
    """Passed / (passed + failed); None where nothing was scored."""
    scored = passed + failed
    return passed / scored if scored else None


Counted = tuple[float | None, int | None, int | None, int | None]
"""pass rate, passed, failed, total; all None where there is no figure."""

NOTHING: Counted = (None, None, None, None)


def count(
    expectations: Sequence[GradedExpectation],
    summary: Summary | None,
    path: str,
    problems: Problems,
) -> Counted:
    """The figures of a grading: counted from the verdicts, else as its summary states them.

    Where the two disagree the verdicts count, and the summary is a problem.
    """
    if not expectations:
        return _stated(summary)
    passed, failed, unscored = counts(expectations)
    rate = share(passed, failed)
    if summary is not None and rate is not None:
        _compare(summary, rate, passed, path, problems)
    return rate, passed, failed, passed + failed + unscored


def _stated(summary: Summary | None) -> Counted:
    if summary is None:
        return NOTHING
    passed, failed, total = summary.passed, summary.failed, summary.total
    if passed is not None and failed is None and total is not None and total >= passed:
        failed = total - passed
    if passed is not None and failed is not None:
        return (
            share(passed, failed),
            passed,
            failed,
            total if total is not None else passed + failed,
        )
    return summary.pass_rate, passed, failed, total


def _compare(summary: Summary, rate: float, passed: int, path: str, problems: Problems) -> None:
    other_count = summary.passed is not None and summary.passed != passed
    other_rate = summary.pass_rate is not None and abs(summary.pass_rate - rate) > 0.011
    if other_count or other_rate:
        problems.add(
            "warning",
            "disagree",
            path,
            f"the summary says {_percent(summary.pass_rate)} ({summary.passed} passed), the verdicts "
            f"say {_percent(rate)} ({passed} passed); the verdicts were used",
            where="$.summary",
        )


def _percent(rate: float | None) -> str:
    return "no pass rate" if rate is None else f"{rate:.0%}"


def scores_of(documents: RunDocuments) -> list[tuple[int, str | None, Mapping[str, RubricScore]]]:
    """The rubric scores of a run, one a judging: number, model, dimension to score."""
    if documents.judgings:
        return [
            (one.judging or index, one.judge_model, one.rubric_scores)
            for index, one in enumerate(documents.judgings, 1)
        ]
    grading = documents.grading
    if grading is None or not grading.rubric_scores:
        return []
    return [(1, grading.judge_model or documents.judge_model, grading.rubric_scores)]


def rubric_mean(
    documents: RunDocuments, weights: Mapping[str, float], problems: Problems
) -> float | None:
    """The weighted mean over dimensions of a run's scores, each averaged over its judgings.

    Weights are the suite's, else those in the grading. Where neither has them, the mean
    that the grading itself states is used, else every dimension weighs the same.
    """
    sums: dict[str, list[float]] = {}
    given = dict(weights)
    for _, _, scores in scores_of(documents):
        for dimension, one in scores.items():
            if one.score is not None:
                sums.setdefault(dimension, []).append(one.score)
            if one.weight is not None:
                given.setdefault(dimension, one.weight)
    stated = documents.grading.rubric_summary if documents.grading else None
    stated_mean = stated.weighted_mean if stated else None
    if stated_mean is None and stated and stated.normalized is not None:
        stated_mean = stated.normalized * 5
    if not sums or (stated_mean is not None and not sums.keys() <= given.keys()):
        return stated_mean
    total = sum(given.get(dimension, 1.0) for dimension in sums)
    if not total:
        return stated_mean
    mean = (
        sum(given.get(name, 1.0) * sum(values) / len(values) for name, values in sums.items())
        / total
    )
    if stated_mean is not None and not documents.judgings and abs(stated_mean - mean) > 0.051:
        problems.add(
            "warning",
            "disagree",
            documents.path,
            f"rubric_summary states a weighted mean of {stated_mean:.2f}, the scores and weights "
            f"give {mean:.2f}; the latter was used",
            where="$.rubric_summary.weighted_mean",
        )
    return mean


def efficiency(
    structural: float | None, graded: float | None, rubric: float | None
) -> float | None:
    """`overall_efficiency`: the mean of the structural (else the graded) pass rate and the
    normalized rubric score; with one of the two missing, the other.
    """
    checks = graded if structural is None else structural
    if checks is None or rubric is None:
        return rubric if checks is None else checks
    return (checks + rubric) / 2


def figures(
    documents: RunDocuments, weights: Mapping[str, float], problems: Problems
) -> tuple[Any, ...]:
    """The columns of `runs` after its keys, in their order."""
    grading, structural = documents.grading, documents.structural
    judged = NOTHING
    if grading is not None:
        judged = count(grading.expectations, grading.summary, documents.path, problems)
    checked = NOTHING
    if structural is not None:
        checked = count(structural.expectations, structural.summary, documents.path, problems)
    rate, passed, failed, total = checked if judged == NOTHING else judged
    mean = rubric_mean(documents, weights, problems)
    normalized = None if mean is None else mean / 5
    gate = _gate(structural)
    return (
        _status(documents, rate, mean, gate),
        rate,
        passed,
        failed,
        total,
        checked[0],
        gate,
        mean,
        normalized,
        efficiency(checked[0], judged[0], normalized),
        *_costs(documents, problems),
        documents.path,
    )


def _gate(structural: Structural | None) -> bool | None:
    if structural is None or structural.gate_passed is not None:
        return structural.gate_passed if structural else None
    critical = [one.passed for one in structural.expectations if one.critical]
    return None if None in critical or not structural.expectations else all(critical)


def _status(
    documents: RunDocuments, rate: float | None, rubric: float | None, gate: bool | None
) -> str:
    if documents.grading is None and gate is False:
        return "gated"
    if rate is not None or rubric is not None:
        return "graded"
    timing = documents.timing
    if timing is not None and (timing.exit_code or (timing.status or "").lower() in FAILURES):
        return "errored"
    if documents.grading is not None or documents.unreadable or not documents.took_place:
        return "ungraded"
    return "executed"


def _costs(documents: RunDocuments, problems: Problems) -> tuple[Any, ...]:
    """time_seconds … started_at: from timing.json and metrics.json, else as the grader noted."""
    timing, grading = documents.timing, documents.grading
    noted = grading.timing if grading else None
    metrics = documents.metrics or (grading.execution_metrics if grading else None)
    seconds = tokens = started = None
    if timing is not None:
        seconds = _seconds(timing.total_duration_seconds, timing.duration_ms)
        seconds = timing.executor_duration_seconds if seconds is None else seconds
        tokens, started = timing.total_tokens, timing.executor_start
    if noted is not None:
        if seconds is None:
            seconds = noted.executor_duration_seconds
        if seconds is None:
            seconds = _seconds(noted.total_duration_seconds, noted.duration_ms)
        tokens = noted.total_tokens if tokens is None else tokens
    if seconds == 0 or tokens == 0:
        seconds, tokens = _not_measured(seconds, tokens, documents.path, problems)
    calls = _calls(metrics.tool_calls, metrics.total_tool_calls) if metrics else None
    if calls is None and timing is not None:
        calls = _calls(timing.tool_calls, None)
    return (
        seconds,
        tokens,
        calls,
        metrics.total_steps if metrics else None,
        metrics.errors_encountered if metrics else None,
        metrics.output_chars if metrics else None,
        metrics.transcript_chars if metrics else None,
        _first(metrics and metrics.cost_usd, timing and timing.cost_usd),
        _first(metrics and metrics.skill_used, grading and grading.skill_used),
        _first(timing and timing.model, documents.executor_model),
        _first(grading and grading.judge_model, documents.judge_model),
        None if started is None else str(started),
    )


def _seconds(seconds: float | None, milliseconds: float | None) -> float | None:
    return milliseconds / 1000 if seconds is None and milliseconds is not None else seconds


def _not_measured(
    seconds: float | None, tokens: int | None, path: str, problems: Problems
) -> tuple[float | None, int | None]:
    """No run takes no time or no tokens: a 0 stands for a figure that was not measured."""
    which = [name for name, value in (("time", seconds), ("tokens", tokens)) if value == 0]
    problems.add(
        "info",
        "zero-means-missing",
        path,
        f"{' and '.join(which)} of 0: not measured, so taken as not known",
    )
    return seconds or None, tokens or None


def _calls(by_tool: Any, total: int | None) -> int | None:
    if total is not None or by_tool is None:
        return total
    if isinstance(by_tool, dict):
        return sum(value or 0 for value in by_tool.values())
    return by_tool


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one


def add_texts(key: int, documents: RunDocuments, weights: Mapping[str, float], rows: Rows) -> None:
    """Add a run's rows to the tables of expectations, scores, claims, notes, suggestions, tools."""
    grading, structural = documents.grading, documents.structural
    for layer, graded in (("structural", structural), ("judged", grading)):
        if graded is not None:
            rows["expectations"].extend(
                (
                    key,
                    layer,
                    one.id,
                    one.text,
                    one.type,
                    one.passed,
                    one.critical,
                    one.confidence,
                    one.evidence,
                )
                for one in graded.expectations
            )
    for judging, model, scores in scores_of(documents):
        rows["rubric_scores"].extend(
            (
                key,
                judging,
                model,
                dimension,
                one.score,
                weights.get(dimension, 1.0 if one.weight is None else one.weight),
                one.evidence,
            )
            for dimension, one in scores.items()
        )
    if grading is not None:
        _add_remarks(key, grading, rows)
    metrics = documents.metrics or (grading.execution_metrics if grading else None)
    if metrics is not None and isinstance(metrics.tool_calls, dict):
        rows["tool_calls"].extend(
            (key, tool, number) for tool, number in metrics.tool_calls.items() if number is not None
        )


def _add_remarks(key: int, grading: Grading, rows: Rows) -> None:
    rows["claims"].extend(
        (key, one.claim, one.type, one.verified, one.evidence) for one in grading.claims
    )
    notes = grading.user_notes_summary
    if notes is not None:
        for kind, texts in (
            ("uncertainty", notes.uncertainties),
            ("needs_review", notes.needs_review),
            ("workaround", notes.workarounds),
        ):
            rows["notes"].extend((key, kind, text) for text in texts)
    rows["notes"].extend((key, "factual_issue", text) for text in grading.factual_issues)
    feedback, critique = grading.eval_feedback, grading.eval_critique
    if feedback is not None:
        rows["suggestions"].extend(
            (key, one.assertion, "critique", one.reason) for one in feedback.suggestions
        )
        if feedback.overall:
            rows["suggestions"].append((key, None, "overall", feedback.overall))
    if critique is not None:
        for kind, texts in (
            ("vague", critique.vague_assertions),
            ("missing_coverage", critique.missing_coverage),
            ("suggested", critique.suggested_assertions),
        ):
            rows["suggestions"].extend((key, None, kind, text) for text in texts)
