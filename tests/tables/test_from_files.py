"""Layouts that somebody tells: rows in any files as runs, checks, dimensions and queries."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.cases import Case, case, cases
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.golden import lines_of

PAGE = (ROOT / "docs" / "pages" / "own_layout.md").read_text()


def rates(ws: sen.Workspace) -> dict[str, list[float | None]]:
    """Eval and side to the pass rates of its runs."""
    found: dict[str, list[float | None]] = {}
    for eval_, side, rate in ws.runs.select("eval_id", "configuration", "pass_rate").rows():
        found.setdefault(f"{eval_} {side}", []).append(rate)
    return found


def codes(ws: sen.Workspace) -> dict[str, str]:
    return dict(ws.problems.select("code", "message").rows())


GRADED = {"expectations": [{"text": "x", "passed": True}]}


def call_of(example: str) -> str:
    """The call that the page has for an example."""
    found = re.search(rf"### {re.escape(example)}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("case", cases("own_layout"))
def test_the_examples_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.chdir(lay(tmp_path / "ws", case.files))
    told: dict[str, Any] = {"sen": sen}
    exec(call_of(case.title), told)
    ws = told["ws"]
    runs = "eval_id configuration run_number pass_rate time_seconds tokens executor_model skill"
    queries = "description query should_trigger triggered runs"
    case.hold(
        [
            *lines_of(ws.runs.select(runs.split()).to_dict(as_series=False), "runs"),
            *lines_of(ws.triggers.select(queries.split()).to_dict(as_series=False), "triggers"),
            *ws.problems["code"],
        ]
    )


def checked(**results: str) -> dict[str, Any]:
    return {"checks": [{"name": name, "result": result} for name, result in results.items()]}


CASES: dict[str, Any] = {
    "on/a/run-1.json": checked(c1="met", c2="met"),
    "on/a/run-2.json": checked(c1="met") | {"tokens": 9},
    "off/a/run-1.json": checked(c1="met", c2="missing"),
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
    monkeypatch.chdir(
        lay(tmp_path, case("own_layout", example).files | {"notes.json": {"a": [{"b": 1}]}})
    )
    with pytest.raises(sen.NothingToLoad) as caught:
        sen.load(".")
    path, gives = PROPOSED[example]
    call = re.search(r"sen\.from_files\(.*?\)(?= gives)", str(caught.value))
    assert call
    assert path in call[0]
    assert f"gives {gives}" in str(caught.value)
    assert eval(call[0], {"sen": sen}).runs.height == int(gives.split()[-2])
