"""promptfoo: what `promptfoo eval -o` writes; provider × prompt is model × configuration."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..base import objects
from ..run import GradedExpectation, Grading, Timing
from ..sides import UNSTATED, WITH, WITHOUT, side_in, without_side
from .part import Part, Results, Run, model_of, secrets_in, side_of

_ERROR = 2
"""The `failureReason` of a result that no check failed, but a fault."""
_OF_RUN = ("sessionId", "_conversation")
"""Variables that each run has its own of."""
_JUDGES = re.compile(r"llm-rubric|model-graded|g-eval|factuality|answer-relevance|context-|select-")
_NO_ANSWER = re.compile(r"(api )?error\b|no output|request timed out", re.IGNORECASE)
"""What a judge's check says where the judge gave no answer."""


def recognise(raw: Any) -> bool:
    """Results, each of a test and a prompt: a file, what `evaluate` returns, or lines of them."""
    known = {"testIdx", "promptIdx", "gradingResult"}
    rows = objects(raw if isinstance(raw, list) else _inner(raw), "results")
    return any("provider" in row and row.keys() & known for row in rows)


def _inner(raw: Any) -> dict[str, Any]:
    """The object that holds the list of results."""
    inner = raw.get("results") if isinstance(raw, dict) else None
    return inner if isinstance(inner, dict) else raw if isinstance(inner, list) else {}


def read(raw: Any, path: str) -> Results:
    """Its runs, in order; `score` is its own, and `pass_rate` counts each assertion once."""
    lines = {"results": raw} if isinstance(raw, list) else raw
    given = [row.get("provider") for row in _inner(lines)["results"] if isinstance(row, dict)]
    whole = Part(lines, secrets=(*secrets_in(lines.get("config")), *secrets_in(given)))
    own = whole.text("evalId")
    results = Results(key=f"promptfoo {own}" if own else None, faults=whole.faults)
    inner = whole if _inner(lines) is lines else whole.part("results")
    rows = inner.parts("results")
    if isinstance(raw, list):  # lines have places of their own
        rows = [Part(row.raw, f"$[{at}]", row.faults, row.secrets) for at, row in enumerate(rows)]
    switches = [row.part("vars").switch() for row in rows]
    switched = {WITH, WITHOUT} == set(switches)
    labels = [row.either("prompt", "raw").text("label") or "" for row in rows]
    several = len(set(labels)) > 1
    for row, label, switch in zip(rows, labels, switches, strict=True):
        run = _run_of_row(row)
        provider = row.either("provider", "id")
        said = side_in(label) or side_in(provider.text("label")) or side_in(provider.text("id"))
        short = _short(label) if several else None
        stated = said or (switch if switched else None)
        run.configuration = stated or short or side_of(path, 2) or UNSTATED
        results.runs.append(run)
    _tell_arms(results.runs, rows, labels)
    _tell_asserts(results.runs, rows)
    _audit_totals(inner, rows)
    return results


def _short(label: str) -> str | None:
    """A label that is a name, and not the prompt itself."""
    return label if 0 < len(label) <= 60 and "\n" not in label else None


def _tell_arms(runs: list[Run], rows: list[Part], labels: list[str]) -> None:
    """Give arms that would have one name, such as two versions, names of their own."""
    arms: dict[tuple[str, str | None], dict[int | None, str]] = {}
    numbers = [row.whole("promptIdx") for row in rows]
    for run, number, label in zip(runs, numbers, labels, strict=True):
        arms.setdefault((run.configuration, run.whole_model), {})[number] = label
    for run, number in zip(runs, numbers, strict=True):
        same = arms[run.configuration, run.whole_model]
        if number is not None and len(same) > 1:
            own = _short(same[number]) if len(set(same.values())) == len(same) else None
            side = "" if run.configuration == UNSTATED else f"{run.configuration} "
            run.configuration = own or f"{side}prompt {number + 1}"


def _tell_asserts(runs: list[Run], rows: list[Part]) -> None:
    """Make cases that differ only in what is asserted different evals."""
    asserted = [json.dumps(row.part("testCase").raw.get("assert")) for row in rows]
    cases = [json.dumps(run.asked, sort_keys=True) for run in runs]
    several = Counter(case for case, _ in set(zip(cases, asserted, strict=True)))
    for run, case, asserts in zip(runs, cases, asserted, strict=True):
        if several[case] > 1:
            run.eval_id, run.asked = None, {**run.asked, "assert": asserts}


def _audit_totals(stated: Part, rows: list[Part]) -> None:
    """Hold what it sums up, in all and of each prompt, against the results beside it."""
    ends: dict[int | None, Counter[str]] = {}
    for row in rows:
        right, broken = row.raw.get("success") is True, row.whole("failureReason") == _ERROR
        end = "errors" if broken else "successes" if right else "failures"
        for prompt in (None, row.whole("promptIdx")):
            ends.setdefault(prompt, Counter()).update({end: 1, "score": row.number("score") or 0})
    for end in ("successes", "failures", "errors"):
        stated.part("stats").agrees(end, ends.get(None, Counter())[end])
    names = {"testPassCount": "successes", "testFailCount": "failures", "testErrorCount": "errors"}
    for at, prompt in enumerate(stated.parts("prompts")):
        for name, end in {**names, "score": "score"}.items():
            prompt.part("metrics").agrees(name, ends.get(at, Counter())[end])


def _run_of_row(part: Part) -> Run:
    grade, case = part.part("gradingResult"), part.part("testCase")
    verdicts = list(read_components(grade))
    passed, error = grade.flag("pass"), part.text("error")
    passed = part.flag("success") if passed is None and not error else passed
    if not verdicts and passed is not None:
        verdicts = [GradedExpectation("the test passed", passed, grade.text("reason"))]
    failed = part.whole("failureReason") == _ERROR or (not verdicts and bool(error))
    response = part.part("response")
    usage = (response if response.raw.get("tokenUsage") else part).part("tokenUsage")
    cached, named = response.flag("cached") or False, part.part("namedScores")
    provider = part.either("provider", "id")
    id_ = provider.text("id") or "unnamed"
    label = without_side(provider.text("label"))
    words = case.text("description") or part.text("description")
    given = (part.part("vars") if part.raw.get("vars") else case.part("vars")).clean()
    asked = {name: value for name, value in given.items() if name not in _OF_RUN}
    number = part.whole("testIdx")
    return Run(
        eval_id=None if words or asked or number is None else str(number),
        asked={"": words, **asked} if words or asked or number is None else {},
        model=label or (None if side_in(id_) else model_of(id_, colons=True)),
        whole_model=f"{label} ({id_})" if label else None if side_in(id_) else id_,
        run_id=str(response.raw.get("output")),
        cached=cached,
        error=(error or "") if failed else None,
        grading=None if failed else Grading(verdicts),
        scores={name: (value, None) for name, value in sorted(named.numbers().items())},
        checked=True,
        score=part.number("score"),
        timing=Timing(
            duration_ms=None if cached else part.number("latencyMs", 0),
            total_tokens=usage.whole("total"),
            cost_usd=part.number("cost", 0),
        ),
    )


def read_components(
    grade: Part, key: str = "componentResults", depth: int = 0
) -> Iterator[GradedExpectation]:
    """The verdicts on what a grade is made of, which may be made of such again."""
    for part in grade.parts(key):
        if depth < 8 and part.raw.get(key):
            yield from read_components(part, key, depth + 1)
            continue
        check = part.either("assertion", "value")
        type_, value = check.text("type"), check.raw.get("value")
        wanted = check.text("value") if isinstance(value, str | int | float) else None
        name = check.text("metric", "type", "name")
        text = f"{name}: {wanted}" if name and wanted else name or wanted or "unnamed"
        passed, reason = part.flag("pass"), part.text("reason")
        if type_ and _JUDGES.match(type_) and not passed and _NO_ANSWER.match(reason or ""):
            reason = f"no judge's answer to parse, an error: {reason}"
        yield GradedExpectation(text, passed, reason, type=type_)
