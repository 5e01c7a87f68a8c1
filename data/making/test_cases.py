"""test-cases-workspace: dialect `test-cases`, three versions of a description."""

from __future__ import annotations

import hashlib
import statistics

from .model import Check, Dimension, Run, chance, usage
from .writing import Files, Json, as_json, moment, texts

TABLE = texts("test_cases")
CONFIDENCE = ("high", "high", "high", "medium", "medium", "low")


def files() -> Files:
    """Every file of the workspace."""
    made = {"SKILL.md": _skill(), "eval/eval_metadata.json": as_json(_metadata())}
    entries: list[Json] = []
    for number, version in enumerate(TABLE["versions"], 1):
        gradings = [_grading(number, version, case, 120 * at) for at, case in enumerate(_cases())]
        for grading in gradings:
            path = f"eval/runs/{version['run_id']}/grading/{grading['test_case_id']}.json"
            made[path] = as_json(grading)
        entries.append(_entry(number, version, gradings))
    made["eval/benchmark.json"] = as_json(
        {
            "skill_name": TABLE["skill"],
            "description_version": len(entries),
            "created_at": moment(TABLE["versions"][-1]["day"], 3600),
            "entries": entries,
        }
    )
    for plan in TABLE["comparisons"]:
        made[f"eval/comparisons/{plan['id']}.json"] = as_json(_comparison(plan))
    return made


def _cases() -> list[Json]:
    return TABLE["cases"]


def _skill() -> str:
    description = TABLE["versions"][-1]["description"]
    return f'---\nname: {TABLE["skill"]}\ndescription: "{description}"\n---\n\n' + TABLE[
        "body"
    ].lstrip("\n")


def _metadata() -> Json:
    return {
        "skill_name": TABLE["skill"],
        "version": TABLE["version"],
        "test_cases": [
            {
                "id": case["id"],
                "prompt": case["prompt"],
                "assertions": [check["text"] for check in case["checks"]],
                "tags": case["tags"],
                "weight": case.get("weight", 1.0),
            }
            for case in _cases()
        ],
    }


def _run(number: int, case_id: str) -> Run:
    strength = TABLE["versions"][number - 1]["strength"]
    return Run("recipes", case_id, number, "with_skill", 1, strength)


def _grading(number: int, version: Json, case: Json, start: int) -> Json:
    run = _run(number, case["id"])
    assertions: list[Json] = []
    wrong: list[str] = []
    for row in case["checks"]:
        check = Check(**{key: row[key] for key in row if key != "wrong"})
        passed = check.passes(run)
        if not passed and "wrong" in row:
            wrong.append(row["wrong"])
        assertions.append(
            {
                "assertion": row["text"],
                "result": "pass" if passed else "fail",
                "confidence": chance(*run.names, row["text"], "sure").choice(CONFIDENCE),
                "evidence": check.passed if passed else check.failed,
            }
        )
    seconds = usage(run).seconds
    nothing: Json = {"vague_assertions": [], "missing_coverage": [], "suggested_assertions": []}
    return {
        "test_case_id": case["id"],
        "run_id": version["run_id"],
        "timestamp": moment(version["day"], start + seconds),
        "assertions": assertions,
        "overall_score": round(statistics.fmean(one["result"] == "pass" for one in assertions), 4),
        "factual_issues": wrong,
        "eval_critique": TABLE["critique"].get(case["id"], nothing),
        "timing": {
            "start": moment(version["day"], start),
            "end": moment(version["day"], start + seconds),
            "duration_seconds": seconds,
        },
    }


def _entry(number: int, version: Json, gradings: list[Json]) -> Json:
    scores = [one["overall_score"] for one in gradings]
    seconds = [one["timing"]["duration_seconds"] for one in gradings]
    return {
        "description_version": number,
        "description_hash": hashlib.sha256(version["description"].encode()).hexdigest(),
        "timestamp": moment(version["day"], 1800),
        "scores": {
            "mean": round(statistics.fmean(scores), 4),
            "median": round(statistics.median(scores), 4),
            "std_dev": round(statistics.stdev(scores), 4),
            "min": min(scores),
            "max": max(scores),
        },
        "per_test_case": [
            {
                "test_case_id": one["test_case_id"],
                "score": one["overall_score"],
                "duration_seconds": one["timing"]["duration_seconds"],
            }
            for one in gradings
        ],
        "total_duration_seconds": round(sum(seconds), 1),
        "num_test_cases": len(gradings),
    }


def _comparison(plan: Json) -> Json:
    """Two versions of the description on one test case, by criterion."""
    first, second = plan["versions"]
    criteria = [_criterion(row, plan) for row in TABLE["criteria"]]
    total_a = sum(one["score_a"] for one in criteria)
    total_b = sum(one["score_b"] for one in criteria)
    winner = "tie" if total_a == total_b else "A" if total_a > total_b else "B"
    apart = [one for one in criteria if one["score_a"] != one["score_b"]]
    told = f"Version {first} has {total_a} points, version {second} has {total_b}"
    return {
        "comparison_id": plan["id"],
        "timestamp": moment(TABLE["versions"][second - 1]["day"], 7200),
        "version_a": first,
        "version_b": second,
        "test_case_id": plan["case"],
        "criteria_scores": criteria,
        "total_score_a": total_a,
        "total_score_b": total_b,
        "winner": winner,
        "key_differentiators": [one["criterion"] for one in apart],
        "summary": f"{told}: {'a tie' if winner == 'tie' else f'{winner} wins'}.",
    }


def _criterion(row: Json, plan: Json) -> Json:
    dimension = Dimension(**row)
    sides: Json = {}
    for side, version in zip("ab", plan["versions"], strict=True):
        score = dimension.score(_run(version, plan["case"]), 1)
        sides |= {f"score_{side}": score, f"justification_{side}": dimension.says(score, {})}
    order = ("score_a", "score_b", "justification_a", "justification_b")
    return {"criterion": row["name"], **{key: sides[key] for key in order}}
