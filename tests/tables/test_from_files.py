"""Layouts that somebody tells: rows in any files as runs, checks, dimensions and queries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.checkout import ROOT

PAGE = (ROOT / "docs" / "pages" / "own_layout.md").read_text()


def lay(folder: Path, files: Mapping[str, Any]) -> Path:
    """Files of JSON; a list under a name that ends in `.jsonl` a line each, a text as it is."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        if name.endswith(".jsonl"):
            text = "\n".join(map(json.dumps, content))
        path.write_text(text)
    return folder


def rates(ws: sen.Workspace) -> dict[tuple[str, str], list[float | None]]:
    """Eval and side to the pass rates of its runs."""
    found: dict[tuple[str, str], list[float | None]] = {}
    for eval_, side, rate in ws.runs.select("eval_id", "configuration", "pass_rate").rows():
        found.setdefault((eval_, side), []).append(rate)
    return found


def codes(ws: sen.Workspace) -> dict[str, str]:
    return dict(ws.problems.select("code", "message").rows())


def criteria(*met: bool) -> list[dict[str, Any]]:
    return [{"criterion": f"c{at}", "met": ok} for at, ok in enumerate(met)]


def sample(doc: int, right: float) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": "2 + 2?"},
        "target": str(doc),
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "exact_match": right,
    }


def line(test: str, target: str, at: str, *ok: bool) -> dict[str, Any]:
    checks = [{"text": f"check {n}", "passed": passed} for n, passed in enumerate(ok)]
    graders = [{"name": "rubric", "score": 1, "target": "judge", "assertions": checks}]
    return {"timestamp": at, "test_id": test, "target": target, "duration_ms": 7000,
            "scores": graders}  # fmt: skip


def metric(name: str, *, ok: bool) -> dict[str, Any]:
    return {"name": name, "score": 0.6, "threshold": 0.5, "success": ok, "reason": "so",
            "evaluationModel": "judge-1"}  # fmt: skip


EXAMPLES: dict[str, tuple[dict[str, Any], dict[tuple[str, str], list[float | None]]]] = {
    "One file per case, with its own scores": (
        {
            f"results/{side}/{case}/results.json": {
                "skill": "s",
                "results": [
                    {"name": "a", "weight": 2, "passed": True, "score": 2},
                    {"name": "b", "weight": 1, "passed": ok, "score": int(ok)},
                ],
                "total_passed": 1 + ok,
                "max_score": 3,
            }
            for side, ok in (("v1", False), ("v2", True))
            for case in ("refund", "size")
        },
        {(case, side): [rate] for side, rate in (("v1", 0.5), ("v2", 1.0))
         for case in ("refund", "size")},
    ),
    "Counts by concern": (
        {
            "rows.json": {
                "rows": [
                    {"eval_id": "e1", "arm": "on", "concerns": {"find": [3, 4], "fix": [1, 1]}},
                    {"eval_id": "e1", "arm": "off", "concerns": {"find": [1, 4], "fix": [0, 1]}},
                ]
            }
        },
        {("e1", "on"): [0.8], ("e1", "off"): [0.2]},
    ),
    "A list of criteria": (
        {
            "with_skill/grading.json": [{"id": "e1", "acceptance": criteria(True, True)}],
            "without_skill/grading.json": [{"id": "e1", "acceptance": criteria(True, False)}],
        },
        {("e1", "with_skill"): [1.0], ("e1", "without_skill"): [0.5]},
    ),
    "Eval and side in one name": (
        {
            "grading.json": [
                {"run": "a/with_skill", "coverage": 0.8, "tokens": 9, "sec": 3},
                {"run": "a/without_skill", "coverage": 0.4, "tokens": 8, "sec": 2},
            ]
        },
        {("a", "with_skill"): [0.8], ("a", "without_skill"): [0.4]},
    ),
    "Time and tokens next to the verdicts": (
        {
            f"{side}.json": {
                "results": [{"eval": "a", "passed": True}, {"eval": "b.1", "passed": ok}],
                "per_eval": {"a": {"seconds": 3, "tokens": 40}, "b.1": {"seconds": 5}},
            }
            for side, ok in (("new", True), ("old", False))
        },
        {("a", "new"): [1.0], ("b.1", "new"): [1.0], ("a", "old"): [1.0], ("b.1", "old"): [0.0]},
    ),
    "Figures by eval": (
        {
            "summary.json": {
                "with_skill": {"per_eval": {"a": {"passed": 3, "total": 4}}},
                "without_skill": {"per_eval": {"a": {"passed": 1, "total": 4}}},
            }
        },
        {("a", "with_skill"): [0.75], ("a", "without_skill"): [0.25]},
    ),
    "lm-evaluation-harness": (
        {
            f"{side}/org__m/samples_gsm8k_2026-01-02T03-04-05.jsonl": [
                sample(0, 1.0), sample(1, right)
            ]
            for side, right in (("with", 1.0), ("without", 0.0))
        },
        {("0", "with"): [1.0], ("1", "with"): [1.0], ("0", "without"): [1.0],
         ("1", "without"): [0.0]},
    ),
    "agentv": (
        {
            "results/2026-07-05/index.jsonl": [
                line("t", "pi", "10:00", True, True),
                line("t", "pi", "10:01", True, False),
                line("t", "bare", "10:02", False, False),
            ]
        },
        {("t", "pi"): [1.0, 0.5], ("t", "bare"): [0.0]},
    ),
    "DeepEval": (
        {
            f"{side}.json": {
                "testCases": [
                    {
                        "name": "case 1",
                        "success": ok,
                        "runDuration": 2.5,
                        "metricsData": [metric("Relevancy", ok=True), metric("Faith", ok=ok)],
                    }
                ]
            }
            for side, ok in (("new", True), ("old", False))
        },
        {("case 1", "new"): [1.0], ("case 1", "old"): [0.5]},
    ),
}  # fmt: skip


def call_of(example: str) -> str:
    """The call that the page has for an example."""
    found = re.search(rf"### {re.escape(example)}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    files, right = EXAMPLES[example]
    monkeypatch.chdir(lay(tmp_path, files))
    told: dict[str, Any] = {"sen": sen}
    exec(call_of(example), told)
    ws = told["ws"]
    assert rates(ws) == right
    assert set(codes(ws)) <= {"columns", "varies", "counted"}
    known = {path: ws.runs[path].drop_nulls().to_list() for path in ("time_seconds", "tokens")}
    if example.startswith("Time"):
        assert known == {"time_seconds": [3.0, 5.0, 3.0, 5.0], "tokens": [40, 40]}
    if example == "agentv":
        assert known["time_seconds"] == [7.0, 7.0, 7.0]
    if example.startswith("lm"):
        assert set(ws.runs["executor_model"]) == {"org__m"}
        assert set(ws.runs["skill"]) == {"gsm8k"}


def test_rows_that_are_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with what was expected and what happened; `none` is not triggered, rows are runs."""
    rows = [
        {"id": "fix my PDF", "should_trigger": True, "picked": "pdf"},
        {"id": "fix my PDF", "should_trigger": True, "picked": "none"},
        {"id": "a poem", "should_trigger": False, "picked": "none"},
    ]
    files = {"triggers.json": {"v1": {"rows": rows}, "v2": {"rows": rows[2:]}}}
    monkeypatch.chdir(lay(tmp_path, files))
    told: dict[str, Any] = {"sen": sen}
    exec(call_of("Trigger results"), told)
    columns = ("description", "query", "should_trigger", "triggered", "runs")
    assert told["ws"].triggers.select(columns).rows() == [
        ("v1", "fix my PDF", True, 1, 2),
        ("v1", "a poem", False, 0, 1),
        ("v2", "a poem", False, 0, 1),
    ]
    assert set(codes(told["ws"])) == {"columns"}


CASES = {
    "on/a/run-1.json": {"checks": [{"name": "c1", "result": "met"},
                                   {"name": "c2", "result": "met"}]},
    "on/a/run-2.json": {"checks": [{"name": "c1", "result": "met"}], "tokens": 9},
    "off/a/run-1.json": {"checks": [{"name": "c1", "result": "met"},
                                    {"name": "c2", "result": "missing"}]},
}  # fmt: skip
TOML = """files = "{configuration}/{eval}/run-{run}.json"
rows = "checks[*]"
check = "name"
verdict = "result"
words = {missing = false}
"""


def test_a_layout_told_in_a_file_beside_the_results(tmp_path: Path) -> None:
    """`load` reads what the file tells in place of the files that it is about; the rest as ever."""
    graded = {"expectations": [{"text": "x", "passed": True}]}
    ws = lay(tmp_path / "ws", {"own/skill-eval-nb.toml": TOML} | {
        f"own/{name}": content for name, content in CASES.items()
    } | {"iteration-1/eval-1-b/with_skill/grading.json": graded})  # fmt: skip
    loaded = sen.load(ws)
    assert rates(loaded) == {
        ("a", "on"): [1.0, 1.0],
        ("a", "off"): [0.5],
        ("1", "with_skill"): [1.0],
    }
    told = {key: TOML_AS_CALL[key] for key in TOML_AS_CALL}
    called = sen.from_files(f"{ws}/own/{told.pop('files')}", **told)
    assert (
        rates(called)
        == rates(sen.load(ws / "own"))
        == rates(sen.load(ws / "own/skill-eval-nb.toml"))
    )
    assert called.runs["tokens"].to_list() == [None, None, 9]  # a key of the object above
    assert called.again().runs.equals(called.runs)
    assert not loaded.problems.filter(pl.col("severity") != "info").height


TOML_AS_CALL: dict[str, Any] = {
    "files": "{configuration}/{eval}/run-{run}.json",
    "rows": "checks[*]",
    "check": "name",
    "verdict": "result",
    "words": {"missing": False},
}


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (TOML.replace("verdict", "verdct"), "Did you mean `verdict`"),
        (TOML.replace('"result"', '"reslt"'), "Did you mean `result`"),
        (TOML.replace("checks[*]", "chekcs[*]"), "Did you mean `checks`"),
        (TOML.replace("{configuration}/", "../{configuration}/"), "leads out"),
        (TOML.replace('"{configuration}/', '"/etc/{configuration}/'), "leads out"),
        (TOML.replace("run-", "turn-"), "no file below"),
        (TOML.replace("run-{run}", "{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}x"), "more than three names"),
        (
            TOML.replace('rows = "checks[*]"', "rows = 3"),
            "Expected `str | null`, got `int` - at `$.rows`",
        ),
        ("rows = [", "cannot be read"),
        ("rows = 'a'", "missing required field `files`"),
    ],
)
def test_a_wrong_layout_is_a_problem_that_names_what_is_right(
    tmp_path: Path, toml: str, said: str
) -> None:
    ws = sen.load(lay(tmp_path / "ws", {"skill-eval-nb.toml": toml, **CASES}))
    problems = ws.problems.filter(pl.col("path").str.ends_with("skill-eval-nb.toml"))
    assert problems["severity"].to_list()[:1] == ["error"]
    assert said in problems["message"][0]
    assert ws.runs.is_empty()


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    """Neither by a path nor by a link; where somebody names a folder it may lie anywhere."""
    lay(tmp_path, {"secret/x.json": {"ok": True}, "ws/a.json": {"ok": False}})
    (tmp_path / "ws" / "b.json").symlink_to(tmp_path / "secret" / "x.json")
    os.mkfifo(tmp_path / "ws" / "c.json")
    ws = sen.from_files(f"{tmp_path}/secret/../ws/{{eval}}.json", passed="ok")
    assert rates(ws) == {("a", "unstated"): [0.0]}
    assert "leads out" in codes(ws)["unreadable"]
    with pytest.raises(ValueError, match="leads out"):
        sen.from_files(f"{tmp_path}/{{eval}}/../../x.json")


SHAPES = st.dictionaries(
    st.sampled_from(["ok", "eval", "tokens", "side"]),
    st.none()
    | st.booleans()
    | st.integers(0, 3)
    | st.just("pass")
    | st.just("")
    | st.lists(st.just(1)),
)


@given(st.lists(SHAPES | st.integers() | st.none() | st.text(max_size=3), max_size=6))
def test_every_row_is_a_run_or_named(rows: list[Any]) -> None:
    """Rows in are runs and what is left out by name; no row makes an exception of its own."""
    value = {"rows": [*rows, {"ok": True, "eval": "a", "side": "x", "tokens": 1}]}
    ws = sen.from_table(value, rows="rows[*]", eval="eval", passed="ok", configuration="side")
    objects = sum(isinstance(row, dict) for row in rows) + 1
    assert ws.runs.height == objects
    others = len(rows) + 1 - objects
    assert (f"{others} rows" in codes(ws).get("no-rows", "")) == bool(others)


def test_objects_without_rows_are_runs_or_named() -> None:
    """A run without checks is a run; an eval without runs is none, and is said."""
    value = {"runs": [{"eval": "a", "checks": [{"name": "c", "ok": True}]},
                      {"eval": "b", "checks": [], "status": "timeout"}, {"eval": "c"}]}  # fmt: skip
    ws = sen.from_table(value, rows="runs[*].checks[*]", check="name", verdict="ok")
    assert ws.runs.select("eval_id", "status", "pass_rate").rows() == [
        ("a", "graded", 1.0),
        ("b", "errored", None),
        ("c", "ungraded", None),
    ]
    value = {"evals": [{"id": "a", "runs": [{"ok": True}]}, {"id": "b", "runs": []}]}
    ws = sen.from_table(value, rows="evals[*].runs[*]", eval="id", passed="ok")
    assert ws.runs["eval_id"].to_list() == ["a"]
    assert "1 object without rows" in codes(ws)["no-rows"]


PROPOSED = {
    "Counts by concern": ("concerns.{check}", "1 eval × 2 sides, 2 runs"),
    "lm-evaluation-harness": ("{configuration}/org__m/samples_gsm8k_", "2 evals × 2 sides, 4 runs"),
    "agentv": ("results/2026-07-05/index.jsonl", "1 eval × 1 side, 3 runs"),
}


@pytest.mark.parametrize("example", PROPOSED)
def test_where_nothing_can_be_loaded_a_call_is_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    """It names the files, can be run as it stands, and gives what it says."""
    monkeypatch.chdir(lay(tmp_path, EXAMPLES[example][0] | {"notes.json": {"a": [{"b": 1}]}}))
    with pytest.raises(sen.NothingToLoad) as caught:
        sen.load(".")
    path, gives = PROPOSED[example]
    call = re.search(r"sen\.from_files\(.*?\)(?= gives)", str(caught.value))
    assert call
    assert path in call[0]
    assert f"gives {gives}" in str(caught.value)
    assert eval(call[0], {"sen": sen}).runs.height == int(gives.split()[-2])


def test_the_problem_of_a_file_that_was_not_read_has_the_call(tmp_path: Path) -> None:
    graded = {"expectations": [{"text": "x", "passed": True}]}
    rows = [{"case": case, "arm": arm, "ok": True} for case in "ab" for arm in ("on", "off")]
    files = {"eval-1-b/with_skill/grading.json": graded, "more/results.json": {"trials": rows}}
    message = codes(sen.load(lay(tmp_path / "ws", files)))["not-a-document"]
    assert "rows='trials[*]'" in message
    assert "gives 2 evals × 2 sides, 4 runs" in message
