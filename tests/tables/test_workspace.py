"""`Workspace`: its tables by name, explained; a part of it by keys, one made of tables."""

from __future__ import annotations

import shutil

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.columns import RUN_KEYS
from tests.checkout import ROOT

POLARS = {
    "text": pl.String,
    "whole": pl.Int64,
    "number": pl.Float64,
    "flag": pl.Boolean,
    "list": pl.List(pl.String),
}
TEXT = "str" if pd.__version__ >= "3" else "object"
"""What text is in pandas: a type of its own from version 3 on."""
PANDAS = {"text": TEXT, "whole": "Int64", "number": "float64", "flag": "boolean", "list": "object"}
UNITS = {"", "rate", "seconds", "usd", "tokens", "characters", "1-5"}
OF_RUNS = "runs expectations rubric_scores claims notes suggestions tool_calls feedback".split()
KEYS = [column.name for column in RUN_KEYS]
RUN = {"workspace": "ws", "skill": "auth", "pass_rate": 1}
UNSAID = {"iteration": "none"} | dict.fromkeys(
    ("configuration", "eval_id", "eval_name"), "unstated"
)
"""What a run is of that does not say it."""


@pytest.fixture(scope="module")
def ws() -> Workspace:
    """All the bundled workspaces: every table has rows."""
    return sen.load(ROOT / "data")


def test_a_table_is_an_attribute_whose_columns_are_declared_and_explained_once(ws):
    """Of their types in both backends, and null where they may be; with rows and without."""
    assert list(ws.tables()) == list(TABLES)
    assert set(dir(ws)) >= {*TABLES, "table", "tables", "select"}
    assert "workspace skill iteration eval_id eval_name configuration run_number".split() == KEYS
    assert [name for name, one in TABLES.items() if one.columns[:7] == RUN_KEYS] == OF_RUNS
    every = sen.describe()
    assert every.columns == ["table", "one_row_is", "columns"]
    assert every.select("table", "columns").rows() == [(n, len(t.names)) for n, t in TABLES.items()]
    for given in (ws, Workspace.from_tables({})):
        pandas = Workspace.from_tables(given.tables(), backend="pandas")
        for name, table in TABLES.items():
            frame, other = given.polars(name), pandas.table(name)
            assert getattr(given, name) is given.table(name) is frame
            assert bool(frame.height) == (given is ws)
            assert [*frame.schema.items()] == [
                (one.name, POLARS[one.type]) for one in table.columns
            ]
            kinds = [(column, str(kind)) for column, kind in other.dtypes.items()]
            assert kinds == [(one.name, PANDAS[one.type]) for one in table.columns], name
            never = [one.name for one in table.columns if one.null.startswith("never")]
            assert sum(frame[column].null_count() for column in never) == 0
            explained = sen.describe(name)
            assert explained["column"].to_list() == table.names
            assert len(set(table.names)) == len(table.names)
            assert all(explained["meaning"].to_list() + explained["null_when"].to_list())
            assert {column.unit for column in table.columns} <= UNITS


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda _: sen.describe("problem"), "`problem`. Did you mean `problems`.*evals, .*runs"),
        (lambda ws: ws.table("expectation"), "Did you mean `expectations`"),
        (lambda ws: ws.show("run"), "Did you mean `runs`"),
        (lambda ws: ws.rubric_score, "Did you mean `rubric_scores`"),
        (lambda ws: ws.selct, "Did you mean `select`"),
        (lambda ws: ws.xyzzy, r"no `xyzzy`\.$"),
        (lambda ws: ws.select(itertion="x"), "`itertion`. Did you mean `iteration`"),
        (lambda ws: ws.select(executor="small"), "Did you mean `executor_model`"),
        (lambda _: Workspace.from_tables({"run": pl.DataFrame([RUN])}), "Did you mean `runs`"),
    ],
)
def test_an_unknown_name_gets_the_nearest(ws, wrong, says):
    with pytest.raises((KeyError, AttributeError)) as error:
        wrong(ws)
    assert error.match(says)
    # What notebooks ask every value for is no table.
    assert not hasattr(ws, "_ipython_canary_method_should_not_exist_")


# ── a part ─────────────────────────────────────────────────────────────────────────────────────


def test_every_table_with_the_key_keeps_its_rows_of_one_value_or_several(ws):
    for chosen in (
        {"workspace": ["tdd-workspace"], "iteration": ["iteration-2"]},
        {"eval_id": ["1", "2"], "iteration": ["iteration-1"]},
        {"eval_id": []},
        {"iteration": ["iteration-99"]},
    ):
        part = ws.select(**chosen)
        for name in set(TABLES) - {"problems"}:
            rows = ws.polars(name)
            for key, values in chosen.items():
                # An iteration of a description search is another thing, and has a number.
                if rows.schema.get(key) == pl.String:
                    rows = rows.filter(rows[key].is_in(values))
            assert part.polars(name).equals(rows), name
    second = ws.select(workspace="tdd-workspace").select(iteration="iteration-2").runs
    assert second.height == 36
    assert second.equals(ws.select(workspace="tdd-workspace", iteration="iteration-2").runs)
    assert ws.select(eval_id=[1, "2"]).runs.equals(ws.select(eval_id=["1", 2]).runs)


def test_a_model_s_runs_are_selected_with_what_belongs_to_them():
    key = dict(zip(KEYS, ["w", "s", "i", "1", "one", "with_skill", 1], strict=True))
    names = ["large", "small", None]
    keys = [key | {"run_number": at} for at in range(1, 4)]
    tables = {
        "runs": [row | {"executor_model": name} for row, name in zip(keys, names, strict=True)],
        "expectations": [row | {"text": "c"} for row in keys for _ in range(2)],
        "notes": [*keys, key | {"run_number": None}],
    }
    ws = Workspace.from_tables({name: pl.DataFrame(rows) for name, rows in tables.items()})

    def numbers(table: str, **selected) -> list[int | None]:
        return ws.select(**selected).polars(table)["run_number"].to_list()

    assert numbers("runs", executor_model="small") == [2]
    assert numbers("expectations", executor_model="small") == [2, 2]
    assert numbers("notes", executor_model="small") == [2, None]
    assert numbers("expectations", executor_model=None) == [3, 3]
    assert numbers("runs", executor_model=["large", None], harness=None) == [1, 3]


def test_problems_of_other_workspaces_are_left_out():
    problems = {"severity": "info", "code": "x", "path": "p", "message": "m"}
    rows = [{**problems, "workspace": name} for name in ("a", "b", None)]
    ws = Workspace.from_tables({"problems": pl.DataFrame(rows)})
    assert ws.select(workspace="a").problems["workspace"].to_list() == ["a", None]
    assert ws.select(iteration="iteration-1").problems.height == 3


def test_figures_of_a_part_are_read_without_texts():
    asked = []

    def reader(texts: bool) -> dict[str, pl.DataFrame]:
        asked.append(texts)
        return Workspace.from_tables({}).tables()

    assert Workspace(reader).select(iteration="x").runs.is_empty()
    assert asked == [False]


def test_read_anew_it_is_the_same_selection_of_what_is_there_by_then(tmp_path) -> None:
    shutil.copytree(ROOT / "data" / "tdd-workspace", tmp_path / "ws")
    part = sen.load(tmp_path / "ws", backend="pandas").select(iteration="iteration-2")
    assert isinstance(part.runs, pd.DataFrame)
    shutil.rmtree(tmp_path / "ws" / "iteration-1")
    again = part.again()
    assert again.backend == "pandas"
    assert again.polars("runs").equals(part.polars("runs"))
    given = Workspace.from_tables({})
    assert given.again() is given


# ── of tables ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_tables_of_either_kind_and_the_others_are_empty(kind):
    ws = Workspace.from_tables({"runs": kind([RUN])})
    assert ws.runs.schema == Workspace.from_tables({}).runs.schema
    assert ws.runs.row(0, named=True) == dict.fromkeys(ws.runs.columns) | UNSAID | RUN
    assert {name for name, frame in ws.tables().items() if frame.height} == {"runs"}


def test_round_trip_through_both_backends(ws):
    pandas = Workspace.from_tables(ws.tables(), ws.path, backend="pandas")
    for again in (
        Workspace.from_tables(ws.tables(), ws.path),
        Workspace.from_tables(pandas.tables(), ws.path),
    ):
        assert all(again.polars(name).equals(ws.polars(name)) for name in TABLES)
        assert repr(again) == repr(ws)


def test_a_table_is_shown_whole_with_every_text_escaped():
    rows = pl.DataFrame({"eval_name": [f"<img src=x>{at}" for at in range(3_000)]})
    shown = str(Workspace.from_tables({"runs": rows}).show("runs").get_state())
    assert "<img src=x" not in shown
    assert sum(f"&lt;img src=x&gt;{at}" in shown for at in range(3_000)) == 3_000


@pytest.mark.parametrize(
    ("given", "filled"),
    [
        ({}, {"workspace": "table", "skill": "table", "iteration": "none"}),
        ({"iteration": [None, "iteration-2"]}, {"iteration": ["none", "iteration-2"]}),
        ({"skill": ["tdd", None]}, {"skill": ["tdd", "table"]}),
        ({"configuration": None}, {"configuration": "unstated"}),
        ({}, {"eval_name": ["1", "1"]}),
        ({"eval_id": None, "eval_name": "late fee"}, {"eval_id": "late fee"}),
        ({"eval_id": None}, {"eval_id": "unstated", "eval_name": "unstated"}),
    ],
)
def test_keys_that_a_table_made_by_hand_lacks_are_those_of_what_is_loaded(given, filled):
    made = {"eval_id": "1", "configuration": ["with_skill", "without_skill"], "run_number": 1}
    texts = dict.fromkeys(KEYS[:-1], pl.String)
    rows = pl.DataFrame({**made, "pass_rate": [1.0, 0.5], **given}, schema_overrides=texts)
    ws = Workspace.from_tables({"runs": rows, "problems": pl.DataFrame({"code": ["x"]})})
    runs = ws.runs
    for name, value in filled.items():
        assert runs[name].to_list() == (value if isinstance(value, list) else [value, value])
    assert runs.select(KEYS).null_count().row(0) == (0,) * len(KEYS)
    assert ws.problems["workspace"].to_list() == [None]  # it may be of none
    for show in (sen.report.html, sen.report.markdown, sen.library, sen.explore):
        assert show(ws)
    if "eval_id" in given:  # of two sides
        assert sen.stats.deltas(ws).height
