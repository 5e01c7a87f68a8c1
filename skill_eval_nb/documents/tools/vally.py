"""Vally: results.jsonl with a line a trial, and what it compared."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from ..evals import EvalMetadata
from ..results import Comparison
from ..run import GradedExpectation, Grading, Metrics, Timing
from .part import UNSTATED, Part, Results, Run, side_of

_COMPARISONS = ("comparison", "comparison-report")
_TIES, _BASELINES = ("tie", "equal", "draw"), ("baseline", "B")


KEYS = frozenset({"type"})


def recognise(raw: Any) -> bool:
    """A line of a type that Vally writes, or a comparison report alone."""
    first = raw[0] if isinstance(raw, list) and raw else raw
    if not isinstance(first, dict):
        return False
    if first.get("type") == "trial-result":
        return "gradeResult" in first or "trajectory" in first or "stimulus" in first
    if first.get("type") in _COMPARISONS:
        return isinstance(first.get("stimuli"), list)
    return isinstance(raw, list) and first.get("type") == "run-summary" and "evals" in first


def read(raw: Any, path: str) -> Results:
    """Its trials and comparisons; a variant is a configuration."""
    results = Results()
    skills: dict[str, None] = {}
    lines = raw if isinstance(raw, list) else [raw]
    for number, line in enumerate(lines):
        part = Part(line, f"$[{number}]" if isinstance(raw, list) else "$", results.faults)
        if part.raw.get("type") == "trial-result":
            run, skill, prompt = _trial(part, path)
            results.runs.append(run)
            skills |= {skill: None} if skill else {}
            name = str(run.eval_id)
            if prompt and all(known.eval_id != name for known in results.evals):
                results.evals.append(EvalMetadata(eval_id=name, eval_name=name, prompt=prompt))
        elif part.raw.get("type") in _COMPARISONS:
            _compare(part, path, results)
    if len(skills) == 1:
        results.skill = next(iter(skills))
    return results


def _trial(trial: Part, path: str) -> tuple[Run, str | None, str | None]:
    trajectory, grade = trial.part("trajectory"), trial.part("gradeResult")
    stimulus = trajectory.part("stimulus")
    experiment = trial.part("experiment")
    name = (
        trial.text("stimulus") or grade.text("stimulusName") or stimulus.text("name") or "unnamed"
    )
    of = (experiment.text("evalFile") or "").replace("\\", "/")
    skill = PurePosixPath(of).parent.name or stimulus.part("tags").text("skill")
    variant = trial.text("variant") or experiment.text("variant") or side_of(path) or UNSTATED
    metrics = trajectory.part("metrics")
    tokens = metrics.part("tokenUsage")
    total = tokens.whole("totalTokens")
    parts = (tokens.whole("inputTokens"), tokens.whole("outputTokens"))
    if total is None and None not in parts:
        total = sum(part or 0 for part in parts)
    status, end = trial.text("status"), trajectory.text("endReason")
    failed = status not in (None, "success", "passed", "failed") or not grade.raw
    milliseconds = metrics.number("wallTimeMs", 0)
    if milliseconds is None:
        milliseconds = trial.number("durationMs", 0)
    verdicts = [
        GradedExpectation(
            text=detail.text("name") or "unnamed",
            passed=detail.flag("passed"),
            evidence=detail.text("evidence"),
            type=detail.text("kind"),
        )
        for detail in grade.parts("details")
    ]
    if not verdicts and grade.flag("passed") is not None:
        text = grade.text("name") or "the trial passed"
        verdicts = [GradedExpectation(text, grade.flag("passed"), grade.text("evidence"))]
    run = Run(
        configuration=variant,
        eval_id=name,
        eval_name=name,
        skill=skill,
        model=trajectory.part("metadata").text("model"),
        grading=None if failed else Grading(verdicts),
        score=None if failed else grade.number("score"),
        timing=Timing(
            duration_ms=milliseconds,
            total_tokens=total,
            cache_read_tokens=tokens.whole("cacheReadTokens"),
            executor_start=grade.text("timestamp"),
            status="error" if failed else None,
            reason=(end or status or "not graded") if failed else None,
        ),
        metrics=Metrics(
            tool_calls=metrics.counts("toolCallBreakdown") or None,
            total_tool_calls=metrics.whole("toolCallCount"),
            total_steps=metrics.whole("turnCount"),
            skill_used=_used(trajectory, metrics),
        ),
    )
    return run, skill, stimulus.text("prompt")


def _used(went: Part, metrics: Part) -> bool | None:
    """Whether a skill was opened: as it is counted, else as the events show."""
    counted = metrics.whole("skillActivationCount")
    if counted is not None:
        return counted > 0
    events = went.parts("events")
    tools = {
        event.part("data").text("toolName")
        for event in events
        if event.raw.get("type") == "tool_call"
    }
    return "skill" in tools if events else None


def _compare(part: Part, path: str, results: Results) -> None:
    """Its comparisons: A is the treatment, B the baseline. What it sums up is held against them."""
    name = Path(path).parent.name or "comparison"
    a = part.text("treatmentVariant", "treatment") or "skilled"
    b = part.text("baselineVariant", "baseline") or "baseline"
    counted, errored, scores = {"A": 0, "B": 0, "tie": 0}, 0, []
    for stimulus in part.parts("stimuli"):
        eval_ = stimulus.text("stimulusName") or "unnamed"
        for number, trial in enumerate(stimulus.parts("trials"), 1):
            named = trial.text("winner")
            if trial.flag("errored") or named is None:
                errored += 1
                continue
            winner = "tie" if named in _TIES else "B" if named in (b, *_BASELINES) else "A"
            counted[winner] += 1
            scores.append(trial.number("score"))
            results.comparisons.append(
                Comparison(
                    winner=winner,
                    reasoning=trial.text("evidence") or trial.text("magnitude"),
                    comparison_id=f"{name} {eval_} {number}",
                    pair=f"{eval_} {number}",
                    eval_id=eval_,
                    configuration_a=a,
                    configuration_b=b,
                )
            )
    if errored:
        message = f"{errored} comparisons ended in an error: they name no winner, and were left out"
        part.faults.add("warning", "comparison-errored", f"{part.where}.stimuli", message)
    summary = part.part("summary")
    known = [score for score in scores if score is not None]
    own = {"wins": counted["A"], "losses": counted["B"], "ties": counted["tie"]}
    own |= {"trialCount": sum(counted.values()), "erroredCount": errored}
    for key, value in own.items():
        summary.agrees(key, value)
    summary.agrees("meanScore", sum(known) / len(known) if known else None)
