"""Every frame has the columns that are declared and explained, of their types, in both backends."""

from __future__ import annotations

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

KEYS = "workspace skill iteration eval_id eval_name configuration run_number".split()
"""What a run-level table begins with, as the design says."""

OF_RUNS = "runs expectations rubric_scores claims notes suggestions tool_calls feedback".split()


@pytest.fixture(params=[False, True], ids=["nothing", "bundled"])
def ws(request):
    """Without a row, and with rows in every table."""
    loaded = sen.load(ROOT / "data") if request.param else Workspace.from_tables({})
    assert {bool(loaded.polars(name).height) for name in TABLES} == {request.param}
    return loaded


def test_frames_have_the_declared_columns_and_nulls_where_they_may_be(ws):
    pandas = Workspace.from_tables(ws.tables(), backend="pandas")
    for name, table in TABLES.items():
        frame, other = ws.polars(name), pandas.table(name)
        declared = [(column.name, POLARS[column.type]) for column in table.columns]
        assert list(frame.schema.items()) == declared, name
        assert isinstance(other, pd.DataFrame)
        assert [(column, str(kind)) for column, kind in other.dtypes.items()] == [
            (column.name, PANDAS[column.type]) for column in table.columns
        ], name
        assert len(other) == frame.height, name
        never = [column.name for column in table.columns if column.null.startswith("never")]
        assert {column: frame[column].null_count() for column in never} == dict.fromkeys(never, 0)


def test_run_level_tables_begin_with_the_keys_of_a_run():
    assert [column.name for column in RUN_KEYS] == KEYS
    assert [name for name, one in TABLES.items() if one.columns[:7] == RUN_KEYS] == OF_RUNS


def test_every_table_and_column_is_explained_once():
    every = sen.describe()
    assert every.columns == ["table", "one_row_is", "columns"]
    assert every["table"].to_list() == list(TABLES)
    assert every["columns"].to_list() == [len(table.columns) for table in TABLES.values()]
    for name, table in TABLES.items():
        explained = sen.describe(name)
        assert explained["column"].to_list() == table.names
        assert len(set(table.names)) == len(table.names)
        assert explained.null_count().sum_horizontal().item() == 0
        assert all(explained["meaning"])
        assert all(explained["null_when"])
        units = {"", "rate", "seconds", "usd", "tokens", "characters", "1-5"}
        assert {column.unit for column in table.columns} <= units


@pytest.mark.parametrize(
    ("name", "near"),
    [("run", "runs"), ("problem", "problems"), ("rubric_score", "rubric_scores"), ("xyz", None)],
)
def test_an_unknown_table_names_the_nearest_and_all(name, near):
    for ask in (TABLES.__getitem__, sen.describe):
        with pytest.raises(KeyError) as error:
            ask(name)
        message = error.value.args[0]
        assert f"`{name}`" in message
        assert all(table in message for table in TABLES)
        assert ("Did you mean" in message) == bool(near)
        assert near is None or f"Did you mean `{near}`" in message
