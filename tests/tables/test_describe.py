"""`describe`: every table and every column, explained."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import TABLES


def test_without_a_name_it_lists_the_tables():
    every = sen.describe()
    assert every.columns == ["table", "one_row_is", "columns"]
    assert every["table"].to_list() == list(TABLES)
    assert every["columns"].to_list() == [len(table.columns) for table in TABLES.values()]


@pytest.mark.parametrize("name", TABLES)
def test_each_column_of_a_table_is_explained(name):
    explained = sen.describe(name)
    assert explained["column"].to_list() == TABLES[name].names
    assert explained.null_count().sum_horizontal().item() == 0
    assert all(explained["meaning"])
    assert all(explained["null_when"])


def test_types_and_units_are_said_in_words():
    explained = {row["column"]: row for row in sen.describe("runs").to_dicts()}
    assert explained["time_seconds"]["unit"] == "seconds"
    assert explained["tokens"]["type"] == "whole number"
    assert explained["gate_passed"]["type"] == "true or false"
    assert explained["eval_id"]["type"] == "text"
    assert explained["pass_rate"]["null_when"] == "nothing was scored"


def test_an_unknown_table_names_the_nearest():
    with pytest.raises(KeyError, match="Did you mean `problems`"):
        sen.describe("problem")
