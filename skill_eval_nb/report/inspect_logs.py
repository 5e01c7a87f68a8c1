"""Runs as logs of inspect_ai: a log a configuration, an eval a sample, a run an epoch."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import TYPE_CHECKING, Any, cast

from skill_eval_nb.disk import decode_text, read_bytes, write_atomic
from skill_eval_nb.documents.tools import Part
from skill_eval_nb.documents.transcript import Step, read_events, read_steps
from skill_eval_nb.stats.values import read_time, sort_stamps
from skill_eval_nb.tables import TABLES
from skill_eval_nb.tables.columns import RUN_KEYS
from skill_eval_nb.text import count

from .document import group_scores
from .export import Written
from .measured import Slice, dedupe, list_slices, name_folders, safe_name

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalScore
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageTool,
        ChatMessageUser,
        Content,
        ModelUsage,
    )
    from inspect_ai.scorer import Score

    from skill_eval_nb.tables import Workspace


Row = Mapping[str, Any]

FIGURES = (
    "pass_rate",
    "score",
    "structural_pass_rate",
    "rubric_weighted_mean",
    "overall_efficiency",
)
"""Columns of `runs` whose means a log states."""
_REMARKS = {name: name for name in ("claims", "notes", "suggestions")} | {"tool_calls": "calls"}
"""Tables whose rows are metadata of the sample, if they are of a run, and under which name."""
_KEYS = tuple(column.name for column in RUN_KEYS)
_PLACED = {*_KEYS, "pass_rate", "time_seconds", "tokens", "tokens_cached", "cost_usd"}
"""Columns of `runs` that have a place of their own; the others are metadata of the sample."""
_OF_RUN = ("eval_id", "configuration", "run_number")
_OF_SAMPLE = ("executor_model", "judge_model")
"""Columns that a log states too, of all its samples: a sample says its own, null as well."""
_NEVER = "1970-01-01T00:00:00+00:00"


def write_inspect(ws: Workspace, folder: str | os.PathLike[str]) -> Written:
    """Write the runs as logs that inspect_ai's viewer and data frames open.

    There is one log per iteration and configuration of a skill (and per model, if there are
    several), such as `tdd-workspace/iteration-1/with_skill.eval`; those of a single iteration go
    into `folder` itself. An eval is a sample and a run an epoch. The
    pass rate, checks and dimensions are scores; the other columns of `runs`, calls of tools,
    claims, notes and suggestions are the sample's metadata, and `transcript.jsonl`, if it is
    next to a run, its messages.

    `load` reads them, without inspect_ai, as it reads any inspect log: with the same evals,
    configurations, runs, errors and pass rates, and so the same differences and verdicts. Checks
    and dimensions have `checks/` and `rubric/` before their names, and a configuration whose
    name clearly means with or without the skill is `with_skill` or `without_skill`. The number
    of checks behind a rate (`passed`, `failed`, `total`, and so `lean` and `next_step` of
    `deltas`) and what is only metadata are not read back.

    Args:
        ws: what `load` returned.
        folder: where to write; created if missing.

    Returns:
        the paths, and in `losses` what the logs cannot hold.

    Raises:
        ModuleNotFoundError: inspect_ai is missing; the message says how to install it.
        OSError: a file cannot be written.
    """
    try:
        from inspect_ai.log import write_eval_log_async
    except ImportError as error:
        raise ModuleNotFoundError(
            "logs of inspect_ai need inspect_ai: `pip install 'skill-eval-nb[inspect]'`, then "
            "restart the kernel"
        ) from error
    written, losses = [], Counter[str]()
    if ws.path:
        paths = [Path(ws.path, path, "outputs") for path in ws.polars("runs")["path"]]
        if there := sum(map(Path.is_dir, paths)):
            losses["left out: the output files of runs; `path` says where they are"] = there
    for path, part in _log_parts(ws):
        log = _build_log(part, losses)
        # a loop may run in this thread, as it does in a notebook
        with tempfile.TemporaryDirectory() as aside, ThreadPoolExecutor(1) as thread:
            log_file = Path(aside, "log.eval")
            thread.submit(asyncio.run, write_eval_log_async(log, log_file)).result()
            data = log_file.read_bytes()
        written.append(write_atomic(Path(folder, f"{path}.eval"), data, root=folder))
    return Written(
        written,
        [*(f"{what} ({count(number, 'run')})" for what, number in losses.items()), *_left_out(ws)],
    )


def _left_out(ws: Workspace) -> Iterator[str]:
    """What is in no sample, a line a table."""
    runs = ws.polars("runs")
    for name in TABLES:
        frame = ws.polars(name)
        if name in _REMARKS:
            frame = frame.join(runs, on=list(_KEYS), how="anti", nulls_equal=True)
        elif name == "evals":
            frame = frame.join(runs, on=["workspace", "skill", "eval_id"], how="anti")
        elif name in ("runs", "expectations", "rubric_scores"):
            continue
        if frame.height:
            yield f"left out: {count(frame.height, 'row')} of {name}"


@dataclass(frozen=True)
class _Part:
    """The runs of a log, with what is known of them."""

    base: str
    place: Slice
    configuration: str
    runs: Sequence[Row]
    evals: Mapping[str, Row]
    rows: Mapping[str, Mapping[tuple[Any, ...], list[dict[str, Any]]]]
    reasons: dict[str, str]

    def rows_of(self, table: str, run: Row) -> list[dict[str, Any]]:
        """The rows of a table that belong to a run, without its keys."""
        return self.rows[table].get(tuple(run[key] for key in _OF_RUN), [])


def _log_parts(ws: Workspace) -> Iterator[tuple[PurePosixPath, _Part]]:
    """The logs to write: where each lies, without its ending, and what it is of."""
    places = [(slice_, slice_.select(ws)) for slice_ in list_slices(ws)]
    places = [(slice_, part) for slice_, part in places if part.polars("runs").height]
    others = [key for key in _KEYS if key not in _OF_RUN]
    for folder, (place, part) in zip(
        name_folders([slice_ for slice_, _ in places]), places, strict=True
    ):
        rows = {
            table: part.polars(table).drop(others).rows_by_key(_OF_RUN, named=True)
            for table in ("expectations", "rubric_scores", *_REMARKS)
        }
        evals = {row["eval_id"]: row for row in part.polars("evals").to_dicts()}
        reasons = {
            row["path"]: row["message"]
            for row in part.polars("problems").to_dicts()
            if row["code"] in ("errored-run", "executed-run")
        }
        runs_ = part.polars("runs")
        sides = runs_.rows_by_key("configuration", named=True, include_key=True)
        taken = set[str]()
        for side, runs in sides.items():
            known = _Part(ws.path, place, side, runs, evals, rows, reasons)
            yield folder / dedupe(PurePosixPath(safe_name(side) or "runs"), taken), known


def _build_log(part: _Part, losses: Counter[str]) -> EvalLog:
    from inspect_ai import log as inspect
    from inspect_ai.model import ModelConfig
    from inspect_ai.viewer import ViewerConfig

    place, runs = part.place, part.runs
    content = json.dumps([part.configuration, str(place), runs], default=list)
    own = hashlib.sha256(content.encode()).hexdigest()[:22]
    judges = {run["judge_model"] for run in runs} - {None}
    model = next((run["executor_model"] for run in runs if run["executor_model"]), "none/none")
    stamps = [time for run in runs if (time := _to_utc(run["started_at"]))]
    ends = [_to_utc(run["started_at"], run["time_seconds"] or 0) for run in runs]
    created = next(reversed(sort_stamps(stamps)), None)
    if created is None:
        losses["a log needs a time, and no run states one: dated 1970"] += len(runs)
    ids = list(dict.fromkeys(run["eval_id"] for run in runs))
    scores = [_mean_score(name, runs) for name in FIGURES]
    spec = inspect.EvalSpec(
        eval_id=own,
        run_id=own,
        created=created or _NEVER,
        task=place.skill,
        task_id=own,  # the viewer takes logs of the same id for retries, and hides all but one
        task_args={"configuration": part.configuration, "iteration": place.iteration},
        tags=[part.configuration, place.iteration],
        dataset=inspect.EvalDataset(name=place.skill, samples=len(ids), sample_ids=ids),
        model=model,
        model_roles={"grader": ModelConfig(model=judges.pop())} if len(judges) == 1 else None,
        config=inspect.EvalConfig(epochs=max(run["run_number"] for run in runs)),
        viewer=ViewerConfig(trust_content=False),
    )
    return inspect.EvalLog(
        status="success",
        eval=spec,
        results=inspect.EvalResults(
            total_samples=len(runs),
            completed_samples=sum(run["status"] != "errored" for run in runs),
            scores=[score for score in scores if score],
        ),
        stats=inspect.EvalStats(
            started_at=min(stamps, default=""),
            completed_at=max(filter(None, ends), default=""),
            model_usage={model: usage} if (usage := _sum_usage(runs)) else {},
        ),
        samples=[
            _build_sample(part, run, model, f"{own}-{at}", losses) for at, run in enumerate(runs)
        ],
    )


def _mean_score(name: str, runs: Sequence[Row]) -> EvalScore | None:
    """The mean of a column, runs averaged inside an eval first, as inspect_ai does."""
    from inspect_ai.log import EvalMetric, EvalScore

    evals: dict[str, list[float]] = {}
    for run in runs:
        if run[name] is not None:
            evals.setdefault(run["eval_id"], []).append(run[name])
    if not evals:
        return None
    known = sum(map(len, evals.values()))
    return EvalScore(
        name=name,
        scorer=name,
        reducer="mean",
        scored_samples=known,
        unscored_samples=len(runs) - known,
        metrics={"mean": EvalMetric(name="mean", value=fmean(map(fmean, evals.values())))},
    )


def _build_sample(part: _Part, run: Row, model: str, own: str, losses: Counter[str]) -> EvalSample:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import GenerateConfig, ModelOutput

    eval_ = part.evals.get(run["eval_id"], {})
    started = _to_utc(run["started_at"])
    if run["started_at"] and not started:
        losses["started_at is not an ISO 8601 time: kept only in the metadata"] += 1
    messages = []
    if part.base:
        path = Path(part.base, run["path"], "transcript.jsonl")
        messages = _messages_of(path, part.base, eval_.get("prompt"), own, losses)
    answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
    outputs = [
        ModelOutput.from_message(cast("ChatMessageAssistant", messages[at])) for at in answers
    ]
    usage = _sum_usage([run])
    if usage is not None:
        known = "known only in total: input and output" if run["tokens"] else "not known: they"
        losses[f"tokens are {known} stand as 0"] += 1
    if answers and started is None:
        losses["answers need a time, and the run states none: dated 1970"] += 1
    why = part.reasons.get(run["path"])
    metadata = {
        "eval_name": run["eval_name"],
        **{name: eval_.get(name) for name in ("files", "tags", "weight")},
        **{name: value for name, value in run.items() if name not in _PLACED},
        **{name: part.rows_of(table, run) for table, name in _REMARKS.items()},
        "reason": why,
    }
    return EvalSample(
        id=run["eval_id"],
        epoch=run["run_number"],
        uuid=own,
        input=eval_.get("prompt") or "",
        target=eval_.get("expected_output") or "",
        messages=messages,
        output=outputs[-1] if outputs else ModelOutput(model=model),
        events=[  # without one an answer, `messages_df` refuses the log
            ModelEvent(
                model=model,
                timestamp=datetime.fromisoformat(started or _NEVER),
                input=messages[:at],
                tools=[],
                tool_choice="auto",
                config=GenerateConfig(),
                output=output,
            )
            for at, output in zip(answers, outputs, strict=True)
        ],
        scores=_scores_of_run(part, run),
        metadata={
            name: value
            for name, value in metadata.items()
            if value not in (None, []) or name in _OF_SAMPLE
        },
        model_usage={model: usage} if usage else {},
        total_time=run["time_seconds"],
        started_at=started,
        error=EvalError(message=why or "errored", traceback="", traceback_ansi="")
        if run["status"] == "errored"
        else None,
    )


def _sum_usage(runs: Sequence[Row]) -> ModelUsage | None:
    """The tokens and the cost of all runs together, as far as they are known."""
    from inspect_ai.model import ModelUsage

    names = ("tokens", "tokens_cached", "cost_usd")
    known = {name: [run[name] for run in runs if run[name] is not None] for name in names}
    if not any(known.values()):
        return None
    return ModelUsage(
        total_tokens=sum(known["tokens"]),
        input_tokens_cache_read=sum(known["tokens_cached"]) if known["tokens_cached"] else None,
        total_cost=sum(known["cost_usd"]) if known["cost_usd"] else None,
    )


def _scores_of_run(part: _Part, run: Row) -> dict[str, Score]:
    """The figures of a run, its checks and its dimensions; what a value cannot say is metadata."""
    from inspect_ai.scorer import Score

    found = {} if run["pass_rate"] is None else {"pass_rate": Score(value=run["pass_rate"])}
    if checks := part.rows_of("expectations", run):
        labels = _number_repeats(row["text"] for row in checks)
        words = {True: "passed", False: "failed", None: "not scored"}
        found["checks"] = Score(
            value=dict(zip(labels, (row["passed"] for row in checks), strict=True)),
            explanation="\n".join(
                f"{words[row['passed']]}: {row['text']}"
                + (f" ({row['evidence']})" if row["evidence"] else "")
                for row in checks
            ),
            metadata={
                label: {k: own for k, own in row.items() if k != "passed" and own is not None}
                for label, row in zip(labels, checks, strict=True)
            },
        )
    if scores := part.rows_of("rubric_scores", run):
        dimensions = group_scores(scores)
        found["rubric"] = Score(
            value={name: fmean(row["score"] for row in rows) for name, rows in dimensions.items()},
            explanation="\n".join(
                f"{row['dimension']} {row['score']}: {row['evidence'] or ''}" for row in scores
            ),
            metadata={
                name: {
                    "weight": rows[0]["weight"],
                    "evidence": "\n".join(row["evidence"] for row in rows if row["evidence"]),
                    "judgings": rows,
                }
                for name, rows in dimensions.items()
            },
        )
    return found


def _number_repeats(texts: Iterable[str]) -> list[str]:
    """The texts, each made unique: a repeated one gets a number."""
    labels: list[str] = []
    for text in texts:
        names = itertools.chain([text], (f"{text} ({n})" for n in itertools.count(2)))
        labels.append(next(name for name in names if name not in labels))
    return labels


def _to_utc(stamp: str | None, later: float = 0) -> str | None:
    """An ISO 8601 time plus some seconds, as inspect_ai writes it; None if it is no such time."""
    time = read_time(stamp)
    try:
        return (time + timedelta(seconds=later)).astimezone(UTC).isoformat() if time else None
    except OverflowError:  # beyond the year 9999
        return None


# ── its transcript as messages ─────────────────────────────────────────────────────────────────


def _messages_of(
    path: Path, root: str, prompt: str | None, own_id: str, losses: Counter[str]
) -> list[ChatMessage]:
    """The messages of a `transcript.jsonl`, the prompt before them; none if there is none.

    Args:
        path: the transcript.
        root: the folder that no link may lead out of.
        prompt: what the run was asked.
        own_id: what the ids of the messages begin with.
        losses: what could not be read, or has no place.
    """
    from inspect_ai.model import ChatMessageUser

    try:
        text = decode_text(read_bytes(path, root))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        losses[f"a transcript cannot be read: {fault.strerror}"] += 1
        return []
    read = read_events(text or "")
    if text != "" and (read is None or read.damaged):
        losses["lines of a transcript that are not JSON, or no message, are left out"] += 1
    events = (Part(raw).clean() for _, raw in read.events) if read else ()  # no text holds a key
    steps = (step for told in read_steps(events) for step in told.steps if step.who != "system")
    found: list[ChatMessage] = []
    for turn, group in itertools.groupby(steps, key=lambda step: step.turn):
        own = list(group)
        found += [_answer_message(own)] if turn else map(_input_message, own)
    if found and prompt and not (found[0].role == "user" and prompt in found[0].text):
        found.insert(0, ChatMessageUser(content=prompt))
    for at, message in enumerate(found):
        message.id = f"{own_id}-{at}"
    return found


def _answer_message(steps: list[Step]) -> ChatMessageAssistant:
    """An answer of the agent: what it thinks and says, and the tools that it calls."""
    from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText
    from inspect_ai.tool import ToolCall

    content: list[Content] = []
    calls = []
    for step in steps:
        if step.who == "call":
            given = step.given if isinstance(step.given, dict) else {"input": step.given}
            calls.append(ToolCall(str(step.id), step.text, given))
        elif step.who == "thinking":
            content.append(ContentReasoning(reasoning=step.text))
        else:
            content.append(ContentText(text=_words_of(step)))
    return ChatMessageAssistant(content=content, tool_calls=calls or None)


def _input_message(step: Step) -> ChatMessageUser | ChatMessageTool:
    """A text of the user, or the result of a tool."""
    from inspect_ai.model import ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCallError

    if step.who != "result":
        return ChatMessageUser(content=_words_of(step))
    return ChatMessageTool(
        content=step.text,
        tool_call_id=str(step.id),
        function=step.call and step.call.text,
        error=ToolCallError("unknown", step.text) if step.failed else None,
    )


def _words_of(step: Step) -> str:
    """The words of a step; of a block without words, such as a picture, its type."""
    return f"({step.text})" if step.who == "other" else step.text
