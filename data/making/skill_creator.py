"""skill-creator-workspace: dialect `skill-creator`, one iteration, a blind comparison."""

from __future__ import annotations

import statistics

from .benchmark import Columns, delta, metadata, stated_run, summary_of
from .model import Check, Run, chance, usage
from .skill_creator_comparison import comparison_files
from .writing import (
    CONFIGURATIONS,
    Files,
    Json,
    as_json,
    document_files,
    eval_folder,
    input_files,
    metadata_file,
    moment,
    pass_rate,
    run_folder,
    summary,
    texts,
)

RUNS = 2
START = "2026-02-16T13:00:00+00:00"

TABLE = texts("skill_creator")


def files() -> Files:
    """Every file of the workspace."""
    runs = [
        _run(task, configuration, number)
        for task in TABLE["evals"]
        for configuration in CONFIGURATIONS
        for number in range(1, RUNS + 1)
    ]
    made = {
        "evals.json": as_json(_suite()),
        "history.json": as_json(_history(runs)),
        "iteration-1/benchmark.json": as_json(_benchmark(runs)),
        **input_files(TABLE["inputs"]),
    }
    for task in TABLE["evals"]:
        expectations = [check.text for check in _checks(task)]
        made |= metadata_file(_folder(task), task, task["id"], expectations)
        if task["name"] == TABLE["comparison"]["eval"]:
            made |= comparison_files(_folder(task), _first_gradings(task, runs), TABLE)
    for run in runs:
        made |= document_files(f"iteration-1/{run_folder(run)}", run["documents"])
    return made


def _first_gradings(task: Json, runs: list[Json]) -> Json:
    """The gradings of an eval's first runs: A with the skill, B without."""
    first = {
        run["configuration"]: run["documents"]["grading.json"]
        for run in runs
        if run["eval_name"] == task["name"] and run["run_number"] == 1
    }
    return {side: first[name] for side, name in zip("AB", CONFIGURATIONS, strict=True)}


def _folder(task: Json) -> str:
    return f"iteration-1/{eval_folder(task['id'], task['name'])}"


def _checks(task: Json) -> list[Check]:
    return [Check(**one) for one in (*TABLE["checks"], *task["checks"])]


def _suite() -> Json:
    return {
        "skill_name": TABLE["skill"],
        "evals": [
            {
                "id": task["id"],
                "prompt": task["prompt"],
                "expected_output": task["expected_output"],
                "files": task.get("files", []),
                "expectations": [check.text for check in _checks(task)],
            }
            for task in TABLE["evals"]
        ],
    }


# ---- runs ----


def _run(task: Json, configuration: str, number: int) -> Json:
    skill = 1.0 if configuration == "with_skill" else 0.0
    run = Run("minutes", task["name"], 1, configuration, number, skill)
    checked = [(check, check.passes(run)) for check in _checks(task)]
    minutes = _minutes(task, checked)
    metrics = _metrics(run, task, minutes)
    hours = 2 * task["id"] + CONFIGURATIONS.index(configuration)
    timing = _timing(run, moment(START, 3600 * hours + 600 * number))
    return {
        "eval_id": task["id"],
        "eval_name": task["name"],
        "configuration": configuration,
        "run_number": number,
        "documents": {
            "outputs/minutes.md": minutes,
            "outputs/metrics.json": metrics,
            "timing.json": timing,
            "grading.json": _grading(task, run, checked, minutes, metrics, timing),
        },
    }


def _minutes(task: Json, checked: list[tuple[Check, bool]]) -> str:
    decisions, actions, title, *others = (
        check.piece(passed, task["names"]) for check, passed in checked
    )
    parts = (title, *others, decisions, f"## Actions\n{actions}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _metrics(run: Run, task: Json, minutes: str) -> Json:
    calls = {"Skill": int(run.skill > 0), "Read": 1 + len(task.get("files", [])), "Write": 1}
    return {
        "tool_calls": calls,
        "total_tool_calls": sum(calls.values()),
        "total_steps": 1 + sum(calls.values()),
        "files_created": ["minutes.md"],
        "errors_encountered": 0,
        "output_chars": len(minutes),
        "transcript_chars": 400 + 3 * len(minutes),
    }


def _timing(run: Run, start: str) -> Json:
    """The executor's time and the grader's; `total` and `duration_ms` are both together."""
    used = usage(run)
    grader = round(chance(*run.names, "grader").uniform(15, 35), 1)
    total = round(used.seconds + grader, 1)
    return {
        "total_tokens": used.tokens,
        "duration_ms": round(total * 1000),
        "total_duration_seconds": total,
        "executor_start": moment(start),
        "executor_end": moment(start, used.seconds),
        "executor_duration_seconds": used.seconds,
        "grader_start": moment(start, used.seconds),
        "grader_end": moment(start, total),
        "grader_duration_seconds": grader,
    }


def _grading(
    task: Json,
    run: Run,
    checked: list[tuple[Check, bool]],
    minutes: str,
    metrics: Json,
    timing: Json,
) -> Json:
    verdicts = [
        check.verdict(passed, task["names"], "minutes.md", minutes) for check, passed in checked
    ]
    durations = ("executor_duration_seconds", "grader_duration_seconds", "total_duration_seconds")
    grading: Json = {
        "expectations": verdicts,
        "summary": summary([one["passed"] for one in verdicts]),
        "execution_metrics": {key: metrics[key] for key in metrics if key != "files_created"},
        "timing": {key: timing[key] for key in durations},
        "claims": [
            {
                "claim": claim["claim"],
                "type": claim["type"],
                "verified": verdicts[claim["check"]]["passed"],
                "evidence": verdicts[claim["check"]]["evidence"],
            }
            for claim in task["claims"]
            if claim.get("claimed_when", True) or not verdicts[claim["check"]]["passed"]
        ],
        "user_notes_summary": _flagged(task, run),
    }
    suggestions = [
        {key: row[key] for key in ("assertion", "reason") if key in row}
        for row in TABLE["suggestions"]
        if chance(*run.names, row["reason"]).random() < row["probability"]
    ]
    if suggestions:
        overall = "The checks look at form more than at what was left out."
        grading["eval_feedback"] = {"suggestions": suggestions, "overall": overall}
    return grading


def _flagged(task: Json, run: Run) -> Json:
    """What the executor itself was not sure of."""
    flagged: Json = {"uncertainties": [], "needs_review": [], "workarounds": []}
    for note in task.get("notes", ()):
        if chance(*run.names, note["text"]).random() < note["probability"]:
            flagged[note["kind"]].append(note["text"])
    return flagged


# ---- the benchmark ----


def _benchmark(runs: list[Json]) -> Json:
    columns = {side: _columns(runs, side) for side in CONFIGURATIONS}
    differences = delta(*columns.values())
    note = (
        f"The skill moves the pass rate by {differences['pass_rate']} over "
        f"{len(TABLE['evals'])} evals: too few to speak of other meetings"
    )
    return {
        "metadata": metadata(TABLE["skill"], runs, moment(START, 86_400)),
        "runs": [stated_run(run, _notes_on(run)) for run in runs],
        "run_summary": {
            **{side: summary_of(columns[side]) for side in CONFIGURATIONS},
            "delta": differences,
        },
        "notes": [note],
    }


def _columns(runs: list[Json], side: str) -> Columns:
    chosen = [run["documents"] for run in runs if run["configuration"] == side]
    timings = [documents["timing.json"] for documents in chosen]
    return {
        "pass_rate": [pass_rate(documents["grading.json"]) for documents in chosen],
        "time_seconds": [timing["total_duration_seconds"] for timing in timings],
        "tokens": [timing["total_tokens"] for timing in timings],
    }


def _notes_on(run: Json) -> list[str]:
    flagged = run["documents"]["grading.json"]["user_notes_summary"]
    return [*flagged["uncertainties"], *flagged["workarounds"]]


def _history(runs: list[Json]) -> Json:
    """Two earlier versions, whose runs were not kept, and the one of this iteration."""
    rates = _columns(runs, "with_skill")["pass_rate"]
    earlier = [
        {
            "version": row["version"],
            "parent": row.get("parent"),
            "expectation_pass_rate": row["expectation_pass_rate"],
            "grading_result": row["grading_result"],
            "is_current_best": False,
        }
        for row in TABLE["history"]
    ]
    current = {
        "version": "v2",
        "parent": "v0",
        "expectation_pass_rate": round(statistics.fmean(rates), 4),
        "grading_result": "won",
        "is_current_best": True,
    }
    return {
        "started_at": moment(START, -14 * 86_400),
        "skill_name": TABLE["skill"],
        "current_best": "v2",
        "iterations": [*earlier, current],
    }
