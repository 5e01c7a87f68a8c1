"""Results of other tools, from files on disk to tables: each trap of their formats, by hand."""

from __future__ import annotations

import json
import random
import shutil
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import skill_eval_nb as sen
from bench.fuzzing import damage
from skill_eval_nb.documents import tools
from skill_eval_nb.tables import TABLES, check
from tests.corpus.build import graded, lay
from tests.workspace.made_tools import (
    KEY,
    METRICS,
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

TOKENS = ("tokens", "tokens_cached")


def one(frame: pl.DataFrame, column: str, **keys: Any) -> Any:
    """The value of a column in the one row with these keys."""
    return frame.filter(**keys)[column].item()


def codes(ws: Any) -> set[str]:
    return set(ws.problems["code"])


# ── claude plugin eval ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("keys", [lambda raw: raw, snaked])
def test_plugin_eval(tmp_path: Path, keys: Any) -> None:
    """Score and rate are two figures; who uses the skill is no check; votes are judgings."""
    suite = plugin_suite([plugin_run(True), plugin_run(True, False)], [plugin_run(False)])
    name = "demo/evals/results/2026-11-23T01-10-35-606Z/aggregate-result.json"
    ws = sen.load(lay(tmp_path, {name: keys(suite)}))
    run = ws.runs.filter(configuration="with_skill", run_number=2)
    names = ("pass_rate", "score", "passed", "total", "skill_used", "steps", "skill", "iteration")
    assert run.select(names).row(0) == (
        *(0.5, pytest.approx(2 / 3), 1, 2, True, 3),
        *("demo", "2026-11-23T01-10-35-606Z"),
    )
    assert "used" not in ws.expectations["text"]
    assert ws.evals["prompt"].item() == "Greet Ada"
    votes = ws.rubric_scores.filter(configuration="with_skill", run_number=2)
    assert votes["score"].to_list() == [5, 1, 1]
    assert votes["judging"].to_list() == [1, 2, 3]
    assert ws.runs["rubric_weighted_mean"].null_count() == 3  # votes enter no mean
    assert {"votes", "runs-stated"} <= codes(ws)  # one run a case is stated, two are there
    assert ws.runs["tokens"].null_count() == 3


def test_plugin_eval_models(tmp_path: Path) -> None:
    """No model is known unless one was forced, on the suite or on a case; one arm is one side."""
    suite = plugin_suite([plugin_run(True)], [])
    ws = sen.load(lay(tmp_path / "a", {"aggregate-result.json": suite}))
    assert ws.runs.select("configuration", "executor_model").rows() == [("with_skill", None)]
    suite["suite"]["modelOverride"] = "sonnet"
    suite["cases"] += [{**suite["cases"][0], "name": "own", "model": "opus"}]
    ws = sen.load(lay(tmp_path / "b", {"aggregate-result.json": suite}))
    models = dict(ws.runs.select("eval_id", "executor_model").rows())
    assert models == {"hello": "sonnet", "own": "opus"}


def test_plugin_eval_incomplete(tmp_path: Path) -> None:
    """Skipped graders and partial suites enter no rate; an error beside a score costs nothing."""
    runs = [
        plugin_run(True, skippedPaidGraders=True),
        plugin_run(True, error="max turns reached"),
        {"score": None, "error": "crashed", "graders": []},
    ]
    ws = sen.load(lay(tmp_path / "a", {"aggregate-result.json": plugin_suite(runs, [])}))
    assert ws.runs["status"].to_list() == ["executed", "graded", "errored"]
    assert ws.runs["pass_rate"].to_list() == [None, 1, None] == ws.runs["score"].to_list()
    assert {"incomplete", "error-beside-score", "errored-run"} <= codes(ws)
    whole = plugin_suite([plugin_run(True)], [], partial=True, partialReason="cost ceiling")
    ws = sen.load(lay(tmp_path / "b", {"aggregate-result.json": whole}))
    assert ws.runs["status"].to_list() == ["executed"]
    assert ws.runs["pass_rate"].item() is None
    assert "cost ceiling" in one(ws.problems, "message", code="partial")
    assert ws.expectations["passed"].to_list() == [True, True]  # kept


def test_plugin_eval_aggregates(tmp_path: Path) -> None:
    """Its own aggregates are audited, those of each case against the runs beside them."""
    suite = plugin_suite([plugin_run(True)], [plugin_run(False)])
    suite["cases"][0]["aggregates"] = {"score": 0.2, "passRate": 1, "scoreWithout": 1 / 3}
    suite["aggregates"] = {"overallScore": 1, "meanDelta": 0.5, "overallPassRate": 1}
    ws = sen.load(lay(tmp_path, {"aggregate-result.json": suite}))
    wrong = ws.problems.filter(code="disagree")
    assert wrong["where"].to_list() == ["$.cases[0].aggregates.score"]
    agrees = sen.stats.audit(ws).select("configuration", "agrees").rows()
    assert agrees == [("with_skill", True), ("delta", False)]


# ── Harbor ───────────────────────────────────────────────────────────────────────────────────


def test_harbor_job(tmp_path: Path) -> None:
    """A partial reward is the rate, and no count; tokens hold the cache; exceptions are errors."""
    broken = {"exception_info": {"exception_type": "Timeout", "exception_message": SECRET}}
    ctrf = {"results": {"tests": [{"name": n, "status": s} for n, s in TESTS]}}
    job = {"n_total_trials": 2, "stats": {"evals": {"codex__gpt__b": {"metrics": [{"mean": 0.5}]}}}}
    files = {
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
    ws = sen.load(lay(tmp_path, files))
    runs = ws.runs.sort("configuration", "run_number", descending=[True, False])
    assert runs.select("configuration", "status", "pass_rate", "score").rows() == [
        ("without_skill", "graded", 0.25, 0.25),
        ("without_skill", "graded", None, 1.5),  # no share of 1
        ("with_skill", "graded", 0.75, 0.75),
        ("with_skill", "errored", None, None),
    ]
    run = ws.runs.filter(pass_rate=0.75)
    assert run.select("passed", "total").row(0) == (None, None)  # a reward is no count of checks
    assert run.select(*TOKENS, "time_seconds").row(0) == (1000, 800, 30)
    names = ("harness", "executor_model", "eval_id", "eval_name", "workspace", "skill")
    assert run.select(names).row(0) == ("codex", "gpt-5.5", "bench/a", "a", tmp_path.name, "pdf")
    assert ws.expectations["passed"].to_list() == [True, False, None]
    assert {"no-rate", "errored-run"} <= codes(ws)
    audit = sen.stats.audit(ws).row(0, named=True)
    assert (audit["stated"], audit["recomputed"], audit["agrees"]) == (0.5, 0.75, False)


TESTS = (("adds", "passed"), ("divides", "failed"), ("waits", "skipped"))


@pytest.mark.parametrize(
    ("folder", "side"),
    [
        ("codex-noskills-a", "without_skill"),
        ("codex-with-skills-a", "with_skill"),
        ("codex-skills-a", "with_skill"),
        ("codex-a", "unstated"),
    ],
)
def test_harbor_side_of_folder(tmp_path: Path, folder: str, side: str) -> None:
    """Where the settings have no skills, words of the folder say the side; else nothing does."""
    ws = sen.load(lay(tmp_path, {f"x/{folder}/result.json": trial("a", 1.0, None)}))
    assert ws.runs["configuration"].to_list() == [side]
    assert ("no-configuration" in codes(ws)) == (side == "unstated")


def test_harbor_rewards(tmp_path: Path) -> None:
    """Further rewards are checks where they are 0 or 1, else dimensions."""
    rewards = {"rewards": {"reward": 1, "tests": 0, "style": 0.5, "lines": 120}}
    raw = trial("a", 1.0, [], verifier_result=rewards)
    ws = sen.load(lay(tmp_path, {"a__1/trial-result.json": raw}))
    assert ws.expectations.select("text", "passed").rows() == [("tests", False)]
    assert ws.rubric_scores.select("dimension", "score").rows() == [("style", 2.5)]
    assert ws.runs["pass_rate"].to_list() == [1.0]
    assert "not-used" in codes(ws)


def test_bare_rewards(tmp_path: Path) -> None:
    """Trials of a reward.txt: the folders are all that says what they are."""
    files: dict[str, Any] = {}
    for side, rewards in (("no_skill", "010"), ("with_skill", "111")):
        for number, reward in enumerate(rewards, 1):
            home = f"results/raw/gpt-5.5/payroll/{side}/trial-{number}"
            files[f"{home}/reward.txt"] = f"{reward}\n"
            usage = {"input_tokens": 4, "cache_read_tokens": 90, "total_tokens": 100}
            files[f"{home}/usage.json"] = usage
            files[f"{home}/timing.json"] = {"agent_execution": 30.0, "total": 61.4}
        files[f"results/raw/gpt-5.5/suite/{side}/trial-1/python-0__a4b/reward.txt"] = "1.0"
    files["results/raw/gpt-5.5/suite/no_skill/trial-2/python-0__c1/reward.txt"] = "no number"
    ws = sen.load(lay(tmp_path, files))
    means = ws.runs.group_by("eval_id", "configuration").agg(pl.col("pass_rate").mean())
    assert sorted(means.rows()) == [
        ("payroll", "with_skill", 1.0),
        ("payroll", "without_skill", pytest.approx(1 / 3)),
        ("python-0", "with_skill", 1.0),
        ("python-0", "without_skill", 1.0),
    ]
    run = ws.runs.filter(eval_id="payroll", run_number=3, configuration="with_skill")
    assert run.select(*TOKENS, "time_seconds").row(0) == (100, 90, 30)
    assert set(ws.runs["executor_model"]) == {"gpt-5.5"}
    assert "unreadable" in codes(ws)


# ── Vally, waza, promptfoo ───────────────────────────────────────────────────────────────────


def test_vally(tmp_path: Path) -> None:
    """Three arms in three folders are one workspace; a comparison is held against its summary."""
    report = {
        "type": "comparison-report",
        "summary": {"wins": 2, "losses": 0, "ties": 0, "meanScore": 0.4},
        "stimuli": [
            {
                "stimulusName": "greet",
                "trials": [
                    {"winner": "treatment", "magnitude": "slightly-better", "score": 0.4},
                    {"winner": "tie", "score": 0, "errored": True},
                ],
            }
        ],
    }
    inside = {"winner": "baseline", "magnitude": "much-better", "score": -1.0}
    inside = {"type": "comparison", "stimuli": [{"stimulusName": "greet", "trials": [inside]}]}
    lines = {
        "baseline": [vally_trial("baseline", 1), vally_trial("baseline", 0, status="error")],
        "skilled": [vally_trial("skilled", 2), inside],
        "plugin": [vally_trial("plugin", 1)],
    }
    files = {
        f"run/{name}/results.jsonl": "\n".join(map(json.dumps, rows)) + "\n{broken\n"
        for name, rows in lines.items()
    }
    ws = sen.load(lay(tmp_path, {**files, "run/comparison.json": report}))
    assert set(ws.runs["configuration"]) == {"baseline", "skilled", "plugin"}
    assert set(ws.runs["workspace"]) == {"run"}
    assert set(ws.runs["skill"]) == {"greeting"}
    figures = ws.runs.filter(configuration="plugin").select("pass_rate", "score", *TOKENS)
    assert figures.row(0) == (0.5, 0.5, 15, 4)
    assert ws.runs.filter(status="errored").height == 1
    assert sorted(ws.comparisons.select("winner", "side", "configuration").rows()) == [
        (winner, *side) for winner in "AB" for side in (("A", "skilled"), ("B", "baseline"))
    ]
    wrong = ws.problems.filter(code="disagree")
    assert wrong["where"].to_list() == ["$.summary.wins"]
    assert {"comparison-errored", "not-json"} <= codes(ws)
    assert sen.stats.deltas(ws, baseline="baseline", metric="score").height


def test_waza_two_files(tmp_path: Path) -> None:
    """Baseline and skill are two files: their names say which is which, or an argument does."""
    files = {"baseline.json": waza_suite("m", 0.0, 0.5), "skill.json": waza_suite("m", 1.0, 1.0)}
    ws = sen.load(lay(tmp_path / "a", files))
    assert ws.runs.group_by("configuration").len().sort("len").height == 2
    assert one(ws.runs, "score", configuration="without_skill", run_number=2) == 0.625
    assert one(ws.runs, "judge_model", configuration="with_skill", run_number=1) == "opus"
    assert "no-configuration" not in codes(ws)
    assert not sen.stats.audit(ws)["agrees"].any()  # the baseline's is 0.4375
    other = {"x.json": waza_suite("m", 0.0), "y.json": waza_suite("m", 1.0)}
    folder = lay(tmp_path / "b", other)
    ws = sen.load(folder)
    assert set(ws.runs["configuration"]) == {"unstated"}
    assert ws.runs["run_number"].n_unique() == 2
    assert "configuration=" in one(ws.problems, "message", code="no-configuration")
    ws = sen.load(folder, configuration={"x.json": "without_skill", "*y.json": "with_skill"})
    assert one(ws.runs, "pass_rate", configuration="with_skill") == 1.0
    assert ws.again().runs.equals(ws.runs)
    assert "no-such-file" in codes(sen.load(folder, configuration={"z.json": "with_skill"}))


def test_waza_figures(tmp_path: Path) -> None:
    """Tokens of either schema; errors are no results; trigger figures are stated and audited."""
    suite = waza_suite("m", 1.0, 0.0, 1.0)
    runs = suite["tasks"][0]["runs"]
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 80}
    runs[0]["session_digest"] = {"usage": usage}
    runs[1] |= {"status": "error", "error_msg": "time out"}
    runs[2]["status"] = "skipped"
    counts = {"true_positives": 9, "false_positives": 2, "true_negatives": 8, "false_negatives": 1}
    suite["trigger_metrics"] = {**counts, "precision": 0.818, "recall": 0.9, "accuracy": 0.9}
    ws = sen.load(lay(tmp_path, {"with_skill.json": suite}))
    assert ws.runs.sort("run_number")["status"].to_list() == ["graded", "errored", "executed"]
    assert one(ws.runs, "tokens", run_number=1) == 120
    assert one(ws.runs, "tokens_cached", run_number=1) == 80
    stated = dict(ws.stated.select("metric", "value").rows())
    assert stated["trigger:recall"] == 0.9
    assert stated["trigger:true_positives"] == 9
    wrong = ws.problems.filter(code="disagree")
    assert wrong["where"].to_list() == ["$.trigger_metrics.accuracy"]
    assert "its counts give 0.85" in wrong["message"].item()


def test_promptfoo(tmp_path: Path) -> None:
    """Provider and prompt are model and configuration; repeats are runs, in order."""
    rows = [
        promptfoo_row(0, 0, True, False),
        promptfoo_row(1, 0, True, True),
        promptfoo_row(1, 0, True, True),
        promptfoo_row(0, 1, failureReason=2, error=f"401 {KEY}"),
    ]
    whole = {
        "evalId": "e",
        "results": {"version": 3, "results": rows},
        "config": {"env": {"K": KEY}},
    }
    ws = sen.load(lay(tmp_path, {"output.json": whole}))
    assert sorted(ws.runs.select("eval_id", "configuration", "run_number", "pass_rate").rows()) == [
        ("0", "with_skill", 1, 1.0),
        ("0", "with_skill", 2, 1.0),
        ("0", "without_skill", 1, 0.5),
        ("1", "without_skill", 1, None),
    ]
    assert set(ws.runs["executor_model"]) == {"claude-sonnet-5"}
    assert ws.runs["score"].drop_nulls().to_list() == [0.9] * 3
    assert ws.runs.filter(status="errored").height == 1


def test_promptfoo_metrics(tmp_path: Path) -> None:
    """Scores between 0 and 1 are dimensions, sets of checks are checks; sums are audited."""
    inner = {"pass": True, "componentResults": [{"pass": False, "assertion": {"metric": "tone"}}]}
    rows = [
        promptfoo_row(0, 0, True, namedScores={"tone": 0.5, "length": 1}),
        promptfoo_row(1, 0, False, namedScores={"tone": 1, "length": 0}, provider="openai:gpt-5"),
    ]
    rows[0]["gradingResult"]["componentResults"].append(inner)
    prompts = [{"metrics": {"testPassCount": 1, "score": 0.9}}, {"metrics": {"testPassCount": 1}}]
    stats = {"successes": 1, "failures": 1, "errors": 1}
    whole = {"results": {"results": rows, "prompts": prompts, "stats": stats}}
    ws = sen.load(lay(tmp_path, {"output.json": whole}))
    scores = ws.rubric_scores.sort("configuration").select("configuration", "dimension", "score")
    assert scores.rows() == [("with_skill", "tone", 5.0), ("without_skill", "tone", 2.5)]
    checks = ws.expectations.filter(configuration="without_skill")
    assert checks.select("text", "passed").rows() == [("contains: w0", True), ("tone", False)]
    assert set(ws.runs["executor_model"]) == {"claude-sonnet-5", "gpt-5"}
    assert ws.problems.filter(code="disagree")["where"].to_list() == [
        "$.results.stats.errors",
        "$.results.prompts[1].metrics.testPassCount",
    ]


# ── inspect_ai ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", [json.dumps, zipped, zstandard])
def test_inspect(tmp_path: Path, form: Any) -> None:
    """C, P and I are 1, ½ and 0; an epoch is a run; one log is the baseline, one the skill's."""
    end = "json" if form is json.dumps else "eval"
    files = {
        f"logs/a.{end}": form(inspect_log(["C", "P", "I"], {"skill": True})),
        f"logs/b.{end}": form(inspect_log(["I", "I", "I"], {"skill": None})),
    }
    ws = sen.load(lay(tmp_path, files))
    runs = ws.runs.sort("configuration", "run_number")
    assert runs["pass_rate"].to_list() == [1.0, 0.5, 0.0, 0.0, 0.0, 0.0]
    assert runs["run_number"].to_list() == [1, 2, 3] * 2
    names = ("configuration", "skill", "executor_model", *TOKENS, "time_seconds")
    assert runs.select(names).row(0) == ("with_skill", "greet", "m", 50, 20, 2.5)
    first = ws.expectations.filter(configuration="with_skill", text="graded")
    assert first["passed"].to_list() == [True, None, False]
    assert "because" in first["evidence"]
    assert set(ws.expectations["text"]) == {"graded", "style/polite"}
    assert set(ws.rubric_scores["dimension"]) == {"style/tone"}
    agrees = dict(sen.stats.audit(ws).select("configuration", "agrees").rows())
    assert agrees == {"with_skill": True, "without_skill": False}
    assert ws.evals["prompt"].to_list() == ["Greet Ada"]


def test_inspect_errors(tmp_path: Path) -> None:
    """A sample that ended in an error enters no rate; a log without samples has no runs."""
    log = inspect_log(["C", "C"], {"variant": "old_skill"}, status="error")
    log["samples"][1] |= {"error": {"message": f"no\n{KEY}"}, "scores": {}}
    ws = sen.load(lay(tmp_path / "a", {"a.json": log}))
    assert ws.runs["status"].to_list() == ["graded", "errored"]
    assert ws.runs["configuration"].unique().to_list() == ["old_skill"]
    assert "log-status" in codes(ws)
    ws = sen.load(lay(tmp_path / "b", {"a.json": {**log, "samples": None}}))
    assert ws.runs.is_empty()
    assert "no-samples" in codes(ws)
    ws = sen.load(lay(tmp_path / "c", {"a.json": log, "results.eval": b"PK\x03\x04 no zip"}))
    assert "unreadable" in codes(ws)
    torn = zstandard(inspect_log(["C", "C"], {"skill": True})).replace(b"\x28\xb5\x2f\xfd", b"torn")
    whole = zipped(inspect_log(["C", "I"], {"skill": True})).replace(
        b'"epoch": 2', b'"epoch": 3', 1
    )
    ws = sen.load(lay(tmp_path / "d", {"a.eval": whole, "b.eval": torn}))
    assert ws.runs["pass_rate"].to_list() == [1.0]  # the sample whose sum is wrong is left out
    assert ws.problems.filter(code="unreadable").height == 2


@pytest.mark.parametrize(
    ("about", "side"),
    [
        ({"task_args": {"with_skill": False}}, "without_skill"),
        ({"metadata": {"configuration": "old_skill"}}, "old_skill"),
        ({"metadata": {"skills": ["/s/pdf"]}}, "with_skill"),
        ({"tags": ["nightly", "no-skill"]}, "without_skill"),
        ({}, "said"),  # nothing says: it is the argument of load
    ],
)
def test_inspect_sides(tmp_path: Path, about: dict[str, Any], side: str) -> None:
    log = inspect_log(["C"], {})
    log["eval"] |= about
    ws = sen.load(lay(tmp_path, {"a.json": log}), configuration="said")
    assert ws.runs["configuration"].to_list() == [side]


def test_inspect_of_another_harness(tmp_path: Path) -> None:
    """What any log may say: no model, no tokens counted, who graded, a part's own evidence."""
    log = inspect_log(["C"], {"configuration": "with_skill", "iteration": "second"})
    log["eval"] |= {"model": "none/none", "model_roles": {"grader": {"model": "openai/judge"}}}
    log["samples"][0] |= {
        "metadata": {"eval_name": "greet-ada"},
        "model_usage": {"none/none": {"total_tokens": 0, "total_cost": 0.5}},
        "scores": {
            "graded": {"value": 1.0},
            "rubric": {
                "value": {"tone": 4.0, "form": 2.0},
                "explanation": "of both",
                "metadata": {"tone": {"weight": 3, "evidence": "warm"}},
            },
        },
    }
    other = inspect_log(["C"], {"configuration": "without_skill", "iteration": "second"})
    other["samples"][0] |= {"scores": {"graded": {"value": 0.25}}}
    ws = sen.load(lay(tmp_path, {"second/a.json": log, "second/b.json": other}))
    names = ("iteration", "eval_name", "executor_model", "judge_model", *TOKENS[:1], "cost_usd")
    found = ws.runs.filter(configuration="with_skill").select(names).row(0)
    assert found == ("second", "greet-ada", None, "judge", None, 0.5)
    assert ws.runs["workspace"].to_list() == [tmp_path.name] * 2
    scores = ws.rubric_scores.select("dimension", "score", "weight", "evidence").rows()
    assert scores == [("rubric/tone", 4.0, 3.0, "warm"), ("rubric/form", 2.0, 1.0, "of both")]
    assert ws.expectations.is_empty()  # what gave the rate is a check of all runs, or of none
    other["results"]["scores"][0]["name"] = "tokens used"  # what is summed up is no score
    ws = sen.load(lay(tmp_path / "other", {"a.json": other}))
    assert ws.runs["pass_rate"].to_list() == [None]


def test_inspect_metrics(tmp_path: Path) -> None:
    """Epochs are averaged inside a sample; the best of several is none; a limit ends no score."""
    log = inspect_log(["C", "C", "I"], {"skill": True})
    log["samples"][2] |= {"id": "s2", "epoch": 1, "limit": {"type": "token", "limit": 5}}
    ws = sen.load(lay(tmp_path / "a", {"a.json": log}))
    assert "disagree" not in codes(ws)  # ½ of two samples, two thirds of three runs
    assert ws.runs["pass_rate"].to_list() == [1.0, 1.0, 0.0]
    assert "limit" in codes(ws)
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.9
    wrong = sen.load(lay(tmp_path / "b", {"a.json": log}))
    assert one(wrong.problems, "where", code="disagree").endswith("metrics.accuracy.value")
    assert not sen.stats.audit(wrong)["agrees"].any()
    log["results"]["scores"][0]["reducer"] = "pass_at_2"
    best = sen.load(lay(tmp_path / "c", {"a.json": log}))
    assert "disagree" not in codes(best)
    assert best.stated.is_empty()


# ── NVIDIA's SkillEvaluator, DeepEval ─────────────────────────────────────────────────────────


def test_nvidia_skillevaluator(tmp_path: Path) -> None:
    """Arms of two agents; a failed judge scores nothing, a failed trial is errored with its reason.

    What the run states of an agent is what its runs give; the rest of the tree says it again.
    """
    tree = "demo/evals/results/20260709_141530_77_a1b2c3d4e5f6"
    trial_ = trial("a", 0.5, None) | {"exception_info": None}
    failed = {"evaluation_status": "failed", "evaluation_errors": {"accuracy": "no JSON"}}
    died = {"status": "unscored", "trial": "b_attempt002__x", "agent": "codex"}
    died |= {"variant": "without_skill", "error": {"type": "Timeout", "message": "after 600 s"}}
    lift = {"overall": {"with_skill": 0.8, "without_skill": 0.4, "delta": 0.4, "direction": "up"}}
    codex, again = f"{tree}/codex", {"trial_id": "a_attempt002__x"}
    claude = nvidia_reward("a", 0.0, agent="claude-code", model="m")
    files = {
        f"{codex}/with-skill/trials/a_attempt001__x/reward.json": nvidia_reward("a", 0.9),
        f"{codex}/with-skill/trials/a_attempt001__x/result.json": trial_,
        f"{codex}/with-skill/trials/a_attempt002__x/reward.json": nvidia_reward("a", 0.7, **again),
        f"{codex}/with-skill/trials/a_attempt002__x__s/reward.json": nvidia_reward("a", 1, **again),
        f"{codex}/with-skill/trials/b_attempt001__x/reward.json": nvidia_reward("b", 0.0, **failed),
        f"{codex}/without-skill/trials/a_attempt001__x/reward.json": nvidia_reward("a", 0.4),
        f"{codex}/without-skill/trials/b_attempt002__x/failure.json": died,
        f"{codex}/without-skill/trials/b_attempt002__x/result.json": trial_,
        f"{tree}/claude-code/with-skill/trials/a_attempt001__x/reward.json": claude,
        f"{codex}/lift.json": lift,
        f"{codex}/with-skill/summary.json": {"agent": "codex", "scores": {}, "custom_scores": {}},
        f"{tree}/attempt_policy.json": {"pass_threshold": 0.5, "score_definition": "a mean"},
        f"{tree}/comparison.json": {"metrics": {"overall": {"codex": {**lift["overall"]}}}},
        f"{tree}/result.json": {
            "skill_name": "demo",
            "attempt_policy": {},
            "agents": {"codex": {"lift": lift}},
        },
    }
    ws = sen.load(lay(tmp_path, files))
    keys = ("harness", "eval_id", "configuration", "status", "pass_rate")
    assert set(ws.runs.select(keys).rows()) == {
        ("codex", "a", "with_skill", "graded", 0.9),
        ("codex", "a", "with_skill", "graded", 0.7),
        ("codex", "a", "with_skill", "executed", None),  # a step of the one before, and no run
        ("codex", "b", "with_skill", "executed", None),
        ("codex", "a", "without_skill", "graded", 0.4),
        ("codex", "b", "without_skill", "errored", None),
        ("claude-code", "a", "with_skill", "graded", 0.0),
    }
    assert ws.runs.select("skill", "iteration").unique().rows() == [("demo", Path(tree).name)]
    assert one(ws.runs, "tokens", pass_rate=0.9) == 1000  # as Harbor's own file beside it says
    assert set(ws.rubric_scores["dimension"]) == set(METRICS)
    assert ws.problems["severity"].to_list().count("error") == 0
    reasons = ws.problems.filter(code="errored-run")["message"].item()
    assert "after 600 s" in reasons
    left_out = ws.problems.filter(code="executed-run")["message"]
    assert sum("no JSON" in message for message in left_out) == 1
    assert sum("a step of the trial" in message for message in left_out) == 1
    stated = ws.stated.select("configuration", "value").rows()
    assert stated == [("with_skill", 0.8), ("without_skill", 0.4), ("delta", 0.4)]
    assert not {"not-a-document", "not-used"} & codes(ws)


CARDS = [
    ("23% → 62.4% (+39.4 pp)", {"with_skill": 0.624, "without_skill": 0.23, "delta": 0.394}),
    ("48% → 86% (+38 points)", {"with_skill": 0.86, "without_skill": 0.48, "delta": 0.38}),
    ("99.3% — baseline ran, but no comparable score was available", {"with_skill": 0.993}),
    ("Not available", {}),
]
"""What stands in the cell of a card, and what it states."""


@pytest.mark.parametrize(("cell", "stated"), CARDS)
def test_nvidia_card(tmp_path: Path, cell: str, stated: dict[str, float]) -> None:
    """A card states figures of each agent and is no run; a benchmark.md of ours is no card."""
    card = textwrap.dedent(f"""
        # Skill Benchmark: tidy

        - Skill: `tidy`
        - Tasks: 3 evaluation tasks (3 positive)
        - Attempts per task: 2

        | Measure | Claude Code (Baseline → Skill Uplift) | Codex (Baseline → Skill Uplift) |
        |---|---:|---:|
        | Overall | {cell} | 10% → 20% (+10 points) |
        | Security | 100% → 90% (-10 points) | Not available |

        | Dimension | Question | Signals |
        |---|---|---|
        | Security | 1% → 2% | `security` |
    """)
    for name in ("one/BENCHMARK.md", "two/BENCHMARK.md"):
        lay(tmp_path, {name: card})
    ws = sen.load(tmp_path)
    assert ws.runs.is_empty()
    assert ws.stated.select("workspace", "skill").unique().height == 2
    mine = ws.stated.filter(pl.col("configuration").str.ends_with("(Claude Code)"), workspace="one")
    rates = mine.filter(metric="pass_rate").select("configuration", "value").rows()
    assert {name.split(" ")[0]: round(value, 6) for name, value in rates} == stated
    assert one(mine, "value", metric="attempts") == 2
    assert mine.filter(metric="security")["value"].to_list() == [0.9, 1.0, -0.1]
    lay(tmp_path, {"three/benchmark.md": "# Benchmark: tidy\n\n| Metric | With |\n|---|---|\n"})
    with pytest.raises(sen.NothingToLoad):
        sen.load(tmp_path / "three")


def test_deepeval(tmp_path: Path) -> None:
    """What was asked is the eval, cases that ask the same are its runs; an errored metric is none.

    The same run in three files is counted once.
    """
    run = deepeval_run([("Tidy up", [True, False]), ("Tidy up", [True, None]), ("List", [True])])
    files = {
        ".deepeval/.latest_test_run.json": {"testRunData": run},
        ".deepeval/.latest_run_full.json": run,
        "out/test_run_2.json": deepeval_run(
            [("List", [False]), ("Tidy up", [False, False])], hyperparameters={"skill": "none"}
        ),
    }
    ws = sen.load(lay(tmp_path / "project", files))
    keys = ("eval_id", "configuration", "run_number", "passed", "total", "executor_model")
    assert set(ws.runs.select(keys).rows()) == {
        ("Tidy up", "with_skill", 1, 1, 2, "vendor/one:free"),
        ("Tidy up", "with_skill", 2, 1, 2, "vendor/one:free"),
        ("List", "with_skill", 1, 1, 1, "vendor/one:free"),
        ("List", "without_skill", 1, 0, 1, None),
        ("Tidy up", "without_skill", 1, 0, 2, None),
    }
    assert set(ws.runs["workspace"]) == {"project"}
    assert ws.runs["judge_model"].unique().to_list() == ["judge-1"]
    assert ws.expectations.filter(text="Tone")["passed"].null_count() == 1
    assert {"copy", "not-scored"} <= codes(ws)
    run["testPassed"] = 3
    again = sen.load(lay(tmp_path / "wrong", {"run.json": run}))
    assert one(again.problems, "where", code="disagree") == "$.testPassed"


# ── all of them ──────────────────────────────────────────────────────────────────────────────


def test_all_beside_each_other(tmp_path: Path) -> None:
    """All tools and our own below one folder: each in its workspace, and the same as alone."""
    folder = every(tmp_path)
    ws = sen.load(folder)
    alone = [sen.load(one_).runs for one_ in sorted(folder.iterdir())]
    assert ws.runs.height == sum(frame.height for frame in alone)
    assert ws.runs["workspace"].n_unique() == 9
    assert sorted(ws.runs["pass_rate"].drop_nulls()) == sorted(
        rate for frame in alone for rate in frame["pass_rate"].drop_nulls()
    )
    assert [one_.code for one_ in check(folder)].count("tool") == 8
    alone_too = {"aggregate-result.json", "results.jsonl", "output.json", "with_skill.json"}
    for path in folder.rglob("*"):
        assert path.name not in alone_too or sen.load(path).runs.height


def test_no_secret_comes_through(tmp_path: Path) -> None:
    """No key or secret of a file is in a table, on a page, in a message or in what is written."""
    ws = sen.load(every(tmp_path / "in"))
    told = "".join(ws.polars(name).write_json() for name in TABLES)
    cells = [{"task": f"a {KEY}", "arm": "x", "passed": f"api_key={SECRET}", "model": KEY}]
    table = sen.from_table(cells)
    told += "".join(table.polars(name).write_json() for name in TABLES)
    sen.report.write_report(ws, tmp_path / "out")
    told += "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    told += "".join(str(problem) for problem in check(tmp_path / "in"))
    told += repr(ws) + ws._repr_html_()
    assert SECRET not in told
    assert KEY not in told
    assert KEY[:20] not in told
    assert "[hidden]" in told  # where one stood in a text that is shown


def test_damage_ends_in_no_exception(tmp_path: Path) -> None:
    """Whatever is broken of these files, what is left is read, and the rest is a problem."""
    whole = every(tmp_path / "whole")
    lay(whole, {"i/logs/b.eval": zstandard(inspect_log(["C", "I"], {}))})
    lay(whole, {"b/task/with_skill/trial-1/reward.txt": "0.5"})
    for seed in range(40):
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
    assert ws.runs.height == 1 or {"not-json"} <= codes(ws)


def test_a_stray_file_hides_nothing(tmp_path: Path) -> None:
    """A file that is called as a trial's, above evals, is not a trial: what lies below is read."""
    grading = {"iteration-1/eval-0/with_skill/grading.json": graded("pf")}
    ws = sen.load(lay(tmp_path, {**grading, "reward.txt": "what to do", "x.jsonl": '{"a": 1}'}))
    assert ws.runs["pass_rate"].to_list() == [0.5]
    deep = {"a__1/tests/x__y/a.txt": "", "a__1/verifier/reward.txt": "1"}
    ws = sen.load(lay(tmp_path / "job", {"a__1/result.json": trial("a", 1.0, []), **deep}))
    assert ws.runs.height == 1


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
    assert sorted(ws.runs.select("configuration", "pass_rate").rows()) == [
        ("with_skill", 1.0),
        ("without_skill", 0.0),
    ]
    assert ws.runs["skill"].unique().to_list() == ["pdf"]
    reader = entry.load()
    monkeypatch.setattr(reader, "read", lambda *_: 1 / 0)
    assert "reader-failed" in codes(sen.load(tmp_path / "ws"))
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
    assert audit["agrees"].all()
    assert audit.height == 3
    assert sen.load(others / "inspect_ai").runs.height == 5
