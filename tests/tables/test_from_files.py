"""Layouts that somebody tells: rows in any files as runs, checks, dimensions and queries."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.corpus import build

PAGE = (ROOT / "docs" / "pages" / "own_layout.md").read_text()


def lay(folder: Path, files: Mapping[str, Any]) -> Path:
    """Files of JSON; a list under a name that ends in `.jsonl` a line each."""
    lines = {
        name: "\n".join(map(json.dumps, rows))
        for name, rows in files.items()
        if name.endswith(".jsonl")
    }
    return build.lay(folder, {**files, **lines})


def rates(ws: sen.Workspace) -> dict[str, list[float | None]]:
    """Eval and side to the pass rates of its runs."""
    found: dict[str, list[float | None]] = {}
    for eval_, side, rate in ws.runs.select("eval_id", "configuration", "pass_rate").rows():
        found.setdefault(f"{eval_} {side}", []).append(rate)
    return found


def codes(ws: sen.Workspace) -> dict[str, str]:
    return dict(ws.problems.select("code", "message").rows())


GRADED = {"expectations": [{"text": "x", "passed": True}]}
SIDES = (("new", True), ("old", False))


def both(name: str, made: Callable[[bool], Any]) -> dict[str, Any]:
    """A file a side, by whether the side is the better one."""
    return {name.format(side): made(ok) for side, ok in SIDES}


def each(made: Callable[[str, bool], Any]) -> list[Any]:
    """A row a side."""
    return [made(side, ok) for side, ok in SIDES]


def checks(name: str, verdict: str, ok: bool) -> list[dict[str, Any]]:
    """Two checks, of which the better side alone passes the second."""
    return [{name: "a", verdict: True}, {name: "b", verdict: ok}]


def line(target: str, at: str, *ok: bool) -> dict[str, Any]:
    found = [{"text": f"check {n}", "passed": passed} for n, passed in enumerate(ok)]
    graders = [{"name": "rubric", "score": 1, "target": "judge", "assertions": found}]
    about = {"timestamp": at, "test_id": "t", "target": target, "duration_ms": 7000}
    return about | {"scores": graders}


EXAMPLES: dict[str, dict[str, Any]] = {
    "One file per case, with its own scores": both(
        "results/{}/e/results.json", lambda ok: {"results": checks("name", "passed", ok)}
    ),
    "Counts by concern": {
        "rows.json": {
            "rows": each(
                lambda arm, ok: (
                    {"eval_id": "e", "arm": arm}
                    | {"concerns": {"find": [1 + 2 * ok, 4], "fix": [int(ok), 1]}}
                )
            )
        }
    },
    "A list of criteria": both(
        "{}/grading.json", lambda ok: [{"id": "e", "acceptance": checks("criterion", "met", ok)}]
    ),
    "Eval and side in one name": {
        "grading.json": each(
            lambda side, ok: {"run": f"e/{side}", "coverage": 0.5 + ok / 2, "sec": 3}
        )
    },
    "Time and tokens next to the verdicts": both(
        "{}.json",
        lambda ok: {
            "results": [{"eval": "a", "passed": True}, {"eval": "b.1", "passed": ok}],
            "per_eval": {"a": {"seconds": 3, "tokens": 40}, "b.1": {"seconds": 5}},
        },
    ),
    "Figures by eval": {
        "summary.json": both("{}", lambda ok: {"per_eval": {"e": {"passed": 1 + ok, "total": 2}}})
    },
    "lm-evaluation-harness": both(
        "{}/org__m/samples_gsm8k_2026-01-02T03-04-05.jsonl",
        lambda ok: [
            {"doc_id": n, "target": str(n), "exact_match": float(ok or not n)} for n in (0, 1)
        ],
    ),
    "agentv": {
        "results/2026-07-05/index.jsonl": [
            line("pi", "10:00", True, True),
            line("pi", "10:01", True, False),
            line("bare", "10:02", False, False),
        ]
    },
}
RIGHT: dict[str, dict[str, list[float]]] = {
    "Counts by concern": {"e new": [0.8], "e old": [0.2]},
    "Time and tokens next to the verdicts": {
        "a new": [1.0],
        "b.1 new": [1.0],
        "a old": [1.0],
        "b.1 old": [0.0],
    },
    "lm-evaluation-harness": {"0 new": [1.0], "1 new": [1.0], "0 old": [1.0], "1 old": [0.0]},
    "agentv": {"t pi": [1.0, 0.5], "t bare": [0.0]},
}
"""The pass rates of each; of all others those of one eval, of which the old side passes half."""


def call_of(example: str) -> str:
    """The call that the page has for an example."""
    found = re.search(rf"### {re.escape(example)}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    monkeypatch.chdir(lay(tmp_path, EXAMPLES[example]))
    told: dict[str, Any] = {"sen": sen}
    exec(call_of(example), told)
    ws = told["ws"]
    assert rates(ws) == RIGHT.get(example, {"e new": [1.0], "e old": [0.5]})
    assert set(codes(ws)) <= {"columns", "varies", "counted"}
    if example.startswith("Time"):
        assert ws.runs["time_seconds"].to_list() == [3.0, 5.0, 3.0, 5.0]
        assert ws.runs["tokens"].drop_nulls().to_list() == [40, 40]
    if example == "agentv":
        assert ws.runs["time_seconds"].to_list() == [7.0, 7.0, 7.0]
    if example.startswith("lm"):
        assert set(ws.runs.select("executor_model", "skill").rows()) == {("org__m", "gsm8k")}


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


def case(**results: str) -> dict[str, Any]:
    return {"checks": [{"name": name, "result": result} for name, result in results.items()]}


CASES: dict[str, Any] = {
    "on/a/run-1.json": case(c1="met", c2="met"),
    "on/a/run-2.json": case(c1="met") | {"tokens": 9},
    "off/a/run-1.json": case(c1="met", c2="missing"),
}
TOML = """files = "{configuration}/{eval}/run-{run}.json"
rows = "checks[*]"
check = "name"
verdict = "result"
words = {missing = false}
"""


def test_a_layout_told_in_a_file_beside_the_results(tmp_path: Path) -> None:
    """`load` reads what the file tells in place of the files that it is about; the rest as ever."""
    own = {"skill-eval-nb.toml": TOML, **CASES}
    files = {f"own/{name}": content for name, content in own.items()}
    ws = lay(tmp_path / "ws", files | {"iteration-1/eval-1-b/with_skill/grading.json": GRADED})
    here = {"a on": [1.0, 1.0], "a off": [0.5]}
    loaded = sen.load(ws)
    assert rates(loaded) == here | {"1 with_skill": [1.0]}
    told = tomllib.loads(TOML)
    called = sen.from_files(f"{ws}/own/{told.pop('files')}", **told)
    for one in (called, sen.load(ws / "own"), sen.load(ws / "own/skill-eval-nb.toml")):
        assert rates(one) == here
    assert called.runs["tokens"].to_list() == [None, None, 9]  # a key of the object above
    assert called.again().runs.equals(called.runs)
    assert not loaded.problems.filter(pl.col("severity") != "info").height


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (TOML.replace("verdict", "verdct"), "Did you mean `verdict`"),
        (TOML.replace('"result"', '"reslt"'), "Did you mean `result`"),
        (TOML.replace("checks[*]", "chekcs[*]"), "Did you mean `checks`"),
        (TOML.replace("{configuration}/", "../{configuration}/"), "leads out"),
        (TOML.replace("run-", "turn-"), "no file below"),
        (TOML.replace("run-{run}", "{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}x"), "more than three names"),
        (TOML.replace('"checks[*]"', "3"), "Expected `str | null`, got `int` - at `$.rows`"),
        ("rows = [", "cannot be read"),
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
    assert rates(ws) == {"a unstated": [0.0]}
    assert "leads out" in codes(ws)["unreadable"]
    with pytest.raises(ValueError, match="leads out"):
        sen.from_files(f"{tmp_path}/{{eval}}/../../x.json")


VALUES = st.sampled_from([None, True, False, 0, 3, "pass", "", [1]])
SHAPES = st.dictionaries(st.sampled_from(["ok", "eval", "tokens", "side"]), VALUES)


@given(st.lists(SHAPES | st.integers() | st.none() | st.text(max_size=3), max_size=6))
def test_every_row_is_a_run_or_named(rows: list[Any]) -> None:
    """Rows in are runs and what is left out by name; no row makes an exception of its own."""
    value = {"rows": [*rows, {"ok": True, "eval": "a", "side": "x", "tokens": 1}]}
    ws = sen.from_table(value, rows="rows[*]", eval="eval", passed="ok", configuration="side")
    objects = [row for row in rows if isinstance(row, dict)]
    empty = sum(set(map(str, row.values())) <= {"", "None"} for row in objects)
    assert ws.runs.height == len(objects) - empty + 1
    told = " ".join(ws.problems.filter(code="no-rows")["message"])
    others = len(rows) - len(objects)
    assert (f"{others} rows" in told) == bool(others)
    assert bool(re.search(rf"\b{empty} objects? without", told)) == bool(empty)


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
    monkeypatch.chdir(lay(tmp_path, EXAMPLES[example] | {"notes.json": {"a": [{"b": 1}]}}))
    with pytest.raises(sen.NothingToLoad) as caught:
        sen.load(".")
    path, gives = PROPOSED[example]
    call = re.search(r"sen\.from_files\(.*?\)(?= gives)", str(caught.value))
    assert call
    assert path in call[0]
    assert f"gives {gives}" in str(caught.value)
    assert eval(call[0], {"sen": sen}).runs.height == int(gives.split()[-2])
