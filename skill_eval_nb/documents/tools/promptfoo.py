"""promptfoo: what `promptfoo eval -o` writes; provider × prompt is model × configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..run import GradedExpectation, Grading, RubricScore, Timing
from .part import UNSTATED, Part, Results, Run, dimension, secrets_in, side_in, without_keys

_ERROR = 2
"""The `failureReason` of a result that no check failed, but a fault."""


KEYS = frozenset({"results"})


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
    graded = _graded(rows)
    for row in rows:
        run = _run(row, graded)
        provider, prompt = row.either("provider", "id"), row.either("prompt", "raw")
        run.model = (provider.text("id") or "").rsplit(":", 1)[-1].rsplit("/", 1)[-1] or None
        label = prompt.text("label")
        run.configuration = side_in(label) or side_in(provider.text("label")) or UNSTATED
        if run.configuration == UNSTATED and several:
            short = label if label and len(label) <= 60 and "\n" not in label else None
            run.configuration = short or f"prompt {(row.whole('promptIdx') or 0) + 1}"
        results.runs.append(run)
    _audit(whole.part("results"), rows)
    return results


def _graded(rows: list[Part]) -> set[str]:
    """The metrics that have another score than 0 and 1 somewhere: else they are their checks."""
    return {
        name
        for row in rows
        for name in row.part("namedScores").raw
        if row.part("namedScores").number(name) not in (None, 0, 1)
    }


def _audit(stated: Part, rows: list[Part]) -> None:
    """Hold what it sums up, in all and of each prompt, against the results beside it."""
    ends: dict[int | None, Counter[str]] = {}
    for row in rows:
        right, broken = row.flag("success"), row.whole("failureReason") == _ERROR
        end = "errors" if broken else "successes" if right else "failures"
        for prompt in (None, row.whole("promptIdx")):
            ends.setdefault(prompt, Counter()).update({end: 1, "score": row.number("score") or 0})
    for end in ("successes", "failures", "errors"):
        stated.part("stats").agrees(end, ends.get(None, Counter())[end])
    names = {"testPassCount": "successes", "testFailCount": "failures", "testErrorCount": "errors"}
    for at, prompt in enumerate(stated.parts("prompts")):
        for name, end in {**names, "score": "score"}.items():
            prompt.part("metrics").agrees(name, ends.get(at, Counter())[end])


def _providers(raw: Any) -> list[Any]:
    return [row.get("provider") for row in raw["results"]["results"] if isinstance(row, dict)]


def _run(part: Part, graded: set[str]) -> Run:
    grade, case = part.part("gradingResult"), part.part("testCase")
    verdicts = list(_verdicts(grade))
    if not verdicts and grade.flag("pass") is not None:
        verdicts = [GradedExpectation("the test passed", grade.flag("pass"), grade.text("reason"))]
    if not verdicts and not part.text("error") and part.flag("success") is not None:
        verdicts = [GradedExpectation("the test passed", part.flag("success"))]
    named = part.part("namedScores")
    scores: dict[str, RubricScore] = {}
    for name in sorted(graded & named.raw.keys()):
        if (value := named.number(name)) is not None:
            scores |= dimension(without_keys(name, part.secrets), value, None, named)
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
        grading=None if failed else Grading(verdicts, rubric_scores=scores),
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
        type_, value = check.text("type"), check.raw.get("value")
        wanted = check.text("value") if isinstance(value, str | int | float) else None
        name = check.text("metric") or type_
        text = f"{name}: {wanted}" if name and wanted else name or wanted or "unnamed"
        yield GradedExpectation(text, part.flag("pass"), part.text("reason"), type=type_)
