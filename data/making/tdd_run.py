"""One run of tdd-workspace: its output, its transcript, and what layers 1 and 2 say of them."""

from __future__ import annotations

import statistics
import textwrap

from .model import Check, Dimension, Run, chance, usage
from .writing import JUDGE, Json, moment, summary, texts

JUDGINGS = 3

TABLE = texts("tdd")


def structural_rows(task: Json) -> list[Json]:
    """The structural expectations of an eval, as the table has them."""
    return [*TABLE["structural"], *task.get("structural", ())]


def judged_checks(task: Json) -> list[Check]:
    """The judged expectations of an eval."""
    return [Check(**one) for one in (*TABLE["judged"], *task["judged"])]


def timed_out(start: str) -> Json:
    """The documents of a run that was stopped after four minutes."""
    timing = {
        "executor_start": moment(start),
        "executor_end": moment(start, 240),
        "exit_code": 1,
        "status": "timeout",
    }
    transcript = "# Transcript\n\n1. Opened the skill `testing`.\n2. Read the task.\n"
    return {"timing.json": timing, "transcript.md": transcript}


def documents(task: Json, run: Run, start: str, *, gated: bool, keep_judgings: bool) -> Json:
    """The documents of a run by their path below its folder."""
    names = _names(task)
    structural = [Check(one["description"], **one["made"]) for one in structural_rows(task)]
    judged = [] if gated else [(check, check.passes(run)) for check in judged_checks(task)]
    unchecked = [(one, one.passes(run)) for one in (Check(**row) for row in TABLE["unchecked"])]
    # Where a file holds no test, whatever should be in it is missing; all else still holds.
    checked = [
        (check, row["type"] != "file_contains" if gated else check.passes(run))
        for row, check in zip(structural_rows(task), structural, strict=True)
    ]
    contents = {
        "output": _test_file(names, checked, judged, unchecked) if judged else _empty_file(names),
        "transcript": _transcript(run, names, checked + judged),
    }
    made: Json = {
        f"outputs/{task['file']}": contents["output"],
        "outputs/metrics.json": _metrics(run, task["file"], contents),
        "transcript.md": contents["transcript"],
        "timing.json": _timing(run, start),
        "structural.json": _structural(task, names, checked, contents),
    }
    if gated:
        return made
    judgings = [_judging(run, names, number) for number in range(1, JUDGINGS + 1)]
    made["grading.json"] = _grading(task, run, names, judged, contents) | judgings[0]
    if keep_judgings:
        for number, judging in enumerate(judgings, 1):
            told = {"judging": number, "judge_model": JUDGE}
            made[f"judgings/{number}.json"] = told | judging
    return made


def _names(task: Json) -> dict[str, str]:
    own = {key: task[key] for key in ("file", "unit", "rule", "rule_given", "rule_wanted")}
    return own | {"code": task["file"].replace(".test.ts", ".ts")}


# ---- what the run left behind ----

Checked = list[tuple[Check, bool]]


def _pieces(checked: Checked, names: dict[str, str], place: str) -> list[str]:
    pieces = [check.piece(passed, names) for check, passed in checked if check.place == place]
    return [piece for piece in pieces if piece]


def _test_file(names: dict[str, str], checked: Checked, judged: Checked, unchecked: Checked) -> str:
    lines = (
        'import { describe, expect, it, vi } from "vitest";',
        f'import {{ {names["unit"]} }} from "./{names["code"].removesuffix(".ts")}";',
        "",
        *_pieces(checked, names, "output"),
        "",
        f'describe("{names["unit"]}", () => {{',
        textwrap.indent("\n\n".join(_pieces(judged, names, "output")), "  "),
        "});",
        *_pieces(unchecked, names, "output"),
    )
    return "\n".join(lines) + "\n"


def _empty_file(names: dict[str, str]) -> str:
    return f"// The tests of {names['code']} are still to be written.\n"


def _transcript(run: Run, names: dict[str, str], checked: Checked) -> str:
    """The steps of a run; the piece of the structural check tells how it ended."""
    end, *middle = _pieces(checked, names, "transcript")
    if not middle:
        end = "Put the tests off until later."
    steps = ["Opened the skill `testing`."] if run.skill else []
    steps += ["Read the task."]
    steps += [step for piece in (*middle, end) for step in piece.split("\n")]
    lines = [f"{number}. {step}" for number, step in enumerate((*steps, "Said: done."), 1)]
    return "\n".join(("# Transcript", "", *lines)) + "\n"


def _metrics(run: Run, file: str, contents: dict[str, str]) -> Json:
    transcript = contents["transcript"]
    calls = {
        "Skill": transcript.count(". Opened"),
        "Read": transcript.count(". Read"),
        "Write": 1 + transcript.count(". Wrote"),
        "Edit": transcript.count(". Mended"),
        "Bash": transcript.count(". Ran"),
    }
    return {
        "tool_calls": calls,
        "total_tool_calls": sum(calls.values()),
        "total_steps": len(transcript.splitlines()) - 2,
        "files_created": [file],
        "errors_encountered": transcript.count("Error:"),
        "output_chars": len(contents["output"]),
        "transcript_chars": len(transcript),
        "skill_used": run.skill > 0,
    }


def _timing(run: Run, start: str) -> Json:
    used = usage(run)
    return {
        **used.timing,
        "executor_start": moment(start),
        "executor_end": moment(start, used.seconds),
        "executor_duration_seconds": used.seconds,
    }


# ---- what layers 1 and 2 say of it ----


def _verdict(check: Check, passed: bool, names: dict[str, str], contents: dict[str, str]) -> Json:
    file = names["file"] if check.place == "output" else "transcript.md"
    return {**check.verdict(passed, names, file, contents[check.place])}


def _structural(
    task: Json, names: dict[str, str], checked: Checked, contents: dict[str, str]
) -> Json:
    expectations: list[Json] = []
    for row, (check, passed) in zip(structural_rows(task), checked, strict=True):
        verdict = _verdict(check, passed, names, contents)
        expectations.append(
            {
                "id": row["id"],
                "text": verdict["text"],
                "type": row["type"],
                "passed": verdict["passed"],
                "evidence": verdict["evidence"],
                "critical": row["critical"],
            }
        )
    return {
        "expectations": expectations,
        "summary": summary([one["passed"] for one in expectations]),
        "gate_passed": all(one["passed"] for one in expectations if one["critical"]),
    }


def _judging(run: Run, names: dict[str, str], number: int) -> Json:
    scores: Json = {}
    for row in TABLE["rubric"]:
        dimension = Dimension(row["name"], **row["made"])
        score = dimension.score(run, number)
        scores[row["name"]] = {"score": score, "evidence": dimension.says(score, names)}
    mean = statistics.fmean(
        [one["score"] for one in scores.values()], [row["weight"] for row in TABLE["rubric"]]
    )
    return {
        "rubric_scores": scores,
        "rubric_summary": {
            "weighted_mean": round(mean, 4),
            "max_possible": 5.0,
            "normalized": round(mean / 5, 4),
        },
    }


def _grading(
    task: Json, run: Run, names: dict[str, str], judged: Checked, contents: dict[str, str]
) -> Json:
    verdicts = [_verdict(check, passed, names, contents) for check, passed in judged]
    missing = [one["text"] for one in verdicts if not one["passed"]]
    claim = {
        "claim": "Everything that the task asks for is tested",
        "type": "quality",
        "verified": not missing,
        "evidence": f"Not met: {missing[0]}" if missing else "Each rule was found in a test",
    }
    grading: Json = {
        "expectations": verdicts,
        "summary": summary([one["passed"] for one in verdicts]),
        "claims": [claim],
    }
    suggestions = [
        {key: row[key] for key in ("assertion", "reason") if key in row}
        for row in TABLE["suggestions"]
        if row.get("only", task["name"]) == task["name"]
        and chance(*run.names, "suggestion", row["reason"]).random() < row["probability"]
    ]
    if suggestions:
        overall = "Some checks can pass without what they stand for."
        grading["eval_feedback"] = {"suggestions": suggestions, "overall": overall}
    return grading
