"""promptfoo: what `promptfoo eval -o` writes; provider × prompt is model × configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..run import GradedExpectation, Grading, Timing
from .part import Part, secrets_in
from .results import UNSTATED, Results, Run, side_in

_ERROR = 2
"""The `failureReason` of a result that no check failed, but a fault."""


def recognise(raw: Any) -> bool:
    """Results in results, each of a test and a prompt."""
    inner = raw.get("results") if isinstance(raw, dict) else None
    rows = inner.get("results") if isinstance(inner, dict) else None
    return isinstance(rows, list) and any(
        isinstance(row, dict)
        and "provider" in row
        and row.keys() & {"testIdx", "promptIdx", "gradingResult"}
        for row in rows
    )


def read(raw: Any, path: str) -> Results:  # noqa: ARG001 -- the file's name says nothing
    """Its runs, in order; `score` is its own, and `pass_rate` counts each assertion once."""
    secrets = (*secrets_in(raw.get("config")), *secrets_in(_providers(raw)))
    whole = Part(raw, secrets=secrets)
    own = whole.text("evalId")
    results = Results(key=f"promptfoo {own}" if own else None, faults=whole.faults)
    rows = whole.part("results").parts("results")
    several = len({row.whole("promptIdx") for row in rows}) > 1
    for row in rows:
        run = _run(row)
        provider, prompt = row.either("provider", "id"), row.either("prompt", "raw")
        run.model = (provider.text("id") or "").rsplit(":", 1)[-1].rsplit("/", 1)[-1] or None
        label = prompt.text("label")
        run.configuration = side_in(label) or side_in(provider.text("label")) or UNSTATED
        if run.configuration == UNSTATED and several:
            short = label if label and len(label) <= 60 and "\n" not in label else None
            run.configuration = short or f"prompt {(row.whole('promptIdx') or 0) + 1}"
        results.runs.append(run)
    return results


def _providers(raw: Any) -> list[Any]:
    return [one.get("provider") for one in raw["results"]["results"] if isinstance(one, dict)]


def _run(part: Part) -> Run:
    grade, case = part.part("gradingResult"), part.part("testCase")
    verdicts = list(_verdicts(grade))
    if not verdicts and grade.flag("pass") is not None:
        verdicts = [GradedExpectation("the test passed", grade.flag("pass"), grade.text("reason"))]
    if not verdicts and not part.text("error") and part.flag("success") is not None:
        verdicts = [GradedExpectation("the test passed", part.flag("success"))]
    failed = part.whole("failureReason") == _ERROR or (not verdicts and bool(part.text("error")))
    usage = part.part("response").part("tokenUsage")
    if not usage.raw:
        usage = part.part("tokenUsage")
    number = part.whole("testIdx")
    id_ = str(number) if number is not None else case.text("description") or "unnamed"
    return Run(
        configuration="",
        eval_id=id_,
        eval_name=case.text("description") or part.text("description") or id_,
        grading=None if failed else Grading(verdicts),
        score=None if failed else part.number("score"),
        timing=Timing(
            duration_ms=part.number("latencyMs", 0),
            total_tokens=usage.whole("total"),
            cache_read_tokens=usage.whole("cached"),
            cost_usd=part.number("cost", 0),
            status="error" if failed else None,
            reason=(part.text("error") or "no reason is given").splitlines()[0][:200]
            if failed
            else None,
        ),
    )


def _verdicts(grade: Part, depth: int = 0) -> Iterator[GradedExpectation]:
    """The assertions, those of sets of them, too."""
    for part in grade.parts("componentResults"):
        if depth < 8 and part.raw.get("componentResults"):
            yield from _verdicts(part, depth + 1)
            continue
        check = part.part("assertion")
        value = check.raw.get("value")
        wanted = check.text("value") if isinstance(value, str | int | float) else None
        text = ": ".join(
            word for word in (check.text("metric") or check.text("type"), wanted) if word
        )
        yield GradedExpectation(
            text or "unnamed", part.flag("pass"), part.text("reason"), type=check.text("type")
        )
