"""The rows of runs in the tables that hold texts: what was checked, scored, claimed, remarked."""

from __future__ import annotations

from collections import Counter, namedtuple
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from skill_eval_nb.documents import (
    Expectation,
    GradedExpectation,
    Grading,
    Metrics,
    RubricScore,
    RubricSummary,
    RunRecord,
    Structural,
    Summary,
    Timing,
)
from skill_eval_nb.documents.base import origin_of, plain_key
from skill_eval_nb.documents.run import CHECK_FAILED, GradingTiming, drop_unread, unread_message
from skill_eval_nb.text import in_quotes, some
from skill_eval_nb.workspace import Problems

from .columns import RUN_KEYS, TABLES, Rows


def _find_share(passed: int, failed: int) -> float | None:
    """Passed / (passed + failed); None if nothing was scored."""
    scored = passed + failed
    return passed / scored if scored else None


Counts = tuple[float | None, int | None, int | None, int | None]
"""pass rate, passed, failed, total; all None if there is no figure."""

NOTHING: Counts = (None, None, None, None)


def count_verdicts(
    expectations: Sequence[GradedExpectation],
    summary: Summary | None,
    path: str,
    problems: Problems,
) -> Counts:
    """The figures of a grading: counted from the verdicts, else as its summary states them.

    Where the two disagree the verdicts count, and the summary is a problem.
    """
    if not expectations:
        return _stated_counts(summary)
    verdicts = [one.passed for one in expectations]
    passed, failed = verdicts.count(True), verdicts.count(False)
    rate = _find_share(passed, failed)
    if summary is not None and rate is not None:
        _compare_summary(summary, rate, passed, path, problems)
    return rate, passed, failed, len(verdicts)


def match_checks(defined: Sequence[Expectation], run: RunRecord, problems: Problems) -> None:
    """Report the checks of an eval that a grading lacks, doubles or adds.

    What is doubled counts once, by its first verdict. A check that is lacking and one that is
    added are one that the grader worded again; if no text is the same nothing is said.
    """
    grading = run.grading
    if grading is None or not grading.expectations:
        return
    if [one.text for one in grading.expectations] == [one.text for one in defined]:
        return
    texts = [plain_key(one.text) for one in defined]
    called = {
        plain_key(name): text
        for text, one in zip(texts, defined, strict=True)
        for name in (one.id, one.name)
        if name
    }
    left, kept = Counter(texts), list[GradedExpectation]()
    doubled, added = list[str](), list[str]()
    for one in grading.expectations:
        text = called.get(plain_key(one.id or ""), plain_key(one.text))
        if text in left and not left[text]:
            doubled.append(one.text)
            continue
        kept.append(one)
        if text in left:
            left[text] -= 1
        elif one.type is None:
            added.append(one.text)
    lacking = [one.text for text, one in zip(texts, defined, strict=True) if left[text]]
    same = min(len(lacking), len(added))
    if len(lacking) == len(texts):
        return
    grading.expectations = kept
    said = [
        f"{what} ({some(map(in_quotes, names))})"
        for n, what, names in (
            (len(lacking) - same, f"lacks {len(lacking)} of the {len(texts)} checks", lacking),
            (len(doubled), "repeats some, whose first verdict counts", doubled),
            (len(added) - same, f"adds {len(added)} others", added),
        )
        if n
    ]
    if said:
        message = f"compared with its eval's checks, the grading {', '.join(said)}"
        problems.add("warning", "other-checks", run.path, message, where="$.expectations")


def _stated_counts(summary: Summary | None) -> Counts:
    if summary is None:
        return NOTHING
    passed, failed, total = summary.passed, summary.failed, summary.total
    if passed is not None and failed is None and total is not None and total >= passed:
        failed = total - passed
    if passed is not None and failed is not None:
        total = passed + failed if total is None else total
        return _find_share(passed, failed), passed, failed, total
    return summary.pass_rate, passed, failed, total


def _compare_summary(
    summary: Summary, rate: float, passed: int, path: str, problems: Problems
) -> None:
    other_count = summary.passed is not None and summary.passed != passed
    other_rate = summary.pass_rate is not None and abs(summary.pass_rate - rate) > 0.011
    if other_count or other_rate:
        wrong = "pass_rate" if other_rate else "passed"
        stated = f"the summary's {wrong} is {getattr(summary, wrong):g}"
        message = f"{stated}, the verdicts say {rate:.0%} ({passed} passed) and were used"
        keys = origin.keys.items() if (origin := origin_of(summary)) else ()
        # Its key may stand at the top.
        where = next((f"$..{key}" for key, field in keys if field == wrong), "$.summary")
        problems.add("warning", "disagree", path, message, where=where)


def scores_of(run: RunRecord) -> list[tuple[int, str | None, Mapping[str, RubricScore]]]:
    """The rubric scores of a run, one a judging: number, model, dimension to score."""
    if run.judgings:
        return [
            (judging.judging or index, judging.judge_model, judging.rubric_scores)
            for index, judging in enumerate(run.judgings, 1)
        ]
    grading = run.grading
    if grading is None or not grading.rubric_scores:
        return []
    return [(1, grading.judge_model or run.judge_model, grading.rubric_scores)]


MOST_DIMENSIONS = 500
"""No rubric that people write has more, and each is a metric of its own in every comparison."""


def _refuse_dimensions(run: RunRecord, problems: Problems) -> None:
    """Leave out the scores of a grading or judging that has too many of them."""
    for document in (run.grading, *run.judgings):
        if document is not None and (found := len(document.rubric_scores)) > MOST_DIMENSIONS:
            document.rubric_scores = {}
            message = (
                f"{found:,} rubric dimensions, of which a grading or judging may have "
                f"{MOST_DIMENSIONS}: none of its rubric scores was used"
            )
            problems.add("error", "too-large", run.path, message, where="$.rubric_scores")


def rubric_mean(run: RunRecord, weights: Mapping[str, float], problems: Problems) -> float | None:
    """The weighted mean over dimensions of a run's scores, each averaged over its judgings.

    Weights are the suite's, else those in the grading. If neither has them, the mean
    that the grading itself states is used, else every dimension weighs the same.
    """
    grading = run.grading
    summary = grading.rubric_summary if grading else None
    stated_mean = _stated_mean(summary) if summary is not None else None
    scored = total = 0.0
    unweighted = False
    for dimension, score, own_weight in _mean_scores(run):
        weight = weights.get(dimension, own_weight)
        if weight is None:
            unweighted, weight = True, 1.0
        scored += weight * score
        total += weight
    if not total or (unweighted and stated_mean is not None):
        return stated_mean
    mean = scored / total
    if stated_mean is not None and abs(stated_mean - mean) > 0.051 and not run.judgings:
        message = (
            f"rubric_summary states a weighted mean of {stated_mean:.2f}, the scores and weights "
            f"give {mean:.2f}; the latter was used"
        )
        where = "$.rubric_summary.weighted_mean"
        problems.add("warning", "disagree", run.path, message, where=where)
    return mean


def _stated_mean(summary: RubricSummary) -> float | None:
    if summary.weighted_mean is None and summary.normalized is not None:
        return summary.normalized * 5
    return summary.weighted_mean


def _mean_scores(run: RunRecord) -> list[tuple[str, float, float | None]]:
    """Each dimension that was scored, its mean over the judgings, and the weight given with it."""
    every: dict[str, list[RubricScore]] = {}
    for _, _, scores in scores_of(run):
        for dimension, own in scores.items():
            if own.score is not None:
                every.setdefault(dimension, []).append(own)
    return [
        (name, fmean([one.score for one in ones if one.score is not None]), ones[0].weight)
        for name, ones in every.items()
    ]


def mean_efficiency(
    structural: float | None, graded: float | None, rubric: float | None
) -> float | None:
    """`overall_efficiency`: the mean of two rates, or the one that is known.

    They are the structural (else the graded) pass rate and the normalized rubric score.
    """
    checks = graded if structural is None else structural
    if checks is None or rubric is None:
        return rubric if checks is None else checks
    return (checks + rubric) / 2


Figures = namedtuple("Figures", TABLES["runs"].names[len(RUN_KEYS) :])  # noqa: PYI024
"""The columns of `runs` after its keys."""


def find_figures(
    run: RunRecord, weights: Mapping[str, float], problems: Problems, *, is_judged: bool
) -> Figures:
    """The figures of a run, by the documents that were read of it and the rubric's weights.

    Where its eval `is_judged`, checks by a program that were passed are half a result: a pass
    rate of them alone would stand beside pass rates of the judge.
    """
    _refuse_dimensions(run, problems)
    grading, structural = run.grading, run.structural
    judged = NOTHING
    if grading is not None:
        if _speaks_of_judge(grading) and (unread := drop_unread(grading)):
            problems.add("warning", "judge-unread", run.path, unread_message(unread))
        judged = count_verdicts(grading.expectations, grading.summary, run.path, problems)
    checked = NOTHING
    if structural is not None:
        checked = count_verdicts(structural.expectations, structural.summary, run.path, problems)
        for expectation in structural.expectations:
            if expectation.passed is None and (expectation.evidence or "").startswith(CHECK_FAILED):
                message = f"{expectation.id or expectation.text}: {expectation.evidence}"
                problems.add("error", "check-failed", run.path, message)
    gate, status = _passed_gate(structural), None
    if gate is not False and _ended_in_error(run.timing) and not judged[0]:
        # what an error left behind, checks passed or one judging of two, is no result; what was
        # graded after it is one, but for a plain 0
        status = "errored"
    elif run.incomplete is not None:
        status, checked, gate = "executed", NOTHING, None
    elif run.rate is not None:
        judged = (run.rate, None, None, None)
    costs = _run_costs(run, problems)
    mean = None if status else rubric_mean(run, weights, problems)
    is_waiting = is_judged and judged == NOTHING and mean is None
    is_half = is_waiting and not run.checked_alone and gate is not False
    rate, passed, failed, total = checked if judged == NOTHING and not is_half else judged
    normalized = None if mean is None else mean / 5
    if status:
        rate, passed, failed, total = judged = NOTHING
    return Figures(
        status or _status_of_run(run, rate, mean, gate),
        rate,
        None if status else run.score,
        passed,
        failed,
        total,
        checked[0],
        gate,
        mean,
        normalized,
        None if status or is_half else mean_efficiency(checked[0], judged[0], normalized),
        *costs,
        run.path,
    )


def _speaks_of_judge(grading: Grading) -> bool:
    """Whether what verdicts rest on speaks of a judge: only then may it say that one failed."""
    given = [check.evidence for check in grading.expectations if check.passed is False]
    given += [score.evidence for score in grading.rubric_scores.values()]
    said = "\n".join(filter(None, given)).lower()
    return any(map(said.__contains__, ("grad", "judge", "verdict", "llm", "rubric")))


def _passed_gate(structural: Structural | None) -> bool | None:
    if structural is None or structural.gate_passed is not None:
        return structural.gate_passed if structural else None
    critical = [one.passed for one in structural.expectations if one.critical]
    if False in critical:
        return False
    return None if None in critical or not structural.expectations else True


def _status_of_run(
    run: RunRecord, rate: float | None, rubric: float | None, gate: bool | None
) -> str:
    if run.grading is None and gate is False:
        return "gated"
    if rate is not None or rubric is not None or run.score is not None:
        return "graded"
    if _ended_in_error(run.timing):
        return "errored"
    if run.grading is not None or run.unreadable or not run.took_place:
        return "ungraded"
    return "executed"


def _ended_in_error(timing: Timing | None) -> bool:
    """Whether the executor, or the judge after it, ended in an error."""
    return timing is not None and bool(timing.exit_code or timing.reason or timing.says_error)


_GRADING, _NOTED, _METRICS, _TIMING = Grading([]), GradingTiming(), Metrics(), Timing()
"""What says nothing, in the place of a document that is not there."""


def _run_costs(run: RunRecord, problems: Problems) -> tuple[Any, ...]:
    """time_seconds … judged_at: from timing.json and metrics.json, else as the grader noted.

    No run takes no time or no tokens: a 0 stands for a figure that was not measured.
    """
    timing, metrics = run.timing or _TIMING, run.known_metrics or _METRICS
    grading = run.grading or _GRADING
    noted = grading.timing or _NOTED
    seconds = _find_figure(
        timing.total_duration_seconds,
        timing.duration_ms and timing.duration_ms / 1000,
        timing.executor_duration_seconds,
        noted.executor_duration_seconds,
        noted.total_duration_seconds,
        noted.duration_ms and noted.duration_ms / 1000,
    )
    tokens = _find_figure(timing.total_tokens, noted.total_tokens)
    if 0 in (seconds, tokens):
        which = [name for name, value in (("time", seconds), ("tokens", tokens)) if value == 0]
        message = f"{' and '.join(which)} of 0: not measured, so taken as not known"
        problems.add("warning", "zero-means-missing", run.path, message)
    calls = _sum_calls(metrics.tool_calls, metrics.total_tool_calls)
    started = timing.executor_start
    stamps = (grading.timestamp, timing.grader_start, *(one.timestamp for one in run.judgings))
    judged = next(filter(None, stamps), None)
    return (
        seconds or None,
        tokens or None,
        _sum_calls(timing.tool_calls, None) if calls is None else calls,
        metrics.total_steps,
        metrics.errors_encountered,
        metrics.output_chars,
        metrics.transcript_chars,
        timing.cache_read_tokens,
        _prefer(metrics.cost_usd, timing.cost_usd),
        _prefer(metrics.skill_used, grading.skill_used),
        _prefer(timing.executor, _prefer(timing.harness, run.harness)),
        _prefer(timing.model, run.model),
        _prefer(grading.judge_model, run.judge_model),
        None if started is None else str(started),
        None if judged is None else str(judged),
    )


def _find_figure(*figures: float | None) -> float | None:
    """The first that is more than 0; 0 where nobody measured more, None where nobody did."""
    return next(filter(None, figures), 0 if 0 in figures else None)


def _sum_calls(by_tool: Any, total: int | None) -> int | None:
    if total is not None or by_tool is None:
        return total
    if isinstance(by_tool, dict):
        return sum(value or 0 for value in by_tool.values())
    return by_tool


def _prefer(value: Any, other: Any) -> Any:
    return other if value is None else value


Row = tuple[Any, ...]


def add_texts(at: int, run: RunRecord, weights: Mapping[str, float], rows: Rows) -> None:
    """Add the rows of the run of this number to the tables that hold texts."""
    for layer, document in (("structural", run.structural), ("judged", run.grading)):
        rows["expectations"] += [
            (at, layer, x.id, x.text, x.type, x.passed, x.critical, x.confidence, x.evidence)
            for x in (document.expectations if document is not None else ())
        ]
    for judging, model, scores in scores_of(run):
        for dimension, score in scores.items():
            weight = weights.get(dimension, 1.0 if score.weight is None else score.weight)
            row = (at, judging, model, dimension, score.score, weight, score.evidence)
            rows["rubric_scores"].append(row)
    metrics = run.known_metrics
    if metrics is not None and isinstance(metrics.tool_calls, dict):
        calls = metrics.tool_calls.items()
        rows["tool_calls"] += [(at, tool, number) for tool, number in calls if number is not None]
    if (grading := run.grading) is not None:
        rows["claims"] += [(at, x.claim, x.type, x.verified, x.evidence) for x in grading.claims]
        rows["notes"] += [(at, *note) for note in _find_notes(grading)]
        rows["suggestions"] += [(at, *one) for one in _find_suggestions(grading)]


def _find_notes(grading: Grading) -> Iterator[Row]:
    found = {"factual_issue": grading.factual_issues}
    if (notes := grading.user_notes_summary) is not None:
        found = {
            "uncertainty": notes.uncertainties,
            "needs_review": notes.needs_review,
            "workaround": notes.workarounds,
            **found,
        }
    return ((kind, text) for kind, texts in found.items() for text in texts)


def _find_suggestions(grading: Grading) -> Iterator[Row]:
    if (feedback := grading.eval_feedback) is not None:
        yield from ((one.assertion, "critique", one.reason) for one in feedback.suggestions)
        if feedback.overall:
            yield None, "overall", feedback.overall
    if (critique := grading.eval_critique) is not None:
        yield from ((None, "vague", text) for text in critique.vague_assertions)
        yield from ((None, "missing_coverage", text) for text in critique.missing_coverage)
        yield from ((None, "suggested", text) for text in critique.suggested_assertions)
