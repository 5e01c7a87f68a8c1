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
from tests.cases import Case, cases
from tests.checkout import ROOT
from tests.golden import lines_of

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


@pytest.mark.parametrize("case", cases("columns"))
def test_what_columns_are_taken_for(case: Case) -> None:
    """What is understood in part is not used, and what would help is said; no row is lost."""
    said = case.json("call.json") if "call.json" in case.files else {}
    ws = sen.from_table(case.json("rows.json"), **said)
    figures = ws.runs.select("eval_id", "configuration", "run_number", "pass_rate", "score")
    told = ws.problems.select("code", "message").rows()
    case.hold([*lines_of(figures.to_dict(as_series=False)), *map(": ".join, told)])


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
