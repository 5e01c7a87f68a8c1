"""DeepEval: `.deepeval/.latest_test_run.json` and exported test runs; metrics are the checks."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..base import objects
from ..run import GradedExpectation, Grading, Metrics, Timing
from ..sides import UNSTATED, side_in
from .part import Part, Results, Run, secrets_in, side_of

_CASES = ("testCases", "conversationalTestCases")


def recognise(raw: Any) -> bool:
    """Test cases with the data of their metrics, whether or not they are wrapped."""
    run = raw.get("testRunData", raw) if isinstance(raw, dict) else {}
    cases = [case for key in _CASES for case in objects(run, key)]
    return any("metricsData" in case or {"input", "actualOutput"} <= case.keys() for case in cases)


def read(raw: Any, path: str) -> Results:
    """Its runs: an eval is what was asked, and test cases that ask the same are its runs."""
    run = raw.get("testRunData", raw)
    whole = Part(run, secrets=tuple(secrets_in(run.get("hyperparameters"))))
    settings, named = whole.part("hyperparameters"), whole.text("identifier")
    parts = [run.get(key) for key in (*_CASES, "hyperparameters", "identifier")]
    content = json.dumps(parts, sort_keys=True, default=str)
    results = Results(
        skill=settings.text("skill_name"),
        key=f"deepeval {hashlib.sha256(content.encode()).hexdigest()}",
        faults=whole.faults,
    )
    side = settings.switch() or side_in(named) or side_of(path, 2)
    cases = [case for key in _CASES for case in whole.parts(key)]
    for case in cases:
        own = _run_of_case(case)
        own.configuration = case.part("metadata").side() or side or UNSTATED
        own.model = settings.text("model", "model_name")
        results.runs.append(own)
    ends = [case.flag("success") for case in cases]
    whole.agrees("testPassed", ends.count(True), "its test cases")
    whole.agrees("testFailed", ends.count(False), "its test cases")
    return results


def _run_of_case(case: Part) -> Run:
    """A test case as a run; a metric that ended in an error gave no verdict."""
    verdicts: list[GradedExpectation] = []
    scores: dict[str, tuple[float, str | None]] = {}
    judges: set[str] = set()
    metrics = case.parts("metricsData")
    for metric in metrics:
        name, why = metric.text("name") or "unnamed", metric.text("error", "reason")
        score, passed = metric.number("score"), metric.flag("success")
        if metric.raw.get("error"):
            score = passed = None
            message = f"the metric {name} could not be measured ({why}): it is not scored"
            metric.faults.add("warning", "not-scored", metric.at("error"), message)
        if metric.flag("flaky"):
            passed = None
            message = f"the metric {name} is marked flaky, so it is not scored"
            metric.faults.add("info", "not-scored", metric.at("flaky"), message)
        verdicts.append(GradedExpectation(name, passed, why, type="metric"))
        if score is not None:
            scores[name] = score, why
        judges |= {judge} if (judge := metric.text("evaluationModel")) else set()
    name = case.text("name")
    prompt = case.text("input", "scenario")
    asked = {"": prompt or name, "expected": case.raw.get("expectedOutput")}
    return Run(
        eval_name=name if name and not name.startswith("test_case_") else None,
        asked=asked,
        prompt=prompt,
        judge_model=", ".join(sorted(judges)) or None,
        grading=Grading(verdicts) if metrics else None,
        scores=scores,
        checked=True,
        timing=Timing(total_duration_seconds=case.number("completionTime", 0)),
        metrics=Metrics(cost_usd=case.number("tokenCost", 0)),
    )
