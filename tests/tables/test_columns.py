"""Every frame has the columns that are declared, of their types, in both backends."""

from __future__ import annotations

import difflib
from functools import cache

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


@cache
def bundled(name):
    return sen.load(ROOT / "data" / name)


@pytest.fixture(params=["nothing", *BUNDLED])
def ws(request):
    return Workspace.from_tables({}) if request.param == "nothing" else bundled(request.param)


def test_polars_frames_have_the_declared_columns(ws):
    for name, table in TABLES.items():
        declared = {column.name: POLARS[column.type] for column in table.columns}
        assert dict(ws.polars(name).schema) == declared, name
        assert list(ws.polars(name).columns) == list(declared), name


def test_pandas_frames_have_the_declared_columns(ws):
    pandas = Workspace.from_tables(ws.tables(), backend="pandas")
    for name, table in TABLES.items():
        frame = pandas.table(name)
        assert isinstance(frame, pd.DataFrame)
        assert {column: str(kind) for column, kind in frame.dtypes.items()} == {
            column.name: PANDAS[column.type] for column in table.columns
        }, name
        assert len(frame) == ws.polars(name).height, name


def test_what_is_never_null_is_not(ws):
    for name, table in TABLES.items():
        frame = ws.polars(name)
        never = [column.name for column in table.columns if column.null.startswith("never")]
        nulls = {column: frame[column].null_count() for column in never}
        assert nulls == dict.fromkeys(never, 0), name


def test_there_is_something_to_check():
    filled = {
        name for workspace in BUNDLED for name in TABLES if bundled(workspace).polars(name).height
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
