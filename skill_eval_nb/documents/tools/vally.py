"""Vally: results.jsonl with a line a trial, and what it compared."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from ..results import Comparison
from ..run import GradedExpectation, Grading, Metrics, Timing
from ..sides import UNSTATED
from .part import Part, Results, Run, mean, side_of, total_of

_COMPARISONS = ("comparison", "comparison-report")
_TIES, _BASELINES = ("tie", "equal", "draw"), ("baseline", "B")


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
    lines = raw if isinstance(raw, list) else [raw]
    for number, line in enumerate(lines):
        part = Part(line, f"$[{number}]" if isinstance(raw, list) else "$", results.faults)
        if part.raw.get("type") == "trial-result":
            results.runs.append(_run_of_trial(part, path))
        elif part.raw.get("type") in _COMPARISONS:
            _read_comparisons(part, path, results)
    _join_attempts(results.runs)
    skills = {run.skill for run in results.runs if run.skill}
    if len(skills) == 1:
        results.skill = next(iter(skills))
    return results


def _join_attempts(runs: list[Run]) -> None:
    """Where the file was resumed, one that failed before is an attempt at the one that did not."""
    keys = [(str(run.asked), run.configuration, run.model) for run in runs]
    ids = [(*key, run.run_id) for key, run in zip(keys, runs, strict=True) if run.run_id]
    later: dict[tuple[Any, ...], str] = {}
    resumed = len(set(ids)) < len(ids)
    for key, run in zip(reversed(keys), reversed(runs), strict=True) if resumed else ():
        if run.run_id is not None:
            later[key] = run.run_id
        elif run.error is not None:
            run.run_id = later.get(key)


def _run_of_trial(trial: Part, path: str) -> Run:
    trajectory, grade = trial.part("trajectory"), trial.part("gradeResult")
    stimulus, experiment = trajectory.part("stimulus"), trial.part("experiment")
    name = trial.text("stimulus") or grade.text("stimulusName") or stimulus.text("name")
    side = trial.text("variant") or experiment.text("variant") or side_of(path)
    of = (experiment.text("evalFile") or "").replace("\\", "/")
    about = (trial, trajectory, trajectory.part("metadata"), experiment, trial.part("config"))
    metrics = trajectory.part("metrics")
    tokens, calls = metrics.part("tokenUsage"), metrics.part("toolCallBreakdown").numbers(0)
    parts = (tokens.whole("inputTokens"), tokens.whole("outputTokens"))
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
    error = _trial_error(trial, trajectory)
    return Run(
        configuration=side or UNSTATED,
        asked={"": name or "unnamed", "eval": trial.text("evalName")},
        prompt=stimulus.text("prompt"),
        skill=PurePosixPath(of).parent.name or stimulus.part("tags").text("skill"),
        model=next(filter(None, (part.text("model", "modelId") for part in about)), None),
        run_id=trajectory.text("id"),
        error=error,
        grading=None if error else Grading(verdicts),
        score=grade.number("score"),
        timing=Timing(
            duration_ms=milliseconds,
            total_tokens=total_of(tokens.whole("totalTokens"), *parts),
            cache_read_tokens=tokens.whole("cacheReadTokens"),
            executor_start=grade.text("timestamp"),
        ),
        metrics=Metrics(
            tool_calls={name: round(n) for name, n in calls.items()} or None,
            total_tool_calls=metrics.whole("toolCallCount"),
            total_steps=metrics.whole("turnCount"),
            skill_used=_is_skill_used(trajectory, metrics),
        ),
    )


def _trial_error(trial: Part, trajectory: Part) -> str | None:
    """Why a trial ended in an error, in the file's own words; None if it did not."""
    status = trial.text("status")
    graded = bool(trial.part("gradeResult").raw)
    if status in (None, "success", "passed", "completed") or (status == "failed" and graded):
        return None
    said = [
        part.either("error", "message").text("message", "name")
        or part.text("errorMessage", "reason", "message")
        for part in (trial, trajectory)
    ]
    said.append(trajectory.text("endReason"))
    words = [text for text in dict.fromkeys(filter(None, (status, *said))) if text != "stop"]
    took = trial.number("durationMs", 0)
    return ": ".join(words) + (f" after {took / 1000:g} s" if len(words) == 1 and took else "")


def _is_skill_used(went: Part, metrics: Part) -> bool | None:
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


def _read_comparisons(part: Part, path: str, results: Results) -> None:
    """Its comparisons: A is the treatment, B the baseline. What it sums up is held against them."""
    name = Path(path).parent.name or "comparison"
    a = part.text("treatmentVariant", "treatment") or "skilled"
    b = part.text("baselineVariant", "baseline") or "baseline"
    winners: list[str] = []
    scores: list[float | None] = []
    errored = 0
    for stimulus in part.parts("stimuli"):
        eval_ = stimulus.text("stimulusName") or "unnamed"
        for number, trial in enumerate(stimulus.parts("trials"), 1):
            named = trial.text("winner")
            if trial.flag("errored") or named is None:
                errored += 1
                continue
            winner = "tie" if named in _TIES else "B" if named in (b, *_BASELINES) else "A"
            winners.append(winner)
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
        message = f"{errored} comparisons ended in an error and name no winner: left out"
        part.faults.add("warning", "comparison-errored", f"{part.where}.stimuli", message)
    own = {"wins": winners.count("A"), "losses": winners.count("B"), "ties": winners.count("tie")}
    own |= {"trialCount": len(winners), "erroredCount": errored}
    for key, value in {**own, "meanScore": mean(scores)}.items():
        part.part("summary").agrees(key, value)
