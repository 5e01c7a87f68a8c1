"""`python -m bench.tools`: what reading a run of another tool takes, beside one of ours.

Every tool has the same runs, checks and evidence in its own files; ours are a folder a run, as
skill-creator leaves it, and a benchmark.json. They take turns in one process, so that a busy
machine slows them all; the smallest of several counts, in processor time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import skill_eval_nb as sen

CHECKS = 8
EPOCHS = 3
EVIDENCE = "Line 12 of the output says so, and nothing in the transcript speaks against it."
Place = tuple[int, str, int]


def places(runs: int) -> list[Place]:
    """Eval, side and number of each run."""
    evals = range(runs // (2 * EPOCHS))
    return list(product(evals, ("with_skill", "without_skill"), range(1, EPOCHS + 1)))


def verdicts(place: Place) -> list[tuple[str, bool, str]]:
    """Name, verdict and evidence of each check of a run."""
    eval_, side, number = place
    names = (f"check {at} of eval {eval_}" for at in range(CHECKS))
    return [
        (
            name,
            (eval_ + at + number) % 3 > 0 or side == "with_skill",
            f"{EVIDENCE} ({eval_}, {side}, {number}, {at})",
        )
        for at, name in enumerate(names)
    ]


def summed_up(place: Place) -> dict[str, Any]:
    passed = sum(ok for _, ok, _ in verdicts(place))
    rate = passed / CHECKS
    return {"passed": passed, "failed": CHECKS - passed, "total": CHECKS, "pass_rate": rate}


def run_folders(runs: int) -> Iterator[tuple[str, Any]]:
    for place in places(runs):
        eval_, side, number = place
        home = f"iteration-1/eval-{eval_}/{side}/run-{number}"
        yield f"{home}/grading.json", {"expectations": rows(place), "summary": summed_up(place)}
        yield f"{home}/timing.json", {"total_tokens": 900, "total_duration_seconds": 12.5}
        calls = {"tool_calls": {"Read": 3, "Write": 1}, "total_tool_calls": 4, "total_steps": 5}
        yield f"{home}/outputs/metrics.json", {**calls, "errors_encountered": 0}
        yield f"{home}/outputs/notes.md", "# Release 2.4\n"


def rows(place: Place) -> list[dict[str, Any]]:
    return [{"text": n, "passed": ok, "evidence": why} for n, ok, why in verdicts(place)]


def benchmark_json(runs: int) -> Iterator[tuple[str, Any]]:
    stated = [
        {
            "eval_id": place[0],
            "configuration": place[1],
            "run_number": place[2],
            "result": {**summed_up(place), "time_seconds": 12.5, "tokens": 900, "errors": 0},
            "expectations": rows(place),
            "notes": [],
        }
        for place in places(runs)
    ]
    about = {"skill_name": "x", "runs_per_configuration": EPOCHS}
    yield "benchmark.json", {"metadata": about, "runs": stated, "run_summary": {}, "notes": []}


def plugin_eval(runs: int) -> Iterator[tuple[str, Any]]:
    cases: dict[int, dict[str, Any]] = {}
    for place in places(runs):
        graded = [
            {"name": n, "passed": ok, "explanation": why, "scored": True}
            for n, ok, why in verdicts(place)
        ]
        arms = cases.setdefault(place[0], {"with": [], "without": []})
        run = {"score": 0.5, "passed": False, "turns": 3, "costUsd": 0.1, "durationSeconds": 12.5}
        arms["with" if place[1] == "with_skill" else "without"].append({**run, "graders": graded})
    graders = [{"type": "llm", "weight": 1, "config": {}}]
    about = [
        {
            "name": f"eval {at}",
            "graders": [{**graders[0], "name": f"check {n} of eval {at}"} for n in range(CHECKS)],
            "arms": arms,
        }
        for at, arms in cases.items()
    ]
    suite = {"plugins": [{"name": "x"}]}
    yield "aggregate-result.json", {"schemaVersion": 1, "suite": suite, "cases": about}


def harbor(runs: int) -> Iterator[tuple[str, Any]]:
    for place in places(runs):
        eval_, side, number = place
        home = f"jobs/{side}/task-{eval_}__{number}"
        tests = [
            {"name": n, "status": "passed" if ok else "failed", "message": why}
            for n, ok, why in verdicts(place)
        ]
        agent = {"name": "codex", "skills": ["/s/x"] if side == "with_skill" else []}
        yield (
            f"{home}/result.json",
            {
                "id": home,
                "task_name": f"task-{eval_}",
                "trial_name": f"task-{eval_}__{number}",
                "config": {"agent": agent, "environment": {"env": {"OPENAI_API_KEY": "x" * 40}}},
                "agent_info": {"name": "codex", "model_info": {"name": "gpt-5.5"}},
                "agent_result": {"n_input_tokens": 800, "n_output_tokens": 100},
                "verifier_result": {"rewards": {"reward": 0.75}},
                "exception_info": None,
                "started_at": "2026-08-16T02:00:00Z",
                "finished_at": "2026-08-16T02:01:30Z",
            },
        )
        yield f"{home}/verifier/ctrf.json", {"results": {"tests": tests}}
        yield f"{home}/verifier/reward.txt", "0.75"


def vally(runs: int) -> Iterator[tuple[str, Any]]:
    lines: dict[str, list[str]] = {}
    for place in places(runs):
        eval_, side, _ = place
        graded = [{"name": n, "passed": ok, "evidence": w} for n, ok, w in verdicts(place)]
        usage = {"inputTokens": 800, "outputTokens": 100}
        line = {
            "type": "trial-result",
            "variant": "skilled" if side == "with_skill" else "baseline",
            "stimulus": f"eval {eval_}",
            "status": "success",
            "gradeResult": {"passed": False, "score": 0.5, "details": graded},
            "trajectory": {"metrics": {"wallTimeMs": 12500, "tokenUsage": usage}},
        }
        lines.setdefault(line["variant"], []).append(json.dumps(line))
    for variant, told in lines.items():
        yield f"run/{variant}/results.jsonl", "\n".join(told)


def inspect_ai(runs: int) -> Iterator[tuple[str, Any]]:
    for side in ("with_skill", "without_skill"):
        mine = [place for place in places(runs) if place[1] == side]
        samples = [
            {
                "id": f"eval {place[0]}",
                "epoch": place[2],
                "input": "Do it",
                "scores": {
                    n: {"value": "C" if ok else "I", "explanation": why}
                    for n, ok, why in verdicts(place)
                },
                "model_usage": {"m": {"total_tokens": 900}},
                "total_time": 12.5,
            }
            for place in mine
        ]
        about = {"task": "x", "model": "m", "eval_id": side, "task_args": {"configuration": side}}
        yield f"logs/{side}.json", {"eval": about, "results": {}, "samples": samples}


def waza(runs: int) -> Iterator[tuple[str, Any]]:
    for side in ("with_skill", "without_skill"):
        tasks: dict[int, list[Any]] = {}
        for place in places(runs):
            if place[1] == side:
                found = {
                    n: {
                        "type": "text",
                        "score": float(ok),
                        "weight": 1,
                        "passed": ok,
                        "feedback": w,
                    }
                    for n, ok, w in verdicts(place)
                }
                digest = {"tokens_in": 800, "tokens_out": 100}
                run = {"run_number": place[2], "status": "passed", "duration_ms": 12500}
                run |= {"validations": found, "session_digest": digest}
                tasks.setdefault(place[0], []).append(run)
        told = [{"test_id": f"eval {at}", "runs": done} for at, done in tasks.items()]
        yield f"{side}.json", {"skill": "x", "eval_id": side, "config": {}, "tasks": told}


def promptfoo(runs: int) -> Iterator[tuple[str, Any]]:
    results = []
    for place in places(runs):
        parts = [
            {"pass": ok, "reason": why, "assertion": {"type": "contains", "value": n}}
            for n, ok, why in verdicts(place)
        ]
        side = 1 if place[1] == "with_skill" else 0
        results.append(
            {
                "promptIdx": side,
                "testIdx": place[0],
                "provider": {"id": "m"},
                "prompt": {"raw": "x", "label": ("no skill", "with skill")[side]},
                "success": False,
                "score": 0.5,
                "latencyMs": 12500,
                "gradingResult": {"pass": False, "componentResults": parts},
                "response": {"tokenUsage": {"total": 900}},
            }
        )
    yield "output.json", {"results": {"results": results}}


OWN = {"run folders": run_folders, "benchmark.json": benchmark_json}
TABLES = ("runs", "expectations")
TOOLS: dict[str, Callable[[int], Iterator[tuple[str, Any]]]] = {
    **OWN,
    **{one.__name__: one for one in (plugin_eval, harbor, vally, inspect_ai, waza, promptfoo)},
}


def write(folder: Path, files: Iterator[tuple[str, Any]]) -> Path:
    for name, value in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folders = {name: write(Path(made, name), of(options.runs)) for name, of in TOOLS.items()}
        best: dict[tuple[str, str], float] = {}
        for _ in range(options.repeat):
            for (name, folder), table in product(folders.items(), TABLES):
                began = process_time()
                ws = sen.load(folder)
                height = ws.polars(table).height
                took = process_time() - began
                assert height == options.runs * (CHECKS if table == "expectations" else 1), name
                best[name, table] = min(took, best.get((name, table), took))
    print(f"{options.runs:,} runs of {CHECKS} checks\n")
    print("| files | figures, µs a run | every table, µs | × run folders | × benchmark.json |")
    print("|---|---:|---:|---:|---:|")
    for name in TOOLS:
        took = best[name, "expectations"]
        cells = [f"{best[name, table] / options.runs * 1e6:.0f}" for table in TABLES]
        cells += [f"{took / best[own, 'expectations']:.2f}" for own in OWN]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
