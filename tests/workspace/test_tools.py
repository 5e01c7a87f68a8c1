"""Results of other tools: each trap of their formats is a case, with what becomes of it."""

from __future__ import annotations

import json
import random
import shutil
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from bench.fuzzing import damage
from skill_eval_nb.documents import tools
from skill_eval_nb.tables import TABLES, check
from tests.corpus.build import graded, lay
from tests.golden import hold, lines_of
from tests.workspace.made_tools import (
    KEY,
    SECRET,
    deepeval_run,
    every,
    inspect_log,
    nvidia_reward,
    plugin_run,
    plugin_suite,
    promptfoo_row,
    snaked,
    trial,
    vally_trial,
    waza_suite,
    zipped,
    zstandard,
)
from tests.workspace.test_shapes import lines_of_workspace

Files = dict[str, Any]
WITH, WITHOUT = "with_skill", "without_skill"


def lines(*rows: Any) -> str:
    return "\n".join(map(json.dumps, rows))


# ── what is made of each tool ────────────────────────────────────────────────────────────────


def plugin(*args: Any, **fields: Any) -> Files:
    return {"aggregate-result.json": plugin_suite(*args, **fields)}


def with_aggregates() -> Files:
    files = plugin([plugin_run(True)], [plugin_run(False)])
    of_case = {"score": 0.2, "passRate": 1, "scoreWithout": 1 / 3}
    files["aggregate-result.json"]["cases"][0]["aggregates"] = of_case
    of_all = {"overallScore": 1, "meanDelta": 0.5, "overallPassRate": 1}
    files["aggregate-result.json"]["aggregates"] = of_all
    return files


def unwanted() -> Files:
    """A grader that wants the skill not used, and says nothing of calls."""
    used = {"name": "used", "passed": True, "scored": False}
    files = plugin([plugin_run(True, graders=[used])], [])
    wants = {"name": "used", "type": "tool_used", "config": {"tool": "Skill", "max": 0}}
    files["aggregate-result.json"]["cases"][0]["graders"] = [wants]
    return files


def foo(*rows: Any, at: str = "output.json", **fields: Any) -> Files:
    return {at: {"results": {"results": list(rows), **fields}}}


def ask(side: str, passed: bool, *more: bool, **fields: Any) -> Any:
    return promptfoo_row(int(side == WITH), 0, passed, *more, **fields)


def plain(passed: bool, **fields: Any) -> Any:
    """A result whose prompt says nothing of a side."""
    label = {"prompt": {"raw": "x", "label": "{{q}}"}}
    return promptfoo_row(0, 0, passed) | label | fields


def model(id_: str, label: str = "") -> Any:
    return ask(WITH, True, vars=A, provider={"id": id_, "label": label})


def judged(reason: str, type_: str = "llm-rubric", **fields: Any) -> Any:
    """A result of two checks, of which the second failed for this reason."""
    row = promptfoo_row(1, 0, True, False, vars=A, **fields)
    second = row["gradingResult"]["componentResults"][1]
    second |= {"reason": reason, "assertion": {"type": type_, "value": "polite"}}
    return row


def metrics_of_promptfoo() -> Files:
    inner = {"pass": True, "componentResults": [{"pass": False, "assertion": {"metric": "tone"}}]}
    rows = [
        ask(WITHOUT, True, namedScores={"tone": 0.5, "length": 1}),
        ask(WITH, False, namedScores={"tone": 1, "length": 0}, provider="openai:gpt-5"),
    ]
    rows[0]["gradingResult"]["componentResults"].append(inner)
    prompts = [{"metrics": {"testPassCount": 1, "score": 0.9}}, {"metrics": {"testPassCount": 1}}]
    return foo(*rows, prompts=prompts, stats={"successes": 1, "failures": 1, "errors": 1})


def log(scores: list[dict[str, Any]], measures: dict[str, Any], **fields: Any) -> Any:
    """An inspect log of a sample each, with what it sums up of each scorer."""
    raw = inspect_log([], {"skill": True})
    raw["eval"]["scorers"] = [{"name": name} for name in measures]
    raw["results"]["scores"] = [
        {"name": name, "scorer": name, "metrics": {"mean": {"value": mean}} if mean else {}}
        for name, mean in measures.items()
    ]
    raw["samples"] = [
        {"id": f"s{at}", "epoch": 1, "input": "q", **fields}
        | {"scores": {name: {"value": value} for name, value in of.items()}}
        for at, of in enumerate(scores)
    ]
    return raw


def numbered(side: str, **inputs: str) -> Any:
    raw = inspect_log([], {"skill": side == WITH}, results={})
    raw["samples"] = [
        {"id": int(number[1:]), "epoch": 1, "input": text, "scores": {"graded": {"value": "C"}}}
        for number, text in inputs.items()
    ]
    return raw


def with_error(raw: Any, at: int, scored: int | None = None) -> Files:
    raw["samples"][at]["error"] = {"message": "TimeoutError: 600 s"}
    raw["results"]["scores"][0]["scored_samples"] = scored
    return {"a.json": raw}


def changed(raw: Any, at: int, **fields: Any) -> Any:
    raw["samples"][at] |= fields
    return raw


def about(**fields: Any) -> Any:
    raw = inspect_log(["C"], {})
    raw["eval"] |= fields
    return {"a.json": raw}


def with_limit(value: float = 0.5, **of_score: Any) -> Files:
    """Two epochs of a sample, and one of another that met a limit."""
    raw = inspect_log(["C", "C", "I"], {"skill": True})
    raw["samples"][2] |= {"id": "s2", "epoch": 1, "limit": {"type": "token", "limit": 5}}
    raw["results"]["scores"][0] |= of_score
    raw["results"]["scores"][0]["metrics"]["accuracy"]["value"] = value
    return {"a.json": raw}


def ended(**fields: Any) -> Any:
    raw = inspect_log(["C", "C"], {"variant": "old_skill"}, status="error")
    raw["samples"][1] |= {"error": {"message": f"no\n{KEY}"}, "scores": {}}
    return raw | fields


def torn() -> Files:
    whole = zipped(inspect_log(["C", "I"], {"skill": True}))
    packed = zstandard(inspect_log(["C", "C"], {"skill": True}))
    return {
        "a.eval": whole.replace(b'"epoch": 2', b'"epoch": 3', 1),  # its sum is wrong
        "b.eval": packed.replace(b"\x28\xb5\x2f\xfd", b"torn"),
        "results.eval": b"PK\x03\x04 no zip",
    }


def agentv(status: str) -> Any:
    ran = {"execution_status": status, "verdict": "fail", "duration_ms": 1500}
    return {**ran, "target": "pi-local", "error": None}


def vally(name: str, passed: int, **fields: Any) -> Any:
    known = {"stimulus": name, "trajectory": {"id": name}, "model": "m"}
    return vally_trial("skilled", passed, **{**known, **fields})


def arms_of_vally() -> Files:
    """Three arms in three folders, and comparisons of two of them."""
    trials = [
        {"winner": "treatment", "magnitude": "slightly-better", "score": 0.4},
        {"winner": "tie", "score": 0, "errored": True},
    ]
    report = {
        "type": "comparison-report",
        "summary": {"wins": 2, "losses": 0, "ties": 0, "meanScore": 0.4},
        "stimuli": [{"stimulusName": "greet", "trials": trials}],
    }
    inside = {"winner": "baseline", "magnitude": "much-better", "score": -1.0}
    inside = {"type": "comparison", "stimuli": [{"stimulusName": "greet", "trials": [inside]}]}
    told = {
        "baseline": [vally_trial("baseline", 1), vally_trial("baseline", 0, status="error")],
        "skilled": [vally_trial("skilled", 2), inside],
        "plugin": [vally_trial("plugin", 1)],
    }
    files = {f"run/{name}/results.jsonl": lines(*of) + "\n{broken\n" for name, of in told.items()}
    return files | {"run/comparison.json": report}


def figures_of_waza() -> Files:
    suite = waza_suite("m", 1.0, 0.0, 1.0)
    runs = suite["tasks"][0]["runs"]
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 80}
    runs[0]["session_digest"] = {"usage": usage}
    runs[1] |= {"status": "error", "error_msg": "time out"}
    runs[2]["status"] = "skipped"
    counts = {"true_positives": 9, "false_positives": 2, "true_negatives": 8, "false_negatives": 1}
    suite["trigger_metrics"] = {**counts, "precision": 0.818, "recall": 0.9, "accuracy": 0.9}
    return {"with_skill.json": suite}


UNSAID = {"x.json": waza_suite("m", 0.0), "y.json": waza_suite("m", 1.0)}


def job_of_harbor() -> Files:
    broken = {"exception_info": {"exception_type": "Timeout", "exception_message": SECRET}}
    tests = [("adds", "passed"), ("divides", "failed"), ("waits", "skipped")]
    ctrf = {"results": {"tests": [{"name": name, "status": status} for name, status in tests]}}
    job = {"n_total_trials": 2, "stats": {"evals": {"codex__gpt__b": {"metrics": [{"mean": 0.5}]}}}}
    return {
        "jobs/one/config.json": {"agents": [{"skills": ["/s/pdf"], "env": {"TOKEN": KEY}}]},
        "jobs/one/result.json": job,
        "jobs/one/a__1/result.json": trial("a", 0.75, ["/s/pdf"]),
        "jobs/one/a__1/verifier/ctrf.json": ctrf,
        "jobs/one/a__1/verifier/reward.txt": "0.75",
        "jobs/one/a__1/agent/trajectory.json": {"steps": [{"passed": True, "key": KEY}]},
        "jobs/one/a__1/config.json": {"agent": {"kwargs": {"api_key": KEY}}},
        "jobs/one/a__2/result.json": trial("a", None, ["/s/pdf"], **broken),
        "jobs/one/a__2/verifier/test-stdout.txt": "",
        "jobs/two/a__3/result.json": trial("a", 0.25, []),
        "jobs/two/a__3/agent/log.txt": "",
        "jobs/two/a__4/trial-result.json": trial("a", 1.5, []),
    }


def bare_rewards() -> Files:
    """Trials of a reward.txt: the folders are all that says what they are."""
    files: Files = {}
    usage = {"input_tokens": 4, "cache_read_tokens": 90, "total_tokens": 100}
    for side, rewards in (("no_skill", "010"), ("with_skill", "111")):
        for number, reward in enumerate(rewards, 1):
            home = f"results/raw/gpt-5.5/payroll/{side}/trial-{number}"
            files[f"{home}/reward.txt"] = f"{reward}\n"
            files[f"{home}/usage.json"] = usage
            files[f"{home}/timing.json"] = {"agent_execution": 30.0, "total": 61.4}
        files[f"results/raw/gpt-5.5/suite/{side}/trial-1/python-0__a4b/reward.txt"] = "1.0"
    files["results/raw/gpt-5.5/suite/no_skill/trial-2/python-0__c1/reward.txt"] = "no number"
    return files


def trials_of_nvidia() -> Files:
    """Arms of two agents; a failed judge, a failed trial; the rest of the tree says it again."""
    tree = "demo/evals/results/20260709_141530_77_a1b2c3d4e5f6"
    told = trial("a", 0.5, None) | {"exception_info": None}
    failed = {"evaluation_status": "failed", "evaluation_errors": {"accuracy": "no JSON"}}
    died = {"status": "unscored", "trial": "b_attempt002__x", "agent": "codex"}
    died |= {"variant": "without_skill", "error": {"type": "Timeout", "message": "after 600 s"}}
    lift = {"overall": {"with_skill": 0.8, "without_skill": 0.4, "delta": 0.4, "direction": "up"}}
    codex, again = f"{tree}/codex", {"trial_id": "a_attempt002__x"}
    on, off = f"{codex}/with-skill/trials", f"{codex}/without-skill/trials"
    claude = nvidia_reward("a", 0.0, agent="claude-code", model="m")
    whole = {"skill_name": "demo", "attempt_policy": {}, "agents": {"codex": {"lift": lift}}}
    return {
        f"{on}/a_attempt001__x/reward.json": nvidia_reward("a", 0.9),
        f"{on}/a_attempt001__x/result.json": told,
        f"{on}/a_attempt002__x/reward.json": nvidia_reward("a", 0.7, **again),
        f"{on}/a_attempt002__x__s/reward.json": nvidia_reward("a", 1, **again),  # a step, no run
        f"{on}/b_attempt001__x/reward.json": nvidia_reward("b", 0.0, **failed),
        f"{off}/a_attempt001__x/reward.json": nvidia_reward("a", 0.4),
        f"{off}/b_attempt002__x/failure.json": died,
        f"{off}/b_attempt002__x/result.json": told,
        f"{tree}/claude-code/with-skill/trials/a_attempt001__x/reward.json": claude,
        f"{codex}/lift.json": lift,
        f"{codex}/with-skill/summary.json": {"agent": "codex", "scores": {}, "custom_scores": {}},
        f"{tree}/attempt_policy.json": {"pass_threshold": 0.5, "score_definition": "a mean"},
        f"{tree}/comparison.json": {"metrics": {"overall": {"codex": {**lift["overall"]}}}},
        f"{tree}/result.json": whole,
    }


def runs_of_deepeval() -> Files:
    """What was asked is the eval; the same run in two files is there once."""
    run = deepeval_run([("Tidy up", [True, False]), ("Tidy up", [True, None]), ("List", [True])])
    cases = [("List", [False]), ("Tidy up", [False, False])]
    return {
        ".deepeval/.latest_test_run.json": {"testRunData": run},
        ".deepeval/.latest_run_full.json": run,
        "out/test_run_2.json": deepeval_run(cases, hyperparameters={"skill": "none"}),
    }


def card(overall: str) -> Files:
    """A card of two agents in two workspaces: figures of each, and no run."""
    head = "# Skill Benchmark: tidy\n\n- Skill: `tidy`\n- Attempts per task: 2\n\n"
    agents = "| Measure | Claude Code (Baseline → Skill Uplift) | Codex (Baseline → Skill Uplift) |"
    rows = [
        f"{agents}\n|---|---:|---:|\n| Overall | {overall} | 10% → 20% (+10 points) |",
        "| Security | 100% → 90% (-10 points) | Not available |\n",
        "| Dimension | Question | Signals |\n|---|---|---|\n| Security | 1% → 2% | `security` |\n",
    ]
    return {"{one,two}/BENCHMARK.md": head + "\n".join(rows)}


A = {"q": "a"}
FREE, EIGHT = "meta/llama:free", "llama3:8b"
LATE = {"exception_info": {"exception_type": "AgentTimeoutError"}}
REWARDS = {"rewards": {"reward": 1, "tests": 0, "style": 0.5, "lines": 120}}
NO_END = {"trajectory": {}, "gradeResult": None}
ENDED = {"score": None, "error": "crashed", "graders": []}
UNREAD = "Could not extract JSON from llm-rubric response"
WHYS = (
    *("grading parse error", "the output is not JSON: parse error", "Grade: B not found"),
    *("LLM judge timed out", "the judge failed to bow"),
)
ONE_SAMPLE = log([{"t": 1.0}], {"t": 1.0})
CASES: dict[str, Files] = {
    # ── claude plugin eval ───────────────────────────────────────────────────────────────────
    **{
        f"plugin eval: score and rate are two, votes are judgings and enter no mean ({name})": {
            "demo/evals/results/2026-11-23T01-10-35-606Z/aggregate-result.json": keys(
                plugin_suite([plugin_run(True), plugin_run(True, False)], [plugin_run(False)])
            )
        }
        for name, keys in (("as it is", lambda raw: raw), ("as it was", snaked))
    },
    "plugin eval: skipped graders enter no rate, an error beside a score costs nothing": plugin(
        [
            plugin_run(True, skippedPaidGraders=True),
            plugin_run(True, error="max turns reached"),
            ENDED,
        ],
        [],
    ),
    "plugin eval: a partial suite has no rates, and its checks": plugin(
        [plugin_run(True)], [], partial=True, partialReason="cost ceiling"
    ),
    "plugin eval: its aggregates are audited, those of a case against the runs": with_aggregates(),
    "plugin eval: a grader may want that the skill is not used": unwanted(),
    # ── Harbor, rewards ──────────────────────────────────────────────────────────────────────
    "harbor: a job": job_of_harbor(),
    "harbor: words of the folder say the side where the settings have no skills": {
        f"x/{folder}/result.json": trial("a", rate, None)
        for folder, rate in (
            *(("codex-noskills-a", 0.1), ("codex-with-skills-a", 0.2)),
            *(("codex-skills-a", 0.3), ("codex-a", 0.4)),
        )
    },
    "harbor: further rewards are checks where they are 0 or 1, else dimensions": {
        "a__1/trial-result.json": trial("a", 1.0, [], verifier_result=REWARDS)
    },
    "harbor: a reward beside a timeout counts; only what has none is errored": {
        f"j/{at}/trial-result.json": trial(task, reward, ["/s/x"] if at < 2 else [], **late)
        for at, (task, reward, late) in enumerate(
            [("a", 1.0, LATE), ("b", None, LATE), ("a", 0.0, LATE), ("b", 0.0, {})]
        )
    },
    "harbor: an exception, and a reward that is none": {
        "j/a/trial-result.json": trial("a", None, [], exception_info={"exception_type": "X"})
        | {"verifier_result": {"rewards": {"reward": None}}}
    },
    "harbor: tests that are no list of objects are named where they stand": {
        "j/a/result.json": trial("a", 1.0, []),
        "j/a/verifier/ctrf.json": {"results": {"tests": ["adds", {"name": "b", "status": "x"}]}},
    },
    "bare rewards": bare_rewards(),
    "bare rewards of a verifier, and a side that lies too far above": {
        "with_skill/raw/gpt-5.5/payroll/no_skill/trial-2/verifier/reward.txt": "0.5",
        "with_skill/raw/a/b/c/suite/trial-1/reward.txt": "1",
    },
    # ── Vally ────────────────────────────────────────────────────────────────────────────────
    "vally: three arms in three folders are one workspace, with comparisons": arms_of_vally(),
    "vally: a resumed file, one trajectory a run, a failed attempt made again": {
        "results.jsonl": lines(
            vally("a", 2),
            vally("b", 0, status="timeout", **NO_END),
            vally("a", 2),
            vally("b", 1),
            vally("c", 1, gradeResult=None),
        )
    },
    "vally: one name in the evals of two skills": {
        "results.jsonl": lines(
            *(
                vally("a", n, experiment={"evalFile": f"skills/{of}/eval.yaml"})
                for n, of in enumerate(("pdf", "csv"), 1)
            )
        )
    },
    # ── waza ─────────────────────────────────────────────────────────────────────────────────
    "waza: baseline and skill are two files, whose names say which is which": {
        "baseline.json": waza_suite("m", 0.0, 0.5),
        "skill.json": waza_suite("m", 1.0, 1.0),
    },
    "waza: files that nothing tells apart": UNSAID,
    "waza: files that an argument tells apart": UNSAID,
    "waza: an argument for a file that is not there": UNSAID,
    "waza: tokens of either schema; errors are no results; triggers are audited": figures_of_waza(),
    # ── promptfoo ────────────────────────────────────────────────────────────────────────────
    "promptfoo: scores to 1 are dimensions, sets of checks are checks": metrics_of_promptfoo(),
    "two files, another order, one with a part, without descriptions": foo(
        *(plain(True, testIdx=at, vars={"q": q}) for at, q in enumerate("abc")),
        at="with_skill.json",
    )
    | foo(
        *(plain(False, testIdx=at, vars={"q": q}) for at, q in enumerate("cb")),
        at="without_skill.json",
    ),
    "cases that differ in what is asserted alone are two": foo(
        *(
            ask(WITH, ok, vars=A, testCase={"assert": [{"type": kind}]})
            for kind, ok in (("icontains", True), ("regex", False))
        )
    ),
    "a case that one of two files calls by a name": foo(
        plain(True, vars=A, testCase={"description": "d"}), at="with_skill.json"
    )
    | foo(plain(False, vars=A), at="without_skill.json"),
    "two versions of the skill are two sides, two settings of a model as well": foo(
        *(
            plain(True, promptIdx=at, vars=A, prompt={"label": label})
            for at, label in enumerate(("with skill v1", "with skill v2", "x", "x"))
        )
    ),
    "a side that only a variable says": foo(
        *(plain(on, vars={"q": "a", "use_skill": on}) for on in (True, False))
    ),
    "a model is its whole name, or its label": foo(
        *(model(f"openrouter:{FREE}"), model("openrouter:google/gemma:free")),
        *(model(f"ollama:chat:{EIGHT}"), model("bedrock:amazon.nova-v1:0")),
        *(model("file://agent.py", "mine"), model("openai:chat:gpt", "gpt (with skill)")),
        *(model("azure:chat:o9"), model("openai:responses:o9")),
    ),
    "an answer from a cache counts where it is the only one": foo(
        *(ask(WITH, True, vars=A, response={"cached": True}),) * 3
    ),
    "a judge that could not be read gives no verdict": foo(
        judged(UNREAD, namedScores={"llm-rubric": 0.4}),
        judged("API error: 429 Too Many Requests"),
        judged("the tone is rude"),
        judged("Expected output to be valid JSON: parse error", "is-json"),
    ),
    "scores of which all are used or none": foo(
        *(
            ask(WITH, True, namedScores={"quality": value, "tone": value / 9}, vars={"q": value})
            for value in (9, 0.6, 7)
        )
    ),
    "promptfoo: fields of another type are named": foo(
        ask(WITH, True, vars=A, namedScores=[1], success="yes", gradingResult={}),
        ask(WITH, True, vars={"q": "b"}, gradingResult={"pass": True, "componentResults": 7}),
    ),
    "lines, of which a field is odd": {
        "o.jsonl": lines(*(ask(WITH, True, vars=A, latencyMs=x) for x in (1, "soon")))
    },
    # ── inspect_ai ───────────────────────────────────────────────────────────────────────────
    **{
        f"inspect: C, P and I are 1, ½ and 0; an epoch is a run ({form.__name__})": {
            f"logs/{name}.{end}": form(inspect_log([*scores], {"skill": on}))
            for name, scores, on in (("a", "CPI", True), ("b", "III", None))
        }
        for form, end in ((json.dumps, "json"), (zipped, "eval"), (zstandard, "eval"))
    },
    "inspect: a sample that ended in an error enters no rate": {"a.json": ended()},
    "inspect: a log without samples": {"a.json": ended(samples=None)},
    "inspect: logs that are torn": torn(),
    **{
        f"inspect: the side by {[*fields] or 'the argument'}, {side}": about(**fields)
        for side, fields in (
            ("-", {"task_args": {"with_skill": False}}),
            ("-", {"tags": ["nightly", "no-skill"]}),
            ("said", {}),
        )
    },
    "inspect: epochs are averaged inside a sample; a limit ends no score": with_limit(),
    "inspect: the best of several is no mean": with_limit(0.9, reducer="pass_at_2"),
    "inspect: the rate is the first scorer with metrics that gives figures": {
        "a.json": log(
            [{"diff": "C", "kind": "x", "tests": 0.25}, {"diff": "C", "kind": "y"}],
            {"diff": None, "kind": 0.5, "tests": 0.25},
        )
    },
    "inspect: what was invalidated enters no rate": {
        "a.json": changed(log([{"t": 1.0}, {"t": 0.0}], {"t": 0.5}), 0, invalidation={"by": "me"})
    },
    "inspect: a score beside an error, which the log counts": with_error(
        log([{"t": 1.0}, {"t": 0.0}], {"t": 0.5}), 0, 2
    ),
    "inspect: a score beside an error, which the log's mean leaves out": with_error(
        log([{"t": 1.0}, {"t": 0.5}], {"t": 0.5}), 0
    ),
    "inspect: a grade that was not found": {
        "a.json": changed(
            log([{"t": "I"}, {"t": "C"}], {"t": 0.5}),
            *(0,),
            scores={"t": {"value": "I", "explanation": "Grade not found in model output: ?"}},
        )
    },
    "inspect: a log that was tried again": {
        f"{at}.json": raw | {"eval": raw["eval"] | {"eval_id": f"e{at}", "task_id": "t"}}
        for at, raw in enumerate(
            (
                changed(log([{"t": 1.0}, {}], {"t": 0.5}, total_time=1), 1, error={}),
                log([{"t": 1.0}, {"t": 0.5}], {"t": 0.75}, total_time=1),
            )
        )
    },
    "inspect: a log that says the iteration that its folder is called after": {
        "second/a.json": inspect_log(["C"], {"skill": True, "iteration": "second"})
    },
    "inspect: a sample that a log has twice": {
        "a.json": ONE_SAMPLE | {"samples": ONE_SAMPLE["samples"] * 2}
    },
    "inspect: running numbers are no evals": {
        "a.json": numbered(WITH, n1="where", n2="when"),
        "b.json": numbered(WITHOUT, n1="when"),
    },
    # ── others ───────────────────────────────────────────────────────────────────────────────
    "nvidia: trials of two agents": trials_of_nvidia(),
    "deepeval: cases that ask the same are runs; an errored metric is none": runs_of_deepeval(),
    "agentv: what did not run to its end": {
        f"t/{name}/sample-1/{file}": content
        for name, end in (("a", agentv("quality_failure")), ("b", agentv("execution_error")))
        for file, content in (("result.json", end), ("grading.json", graded("pf")))
    },
    "a grading that could not be read": {
        f"iteration-1/eval-{at}/with_skill/grading.json": {
            "expectations": [{"text": "x", "passed": False, "evidence": why}]
        }
        for at, why in enumerate(WHYS)
    },
    **{
        f"nvidia: a card that says {cell}": card(cell)
        for cell in (
            "48% → 86% (+38 points)",
            "99.3% — baseline ran, but no comparable score was available",
        )
    },
    "a file called as a trial's, above evals, hides nothing": {
        "iteration-1/eval-0/with_skill/grading.json": graded("pf"),
        "reward.txt": "what to do",
        "x.jsonl": '{"a": 1}',
    },
}


SIDES = {
    "waza: files that an argument tells apart": {"x.json": WITHOUT, "*y.json": WITH},
    "waza: an argument for a file that is not there": {"z.json": WITH},
    "inspect: the side": "said",
}
"""What `load` is told of the sides, by the name of the case or how it begins."""
MORE = {
    "runs": "harness judge_model skill_used steps tokens_cached cost_usd",
    "rubric_scores": "judging weight",
    "expectations": "configuration evidence",
    "comparisons": "comparison winner side configuration",
}
"""What is kept besides what is kept of every shape."""


def test_what_other_tools_write_is_read_as_what_it_is(tmp_path: Path) -> None:
    """Kept in `tests/kept/tools.txt`, by the name here."""
    kept: list[str] = []
    for at, (name, files) in enumerate(CASES.items()):
        folder = lay(tmp_path / f"{at}" / "all", files)
        ws = sen.load(folder, configuration=SIDES.get(name.split(" by ")[0]))
        kept += [f"# {name}", *lines_of_workspace(ws, MORE)]
        if ws.stated.height:
            audit = sen.stats.audit(ws).select("configuration", "agrees")
            kept += lines_of(audit.to_dict(as_series=False), "audit")
        assert ws.again().runs.equals(ws.runs), name
    hold("tools", (line.replace(str(tmp_path), "") for line in kept))


# ── all of them ──────────────────────────────────────────────────────────────────────────────


def test_all_beside_each_other(tmp_path: Path) -> None:
    """All tools and our own below one folder: each in its workspace, and the same as alone."""
    folder = every(tmp_path)
    ws = sen.load(folder)
    alone = [sen.load(one).runs for one in sorted(folder.iterdir())]
    assert ws.runs["workspace"].n_unique() == 9
    assert sorted(map(str, ws.runs["pass_rate"])) == sorted(
        str(rate) for frame in alone for rate in frame["pass_rate"]
    )
    assert [one.code for one in check(folder)].count("tool") == 8
    alone_too = {"aggregate-result.json", "results.jsonl", "output.json", "with_skill.json"}
    for path in folder.rglob("*"):
        assert path.name not in alone_too or sen.load(path).runs.height


def test_no_secret_comes_through(tmp_path: Path) -> None:
    """No key or secret of a file is in a table, on a page, in a message or in what is written."""
    ws = sen.load(every(tmp_path / "in"))
    cells = [{"task": f"a {KEY}", "arm": "x", "passed": f"api_key={SECRET}", "model": KEY}]
    both = (ws, sen.from_table(cells))
    told = "".join(one.polars(name).write_json() for one in both for name in TABLES)
    sen.report.write_report(ws, tmp_path / "out")
    told += "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    told += "".join(str(problem) for problem in check(tmp_path / "in"))
    told += repr(ws) + ws._repr_html_()
    assert [secret for secret in (SECRET, KEY[:20]) if secret in told] == []
    assert "[hidden]" in told  # where one stood in a text that is shown


def test_damage_ends_in_no_exception(tmp_path: Path) -> None:
    """Whatever is broken of these files, what is left is read, and the rest is a problem."""
    whole = every(tmp_path / "whole")
    lay(whole, {"i/logs/b.eval": zstandard(inspect_log(["C", "I"], {}))})
    lay(whole, {"b/task/with_skill/trial-1/reward.txt": "0.5"})
    for seed in range(8):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        shutil.copytree(whole, folder)
        done = [damage(folder, chance) for _ in range(6)]
        ws = sen.load(folder)
        assert all(ws.polars(name) is not None for name in TABLES), done
        check(folder)
        for rate in ("pass_rate", "overall_efficiency"):
            assert ws.runs[rate].drop_nulls().is_between(0, 1).all(), done


@pytest.mark.parametrize("deep", [150, 700, 20_000])
def test_what_nobody_knows_may_be_deep(tmp_path: Path, deep: int) -> None:
    """However deep a part lies that is not read, the file is, or a problem says why not."""
    whole = json.dumps(plugin_suite([plugin_run(True)], []))
    nested = f'{whole[:-1]}, "unknown": {"[" * deep}1{"]" * deep}}}'
    ws = sen.load(lay(tmp_path, {"aggregate-result.json": nested, "a/g.json": graded("p")}))
    assert ws.runs.height == 1 or "not-json" in set(ws.problems["code"])


def test_registered_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of the documentation, registered: asked for what nothing else knows, it reads.

    Its faults end no load.
    """
    *_, example = (tools.Tool.__doc__ or "").split("may be no more than::")
    code = {"our_harness/skill_eval.py": textwrap.dedent(example), "our_harness/__init__.py": ""}
    monkeypatch.syspath_prepend(str(lay(tmp_path / "installed", code)))
    entry = EntryPoint("our-harness", "our_harness.skill_eval", tools.GROUP)
    monkeypatch.setattr(tools, "entry_points", lambda group: [entry] * (group == tools.GROUP))
    monkeypatch.setattr(tools, "_others", tools._others.__wrapped__)  # what is found is kept
    trials = [
        {"task": "a", "skill_on": on, "checks": [{"name": "x", "ok": on}]} for on in (True, False)
    ]
    raw = {"our_harness": 1, "skill": "pdf", "trials": trials}
    ws = sen.load(lay(tmp_path / "ws", {"results.json": raw}))
    found = ws.runs.select("configuration", "pass_rate", "skill").rows()
    assert sorted(found) == [(WITH, 1.0, "pdf"), (WITHOUT, 0.0, "pdf")]
    reader = entry.load()
    monkeypatch.setattr(reader, "read", lambda *_: 1 / 0)
    assert "reader-failed" in set(sen.load(tmp_path / "ws").problems["code"])
    lay(tmp_path / "ws", {"mine/grading.json": graded("p")})
    monkeypatch.setattr(reader, "recognise", lambda _: 1 / 0)
    with pytest.warns(UserWarning, match="'our-harness' .* ended in ZeroDivisionError"):
        assert sen.load(tmp_path / "ws").runs.height == 1


def test_real_files(others: Path) -> None:
    """What the tools themselves have written: every file is known, and no run is left ungraded."""
    for name, runs in (("claude-plugin-eval", 21), ("harbor", 7), ("reward-txt", 18), ("waza", 55)):
        ws = sen.load(others / name)
        assert ws.runs.height == runs, name
        assert set(ws.runs["status"]) == {"graded"}, name
        assert "error" not in set(ws.problems["severity"]), name
    audit = sen.stats.audit(sen.load(others / "claude-plugin-eval"))
    assert audit["agrees"].to_list() == [True] * 3
    assert sen.load(others / "inspect_ai").runs.height == 5
