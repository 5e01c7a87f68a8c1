"""Logs of inspect_ai that `report.write_inspect` wrote: the same runs, figure by figure."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..evals import EvalMetadata
from ..repair import mend
from ..run import Grading, Judging, Metrics, Structural, Timing
from .part import Part
from .results import Results, Run

OWN = "skill_eval_nb"
"""The key in a log's metadata under which it says of what it is, which no other log has."""

_NOTES = {
    "uncertainty": "uncertainties",
    "needs_review": "needs_review",
    "workaround": "workarounds",
}
_CRITIQUES = {
    "vague": "vague_assertions",
    "missing_coverage": "missing_coverage",
    "suggested": "suggested_assertions",
}


def read_own(whole: Part, own: Part, results: Results) -> None:
    """Add the runs of a log, and what it is of."""
    results.skill = own.text("skill") or results.skill
    results.iteration, results.below = own.text("iteration"), own.text("below") or ""
    for sample in whole.parts("samples"):
        run = _run(sample)
        run.configuration = own.text("configuration") or run.configuration
        results.runs.append(run)
        prompt = sample.text("input") if isinstance(sample.raw.get("input"), str) else None
        prompt = None if prompt == run.eval_name else prompt  # which stands where there is none
        results.evals.append(
            EvalMetadata(eval_id=run.eval_id, eval_name=run.eval_name, prompt=prompt)
        )


def _run(sample: Part) -> Run:
    """A sample as the documents of a run: what is a score is read there, the rest is metadata."""
    meta, scores = sample.part("metadata"), sample.named("scores")

    def figure(name: str) -> float | None:
        return scores[name].number("value") if name in scores else None

    def mended(raw: dict[str, Any], document: Any) -> Any:
        value, faults = mend(raw, document)
        sample.faults.extend(faults)
        return value

    status, rate, total = meta.text("status"), figure("pass_rate"), meta.whole("total")
    verdicts = _verdicts(scores.get("checks", Part({})))
    judged, structural = verdicts["judged"], verdicts["structural"]
    judgings = [
        mended(judging, Judging)
        for judging in _judgings(scores.get("rubric", Part({})).part("metadata"))
    ]
    remarks = _remarks(meta)
    run = Run(
        configuration="",
        eval_id=sample.text("id") or "unnamed",
        eval_name=meta.text("eval_name"),
        run_number=sample.whole("epoch"),
        model=meta.text("executor_model"),
        harness=meta.text("harness"),
        judge_model=meta.text("judge_model"),
        score=figure("score"),
        judgings=judgings,
    )
    if status in ("graded", "ungraded") or judged or remarks:
        counted = {name: meta.whole(name) for name in ("passed", "failed", "total")}
        summary = None if judged or structural else {**counted, "pass_rate": rate}
        mean = {"weighted_mean": figure("rubric_weighted_mean")}
        known = {"expectations": judged, "summary": summary, "rubric_summary": mean, **remarks}
        run.grading = mended(known, Grading)
        run.rate = rate if total is None else None
    share, gate = figure("structural_pass_rate"), meta.flag("gate_passed")
    if structural or share is not None or gate is not None:
        summary = None if structural else {"pass_rate": share}
        known = {"expectations": structural, "summary": summary, "gate_passed": gate}
        run.structural = mended(known, Structural)
    if status == "executed" and total is None and gate is None and (judged or structural):
        run.incomplete = meta.text("reason") or "it was not wholly graded"
    usage = next(iter(sample.named("model_usage").values()), Part({}))
    run.timing = Timing(
        total_duration_seconds=sample.number("total_time", 0),
        total_tokens=usage.whole("total_tokens") or None,
        cache_read_tokens=usage.whole("input_tokens_cache_read"),
        executor_start=meta.text("started_at"),
        status="error" if status == "errored" else None,
        reason=meta.text("reason") if status == "errored" else None,
    )
    by_tool = {
        tool: row.whole("count") for row in meta.parts("calls") if (tool := row.text("tool"))
    }
    run.metrics = Metrics(
        tool_calls=by_tool or None,
        total_tool_calls=meta.whole("tool_calls"),
        total_steps=meta.whole("steps"),
        errors_encountered=meta.whole("errors"),
        output_chars=meta.whole("output_chars"),
        transcript_chars=meta.whole("transcript_chars"),
        cost_usd=usage.number("total_cost", 0),
        skill_used=meta.flag("skill_used"),
    )
    return run


def _verdicts(checks: Part) -> dict[str, list[dict[str, Any]]]:
    """The checks of each layer, as the documents have them."""
    found: dict[str, list[dict[str, Any]]] = {"judged": [], "structural": []}
    values = checks.part("value").raw
    for label, row in checks.part("metadata").raw.items():
        check = Part(row, secrets=checks.secrets).clean()
        layer = "structural" if check.pop("layer", None) == "structural" else "judged"
        check["id"] = check.pop("expectation_id", None)
        found[layer].append({**check, "passed": values.get(label)})
    return found


def _judgings(rubric: Part) -> list[dict[str, Any]]:
    """The judgings; weights of 1 are those of a rubric that states none."""
    rows = [row.clean() for row in rubric.parts("judgings")]
    weighted = any(row.get("weight") not in (None, 1) for row in rows)
    found: list[dict[str, Any]] = []
    for row in rows:
        about = {"judging": row.get("judging"), "judge_model": row.get("judge_model")}
        name = str(row.get("dimension"))
        last = found[-1] if found else {}
        if not last or not about.items() <= last.items() or name in last["rubric_scores"]:
            last = {**about, "rubric_scores": {}}
            found.append(last)
        score = {"score": row.get("score"), "evidence": row.get("evidence")}
        last["rubric_scores"][name] = {**score, "weight": row.get("weight") if weighted else None}
    return found


def _remarks(meta: Part) -> dict[str, Any]:
    """Claims, notes and suggestions as a grading has them; nothing where there are none."""
    found: dict[str, Any] = {}
    if claims := [row.clean() for row in meta.parts("claims")]:
        found["claims"] = claims
    notes, critique = defaultdict(list), defaultdict(list)
    feedback: dict[str, Any] = {}
    for row in meta.parts("notes"):
        notes[row.text("kind")].append(row.text("text") or "")
    for row in meta.parts("suggestions"):
        kind, reason = row.text("kind"), row.text("reason") or ""
        if kind == "critique":
            remark = {"reason": reason, "assertion": row.text("expectation")}
            feedback.setdefault("suggestions", []).append(remark)
        elif kind == "overall":
            feedback["overall"] = reason
        else:
            critique[kind].append(reason)
    summary = {name: notes[kind] for kind, name in _NOTES.items() if kind in notes}
    vague = {name: critique[kind] for kind, name in _CRITIQUES.items() if kind in critique}
    found |= {"user_notes_summary": summary} if summary else {}
    found |= {"factual_issues": notes["factual_issue"]} if "factual_issue" in notes else {}
    found |= {"eval_feedback": feedback} if feedback else {}
    return found | ({"eval_critique": vague} if vague else {})
