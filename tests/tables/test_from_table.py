"""Any table as a workspace: its shapes, its kinds, and what is said of each mistake."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.checkout import ROOT

ROWS = [
    {"task": task, "arm": arm, "trial": trial, "reward": reward, "model": "m", "wall_ms": 1500}
    for task, arm, rewards in (
        ("a", "skilled", (1.0, 0.5)),
        ("a", "none", (0.0, 0.5)),
        ("b", "skilled", (1.0, 1.0)),
        ("b", "none", (0.0, 0.0)),
    )
    for trial, reward in enumerate(rewards, 1)
]


def codes(ws: sen.Workspace) -> dict[str, str]:
    return dict(ws.problems.select("code", "message").rows())


FRAME = pl.DataFrame(ROWS)
FILES: dict[str, Any] = {
    "runs.csv": FRAME.write_csv,
    "runs.tsv": lambda path: FRAME.write_csv(path, separator="\t"),
    "runs.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, ROWS))),
    "runs.json": lambda path: path.write_text(json.dumps(ROWS)),
    "runs.parquet": FRAME.write_parquet,
}


@pytest.mark.parametrize(
    "made",
    [
        FRAME,
        FRAME.lazy(),
        pd.DataFrame(ROWS),
        pa.Table.from_pylist(ROWS),
        nw.from_native(FRAME),
        ROWS,
        *FILES,
    ],
)
def test_kinds_of_tables(tmp_path: Path, made: Any) -> None:
    """Every kind gives the same runs, and a workspace on which everything works."""
    if isinstance(made, str):
        FILES[made](tmp_path / made)
        made = tmp_path / made
    ws = sen.from_table(made)
    assert ws.runs.select("eval_id", "configuration", "run_number", "pass_rate").rows() == [
        (row["task"], row["arm"], row["trial"], row["reward"]) for row in ROWS
    ]
    assert set(ws.runs["time_seconds"]) == {1.5}
    told = codes(ws)["columns"]
    assert "eval is 'task' (by its name)" in told
    assert "configuration is 'arm' (by its name)" in told
    delta = sen.stats.deltas(ws, baseline="none").row(0, named=True)
    assert (delta["estimate"], delta["n_evals"]) == (0.75, 2)
    assert ws.again().runs.equals(ws.runs)
    assert set(codes(ws)) == {"columns"}


def test_rows_that_are_dimensions() -> None:
    """Long with judges, or a column each: the same scores; a judge more is a judging more."""
    long = [
        {"unit": unit, "side": "v1", "criterion": name, "judge": judge, "score": score, "why": "x"}
        for unit in ("u1", "u2")
        for name, scores in (("clear", (4, 5)), ("short", (2, 2)))
        for judge, score in zip(("j1", "j2"), scores, strict=True)
    ]
    ws = sen.from_table(long, eval="unit", evidence="why")
    assert ws.rubric_scores.height == 8
    assert ws.runs["rubric_weighted_mean"].to_list() == [3.25, 3.25]
    assert ws.rubric_scores["judge_model"].to_list()[:4] == ["j1", "j1", "j2", "j2"]
    shares = sen.stats.agreement(ws).filter(pl.col("dimension") == "clear")
    assert shares["exact"].drop_nulls().to_list() == [0.0]  # j1 and j2
    wide = [{"unit": "u1", "side": "v1", "rubric:clear": 9, "short": 4, "ok": True}]
    ws = sen.from_table(wide, eval="unit", dimensions=["rubric:clear", "short"], checks=["ok"])
    scores = dict(ws.rubric_scores.select("dimension", "score").rows())
    assert scores == {"clear": 4.5, "short": 4}  # 9 of 10, which is told
    assert "scores up to 10" in codes(ws)["converted"]
    assert ws.runs["pass_rate"].item() == 1.0


def test_wrong_calls() -> None:
    """A column or a role that there is not is an error of the call, which names the nearest."""
    for table, said, error, words in (
        (ROWS, {"eval": "tusk"}, KeyError, "Did you mean `task`"),
        (ROWS, {"configurations": "arm"}, KeyError, "Did you mean `configuration`"),
        (3, {}, TypeError, "is not a table"),
    ):
        with pytest.raises(error, match=words):
            sen.from_table(table, **said)
    assert sen.from_table(pl.DataFrame()).runs.is_empty()


GERMAN = "eval;side;run;pass_rate;tokens\nMüll;an;1;0,125;1.234\nMüll;aus;1;1.0;1.234,0\n"
ENGLISH = "eval,side,run,pass_rate,tokens\nMüll,an,1,0.125,1234\nMüll,aus,1,1.0,1234\n"
INDEXED = ENGLISH.replace("eval,", ",eval,").replace("Müll,", "0,Müll,")
WRITTEN = {
    "a semicolon and a decimal comma": ("a.csv", GERMAN.encode("utf-8-sig")),
    "a spreadsheet's own line": ("a.csv", b"sep=;\r\n" + GERMAN.encode()),
    "UTF-16 with tabs": ("a.tsv", ENGLISH.replace(",", "\t").encode("utf-16")),
    "UTF-16 without a mark": ("a.csv", ENGLISH.encode("utf-16-le")),
    "Windows-1252": ("a.csv", ENGLISH.encode("cp1252")),
    "a line too long": ("a.csv", ENGLISH.replace("aus,1,1.0,1234", "aus,1,1.0,1234,y,z").encode()),
    "an index without a name": ("a.csv", INDEXED.encode()),
    "a quote that stays open": ("a.csv", ENGLISH.encode() + b'"'),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_how_a_file_is_written(tmp_path: Path, written: str) -> None:
    name, data = WRITTEN[written]
    (tmp_path / name).write_bytes(data)
    ws = sen.from_table(tmp_path / name)
    rates = ws.runs.select("eval_id", "configuration", "pass_rate").rows()
    assert rates[:2] == [("Müll", "an", 0.125), ("Müll", "aus", 1.0)]
    assert set(ws.runs["tokens"][:2]) == {1234}
    assert ws.runs["executor_model"].null_count() == ws.runs.height
    odd = "UTF-16" in written or "Windows" in written
    assert (("encoding" in codes(ws)) or ("repaired-json" in codes(ws))) == odd


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.json", "a.jsonl", "a.tsv"])
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_a_broken_file_ends_in_a_reason(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with contextlib.suppress(ValueError, TypeError):
        assert sen.from_table(tmp_path / name).problems.height
    if name == "a.parquet":
        with pytest.raises(ValueError, match=r"a\.parquet"):
            sen.from_table(tmp_path / name)


def met(*words: Any, **more: Any) -> list[dict[str, Any]]:
    """Checks of one run, by what is said of each."""
    about = {"task": "t", "arm": "a", "rep": 1}
    return [about | {"item": f"c {n}", "verdict": word} | more for n, word in enumerate(words)]


def runs(*values: Any, name: str = "reward") -> list[dict[str, Any]]:
    """A run each, of an eval of its own, with a figure."""
    return [{"task": f"t{n}", "arm": "a", name: value} for n, value in enumerate(values)]


def changed(name: str, value: Any) -> list[dict[str, Any]]:
    return [{**row, name: value(row[name])} for row in ROWS]


REWARDS = [row["reward"] for row in ROWS]
PAIRS = [{"lint": False, "tests": {"passed": 3, "total": 4}, "task": "a", "arm": "a"}]
COPY = [("a", 1, 1.0), ("a", 2, 0.0), ("a", 1, 1.0)]
COLUMNS: dict[str, tuple[Any, dict[str, Any], list[float | None], set[str]]] = {
    # rows, what is said of them, pass rates, what is told
    "words for one side": (met("met", "missing"), {}, [None], {"unknown-words"}),
    "words that are said": (
        met("met", "missing", "partly"),
        {"words": {"missing": False, "Partly": None}},
        [0.5],
        set(),
    ),
    "an error is no verdict": (met("pass", "fail", "timeout"), {}, [0.5], set()),
    "empty cells beside one word": (met("✓", ""), {}, [1.0], {"one-sided"}),
    "verdicts without a check": (runs("PASS", "FAIL", name="verdict"), {}, [1.0, 0.0], set()),
    "half a scale": (runs(0.5, 1.0, 7.0), {}, [None] * 3, {"not-a-figure"}),
    "marks below 0": (met("met", **{"rubric:tone": -1}), {}, [1.0], {"not-a-figure"}),
    "percentages and shares": (runs(90, 80, 0.5), {}, [None] * 3, {"not-a-figure"}),
    "rates in percent": (changed("reward", lambda one: one * 100), {}, REWARDS, {"converted"}),
    "text for a figure": (
        changed("reward", lambda _: "good"),
        {},
        [None] * len(ROWS),
        {"not-a-figure"},
    ),
    "a side that is missing": (
        ROWS[:2] + ROWS[4:],
        {},
        REWARDS[:2] + REWARDS[4:],
        {"missing-side"},
    ),
    "two rows for one run": (changed("trial", lambda _: 1), {}, REWARDS, {"two-rows"}),
    "no side": (changed("arm", lambda _: None), {}, REWARDS, {"no-configuration", "two-rows"}),
    "nothing": ([{"x": 1, "y": 2}], {}, [None], {"no-eval", "no-configuration", "no-result"}),
    "a score is none unless that is said": (runs(0.25, name="score"), {}, [None], set()),
    "pairs": (runs("3/4", [1, 4], name="passed"), {}, [0.75, 0.25], {"counted"}),
    "a pair as an object": (PAIRS, {"checks": ["lint", "tests"]}, [0.6], {"counted"}),
    "a copy is no repeat": (
        [{"test_id": test, "target": "x", "run": n, "reward": r} for test, n, r in COPY],
        {},
        [1.0, 0.0],
        {"copy"},
    ),
    "figures of checks are none of a run": (
        [*met("met", score=1), *met("met", "unmet", score=3)[1:]],
        {},
        [0.5],
        {"varies"},
    ),
    # Rows within a value are found, and those within a row told.
    "rows of an object": ({"model": "m", "results": met("met", "unmet")}, {}, [0.5], set()),
    "rows of nothing": ([*runs(0.5), {}, {"task": "", "reward": None}], {}, [0.5], {"no-rows"}),
    "rows by side": ({"results": {"x": runs(0.5)}}, {}, [0.5], set()),
    "rows within a row": (
        [{"task": "a", "arm": "x", "checks": [{"name": "c", "ok": True}]}],
        {},
        [None],
        {"no-result"},
    ),
}
WORDS = {
    "words for one side": ("unknown-words", "words={'missing': …}"),
    "a score is none unless that is said": ("columns", "(pass_rate='score')"),
    "rows within a row": ("columns", "rows='[*].checks[*]'"),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_what_columns_are_taken_for(what: str) -> None:
    """What is understood in part is not used, and what would help is said; no row is lost."""
    rows, said, rates, told = COLUMNS[what]
    ws = sen.from_table(rows, **said)
    assert ws.runs["pass_rate"].to_list() == rates
    assert set(codes(ws)) - {"columns", "ungraded-run"} == told
    assert ws.runs["score"].null_count() == ws.runs.height or what.startswith("a score is none")
    if what in WORDS:
        code, words = WORDS[what]
        assert words in codes(ws)[code]


def test_a_target_is_the_side_or_the_answer_and_a_flag_the_side() -> None:
    answers = [{"doc_id": n, "target": str(n), "acc": 1.0} for n in range(3)]
    ws = sen.from_table(answers, eval="doc_id", pass_rate="acc")
    assert set(ws.runs["configuration"]) == {"unstated"}
    flags = [{"task": "a", "with_skill": on, "reward": float(on)} for on in (True, False)]
    found = sen.from_table(flags).runs.select("configuration", "pass_rate").rows()
    assert found == [("with_skill", 1.0), ("without_skill", 0.0)]
    sides = [{"task": t, "target": s, "reward": 1.0} for t in "ab" for s in ("on", "off")]
    assert set(sen.from_table(sides).runs["configuration"]) == {"on", "off"}


def test_the_bundled_leaderboard_comes_out() -> None:
    """The composites that seo-skill-bench has published, from the runs that are bundled."""
    folder = ROOT / "data" / "published"
    parts = {"detection": 40, "trap_avoidance": 25, "judgment": 25, "execution": 10}
    runs = pl.read_csv(folder / "seo-skill-bench.csv").with_columns(
        composite=pl.sum_horizontal(weight * pl.col(part) for part, weight in parts.items())
    )
    ws = sen.from_table(runs, eval="fixture", configuration="entrant", score="composite")
    found = dict(ws.runs.group_by("configuration").agg(pl.col("score").median()).rows())
    board = dict(pl.read_csv(folder / "seo-skill-bench-leaderboard.csv").rows())
    assert found == {name: pytest.approx(value, abs=1e-9) for name, value in board.items()}
    assert len(board) == 10
