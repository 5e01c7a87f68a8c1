"""What the runs of every tool are: of which eval and model, which are copies, how they ended."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.corpus.build import graded, lay
from tests.workspace.made_tools import (
    deepeval_run,
    inspect_log,
    nvidia_reward,
    plugin_run,
    plugin_suite,
    promptfoo_row,
    trial,
    vally_trial,
    waza_suite,
)

Files = dict[str, Any]
WITH, WITHOUT = "with_skill", "without_skill"
MODELS = ("vendor/tiny:free", "vendor/grand:free")
"""Whole names that differ in neither what stands before the slash nor what follows the colon."""


class Told(NamedTuple):
    """A run as a file tells of it; `passed` is None where it ended in an error."""

    eval: str
    side: str
    model: str
    passed: bool | None


# ── every reader ─────────────────────────────────────────────────────────────────────────────

Build = Callable[[Sequence[Told], Sequence[Told]], Files]
"""Files of a tool with these runs, and with copies of some of them."""


def by_file(rows: Sequence[Told]) -> dict[tuple[str, str], list[Told]]:
    """The runs by side and model, for tools that write a file of each."""
    found: dict[tuple[str, str], list[Told]] = {}
    for row in rows:
        found.setdefault((row.side, row.model), []).append(row)
    return found


def of_plugin(rows: Sequence[Told], _: Sequence[Told]) -> Files:
    files = {}
    for at, model in enumerate(MODELS):
        cases = []
        for name in dict.fromkeys(row.eval for row in rows if row.model == model):
            arms: dict[str, list[Any]] = {"with": [], "without": []}
            for row in rows:
                if (row.eval, row.model) == (name, model):
                    run = plugin_run(bool(row.passed), bool(row.passed))
                    if row.passed is None:
                        run = {"score": None, "error": "crashed", "graders": []}
                    arms["with" if row.side == WITH else "without"].append(run)
            cases.append({"name": name, "arms": arms, "model": model})
        suite = plugin_suite([], [], startedAt=model)
        files[f"{at}/aggregate-result.json"] = {**suite, "cases": cases}
    return files


def of_harbor(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    files: Files = {}
    ids: dict[Told, str] = {}
    for at, row in enumerate([*rows, *copies]):
        error = {"exception_info": {"exception_type": "Crash"}} if row.passed is None else {}
        reward = None if row.passed is None else float(row.passed)
        raw = trial(row.eval, reward, ["/s/x"] if row.side == WITH else [], **error)
        raw["id"] = ids.setdefault(row, f"t{at}") if at >= len(rows) else f"t{at}"
        ids.setdefault(row, raw["id"])
        raw["config"]["agent"]["model_name"] = f"router/{row.model}"
        raw["agent_info"]["model_info"] = None
        files[f"jobs/j/{row.eval}__{at}/trial-result.json"] = raw
    return files


def of_vally(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    lines, ids = [], {}
    for at, row in enumerate([*rows, *copies]):
        line = vally_trial(row.side, 2 * bool(row.passed), stimulus=row.eval, model=row.model)
        if row.passed is None:
            line |= {"status": "error", "gradeResult": None, "error": "no answer"}
        name = ids.setdefault(row, at) if at >= len(rows) else ids.setdefault((row, at), at)
        ids.setdefault(row, at)
        line["trajectory"] = {**line["trajectory"], "id": f"t{name}", "metadata": {}}
        lines.append(json.dumps(line))
    return {"results.jsonl": "\n".join(lines)}


def of_inspect(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    files: Files = {}
    copied = by_file(copies)
    for at, ((side, model), mine) in enumerate(by_file(rows).items()):
        log = inspect_log([], {"skill": side == WITH}, results={})
        epochs: Counter[str] = Counter()
        samples: dict[Told, Any] = {}
        for row in mine:
            epochs[row.eval] += 1
            sample = {"id": row.eval, "epoch": epochs[row.eval], "input": f"Do {row.eval}"}
            score = {"graded": {"value": "C" if row.passed else "I"}}
            ended = {"scores": score} if row.passed is not None else {"error": {"message": "no"}}
            samples.setdefault(row, {**sample, **ended})
            log["samples"].append({**sample, **ended})
        log["samples"] += [samples[row] for row in copied.get((side, model), [])]
        log["eval"] |= {"model": f"router/{model}", "eval_id": f"e{at}", "task_id": f"t{at}"}
        files[f"logs/{at}.json"] = log
    return files


def of_waza(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    files: Files = {}
    for kind, told in (("new", rows), ("again", copies)):
        for at, ((side, model), mine) in enumerate(by_file(told).items()):
            suite = waza_suite(model, eval_id=f"{kind} {side} {model}", configuration=side)
            suite["summary"], suite["tasks"] = {}, []
            for name in dict.fromkeys(row.eval for row in mine):
                runs = []
                for row in (row for row in mine if row.eval == name):
                    run = waza_suite(model, float(bool(row.passed)))["tasks"][0]["runs"][0]
                    run["validations"].pop("short")
                    run |= {"run_number": len(runs) + 1, "final_output": str(row.passed)}
                    run |= {"status": "error", "error_msg": "no"} if row.passed is None else {}
                    runs.append(run)
                cached = {"cached": True} if kind == "again" else {}
                suite["tasks"].append({"test_id": name, "runs": runs, **cached})
            files[f"{kind}/{at}.json"] = suite
    return files


def rows_of_promptfoo(rows: Sequence[Told], copies: Sequence[Told]) -> list[Any]:
    found = []
    for at, told in enumerate([*rows, *copies]):
        cached = at >= len(rows)
        checks = () if told.passed is None else (told.passed,)
        row = promptfoo_row(int(told.side == WITH), at, *checks, vars={"q": told.eval})
        row["provider"] = {"id": f"openrouter:{told.model}"}
        row["response"] = {"output": f"{told}", "cached": cached}
        if told.passed is None:
            row |= {"failureReason": 2, "error": "no"}
        found.append(row)
    return found


def of_promptfoo(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    return {"output.json": {"evalId": "e", "results": {"results": rows_of_promptfoo(rows, copies)}}}


def of_promptfoo_lines(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    return {"output.jsonl": "\n".join(map(json.dumps, rows_of_promptfoo(rows, copies)))}


def of_deepeval(rows: Sequence[Told], _: Sequence[Told]) -> Files:
    files = {}
    for at, ((side, model), mine) in enumerate(by_file(rows).items()):
        run = deepeval_run([(row.eval, [row.passed]) for row in mine])
        run["hyperparameters"] = {"model": model, "skill": side == WITH}
        files[f"{at}/.latest_test_run.json"] = run
    return files


def of_nvidia(rows: Sequence[Told], _: Sequence[Told]) -> Files:
    files = {}
    for at, row in enumerate(rows):
        arm = "with-skill" if row.side == WITH else "without-skill"
        trial_ = f"{row.eval}_attempt{at:03}__x"
        about = {"trial_id": trial_, "model": row.model}
        raw = nvidia_reward(row.eval, float(row.passed or 0), **about)
        if row.passed is None:
            raw |= {"evaluation_status": "error", "evaluation_errors": ["no answer"]}
        files[f"evals/results/r/codex/{arm}/trials/{trial_}/reward.json"] = raw
    return files


BUILDERS: dict[str, Build] = {
    "plugin-eval": of_plugin,
    "harbor": of_harbor,
    "vally": of_vally,
    "inspect": of_inspect,
    "waza": of_waza,
    "promptfoo": of_promptfoo,
    "promptfoo lines": of_promptfoo_lines,
    "deepeval": of_deepeval,
    "nvidia": of_nvidia,
}
WITHOUT_COPIES = ("plugin-eval", "deepeval", "nvidia")
"""What these write of a run names nothing by which a copy could be known."""
UNGRADED = {"deepeval": "ungraded", "nvidia": "executed"}
"""What a run is where these name no error of its own, but one of the judge's."""


def named_copies(ws: Any) -> int:
    """How many results the problems say that they were left out as copies."""
    messages = ws.problems.filter(code="copy")["message"]
    found = (re.match(r"(\d+) of its \d+ results repeat others", text) for text in messages)
    return sum(int(match[1]) if match else 1 for match in found)


TOLD = st.builds(
    Told,
    st.sampled_from(["alpha", "beta case"]),
    st.sampled_from([WITH, WITHOUT]),
    st.sampled_from(MODELS),
    st.sampled_from([True, True, False, None]),
)


@pytest.mark.parametrize("tool", BUILDERS)
@given(data=st.data())
@settings(max_examples=15)
def test_rows_in_are_runs_and_what_is_named(tool: str, data: st.DataObject) -> None:
    """Each run once, of its eval, side and model, with its end; each copy named, none a run."""
    rows = data.draw(st.lists(TOLD, min_size=1, max_size=9))
    first = {row: None for row in rows if row.passed is not None}
    copies = list(first)[: data.draw(st.integers(0, 3))] if tool not in WITHOUT_COPIES else []
    if tool == "waza":  # a task is taken from a cache with all its runs
        cells = {row[:3] for row in copies}
        copies = [row for row in rows if row[:3] in cells]
    with tempfile.TemporaryDirectory() as folder:
        ws = sen.load(lay(Path(folder) / "ws", BUILDERS[tool](rows, copies)))
        assert ws.runs.height + named_copies(ws) == len(rows) + len(copies)
        ends: dict[Any, Any] = {True: ("graded", 1.0), False: ("graded", 0.0)}
        ends[None] = UNGRADED.get(tool, "errored"), None
        names = ("eval_name", "configuration", "executor_model", "status", "pass_rate")
        seen = Counter((name.split("/")[-1], *row) for name, *row in ws.runs.select(names).rows())
        assert seen == Counter((*row[:3], *ends[row.passed]) for row in rows)


@pytest.mark.parametrize("tool", BUILDERS)
def test_two_models_of_opposite_effect(tmp_path: Path, tool: str) -> None:
    """They are two, three repeats are runs of one eval, and no figure is of both."""
    rows = [
        Told(name, side, model, (side == WITH) is (model == MODELS[0]))
        for name in ("alpha", "beta")
        for side in (WITH, WITHOUT)
        for model in MODELS
        for _ in range(3)
    ]
    deltas = sen.stats.deltas(sen.load(lay(tmp_path, BUILDERS[tool](rows, []))))
    found = deltas.filter(metric="pass_rate").select("executor_model", "estimate", "n_evals")
    assert sorted(found.rows()) == [(MODELS[1], -1.0, 2), (MODELS[0], 1.0, 2)]


# ── one rule each ────────────────────────────────────────────────────────────────────────────

Runs = list[tuple[str, str, str | None, str, float | None]]


def foo(*rows: Any, **fields: Any) -> Files:
    return {"results": {"results": list(rows)}, **fields}


def ask(side: str, passed: bool, number: int = 0, **fields: Any) -> Any:
    return promptfoo_row(int(side == WITH), number, passed, **fields)


def plain(passed: bool, **fields: Any) -> Any:
    """A result whose prompt says nothing of a side."""
    label = {"prompt": {"raw": "x", "label": "{{q}}"}}
    return promptfoo_row(0, 0, passed) | label | fields


def model(id_: str, label: str = "") -> Any:
    return ask(WITH, True, vars={"q": "a"}, provider={"id": id_, "label": label})


def judged(reason: str, type_: str = "llm-rubric", **fields: Any) -> Any:
    """A result of two checks, of which the second failed for this reason."""
    row = promptfoo_row(1, 0, True, False, vars={"q": "a"}, **fields)
    row["gradingResult"]["componentResults"][1] |= {
        "reason": reason,
        "assertion": {"type": type_, "value": "polite"},
    }
    return row


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


def with_error(raw: Any, at: int, scored: int | None = None) -> Any:
    raw["samples"][at]["error"] = {"message": "TimeoutError: 600 s"}
    raw["results"]["scores"][0]["scored_samples"] = scored
    return raw


def changed(raw: Any, at: int, **fields: Any) -> Any:
    raw["samples"][at] |= fields
    return raw


def agentv(status: str, verdict: str = "fail", **fields: Any) -> Any:
    about = {"execution_status": status, "verdict": verdict, "duration_ms": 1500}
    return {**about, "target": "pi-local", "error": None, **fields}


def lines(*rows: Any) -> str:
    return "\n".join(map(json.dumps, rows))


def vally(name: str, passed: int, **fields: Any) -> Any:
    return vally_trial(
        "skilled", passed, **{"stimulus": name, "trajectory": {"id": name}, **fields}
    )


FREE, EIGHT = "meta/llama:free", "llama3:8b"
CASES: dict[str, tuple[Files, Runs, set[str]]] = {
    "two files, another order, one with a part, without descriptions": (
        {
            "with_skill.json": foo(
                *(plain(True, testIdx=at, vars={"q": q}) for at, q in enumerate("abc"))
            ),
            "without_skill.json": foo(
                *(plain(False, testIdx=at, vars={"q": q}) for at, q in enumerate("cb"))
            ),
        },
        [
            *((q, WITH, "claude-sonnet-5", "graded", 1.0) for q in "abc"),
            *((q, WITHOUT, "claude-sonnet-5", "graded", 0.0) for q in "bc"),
        ],
        {"missing-side"},
    ),
    "what is given to a side is no part of the eval": (
        {
            "output.json": foo(
                ask(WITH, True, vars={"q": "a", "skill_text": "how to"}),
                ask(WITHOUT, False, vars={"q": "a", "skill_text": ""}),
            )
        },
        [
            ("a", WITH, "claude-sonnet-5", "graded", 1.0),
            ("a", WITHOUT, "claude-sonnet-5", "graded", 0.0),
        ],
        set(),
    ),
    "cases that differ in the skill alone are two": (
        {
            "output.json": foo(
                ask(WITH, True, vars={"q": "a", "skill": "pdf"}),
                ask(WITH, False, vars={"q": "a", "skill": "csv"}),
                ask(WITHOUT, False, vars={"q": "a", "skill": "pdf"}),
            )
        },
        [
            ("a, csv", WITH, "claude-sonnet-5", "graded", 0.0),
            ("a, pdf", WITH, "claude-sonnet-5", "graded", 1.0),
            ("a, pdf", WITHOUT, "claude-sonnet-5", "graded", 0.0),
        ],
        {"missing-side"},
    ),
    "one description, two cases": (
        {
            "output.json": foo(
                *(ask(WITH, q == "a", testCase={"description": "d"}, vars={"q": q}) for q in "ab")
            )
        },
        [
            ("d (a)", WITH, "claude-sonnet-5", "graded", 1.0),
            ("d (b)", WITH, "claude-sonnet-5", "graded", 0.0),
        ],
        set(),
    ),
    "cases that differ in what is asserted alone are two": (
        {
            "output.json": foo(
                *(
                    ask(WITH, ok, vars={"q": "a"}, testCase={"assert": [{"type": kind}]})
                    for kind, ok in (("icontains", True), ("regex", False))
                )
            )
        },
        [
            ('a, [{"type": "icontains"}]', WITH, "claude-sonnet-5", "graded", 1.0),
            ('a, [{"type": "regex"}]', WITH, "claude-sonnet-5", "graded", 0.0),
        ],
        set(),
    ),
    "a case that one of two files calls by a name": (
        {
            "with_skill.json": foo(plain(True, vars={"q": "a"}, testCase={"description": "d"})),
            "without_skill.json": foo(plain(False, vars={"q": "a"})),
        },
        [
            ("d", WITH, "claude-sonnet-5", "graded", 1.0),
            ("d", WITHOUT, "claude-sonnet-5", "graded", 0.0),
        ],
        set(),
    ),
    "two versions of the skill are two sides, two settings of a model as well": (
        {
            "output.json": foo(
                *(
                    plain(True, promptIdx=at, vars={"q": "a"}, prompt={"label": label})
                    for at, label in enumerate(("with skill v1", "with skill v2", "x", "x"))
                )
            )
        },
        [
            ("a", side, "claude-sonnet-5", "graded", 1.0)
            for side in ("with skill v1", "with skill v2", "x prompt 3", "x prompt 4")
        ],
        set(),
    ),
    "a side that the script says": (
        {
            "output.json": foo(
                *(
                    plain(side == WITH, vars={"q": "a"}, provider={"id": f"file://{side}.py"})
                    for side in (WITH, WITHOUT)
                )
            )
        },
        [("a", WITH, None, "graded", 1.0), ("a", WITHOUT, None, "graded", 0.0)],
        set(),
    ),
    "a side that only a variable says": (
        {
            "output.json": foo(
                *(plain(on, vars={"q": "a", "use_skill": on}) for on in (True, False))
            )
        },
        [
            ("a", WITH, "claude-sonnet-5", "graded", 1.0),
            ("a", WITHOUT, "claude-sonnet-5", "graded", 0.0),
        ],
        set(),
    ),
    "a model is its whole name, or its label": (
        {
            "output.json": foo(
                *(model(f"openrouter:{FREE}"), model("openrouter:google/gemma:free")),
                *(model(f"ollama:chat:{EIGHT}"), model("bedrock:amazon.nova-v1:0")),
                *(model("file://agent.py", "mine"), model("openai:chat:gpt", "gpt (with skill)")),
                *(model("azure:chat:o9"), model("openai:responses:o9")),
            )
        },
        [
            ("a", WITH, name, "graded", 1.0)
            for name in (
                *("amazon.nova-v1:0", "azure:chat:o9", "google/gemma:free", "gpt", EIGHT, FREE),
                *("mine", "openai:responses:o9"),
            )
        ],
        set(),
    ),
    "an answer from a cache counts where it is the only one": (
        {"output.json": foo(*(ask(WITH, True, vars={"q": "a"}, response={"cached": True}),) * 3)},
        [("a", WITH, "claude-sonnet-5", "graded", 1.0)],
        {"copy", "cached"},
    ),
    "a judge that could not be read gives no verdict": (
        {
            "output.json": foo(
                judged("Could not extract JSON from llm-rubric response"),
                judged("API error: 429 Too Many Requests"),
                judged("the tone is rude"),
                judged("Expected output to be valid JSON: parse error", "is-json"),
            )
        },
        [("a", WITH, "claude-sonnet-5", "graded", rate) for rate in (0.5, 0.5, 1.0, 1.0)],
        {"judge-unread"},
    ),
    "lines, of which a field is odd": (
        {"o.jsonl": lines(*(ask(WITH, True, vars={"q": "a"}, latencyMs=x) for x in (1, "soon")))},
        [("a", WITH, "claude-sonnet-5", "graded", 1.0)] * 2,
        {"wrong-type"},
    ),
    "what evaluate returns": (
        {"results.json": {"version": 3, "results": [ask(WITH, True, vars={"q": "a"})]}},
        [("a", WITH, "claude-sonnet-5", "graded", 1.0)],
        set(),
    ),
    "vally: a resumed file, one trajectory a run, a failed attempt made again": (
        {
            "results.jsonl": lines(
                vally("a", 2, model="m"),
                vally("b", 0, model="m", status="timeout", trajectory={}, gradeResult=None),
                vally("a", 2, model="m"),
                vally("b", 1, model="m"),
                vally("c", 1, model="m", gradeResult=None),
            )
        },
        [
            ("a", "skilled", "m", "graded", 1.0),
            ("b", "skilled", "m", "graded", 0.5),
            ("c", "skilled", "m", "ungraded", None),
        ],
        {"copy", "ungraded-run"},
    ),
    "vally: one trajectory's name with two models, and a failure of its own": (
        {
            "results.jsonl": lines(
                vally("a", 0, model="m", status="error", trajectory={}, gradeResult=None),
                *(vally("a", 2, model=name) for name in "mn"),
            )
        },
        [
            ("a", "skilled", "m", "errored", None),
            *(("a", "skilled", name, "graded", 1.0) for name in "mn"),
        ],
        {"errored-run"},
    ),
    "vally: one name in the evals of two skills": (
        {
            "results.jsonl": lines(
                *(
                    vally("a", n, model="m", experiment={"evalFile": f"skills/{of}/eval.yaml"})
                    for n, of in enumerate(("pdf", "csv"), 1)
                )
            )
        },
        [
            ("csv/a", "skilled", "m", "graded", 1.0),
            ("pdf/a", "skilled", "m", "graded", 0.5),
        ],
        set(),
    ),
    "inspect: the rate is the first scorer with metrics that gives figures": (
        {
            "a.json": log(
                [{"diff": "C", "kind": "x", "tests": 0.25}, {"diff": "C", "kind": "y"}],
                {"diff": None, "kind": 0.5, "tests": 0.25},
            )
        },
        [("s0", WITH, "m", "graded", 0.25), ("s1", WITH, "m", "executed", None)],
        {"scorers", "not-used", "executed-run"},
    ),
    "inspect: what was invalidated enters no rate": (
        {
            "a.json": changed(
                log([{"t": 1.0}, {"t": 0.0}], {"t": 0.5}), 0, invalidation={"by": "me"}
            )
        },
        [("s0", WITH, "m", "executed", None), ("s1", WITH, "m", "graded", 0.0)],
        {"executed-run", "disagree"},
    ),
    "inspect: a score beside an error, which the log counts": (
        {"a.json": with_error(log([{"t": 1.0}, {"t": 0.0}], {"t": 0.5}), 0, 2)},
        [("s0", WITH, "m", "graded", 1.0), ("s1", WITH, "m", "graded", 0.0)],
        {"error-beside-score"},
    ),
    "inspect: a score beside an error, which the log leaves out": (
        {"a.json": with_error(log([{"t": 1.0}, {"t": 0.5}], {"t": 0.5}), 0, 1)},
        [("s0", WITH, "m", "errored", None), ("s1", WITH, "m", "graded", 0.5)],
        {"errored-run"},
    ),
    "inspect: a score beside an error, which the log's mean leaves out": (
        {"a.json": with_error(log([{"t": 1.0}, {"t": 0.5}], {"t": 0.5}), 0)},
        [("s0", WITH, "m", "errored", None), ("s1", WITH, "m", "graded", 0.5)],
        {"errored-run"},
    ),
    "inspect: variants of any name": (
        {
            f"{name}.json": log([{"t": 1.0}], {"t": 1.0})
            | {"eval": inspect_log([], {"variant": name})["eval"] | {"eval_id": name}}
            for name in ("with_skill_v1", "with_skill_v2", "with-skill")
        },
        [("s0", name, "m", "graded", 1.0) for name in ("with_skill_v1", "with_skill_v2", WITH)],
        set(),
    ),
    "harbor: an exception, and a reward that is none": (
        {
            "j/a/trial-result.json": trial("a", None, [], exception_info={"exception_type": "X"})
            | {"verifier_result": {"rewards": {"reward": None}}}
        },
        [("bench/a", WITHOUT, "gpt-5.5", "errored", None)],
        {"errored-run"},
    ),
    "inspect: a grade that was not found": (
        {
            "a.json": changed(
                log([{"t": "I"}, {"t": "C"}], {"t": 0.5}),
                *(0,),
                scores={"t": {"value": "I", "explanation": "Grade not found in model output: ?"}},
            )
        },
        [("s0", WITH, "m", "executed", None), ("s1", WITH, "m", "graded", 1.0)],
        {"executed-run", "disagree"},
    ),
    "inspect: a log that was tried again": (
        {
            f"{at}.json": raw | {"eval": raw["eval"] | {"eval_id": f"e{at}", "task_id": "t"}}
            for at, raw in enumerate(
                (
                    changed(log([{"t": 1.0}, {}], {"t": 0.5}, total_time=1), 1, error={}),
                    log([{"t": 1.0}, {"t": 0.5}], {"t": 0.75}, total_time=1),
                )
            )
        },
        [("s0", WITH, "m", "graded", 1.0), ("s1", WITH, "m", "graded", 0.5)],
        {"copy", "disagree"},
    ),
    "inspect: running numbers are no evals": (
        {
            "a.json": numbered(WITH, n1="where", n2="when"),
            "b.json": numbered(WITHOUT, n1="when"),
        },
        [
            ("when", WITH, "m", "graded", 1.0),
            ("when", WITHOUT, "m", "graded", 1.0),
            ("where", WITH, "m", "graded", 1.0),
        ],
        {"missing-side"},
    ),
    "inspect: ids that are numbers stay where each is one question": (
        {"a.json": numbered(WITH, n7="use it: a"), "b.json": numbered(WITHOUT, n7="a")},
        [("7", WITH, "m", "graded", 1.0), ("7", WITHOUT, "m", "graded", 1.0)],
        set(),
    ),
    "plugin eval: an arm of any name": (
        {
            "aggregate-result.json": plugin_suite([], [])
            | {
                "cases": [
                    {"name": "a", "arms": {"with": [plugin_run(True)], "mcp": [plugin_run(False)]}}
                ]
            }
        },
        [("a", "mcp", None, "graded", 0.5), ("a", WITH, None, "graded", 1.0)],
        set(),
    ),
    "agentv: what did not run to its end": (
        {
            f"t/{name}/sample-1/{file}": content
            for name, end in (("a", agentv("quality_failure")), ("b", agentv("execution_error")))
            for file, content in (("result.json", end), ("grading.json", graded("pf")))
        },
        [
            ("a", "unstated", "pi-local", "graded", 0.5),
            ("b", "unstated", "pi-local", "errored", None),
        ],
        {"errored-run"},
    ),
    "a grading that could not be read": (
        {
            f"iteration-1/eval-{at}/with_skill/grading.json": {
                "expectations": [{"text": "x", "passed": False, "evidence": why}]
            }
            for at, why in enumerate(
                (
                    *("grading parse error", "the output is not JSON: parse error"),
                    *("Grade: B not found", "LLM judge timed out", "the judge failed to bow"),
                )
            )
        },
        [
            *((at, WITH, None, "ungraded", None) for at in "03"),
            *((at, WITH, None, "graded", 0.0) for at in "124"),
        ],
        {"judge-unread", "ungraded-run"},
    ),
}
QUIET = {"converted", "other-name", "votes"}


@pytest.mark.parametrize("case", CASES)
def test_case(tmp_path: Path, case: str) -> None:
    files, runs, codes = CASES[case]
    ws = sen.load(lay(tmp_path, files))
    names = ("eval_id", "configuration", "executor_model", "status", "pass_rate")
    assert sorted(map(str, ws.runs.select(names).rows())) == sorted(map(str, runs))
    assert set(ws.problems["code"]) - QUIET == codes


def test_what_is_said(tmp_path: Path) -> None:
    """Reasons in the file's own words, counts, and scores of which all are used or none."""
    none = {"llm-rubric": 0.4}
    timeout = {"status": "timeout", "gradeResult": None, "durationMs": 180_000}
    files = {
        "v/results.jsonl": lines(
            vally("a", 1, **timeout), vally("b", 1, **timeout, error={"message": "no answer"})
        ),
        "f/output.json": foo(
            *(
                ask(
                    WITH, True, namedScores={"quality": value, "tone": value / 9}, vars={"q": value}
                )
                for value in (9, 0.6, 7)
            ),
            *(judged("Could not extract JSON from llm-rubric response", namedScores=none),) * 2,
        ),
        "i/a.json": log([{"kind": "bill", "t": 1.0}], {"kind": None, "t": 1.0}),
    }
    ws = sen.load(lay(tmp_path, files))
    said = "\n".join(ws.problems["message"])
    for words in (
        "(timeout after 180 s)",
        "(timeout: no answer)",
        "quality is 0.6 to 9 in 3 runs",
        "kind is texts such as 'bill' in 1 run",
        "2 checks not scored, as the judge's answer could not be read",
    ):
        assert words in said
    assert set(ws.rubric_scores["dimension"]) == {"tone"}
    assert ws.runs.filter(eval_id="a", workspace="f")["score"].to_list() == [None, None]


def test_a_reward_beside_a_timeout_counts(tmp_path: Path) -> None:
    """Only what has no reward is errored, and is a failure in no other figure."""
    late, lost = {"exception_info": {"exception_type": "AgentTimeoutError"}}, []
    rows = [("a", 1.0, late), ("b", None, late), ("a", 0.0, late), ("b", 0.0, {})]
    for at, (task, reward, ended) in enumerate(rows):
        lost.append(trial(task, reward, ["/s/x"] if at < 2 else [], **ended))
    ws = sen.load(lay(tmp_path, {f"j/{at}/trial-result.json": raw for at, raw in enumerate(lost)}))
    assert ws.runs["status"].to_list().count("errored") == 1
    delta = sen.stats.deltas(ws).filter(metric="pass_rate")
    assert delta.select("estimate", "estimate_with_errors").row(0) == (1.0, 0.5)
