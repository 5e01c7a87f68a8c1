"""waza: results.json, with and without schemaVersion; a file is one side of a suite."""

from __future__ import annotations

from typing import Any

from ..base import objects
from ..evals import EvalMetadata
from ..run import GradedExpectation, Grading, Metrics, Timing
from ..sides import UNSTATED
from .part import Aggregate, Part, Results, Run, mean, side_of, total_of


def recognise(raw: Any) -> bool:
    """Tasks with runs, and the settings of the suite."""
    if not isinstance(raw, dict) or not isinstance(raw.get("config"), dict):
        return False
    named = not raw.keys().isdisjoint(("skill", "eval_name", "eval_id"))
    return named and any({"test_id", "runs"} <= task.keys() for task in objects(raw, "tasks"))


def read(raw: Any, path: str) -> Results:
    """Its runs; `score` is the weighted mean of the scores of their validations."""
    whole = Part(raw)
    config, own = whole.part("config"), whole.text("eval_id")
    results = Results(
        skill=whole.text("skill", "eval_name"),
        key=f"waza {own} {whole.text('timestamp')}" if own else None,
        faults=whole.faults,
    )
    side = whole.side() or config.side() or side_of(path, 2) or UNSTATED
    whole.part("summary").agrees("total_tests", len(whole.parts("tasks")))
    for task in whole.parts("tasks"):
        id_ = task.text("test_id") or "unnamed"
        name = task.text("display_name") or id_
        results.evals.append(EvalMetadata(eval_id=id_, eval_name=name))
        for part in task.parts("runs"):
            run = _run_of_task(part)
            run.configuration, run.eval_id, run.eval_name = side, id_, name
            run.cached = task.flag("cached") or False
            run.model, run.harness = config.text("model_id"), config.text("engine_type")
            run.judge_model = config.text("judge_model")
            results.runs.append(run)
    stated = whole.part("summary").number("weighted_score")
    triggers = _trigger_figures(whole.part("trigger_metrics"))
    if stated is not None or triggers:
        results.aggregates[side] = Aggregate(score=stated, others=triggers)
    return results


def _trigger_figures(stated: Part) -> dict[str, float]:
    """How well the skill was picked up, as it is stated: counts, and the shares made of them."""
    figures = stated.numbers(0)
    names = ("true_positives", "false_positives", "true_negatives", "false_negatives")
    if figures.keys() >= {*names}:
        tp, fp, tn, fn = (figures[name] for name in names)
        shares = {
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "f1_score": (2 * tp, 2 * tp + fp + fn),
            "accuracy": (tp + tn, tp + fp + tn + fn),
        }
        for name, (right, of) in shares.items():
            stated.agrees(name, right / of if of else None, "its counts")
    return {f"trigger:{name}": value for name, value in figures.items()}


def _run_of_task(part: Part) -> Run:
    found = part.named("validations")
    verdicts = [
        GradedExpectation(
            name, grader.flag("passed"), grader.text("feedback"), type=grader.text("type")
        )
        for name, grader in found.items()
    ]
    digest, status = part.part("session_digest"), part.text("status")
    usage = digest.part("usage")
    tokens = total_of(
        digest.whole("tokens_total"),
        digest.whole("tokens_in") if "tokens_in" in digest.raw else usage.whole("input_tokens"),
        digest.whole("tokens_out") if "tokens_out" in digest.raw else usage.whole("output_tokens"),
    )
    failed = status == "error" or (not verdicts and status == "failed")
    return Run(
        run_number=part.whole("run_number"),
        run_id=f"{part.whole('run_number')} {part.text('final_output')}",
        error=(part.text("error_msg", "error") or "") if failed else None,
        grading=None if failed else Grading(verdicts),
        score=mean(
            (g.number("score") for g in found.values()),
            (g.number("weight") for g in found.values()),
        ),
        incomplete="it was skipped" if status == "skipped" else None,
        timing=Timing(
            duration_ms=part.number("duration_ms", 0),
            total_tokens=tokens,
            cache_read_tokens=usage.whole("cache_read_tokens"),
        ),
        metrics=Metrics(
            total_tool_calls=digest.whole("tool_call_count"),
            total_steps=digest.whole("total_turns"),
        ),
    )
