"""inspect_ai: logs as `.json` and as `.eval`, a zip; `write_inspect`'s own, figure by figure."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from typing import Any

import msgspec

from skill_eval_nb.disk import LARGEST, open_regular

from ..base import Faults
from ..parsing import NotJSON, parse
from ..repair import mend
from ..run import Grading, Judging, Metrics, Structural, Timing, is_unread
from .identity import is_verdict, number_in
from .part import (
    UNSTATED,
    Aggregate,
    Part,
    Results,
    Run,
    mean,
    model_of,
    secrets_in,
    side_in,
    side_of,
    without_keys,
)

OWN = "skill_eval_nb"
"""The key in a log's metadata under which it says of what it is, which no other log has."""


def read_own(whole: Part, own: Part, results: Results) -> None:
    """Add the runs of a log, and what it is of."""
    results.skill = own.text("skill") or results.skill
    results.iteration, results.below = own.text("iteration"), own.text("below") or ""
    for sample in whole.parts("samples"):
        run = _own_run(sample)
        run.configuration = own.text("configuration") or run.configuration
        results.runs.append(run)
        prompt = sample.text("input") if isinstance(sample.raw.get("input"), str) else None
        run.prompt = None if prompt == run.eval_name else prompt  # which stands where none does


def _own_run(sample: Part) -> Run:
    """A sample as the documents of a run: what is a score is read there, the rest is metadata.

    Claims, notes and suggestions are texts for who reads the log, and are not read back.
    """
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
    if status in ("graded", "ungraded") or judged:
        counted = {name: meta.whole(name) for name in ("passed", "failed", "total")}
        summary = None if judged or structural else {**counted, "pass_rate": rate}
        mean = {"weighted_mean": figure("rubric_weighted_mean")}
        known = {"expectations": judged, "summary": summary, "rubric_summary": mean}
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
        grader_start=meta.text("judged_at"),
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
    """Its samples; the first scorer that has metrics is the rate, each further one a score."""
    about = raw["eval"]
    whole = Part(raw, secrets=tuple(secrets_in(about)))
    head = whole.part("eval")
    task = (head.text("task") or "unnamed").rsplit("/", 1)[-1]
    log = head.text("eval_id") or head.text("run_id")
    results = Results(skill=task, key=f"inspect {log}" if log else None, faults=whole.faults)
    own = head.part("metadata").part(OWN)
    configuration = own.text("configuration") or _configuration(head, path)
    samples = whole.parts("samples")
    if (status := whole.text("status")) not in (None, "success"):
        message = f"the log's status is {status}: only the samples that it holds were read"
        whole.faults.add("warning", "log-status", "$.status", message)
    if not samples:
        message = "the log holds no samples, so no runs; load the log with its samples"
        whole.faults.add("warning", "no-samples", "$.samples", message)
    if own.raw:
        read_own(whole, own, results)
        if (value := _stated_figure(_measures(whole), results.runs, "pass_rate")) is not None:
            results.aggregates[configuration] = Aggregate(pass_rate=value)
        return results
    scores = [_scores(sample) for sample in samples]
    main, measure = _main(whole, head, scores)
    for sample, scored in zip(samples, scores, strict=True):
        run = _run(sample, scored, main, head)
        run.configuration = configuration
        results.runs.append(run)
    _leave_errors(measure, results.runs)
    if (value := _stated_figure([measure], results.runs)) is not None:
        results.aggregates[configuration] = Aggregate(pass_rate=value)
    return results


def _measures(whole: Part) -> list[Part]:
    """What the log sums up, a scorer each, where it has metrics."""
    return [part for part in whole.part("results").parts("scores") if part.part("metrics").raw]


def _main(whole: Part, head: Part, scores: list[_Scores]) -> tuple[str | None, Part]:
    """The scorer that is the rate, and what the log sums up of it.

    It is the first that has metrics and gives figures, where the log says which have; one without
    is no measure.
    """
    figures = dict.fromkeys(
        name for of in scores for name, (value, _) in of.items() if number_in(value) is not None
    )
    for measure in _measures(whole):
        scorer, name = measure.text("scorer"), measure.text("name")
        for label in (f"{scorer}/{name}", name, scorer):
            if label in figures:
                others = [other for other in figures if other != label]
                if others:
                    message = (
                        f"the rate is {label}, the first scorer that has metrics; "
                        f"{', '.join(others)}: checks or dimensions"
                    )
                    whole.faults.add("info", "scorers", "$.results.scores", message)
                return label, measure
    listed = [part.text("name") for part in head.parts("scorers")]
    return next((name for name in (*listed, *figures) if name in figures), None), Part({})


def _leave_errors(measure: Part, runs: list[Run]) -> None:
    """Take the scores of samples that ended in an error away, where the log leaves them out.

    How many it counts says so, else its mean.
    """
    scored = [run for run in runs if run.score is not None]
    sound = [run for run in scored if run.error is None]
    counted, metrics = measure.whole("scored_samples"), measure.named("metrics")
    stated = [metrics[name].number("value") for name in ("accuracy", "mean") if name in metrics]
    means = [mean(run.score for run in some) for some in (scored, sound)]
    fits = [any(abs((value or 0) - (own or 0)) < 0.0051 for value in stated) for own in means]
    if len(sound) < len(scored) and (
        counted == len(sound) or (counted is None and fits == [False, True])
    ):
        for run in runs:
            run.grading = None if run.error is not None else run.grading


def _stated_figure(measures: list[Part], runs: list[Run], name: str | None = None) -> float | None:
    """The mean that the log states of its scorer, held against the samples."""
    first = next(iter(measures), Part({}))
    if first.text("reducer") not in (None, "mean") or name not in (None, first.text("name")):
        return None  # the best of several epochs, say: no figure of ours
    evals: dict[Any, list[float | None]] = {}
    for run in runs:
        used = run.rate if run.incomplete is None and run.grading is not None else None
        evals.setdefault(run.eval_id, []).append(used)
    metrics, found = first.part("metrics"), None
    for metric in ("accuracy", "mean"):
        metrics.part(metric).agrees("value", mean(map(mean, evals.values())))
        value = metrics.part(metric).number("value")
        found = value if found is None and value is not None and 0 <= value <= 1 else found
    return found


def _configuration(head: Part, path: str) -> str:
    """The side that an argument of the task, its metadata or a tag names, else a file's name."""
    tags = head.raw.get("tags")
    tagged = (
        [side_in(tag) for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    )
    stated = (head.part(place).switch() for place in ("task_args", "metadata"))
    return next(filter(None, (*stated, *tagged, side_of(path, 1))), UNSTATED)


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
            found[without_keys(label)] = None if is_unread(why) else part, why
    return found


def _run(sample: Part, scores: _Scores, main: str | None, head: Part) -> Run:
    id_ = sample.text("id") or "unnamed"
    whole_model = head.text("model")
    usage = sample.named("model_usage")
    used = usage.get(whole_model or "") or next(iter(usage.values()), Part({}))
    error = sample.raw.get("error")
    score = number_in(scores[main][0]) if main in scores else None
    log = head.text("task_id", "eval_id", "run_id")  # what is tried again keeps the first
    prompt = _prompt(sample)
    numbered = isinstance(sample.raw.get("id"), int) and prompt is not None
    run = Run(
        configuration="",
        eval_id=id_,
        eval_name=id_,
        asked={"": prompt, "target": sample.raw.get("target")} if numbered else {},
        prompt=prompt,
        model=model_of(whole_model) if whole_model else None,
        whole_model=whole_model,
        run_number=sample.whole("epoch"),
        run_id=sample.text("uuid") or (f"{log} {sample.whole('epoch')}" if log else None),
        grading=Grading([]) if scores else None,
        rate=score if score is not None and 0 <= score <= 1 else None,
        score=score,
        scorer=main,
        scores={
            name: scored
            for name, scored in scores.items()
            if scored[0] is not None and (name != main or is_verdict(scored[0]))
        },
        timing=Timing(
            total_duration_seconds=sample.number("total_time", 0),
            total_tokens=used.whole("total_tokens"),
            cache_read_tokens=used.whole("input_tokens_cache_read"),
            executor_start=sample.text("started_at"),
            cost_usd=used.number("total_cost", 0),
        ),
    )
    if error:
        run.error = sample.either("error", "message").text("message") or "no reason is given"
    if sample.raw.get("limit") and scores:
        message = "it reached a limit, and was scored all the same: its scores count"
        sample.faults.add("info", "limit", f"{sample.where}.limit", message)
    if sample.raw.get("invalidation"):
        why = sample.part("invalidation").text("reason") or "no reason is given"
        run.incomplete = f"it was invalidated: {why}"
    elif scores and score is None and main is not None:
        run.incomplete = f"{main} gave it no score"
    return run


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


_ZSTD = 93


_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotJSON),
    *(NotImplementedError, EOFError, RuntimeError),
)
"""What a damaged zip, or one that is packed in an unknown way, ends in."""


class _Sample(msgspec.Struct):
    """What is read of a sample; its messages and events, which are long, are passed over."""

    id: Any = None
    epoch: Any = None
    input: Any = None
    scores: Any = None
    score: Any = None
    metadata: Any = None
    model_usage: Any = None
    total_time: Any = None
    started_at: Any = None
    error: Any = None
    limit: Any = None
    target: Any = None
    uuid: Any = None
    invalidation: Any = None


def open_log(path: str, faults: Faults) -> Any:
    """The log in a `.eval` file as its `.json` form has it; None where it is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no zip, or holds what cannot be unpacked; the message says what.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as log:
            names = log.namelist()
            head = next(
                (member for member in ("header.json", "_journal/start.json") if member in names),
                None,
            )
            if head is None:
                return None
            whole = parse(_member(log, head), faults)
            if isinstance(whole, dict):
                whole["samples"] = []
                for name in names:
                    if not (name.startswith("samples/") and name.endswith(".json")):
                        continue
                    try:
                        whole["samples"].append(_sample(_member(log, name), faults))
                    except _BROKEN as fault:
                        message = f"{name} cannot be read: {fault}; the run is left out"
                        faults.add("error", "unreadable", "$.samples", message)
            return whole
    except _BROKEN as fault:
        raise ValueError(str(fault)) from None


def _member(log: zipfile.ZipFile, name: str) -> bytes:
    """A file of the zip; newer logs are packed in a way that not every standard library knows.

    What else knows it is not asked: it ends in faults of its own.
    """
    info = log.getinfo(name)
    if info.file_size > LARGEST:
        raise NotImplementedError(f"{name} has {info.file_size / 1e6:.0f} MB")
    if info.compress_type != _ZSTD:
        with log.open(info) as file:
            return file.read(LARGEST)
    import pyarrow as pa

    assert log.fp is not None
    log.fp.seek(info.header_offset + 26)
    lengths = log.fp.read(4)
    log.fp.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    packed = log.fp.read(info.compress_size)
    try:
        data = pa.decompress(packed, info.file_size, "zstd", asbytes=True)
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise NotImplementedError(f"{name}: {fault}") from None
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"{name}: its sum is wrong")
    return data


def _sample(data: bytes, faults: Faults) -> Any:
    try:
        return msgspec.structs.asdict(msgspec.json.decode(data, type=_Sample))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return parse(data, faults)
