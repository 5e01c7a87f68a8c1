"""`claude plugin eval`: aggregate-result.json, schema version 1, and its older snake_case keys."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..evals import EvalMetadata, Expectation
from ..run import GradedExpectation, Grading, Judging, Metrics, RubricScore, Timing
from ..sides import WITH, side_in
from .part import Aggregate, Part, Results, Run, mean, without_keys


def recognise(raw: Any) -> bool:
    """A suite and cases with arms."""
    if not isinstance(raw, dict) or not {"suite", "cases"} <= raw.keys():
        return False
    cases = raw["cases"]
    return isinstance(cases, list) and all(
        isinstance(case, dict) and "arms" in case for case in cases
    )


def read(raw: Any, path: str) -> Results:  # noqa: ARG001 -- the file says all itself
    """Its runs; `score` is the weighted share, and `pass_rate` counts each scored grader once."""
    whole = Part(_to_camel(raw) if _is_snake(raw) else raw)
    suite = whole.part("suite")
    names = [part.text("name") or "unnamed" for part in suite.parts("plugins")]
    began = whole.text("startedAt")
    results = Results(
        skill=" + ".join(names) or None,
        key=f"plugin-eval {began} {names}" if began else None,
        faults=whole.faults,
    )
    partial = None
    if whole.flag("partial"):
        partial = f"the suite is partial ({whole.text('partialReason') or 'no reason is given'})"
        message = f"{partial}: its runs are kept but count in no rate; run the suite to its end"
        whole.faults.add("warning", "partial", "$.partial", message)
    for case in whole.parts("cases"):
        _add_case(case, case.text("model") or suite.text("modelOverride"), partial, results)
    voted = sum(bool(run.judgings) for run in results.runs)
    if voted:
        message = f"the judge's votes on {voted} runs are judgings (5 yes, 1 no), in no mean"
        whole.faults.add("info", "votes", "$.cases[*].arms", message)
    if partial is None:
        _add_aggregates(whole, results)
    return results


def _is_snake(raw: dict[str, Any]) -> bool:
    """Whether a version of before the keys were camelCase has written it."""
    cases = [case for case in raw["cases"] if isinstance(case, dict)]
    suite = raw["suite"] if isinstance(raw["suite"], dict) else {}
    return any("_" in key for part in (raw, suite, *cases) for key in part)


def _to_camel(raw: Any, depth: int = 0) -> Any:
    """The same with runsPerCase for runs_per_case."""
    if depth > 20:  # nothing that is read lies so deep
        return None
    if isinstance(raw, list):
        return [_to_camel(value, depth + 1) for value in raw]
    if not isinstance(raw, dict):
        return raw
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), key): _to_camel(value, depth + 1)
        for key, value in raw.items()
    }


class _Grader(NamedTuple):
    """A grader: its text, its kind, and what it looks for."""

    text: str
    type: str | None
    config: Part
    of_skill: bool


def _read_grader(name: str, part: Part) -> _Grader:
    """A grader; its text is its name, and what it looks for."""
    config, type_ = part.part("config"), part.text("type")
    wanted = config.text("pattern", "path") or part.text("graderMarkdown") or ""
    of_skill = type_ == "tool_used" and config.text("tool") == "Skill"
    text = f"{name}: {wanted.splitlines()[0]}" if wanted else name
    return _Grader(text, type_, config, of_skill)


def _add_case(case: Part, model: str | None, partial: str | None, results: Results) -> None:
    name = case.text("name", "dir") or f"case {len(results.evals) + 1}"
    named = {part.text("name") or "unnamed": part for part in case.parts("graders")}
    graders = {grader: _read_grader(grader, part) for grader, part in named.items()}
    texts = [Expectation(text=grader.text, type=grader.type) for grader in graders.values()]
    results.evals.append(
        EvalMetadata(
            eval_id=name, eval_name=name, prompt=case.text("promptMarkdown"), assertions=texts
        )
    )
    planned = case.whole("runsPerCase")
    for arm in case.part("arms").raw:
        runs = case.part("arms").parts(arm)
        if runs and planned is not None and len(runs) != planned:
            message = f"{planned} runs per case are stated, {len(runs)} found; those were counted"
            case.faults.add("info", "runs-stated", f"{case.where}.runsPerCase", message)
        for number, arm_run in enumerate(runs, 1):
            run = _run_of_arm(arm_run, graders, partial)
            run.configuration = side_in(arm) or without_keys(arm)
            run.eval_id, run.eval_name = name, name
            run.run_number, run.model = number, model
            results.runs.append(run)


def _run_of_arm(part: Part, graders: dict[str, _Grader], partial: str | None) -> Run:
    score, error = part.number("score"), part.text("error")
    verdicts, used, cast = [], None, {}
    for verdict in part.parts("graders"):
        name = verdict.text("name") or "unnamed"
        grader = graders.get(name) or _read_grader(name, Part({}))
        passed = verdict.flag("passed")
        if grader.of_skill:
            used = _is_skill_used(grader.config, passed, verdict.text("explanation"))
        ballots = verdict.raw.get("judgeVotes")
        if isinstance(ballots, list) and (
            known := [vote for vote in ballots if isinstance(vote, bool)]
        ):
            cast[name] = known
        if verdict.flag("scored") is not False:
            evidence = verdict.text("evidence", "explanation")
            verdicts.append(GradedExpectation(grader.text, passed, evidence, type=grader.type))
    incomplete = partial
    if part.flag("skippedPaidGraders"):
        incomplete = "graders that cost money were skipped"
        message = f"{incomplete}: the run counts in no rate; run it again with a higher limit"
        part.faults.add("warning", "incomplete", f"{part.where}.skippedPaidGraders", message)
    return Run(
        harness="claude-code",
        error=error,
        grading=Grading(verdicts) if error is None or (verdicts and score is not None) else None,
        timing=Timing(
            total_duration_seconds=part.number("durationSeconds", 0),
            executor_start=part.text("startedAt"),
            cost_usd=part.number("costUsd", 0),
        ),
        metrics=Metrics(total_steps=part.whole("turns"), skill_used=used),
        judgings=_read_votes(cast),
        score=score,
        incomplete=incomplete,
    )


def _read_votes(of: dict[str, list[bool]]) -> list[Judging]:
    """Votes on checks as judgings: 5 for yes and 1 for no, with a weight of 0 in every mean."""
    return [
        Judging(
            judging=at + 1,
            rubric_scores={
                name: RubricScore(score=5.0 if cast[at] else 1.0, weight=0.0)
                for name, cast in of.items()
                if at < len(cast)
            },
        )
        for at in range(max(map(len, of.values()), default=0))
    ]


def _is_skill_used(config: Part, passed: bool | None, explanation: str | None) -> bool | None:
    """Whether the skill was used: a grader may also want that it was not."""
    counted = re.search(r"called (\d+)x", explanation or "")
    if counted:
        return int(counted[1]) > 0
    unwanted = config.number("max") == 0
    return None if passed is None else passed is not unwanted


def _add_aggregates(whole: Part, results: Results) -> None:
    """The means over cases that it states; each case's own are held against its runs."""
    rates: list[float | None] = []
    for case in whole.parts("cases"):
        stated = case.part("aggregates")
        for arm, end in (("with", ""), ("without", "Without")):
            runs = case.part("arms").parts(arm)
            passed = mean(float(run.raw.get("passed") is True) for run in runs)
            stated.agrees(f"score{end}", mean(_score(run) for run in runs))
            stated.agrees(f"passRate{end}", passed)
            rates += [passed] if arm == "with" else []
    own = whole.part("aggregates")
    own.agrees("overallPassRate", mean(rates))
    for configuration, name in ((WITH, "overallScore"), ("delta", "meanDelta")):
        if (score := own.number(name)) is not None:
            results.aggregates[configuration] = Aggregate(score=score)


def _score(part: Part) -> float | None:
    score = part.raw.get("score")
    return float(score) if isinstance(score, int | float) else None
