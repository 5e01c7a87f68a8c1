"""inspect_ai: logs as `.json` and as `.eval`, a zip."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from skill_eval_nb.disk import LARGEST, open_regular
from skill_eval_nb.text import some

from ..base import Faults
from ..parsing import NotJSON, parse
from ..run import Grading, Timing, is_unread
from ..sides import UNSTATED, side_in
from .identity import number_in
from .part import Aggregate, Part, Results, Run, mean, model_of, secrets_in, side_of, without_keys


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
    results.iteration = head.part("task_args").text("iteration")
    configuration = _side_of_log(head, path)
    samples = whole.parts("samples")
    if (status := whole.text("status")) not in (None, "success"):
        message = f"the log's status is {status}: only the samples that it holds were read"
        whole.faults.add("warning", "log-status", "$.status", message)
    if not samples:
        message = "the log holds no samples, so no runs; load the log with its samples"
        whole.faults.add("warning", "no-samples", "$.samples", message)
    scores = [_sample_scores(sample) for sample in samples]
    main, measure = _main_scorer(whole, head, scores)
    for sample, scored in zip(samples, scores, strict=True):
        run = _run_of_sample(sample, scored, main, head)
        run.configuration = configuration
        results.runs.append(run)
    _leave_errors(measure, results.runs)
    if (value := _stated_figure(measure, results.runs)) is not None:
        results.aggregates[configuration] = Aggregate(pass_rate=value)
    return results


def _main_scorer(whole: Part, head: Part, scores: list[_Scores]) -> tuple[str | None, Part]:
    """The scorer that is the rate, and what the log sums up of it.

    It is the first that has metrics and gives figures, where the log says which have; one without
    is no measure, and metrics of what gives no figures are of something else than these scores.
    """
    figures = dict.fromkeys(
        name for of in scores for name, (value, *_) in of.items() if number_in(value) is not None
    )
    measures = [part for part in whole.part("results").parts("scores") if part.part("metrics").raw]
    for measure in measures:
        scorer, name = measure.text("scorer"), measure.text("name")
        for label in (f"{scorer}/{name}", name, scorer):
            if label in figures:
                others = [other for other in figures if other != label]
                if others:
                    message = f"the rate is {label}; checks or dimensions are {some(others, 6)}"
                    whole.faults.add("info", "scorers", "$.results.scores", message)
                return label, measure
    listed = [] if measures else [part.text("name") for part in head.parts("scorers")] + [*figures]
    return next((name for name in listed if name in figures), None), Part({})


def _leave_errors(measure: Part, runs: list[Run]) -> None:
    """Take the scores of samples that ended in an error away, where the log leaves them out.

    How many it counts says so, else its mean.
    """
    scored = [run for run in runs if run.score is not None]
    sound = [run for run in scored if run.error is None]
    counted, metrics = measure.whole("scored_samples"), measure.named("metrics")
    stated = [metrics[name].number("value") for name in ("accuracy", "mean") if name in metrics]
    means = [mean(run.score for run in each) for each in (scored, sound)]
    fits = [any(abs((value or 0) - (own or 0)) < 0.0051 for value in stated) for own in means]
    if len(sound) < len(scored) and (
        counted == len(sound) or (counted is None and fits == [False, True])
    ):
        for run in runs:
            run.grading = None if run.error is not None else run.grading


def _stated_figure(measure: Part, runs: list[Run]) -> float | None:
    """The mean that the log states of its scorer, held against the samples."""
    if measure.text("reducer") not in (None, "mean"):
        return None  # the best of several epochs, say: no figure of ours
    evals: dict[Any, list[float | None]] = {}
    for run in runs:
        used = run.rate if run.incomplete is None and run.grading is not None else None
        evals.setdefault(run.eval_id, []).append(used)
    metrics, found = measure.part("metrics"), None
    for metric in ("accuracy", "mean"):
        metrics.part(metric).agrees("value", mean(map(mean, evals.values())))
        value = metrics.part(metric).number("value")
        found = value if found is None and value is not None and 0 <= value <= 1 else found
    return found


def _side_of_log(head: Part, path: str) -> str:
    """The side that an argument of the task, its metadata or a tag names, else a file's name."""
    found = head.raw.get("tags")
    tags = found if isinstance(found, list) else []
    tagged = (side_in(tag) for tag in tags if isinstance(tag, str))
    stated = (head.part(place).switch() for place in ("task_args", "metadata"))
    return next(filter(None, (*stated, *tagged, side_of(path, 1))), UNSTATED)


_Scores = dict[str, tuple[Any, str | None, float | None]]
"""Scorer to value, explanation and weight."""


def _sample_scores(sample: Part) -> _Scores:
    """Each scorer's value, explanation and weight; a value of several has one entry each.

    Where the score's metadata has an object by the name of one of several, it is about that one.
    """
    found: _Scores = {}
    scores = sample.named("scores")
    if not scores and isinstance(sample.raw.get("score"), dict):
        scores = {"score": sample.part("score")}
    for name, score in scores.items():
        value, about = score.raw.get("value"), score.named("metadata")
        parts = value if isinstance(value, dict) else {"": value}
        for key, part in parts.items():
            shown = without_keys(key, score.secrets)
            own = about.get(shown, score)
            why = own.text("explanation", "evidence")
            read = None if is_unread(why) else part
            found[f"{name}/{shown}" if key else name] = read, why, own.number("weight", 0)
    return found


_NO_MODEL = "none/none"
"""What the library calls it where a task was run by no model."""


def _models_of_sample(sample: Part, head: Part) -> Iterator[str | None]:
    """Who ran and who judged it: as the sample's metadata says, also that nobody did; else the log.

    A log of several samples names one model, which need not be that of each.
    """
    own, model = sample.part("metadata"), head.text("model")
    judge = head.part("model_roles").part("grader").text("model")
    of_log = {
        "executor_model": None if model == _NO_MODEL else model,
        "judge_model": model_of(judge) if judge else None,
    }
    return (own.text(name) if name in own.raw else told for name, told in of_log.items())


def _run_of_sample(sample: Part, scores: _Scores, main: str | None, head: Part) -> Run:
    id_ = sample.text("id") or "unnamed"
    model, judge = _models_of_sample(sample, head)
    usage = sample.named("model_usage")
    used = usage.get(model or "") or next(iter(usage.values()), Part({}))
    error = sample.raw.get("error")
    score = number_in(scores[main][0]) if main in scores else None
    log = head.text("task_id", "eval_id", "run_id")  # what is tried again keeps the first
    prompt = _sample_prompt(sample)
    numbered = isinstance(sample.raw.get("id"), int) and prompt is not None
    run = Run(
        eval_id=id_,
        eval_name=sample.part("metadata").text("eval_name"),
        asked={"": prompt, "target": sample.raw.get("target")} if numbered else {},
        prompt=prompt,
        whole_model=model,
        judge_model=judge,
        run_number=sample.whole("epoch"),
        run_id=sample.text("uuid") or (f"{log} {sample.whole('epoch')}" if log else None),
        grading=Grading([]) if scores else None,
        rate=score if score is not None and 0 <= score <= 1 else None,
        score=score,
        scorer=main,
        scores={k: (value, why) for k, (value, why, _) in scores.items() if value is not None},
        weights={k: weight for k, (*_, weight) in scores.items() if weight is not None},
        timing=Timing(
            total_duration_seconds=sample.number("total_time", 0),
            total_tokens=used.whole("total_tokens") or None,  # the library's 0 is: not counted
            cache_read_tokens=used.whole("input_tokens_cache_read"),
            executor_start=sample.text("started_at"),
            cost_usd=used.number("total_cost", 0),
        ),
    )
    if error:
        run.error = sample.either("error", "message").text("message") or ""
    if sample.raw.get("limit") and scores:
        message = "it reached a limit but was scored: its scores count"
        sample.faults.add("info", "limit", f"{sample.where}.limit", message)
    if sample.raw.get("invalidation"):
        why = sample.part("invalidation").text("reason") or "no reason is given"
        run.incomplete = f"it was invalidated: {why}"
    elif scores and score is None and main is not None:
        run.incomplete = f"{main} gave it no score"
    return run


def _sample_prompt(sample: Part) -> str | None:
    """The input: a text, or the user's messages."""
    if not isinstance(sample.raw.get("input"), list):
        return sample.text("input") if isinstance(sample.raw.get("input"), str) else None
    asked = [part for part in sample.parts("input") if part.raw.get("role") == "user"]
    texts = [part.text("content") for part in asked if isinstance(part.raw.get("content"), str)]
    return "\n\n".join(text for text in texts if text) or None


_ZSTD = 93


_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotJSON),
    *(NotImplementedError, EOFError, RuntimeError),
)
"""What a damaged zip, or one that is packed in an unknown way, ends in."""


_SAMPLE = (
    "id epoch input scores score metadata model_usage total_time started_at error limit target "
    "uuid invalidation"
)
_Sample = msgspec.defstruct("_Sample", [(name, Any, None) for name in _SAMPLE.split()])
"""What is read of a sample; its messages and events, which are long, are passed over."""


def open_log(path: str, faults: Faults) -> Any:
    """The log in a `.eval` file as its `.json` form has it; None if it is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no zip, or holds what cannot be unpacked; the message says what.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as log:
            names = log.namelist()
            heads = ("header.json", "_journal/start.json")
            head = next((name for name in heads if name in names), None)
            if head is None:
                return None
            whole = parse(_read_member(log, head), faults)
            if isinstance(whole, dict):
                whole["samples"] = []
                for name in names:
                    if not (name.startswith("samples/") and name.endswith(".json")):
                        continue
                    try:
                        whole["samples"].append(_decode_sample(_read_member(log, name), faults))
                    except _BROKEN as fault:
                        message = f"{name} cannot be read: {fault}; the run is left out"
                        faults.add("error", "unreadable", "$.samples", message)
            return whole
    except _BROKEN as fault:
        raise ValueError(str(fault)) from None


def _read_member(log: zipfile.ZipFile, name: str) -> bytes:
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


def _decode_sample(data: bytes, faults: Faults) -> Any:
    try:
        return msgspec.structs.asdict(msgspec.json.decode(data, type=_Sample))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return parse(data, faults)
