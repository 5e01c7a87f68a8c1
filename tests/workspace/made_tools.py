"""Files as other tools write them, each with what a test says of it."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.corpus.build import graded, lay

SECRET = "planted-5f2c91ab-value"
KEY = "sk-ant-REDACTED"


GRADERS = [
    {"name": "greets", "type": "regex", "weight": 2, "config": {"pattern": "Hello"}},
    {"name": "used", "type": "tool_used", "weight": 1, "config": {"tool": "Skill"}},
    {"name": "kind", "type": "llm", "weight": 1, "graderMarkdown": "Is it kind?"},
]


def plugin_run(greets: bool, kind: bool = True, **fields: Any) -> dict[str, Any]:
    verdicts = [
        {"name": "greets", "passed": greets, "weight": 2, "explanation": "seen", "scored": True},
        {"name": "used", "passed": True, "explanation": "Skill called 1x", "scored": False},
        {"name": "kind", "passed": kind, "scored": True, "judgeVotes": [True, kind, False]},
    ]
    score = (2 * greets + kind) / 3
    known = {"score": score, "passed": greets and kind, "turns": 3, "costUsd": 0.5, "error": None}
    return {**known, "durationSeconds": 4, "graders": verdicts, **fields}


def plugin_suite(with_: list[Any], without: list[Any], **fields: Any) -> dict[str, Any]:
    case = {"name": "hello", "promptMarkdown": "Greet Ada", "runsPerCase": 1, "graders": GRADERS}
    return {
        "schemaVersion": 1,
        "startedAt": "2026-11-23T01:10:35.606Z",
        "partial": False,
        "suite": {"plugins": [{"name": "demo"}]},
        "cases": [{**case, "arms": {"with": with_, "without": without}}],
        **fields,
    }


def snaked(raw: Any) -> Any:
    """The same with keys as older versions wrote them."""
    if isinstance(raw, list):
        return [snaked(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    plain = {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): key for key in raw}
    return {name: snaked(raw[key]) for name, key in plain.items()}


def trial(task: str, reward: float | None, skills: list[str] | None, **fields: Any) -> Any:
    agent: dict[str, Any] = {"name": "codex", "model_name": "openai/gpt-5.5"}
    agent["kwargs"] = {"api_base": "http://me:pass@host/", "secret": SECRET}
    if skills is not None:
        agent["skills"] = skills
    return {
        "id": f"{task}-{reward}-{skills}-{len(fields)}",
        "task_name": f"bench/{task}",
        "trial_name": f"{task}__abc",
        "config": {"agent": agent, "environment": {"env": {"OPENAI_API_KEY": KEY}}},
        "agent_info": {"name": "codex", "model_info": {"name": "gpt-5.5"}},
        "agent_result": {"n_input_tokens": 900, "n_cache_tokens": 800, "n_output_tokens": 100},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None,
        "started_at": "2026-08-16T02:00:00Z",
        "agent_execution": {
            "started_at": "2026-08-16T02:01:00Z",
            "finished_at": "2026-08-16T02:01:30Z",
        },
        **fields,
    }


def vally_trial(variant: str, passed: int, **fields: Any) -> dict[str, Any]:
    details = [{"name": f"c{n}", "passed": n < passed, "evidence": "seen"} for n in range(2)]
    usage = {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 4}
    went = {
        "metadata": {"model": "claude-sonnet-5"},
        "metrics": {"wallTimeMs": 2000, "turnCount": 2, "tokenUsage": usage},
        "stimulus": {"name": "greet", "prompt": "Greet Ada"},
    }
    return {
        "type": "trial-result",
        "variant": variant,
        "stimulus": "greet",
        "status": "success",
        "experiment": {"evalFile": "tests/demo/greeting/eval.yaml"},
        "gradeResult": {"passed": passed == 2, "score": passed / 2, "details": details},
        "trajectory": went,
        **fields,
    }


def waza_suite(model: str, *scores: float, **fields: Any) -> dict[str, Any]:
    runs = [
        {
            "run_number": number,
            "status": "passed",
            "duration_ms": 1500,
            "validations": {
                "right": {"type": "regex", "score": score, "weight": 3, "passed": score > 0.5},
                "short": {"type": "text", "score": 1.0, "weight": 1, "passed": True},
            },
            "session_digest": {"tokens_in": 10, "tokens_out": 5, "tool_call_count": 2},
        }
        for number, score in enumerate(scores, 1)
    ]
    return {
        "eval_id": f"e-{model}-{scores}",
        "skill": "explain",
        "config": {"model_id": model, "judge_model": "opus", "engine_type": "copilot"},
        "summary": {"total_tests": 1, "weighted_score": 0.625},
        "tasks": [{"test_id": "t1", "display_name": "One", "runs": runs}],
        **fields,
    }


def promptfoo_row(prompt: int, test: int, *passed: bool, **fields: Any) -> dict[str, Any]:
    parts = [
        {"pass": ok, "reason": "why", "assertion": {"type": "contains", "value": f"w{n}"}}
        for n, ok in enumerate(passed)
    ]
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "provider": {"id": "anthropic:messages:claude-sonnet-5", "config": {"apiKey": SECRET}},
        "prompt": {"raw": "Do it", "label": ("no skill", "with skill")[prompt]},
        "success": all(passed),
        "score": 0.9,
        "latencyMs": 1500,
        "cost": 0.01,
        "gradingResult": {"pass": all(passed), "componentResults": parts} if passed else None,
        "response": {"tokenUsage": {"total": 20, "cached": 5}, "output": f"it said {SECRET}"},
        **fields,
    }


def inspect_log(values: list[Any], side: dict[str, Any], **fields: Any) -> dict[str, Any]:
    samples = [
        {
            "id": "s1",
            "epoch": epoch,
            "input": "Greet Ada",
            "scores": {
                "graded": {"value": value, "explanation": "because"},
                "style": {"value": {"tone": 0.5, "polite": "C"}},
            },
            "model_usage": {"openai/m": {"total_tokens": 50, "input_tokens_cache_read": 20}},
            "total_time": 2.5,
        }
        for epoch, value in enumerate(values, 1)
    ]
    metrics = {"accuracy": {"name": "accuracy", "value": 0.5}}
    about = {"task": "pkg/greet", "model": "openai/m", "scorers": [{"name": "graded"}]}
    return {
        "version": 2,
        "status": "success",
        "eval": {"eval_id": f"e{values}{side}", "task_args": side, **about},
        "results": {"scores": [{"name": "graded", "metrics": metrics}]},
        "samples": samples,
        **fields,
    }


def members(log: dict[str, Any]) -> dict[str, bytes]:
    """The files of a log that is a zip."""
    header = {key: value for key, value in log.items() if key != "samples"}
    samples = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in log["samples"]}
    return {
        name: json.dumps(part).encode() for name, part in {"header.json": header, **samples}.items()
    }


def zipped(log: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members(log).items():
            file.writestr(name, data)
    return out.getvalue()


def zstandard(log: dict[str, Any]) -> bytes:
    """The same zip packed as newer logs are, which not every Python unpacks: written by hand."""
    body, directory = b"", b""
    for name, data in members(log).items():
        packed = pa.compress(data, codec="zstd", asbytes=True)
        label, sizes = name.encode(), (zlib.crc32(data), len(packed), len(data))
        head = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 33, *sizes, len(label), 0)
        central = struct.pack("<HHH", 0, 0, 0) + struct.pack("<II", 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + head + central + label
        body += b"PK\x03\x04" + head + label + packed
    n = len(log["samples"]) + 1
    return (
        body
        + directory
        + b"PK\x05\x06"
        + struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(body), 0)
    )


METRICS = ("security", "accuracy", "goal_accuracy")


def nvidia_reward(case: str, overall: float, **fields: Any) -> dict[str, Any]:
    """What NVIDIA's SkillEvaluator keeps of a trial."""
    return {
        **dict.fromkeys(METRICS, overall),
        "overall": overall,
        "metric_set": "skill-evaluator-default-v2",
        "entry_id": case,
        "has_skill": True,
        "details": {"accuracy": {"score": 0.1, "reason": KEY}},
        "skill_invoked": True,
        "trial_id": "a_attempt001__x",
        "agent": "codex",
        "model": "openai/gpt-5.5",
        **fields,
    }


def deepeval_run(cases: list[tuple[str, list[bool | None]]], **fields: Any) -> dict[str, Any]:
    """What DeepEval keeps of a run: prompts, and a verdict a metric; none is an error."""
    return {
        "testCases": [
            {
                "name": f"test_case_{at}",
                "input": prompt,
                "actualOutput": KEY,
                "success": all(verdicts),
                "completionTime": 2.5,
                "tokenCost": 0.001,
                "metricsData": [
                    {
                        "name": name,
                        "threshold": 0.5,
                        "success": bool(passed),
                        "evaluationModel": "judge-1",
                        **({"error": SECRET} if passed is None else {"score": 0.9 * passed}),
                    }
                    for name, passed in zip(("Length", "Tone"), verdicts, strict=False)
                ],
            }
            for at, (prompt, verdicts) in enumerate(cases)
        ],
        "hyperparameters": {"model": "vendor/one:free", "skill": "tidy", "api_key": SECRET},
        "testPassed": sum(all(verdicts) for _, verdicts in cases),
        **fields,
    }


def every(folder: Path) -> Path:
    """A file or more of each tool, with a key or a secret wherever one may stand."""
    suite = plugin_suite([plugin_run(True, error=f"401 {KEY}")], [plugin_run(False)])
    suite["cases"][0]["arms"]["with"][0]["graders"][0]["explanation"] = f"token=x {KEY}"
    vally = vally_trial("skilled", 1)
    vally["gradeResult"]["details"][0]["evidence"] = f"Authorization: Bearer {KEY}"
    waza = waza_suite("m", 1.0)
    waza["tasks"][0]["runs"][0]["validations"]["right"]["feedback"] = f"api_key={SECRET}"
    log = inspect_log(["C"], {"skill": True, "api_key": SECRET})
    log["samples"][0]["scores"]["graded"]["explanation"] = f"it printed {SECRET}"
    log["samples"][0]["scores"]["graded"]["metadata"] = {"text": SECRET}
    log["samples"][0]["metadata"] = {"eval_name": f"greet {KEY}"}
    log["samples"][0]["scores"]["checks"] = {
        "value": {KEY: True, SECRET: False},
        "metadata": {KEY: {"evidence": f"it printed {SECRET}"}, SECRET: {"evidence": KEY}},
    }
    raw = trial("a", 0.5, [])
    raw["exception_info"] = {"exception_type": "X", "exception_message": SECRET}
    tests = {"results": {"tests": [{"name": "t", "status": "failed", "message": SECRET}]}}
    rows = [promptfoo_row(0, 0, True, True), promptfoo_row(1, 0, False)]
    rows[1]["gradingResult"]["componentResults"][0]["reason"] = f"saw {SECRET}"
    return lay(
        folder,
        {
            "p/evals/results/2026-11-23T01-10-35-606Z/aggregate-result.json": suite,
            "h/jobs/one/a__1/result.json": raw,
            "h/jobs/one/a__2/result.json": trial("a", 1.0, [], id="2"),
            "h/jobs/one/a__2/verifier/ctrf.json": tests,
            "h/jobs/one/a__1/agent/log.txt": KEY,
            "h/jobs/one/config.json": {"agents": [{"env": {"KEY": KEY}}]},
            "v/skilled/results.jsonl": json.dumps(vally),
            "w/with_skill.json": waza,
            "i/logs/a.json": log,
            "i/logs/b.eval": zipped({**log, "eval": {**log["eval"], "eval_id": "zipped"}}),
            "h/jobs/two/task/with_skill/trial-1/reward.json": {
                "reward": 1,
                f"x-{KEY}": 0.5,
                KEY: "none",
            },
            "f/output.json": {"results": {"results": rows}, "config": {"env": {"A": SECRET}}},
            "d/.deepeval/.latest_test_run.json": {
                "testRunData": deepeval_run([("Tidy up", [True, None]), ("Tidy up", [False])])
            },
            "n/evals/results/r_1/codex/with-skill/trials/a__1/reward.json": nvidia_reward(
                "a", 0.5, error=f"api_key={SECRET}"
            ),
            "mine/iteration-1/eval-0/with_skill/grading.json": graded("pf"),
        },
    )
