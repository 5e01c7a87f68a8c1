"""inspect_ai: logs as `.json`, and as `.eval` (see `inspect_zip`)."""

from __future__ import annotations

from typing import Any

from ..evals import EvalMetadata
from ..run import GradedExpectation, Grading, Timing
from .inspect_own import OWN, read_own
from .part import Part, dimension, secrets_in, without_keys
from .results import UNSTATED, WITH, WITHOUT, Aggregate, Results, Run, mean, side_in, side_of

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partial, incorrect, no answer: as the library itself reads them."""
_VERDICTS = {"C": True, "I": False, "N": False, "P": None, True: True, False: False}
_SWITCHES = ("skill", "skills", "with_skill", "use_skill", "skill_enabled")


KEYS = frozenset({"eval"})


def recognise(raw: Any) -> bool:
    """A task and a model, with a plan, results or samples."""
    about = raw.get("eval") if isinstance(raw, dict) else None
    return (
        isinstance(about, dict)
        and {"task", "model"} <= about.keys()
        and bool(raw.keys() & {"plan", "results", "samples", "stats"})
    )


def read(raw: Any, path: str) -> Results:
    """Its samples; the first scorer is the rate, each further one a check or a dimension."""
    about = raw["eval"]
    whole = Part(raw, secrets=tuple(secrets_in(about)))
    head = whole.part("eval")
    task = (head.text("task") or "unnamed").rsplit("/", 1)[-1]
    model = (head.text("model") or "").rsplit("/", 1)[-1] or None
    log = head.text("eval_id") or head.text("run_id")
    results = Results(skill=task, key=f"inspect {log}" if log else None, faults=whole.faults)
    own = head.part("metadata").part(OWN)
    configuration = own.text("configuration") or _configuration(head, path)
    samples = whole.parts("samples")
    scorers = [name for part in head.parts("scorers") if (name := part.text("name"))]
    scores = [] if own.raw else [_scores(sample) for sample in samples]
    kinds = _kinds(scores)
    if (status := whole.text("status")) not in (None, "success"):
        message = f"the log's status is {status}: only the samples that it holds were read"
        whole.faults.add("warning", "log-status", "$.status", message)
    if not samples:
        message = "the log holds no samples, so no runs; load the log with its samples"
        whole.faults.add("warning", "no-samples", "$.samples", message)
    if own.raw:
        read_own(whole, own, results)
    for sample, scored in zip(samples, scores, strict=False):
        run = _run(sample, scored, scorers, kinds, head.text("model"))
        run.configuration, run.model = configuration, model
        results.runs.append(run)
        if run.run_number in (None, 1):
            prompt = _prompt(sample)
            results.evals.append(
                EvalMetadata(eval_id=run.eval_id, eval_name=run.eval_name, prompt=prompt)
            )
    if (value := _stated(whole, results.runs, own=bool(own.raw))) is not None:
        results.aggregates[configuration] = Aggregate(pass_rate=value)
    return results


def _stated(whole: Part, runs: list[Run], *, own: bool) -> float | None:
    """The mean that the log states of its first scorer, held against the samples."""
    first = next(iter(whole.part("results").parts("scores")), Part({}))
    if own and first.text("name") != "pass_rate":
        return None
    if first.text("reducer") not in (None, "mean"):
        return None  # the best of several epochs, say: no figure of ours
    evals: dict[Any, list[float | None]] = {}
    for run in runs:
        evals.setdefault(run.eval_id, []).append(run.rate)
    metrics, found = first.part("metrics"), None
    for name in ("accuracy", "mean"):
        metrics.part(name).agrees("value", mean(map(mean, evals.values())))
        value = metrics.part(name).number("value")
        found = value if found is None and value is not None and 0 <= value <= 1 else found
    return found


def _configuration(head: Part, path: str) -> str:
    """The side that an argument of the task, its metadata or a tag names, else a file's name."""
    for place in ("task_args", "metadata"):
        given = head.part(place)
        if named := given.side():
            return named
        for name in _SWITCHES:
            if name in given.raw:
                return WITH if given.raw[name] not in (None, False, "", 0, [], "none") else WITHOUT
    tags = head.raw.get("tags")
    named = [side_in(tag) for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return next(filter(None, named), None) or side_of(path, 1) or UNSTATED


_Scores = dict[str, tuple[Any, str | None]]
"""Scorer to value and explanation."""


def _scores(sample: Part) -> _Scores:
    """Scorer to value and explanation; a value of several has one entry each."""
    found: _Scores = {}
    scores = sample.named("scores")
    if not scores and isinstance(sample.raw.get("score"), dict):
        scores = {"score": sample.part("score")}
    for name, score in scores.items():
        value, why = score.raw.get("value"), score.text("explanation")
        parts = value if isinstance(value, dict) else {"": value}
        for key, part in parts.items():
            label = f"{name}/{key}" if key else name
            found[without_keys(label)] = part, why
    return found


def _kinds(scores: list[_Scores]) -> dict[str, bool]:
    """Scorer to whether all that it gives are verdicts: none is a check here and a score there."""
    kinds: dict[str, bool] = {}
    for of_sample in scores:
        for name, (value, _) in of_sample.items():
            verdict = value is None or (
                isinstance(value, bool | str | int | float) and value in _VERDICTS
            )
            kinds[name] = kinds.get(name, True) and verdict
    return kinds


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return _LETTERS.get(value.strip()) if value.strip() in _LETTERS else float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, bool | int | float) else None


def _run(
    sample: Part, scores: _Scores, scorers: list[str], kinds: dict[str, bool], model: str | None
) -> Run:
    id_ = sample.text("id") or "unnamed"
    usage = sample.named("model_usage")
    used = usage.get(model or "") or next(iter(usage.values()), Part({}))
    error = sample.raw.get("error")
    scores = {} if error else scores
    main = next((name for name in scorers if name in scores), next(iter(scores), None))
    grading, rate, score = Grading([]), None, None
    for name, (value, why) in scores.items():
        number = _number(value)
        if name == main:
            score = number
            rate = number if number is not None and 0 <= number <= 1 else None
        if kinds.get(name) and value is not None:
            grading.expectations.append(GradedExpectation(name, _VERDICTS[value], why))
        elif name != main and number is not None:
            grading.rubric_scores.update(dimension(name, number, why, sample))
    limit = sample.raw.get("limit")
    if limit and scores:
        message = "it reached a limit, and was scored all the same: its scores count"
        sample.faults.add("info", "limit", f"{sample.where}.limit", message)
    reason = sample.part("error").text("message") if isinstance(error, dict) else None
    return Run(
        configuration="",
        eval_id=id_,
        eval_name=id_,
        run_number=sample.whole("epoch"),
        grading=grading if scores else None,
        rate=rate,
        score=score,
        timing=Timing(
            total_duration_seconds=sample.number("total_time", 0),
            total_tokens=used.whole("total_tokens"),
            cache_read_tokens=used.whole("input_tokens_cache_read"),
            executor_start=sample.text("started_at"),
            cost_usd=used.number("total_cost", 0),
            status="error" if error else None,
            reason=(reason or "error").splitlines()[0][:200] if error else None,
        ),
    )


def _prompt(sample: Part) -> str | None:
    """The input: a text, or the user's messages."""
    if not isinstance(sample.raw.get("input"), list):
        return sample.text("input") if isinstance(sample.raw.get("input"), str) else None
    messages = [part for part in sample.parts("input") if part.raw.get("role") == "user"]
    texts = [
        message.text("content")
        for message in messages
        if isinstance(message.raw.get("content"), str)
    ]
    return "\n\n".join(text for text in texts if text) or None
