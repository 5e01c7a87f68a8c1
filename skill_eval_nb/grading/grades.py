"""Combine the judgings of a run into its grading.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import TypeVar

from skill_eval_nb.documents import (
    Dimension,
    GradedExpectation,
    Grading,
    Judging,
    Metrics,
    RubricScore,
    RubricSummary,
    Structural,
    Summary,
    Timing,
)
from skill_eval_nb.documents.run import (
    STRUCTURAL,
    EvalFeedback,
    GradingTiming,
    Suggestion,
    UserNotesSummary,
)

T = TypeVar("T")


def grade(
    structural: Structural | None,
    judgings: Sequence[Judging],
    metrics: Metrics | None = None,
    timing: Timing | None = None,
    *,
    dimensions: Sequence[Dimension] = (),
) -> Grading:
    """One grading from k judgings.

    A score is the mean over the judgings that gave one, with the evidence of the judging closest to
    their median. An expectation passes if more than half of the judgings pass it: the burden of
    proof is on the output, so a tie fails. `confidence` is `high` if two or more judgings all
    agree, `medium` if most do, `low` for a tie, and absent with one judging.

    Args:
        structural: the verdicts of layer 1, which stay in their own file.
        judgings: at least one.
        metrics: what the executor used.
        timing: how long the run took.
        dimensions: the rubric, for its weights; if not given, the weights stored with the scores.

    Raises:
        ValueError: there is no judging, or the gate was not passed: `grade_unjudged` is for these.
    """
    if not judgings:
        raise ValueError("a grading is made of judgings, and there is none")
    if structural is not None and structural.gate_passed is False:
        raise ValueError("the gate was not passed: the judge is skipped, and nothing is graded")
    numbered = sorted(judgings, key=lambda judging: judging.judging or 0)
    scores = mean_scores(numbered)
    verdicts = _voted_verdicts(numbered)
    models = list(dict.fromkeys(judging.judge_model for judging in numbered if judging.judge_model))
    return Grading(
        expectations=verdicts,
        summary=count_verdicts(verdicts) if verdicts else None,
        rubric_scores=scores,
        rubric_summary=rubric_summary(scores, dimensions),
        claims=_drop_repeats(
            (claim for judging in numbered for claim in judging.claims), lambda claim: claim.claim
        ),
        user_notes_summary=_merge_notes(numbered),
        eval_feedback=_merge_feedback(numbered),
        execution_metrics=metrics,
        timing=_grading_timing(numbered, timing),
        judge_model=", ".join(models) or None,
        timestamp=max(
            (judging.timestamp for judging in numbered if judging.timestamp), default=None
        ),
    )


def grade_unjudged(
    structural: Structural, metrics: Metrics | None = None, timing: Timing | None = None
) -> Grading:
    """The grading of a run that no judge looks at: the verdicts of layer 1, and why.

    So other tools, which only read grading.json, count the run as it is counted here.
    """
    why = "No judge looked at this run: these are the verdicts of structural.json alone"
    if structural.gate_passed is False:
        failed = [
            expectation.id or expectation.text
            for expectation in structural.expectations
            if expectation.critical and expectation.passed is False
        ]
        why = f"The gate was not passed ({', '.join(failed)}). {why}"
    return Grading(
        layer=STRUCTURAL,
        expectations=structural.expectations,
        summary=structural.summary,
        user_notes_summary=UserNotesSummary(needs_review=[why]),
        execution_metrics=metrics,
        timing=_grading_timing((), timing),
    )


def mean_scores(judgings: Sequence[Judging]) -> dict[str, RubricScore]:
    """The mean score of each dimension, in the order of the first judging."""
    every: dict[str, list[RubricScore]] = {}
    for judging in judgings:
        for name, score in judging.rubric_scores.items():
            if score.score is not None:
                every.setdefault(name, []).append(score)
    return {name: _mean_score(ones) for name, ones in every.items()}


def _mean_score(ones: Sequence[RubricScore]) -> RubricScore:
    given = [score.score for score in ones if score.score is not None]
    middle = median(given)
    nearest = min(ones, key=lambda score: abs((score.score or 0) - middle))
    return RubricScore(
        score=round(fmean(given), 4), evidence=nearest.evidence, weight=nearest.weight
    )


def _voted_verdicts(judgings: Sequence[Judging]) -> list[GradedExpectation]:
    votes: dict[tuple[str | None, str, int], list[GradedExpectation]] = {}
    for judging in judgings:
        met: dict[tuple[str | None, str], int] = {}
        for expectation in judging.expectations:
            key = expectation.id, expectation.text
            # A suite may state the same expectation twice: each is counted in its place.
            met[key] = met.get(key, 0) + 1
            votes.setdefault((*key, met[key]), []).append(expectation)
    return [_join_verdicts(ones) for ones in votes.values()]


def _join_verdicts(ones: Sequence[GradedExpectation]) -> GradedExpectation:
    first = ones[0]
    for_it = [verdict for verdict in ones if verdict.passed is True]
    against = [verdict for verdict in ones if verdict.passed is False]
    if not for_it and not against:
        return GradedExpectation(text=first.text, id=first.id, passed=None, evidence=first.evidence)
    voted = len(for_it) + len(against)
    passed = len(for_it) > len(against)
    evidence = (for_it if passed else against)[0].evidence
    confidence = notes = None
    if voted > 1:
        confidence = "medium" if for_it and against else "high"
        notes = f"{len(for_it)} of {voted} judgings pass it"
    if len(for_it) == len(against):
        confidence = "low"
        evidence = f"For: {for_it[0].evidence}\nAgainst: {against[0].evidence}"
    return GradedExpectation(
        text=first.text,
        id=first.id,
        passed=passed,
        evidence=evidence,
        confidence=confidence,
        notes=notes,
    )


def count_verdicts(verdicts: Sequence[GradedExpectation]) -> Summary:
    """How many passed and failed; the rate is of those that were scored, null if none was."""
    passed = sum(verdict.passed is True for verdict in verdicts)
    failed = sum(verdict.passed is False for verdict in verdicts)
    rate = round(passed / (passed + failed), 4) if passed + failed else None
    return Summary(passed=passed, failed=failed, total=len(verdicts), pass_rate=rate)


def _merge_notes(judgings: Sequence[Judging]) -> UserNotesSummary | None:
    given = [
        judging.user_notes_summary for judging in judgings if judging.user_notes_summary is not None
    ]
    if not given:
        return None
    names = ("uncertainties", "needs_review", "workarounds")
    return UserNotesSummary(
        **{
            name: _drop_repeats((note for notes in given for note in getattr(notes, name)), str)
            for name in names
        }
    )


def _merge_feedback(judgings: Sequence[Judging]) -> EvalFeedback | None:
    given = [judging.eval_feedback for judging in judgings if judging.eval_feedback is not None]
    if not given:
        return None
    suggestions: list[Suggestion] = _drop_repeats(
        (suggestion for feedback in given for suggestion in feedback.suggestions),
        lambda suggestion: f"{suggestion.assertion}\n{suggestion.reason}",
    )
    overall = next((feedback.overall for feedback in given if feedback.overall), None)
    return EvalFeedback(suggestions=suggestions, overall=overall)


def _drop_repeats(items: Iterable[T], text: Callable[[T], str]) -> list[T]:
    """The items without repeats; texts that differ only in case and spaces are repeats."""
    first: dict[str, T] = {}
    for item in items:
        first.setdefault(" ".join(text(item).lower().split()), item)
    return list(first.values())


def _grading_timing(judgings: Sequence[Judging], timing: Timing | None) -> GradingTiming | None:
    graded = [judging.seconds for judging in judgings if judging.seconds is not None]
    grader = round(sum(graded), 3) if graded else None
    executor = None
    if timing is not None:
        executor = timing.executor_duration_seconds
        if executor is None:
            executor = timing.total_duration_seconds
    if grader is None and executor is None:
        return None
    # Without a total: with one, skill-creator's aggregator would not open timing.json, and would
    # count the characters of the outputs as the run's tokens.
    return GradingTiming(executor_duration_seconds=executor, grader_duration_seconds=grader)


def rubric_summary(
    scores: Mapping[str, RubricScore], dimensions: Sequence[Dimension] = ()
) -> RubricSummary | None:
    """Σ(score × weight) / Σ(weight), and that divided by 5; None if no score has a weight.

    Weights are the rubric's, else those stored with the scores, else 1 each.

    >>> rubric_summary({"a": RubricScore(4, weight=2.0), "b": RubricScore(1, weight=1.0)})
    RubricSummary(weighted_mean=3.0, max_possible=5.0, normalized=0.6)
    """
    weights = {dimension.name: dimension.weight for dimension in dimensions}
    weighted = [
        (score.score, weights.get(name, 1.0 if score.weight is None else score.weight))
        for name, score in scores.items()
        if score.score is not None
    ]
    total = sum(weight for _, weight in weighted)
    if not total:
        return None
    mean = sum(score * weight for score, weight in weighted) / total
    return RubricSummary(
        weighted_mean=round(mean, 4), max_possible=5.0, normalized=round(mean / 5, 4)
    )
