"""promptfoo: what `promptfoo eval -o` writes; provider × prompt is model × configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..run import GradedExpectation, Grading, Timing
from .results import UNSTATED, Part, Results, Run, secrets_in, side_in

_ERROR = 2
"""The `failureReason` of a result that no check failed, but a fault."""


def recognise(raw: Any) -> bool:
    """Results in results, each of a test and a prompt."""
    inner = raw.get("results") if isinstance(raw, dict) else None
    rows = inner.get("results") if isinstance(inner, dict) else None
    return isinstance(rows, list) and any(
        isinstance(one, dict)
        and "provider" in one
        and one.keys() & {"testIdx", "promptIdx", "gradingResult"}
        for one in rows
    )


def read(raw: Any, path: str) -> Results:  # noqa: ARG001 -- the file's name says nothing
    """Its runs, in order; `score` is its own, and `pass_rate` counts each assertion once."""
    secrets = (*secrets_in(raw.get("config")), *secrets_in(_providers(raw)))
    whole = Part(raw, secrets=secrets)
    own = whole.text("evalId")
    results = Results(key=f"promptfoo {own}" if own else None, faults=whole.faults)
    rows = whole.part("results").parts("results")
    several = len({one.whole("promptIdx") for one in rows}) > 1
    for one in rows:
        run = _run(one)
        provider, prompt = one.either("provider", "id"), one.either("prompt", "raw")
        run.model = (provider.text("id") or "").rsplit(":", 1)[-1].rsplit("/", 1)[-1] or None
        label = prompt.text("label")
        run.configuration = side_in(label) or side_in(provider.text("label")) or UNSTATED
        if run.configuration == UNSTATED and several:
            short = label if label and len(label) <= 60 and "\n" not in label else None
            run.configuration = short or f"prompt {(one.whole('promptIdx') or 0) + 1}"
        results.runs.append(run)
    return results


def _providers(raw: Any) -> list[Any]:
    return [one.get("provider") for one in raw["results"]["results"] if isinstance(one, dict)]


def _run(one: Part) -> Run:
    grade, case = one.part("gradingResult"), one.part("testCase")
    verdicts = list(_verdicts(grade))
    if not verdicts and grade.flag("pass") is not None:
        verdicts = [GradedExpectation("the test passed", grade.flag("pass"), grade.text("reason"))]
    if not verdicts and not one.text("error") and one.flag("success") is not None:
        verdicts = [GradedExpectation("the test passed", one.flag("success"))]
    failed = one.whole("failureReason") == _ERROR or (not verdicts and bool(one.text("error")))
    usage = one.part("response").part("tokenUsage")
    if not usage.raw:
        usage = one.part("tokenUsage")
    number = one.whole("testIdx")
    id_ = str(number) if number is not None else case.text("description") or "unnamed"
    return Run(
        configuration="",
        eval_id=id_,
        eval_name=case.text("description") or one.text("description") or id_,
        grading=None if failed else Grading(verdicts),
        score=None if failed else one.number("score"),
        timing=Timing(
            duration_ms=one.number("latencyMs", 0),
            total_tokens=usage.whole("total"),
            cache_read_tokens=usage.whole("cached"),
            cost_usd=one.number("cost", 0),
            status="error" if failed else None,
            reason=(one.text("error") or "no reason is given").splitlines()[0][:200]
            if failed
            else None,
        ),
    )


def _verdicts(grade: Part, depth: int = 0) -> Iterator[GradedExpectation]:
    """The assertions, those of sets of them, too."""
    for one in grade.parts("componentResults"):
        if depth < 8 and one.raw.get("componentResults"):
            yield from _verdicts(one, depth + 1)
            continue
        check = one.part("assertion")
        value = check.raw.get("value")
        wanted = check.text("value") if isinstance(value, str | int | float) else None
        text = ": ".join(
            word for word in (check.text("metric") or check.text("type"), wanted) if word
        )
        yield GradedExpectation(
            text or "unnamed", one.flag("pass"), one.text("reason"), type=check.text("type")
        )
