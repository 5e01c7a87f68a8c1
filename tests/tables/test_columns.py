"""Every frame has the columns that are declared, of their types, in both backends."""

from __future__ import annotations

import difflib

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.columns import RUN_KEYS, table_named
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

KEYS = "workspace skill iteration eval_id eval_name configuration run_number".split()
"""What a run-level table begins with, as the design says."""

OF_RUNS = "runs expectations rubric_scores claims notes suggestions tool_calls feedback".split()

BUNDLED = [path.name for path in sorted((ROOT / "data").glob("*-workspace"))]


@pytest.fixture(scope="module", params=["nothing", *BUNDLED])
def ws(request):
    if request.param == "nothing":
        return Workspace.from_tables({})
    return sen.load(ROOT / "data" / request.param)


@pytest.mark.parametrize("name", TABLES)
def test_polars_frames_have_the_declared_columns(ws, name):
    declared = {column.name: POLARS[column.type] for column in TABLES[name].columns}
    assert dict(ws.polars(name).schema) == declared
    assert list(ws.polars(name).columns) == list(declared)


@pytest.mark.parametrize("name", TABLES)
def test_pandas_frames_have_the_declared_columns(ws, name):
    frame = Workspace.from_tables(ws.tables(), backend="pandas").table(name)
    assert isinstance(frame, pd.DataFrame)
    assert {column: str(kind) for column, kind in frame.dtypes.items()} == {
        column.name: PANDAS[column.type] for column in TABLES[name].columns
    }
    assert len(frame) == ws.polars(name).height


@pytest.mark.parametrize("name", TABLES)
def test_what_is_never_null_is_not(ws, name):
    frame = ws.polars(name)
    never = [column.name for column in TABLES[name].columns if column.null.startswith("never")]
    assert {column: frame[column].null_count() for column in never} == dict.fromkeys(never, 0)


def test_there_is_something_to_check():
    filled = {
        name
        for workspace in BUNDLED
        for name in TABLES
        if sen.load(ROOT / "data" / workspace).polars(name).height
    }
    assert filled == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_run_level_tables_begin_with_the_keys_of_a_run(name):
    begins = TABLES[name].columns[: len(KEYS)] == RUN_KEYS
    assert [column.name for column in RUN_KEYS] == KEYS
    assert begins == (name in OF_RUNS)


def test_every_column_says_what_it_means_once():
    for table in TABLES.values():
        assert len(set(table.names)) == len(table.names)
        assert all(column.meaning and column.null for column in table.columns)


def test_units_are_those_of_the_design():
    units = {column.unit for table in TABLES.values() for column in table.columns}
    assert units <= {"", "rate", "seconds", "usd", "tokens", "characters", "1-5"}


@pytest.mark.parametrize("name", ["run", "problem", "rubric_score", "xyz"])
def test_an_unknown_table_names_the_nearest(name):
    near = difflib.get_close_matches(name, TABLES, n=1)
    with pytest.raises(KeyError) as error:
        table_named(name)
    message = error.value.args[0]
    assert f"`{name}`" in message
    assert all(table in message for table in TABLES)
    assert ("Did you mean" in message) == bool(near)
