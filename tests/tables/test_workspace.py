"""`load` and `Workspace`: tables by name, a part of it, one made of tables, what is read when."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.tables import TABLES, Column, Table, Workspace
from skill_eval_nb.tables.columns import RUN_KEYS, frame_of, frame_of_rows, schema, to_pandas
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.tables.made import RUN, two_sides
from tests.tables.test_conversion import workspaces

POLARS = {
    "text": pl.String,
    "whole number": pl.Int64,
    "number": pl.Float64,
    "true or false": pl.Boolean,
    "list of texts": pl.List(pl.String),
}
TEXT = "str" if pd.__version__ >= "3" else "object"
"""What text is in pandas: a type of its own from version 3 on."""
PANDAS = {
    "text": TEXT,
    "number": "float64",
    "list of texts": "object",
    "whole number": "Int64",
    "true or false": "boolean",
}
UNITS = {"", "rate", "seconds", "usd", "tokens", "characters", "1-5"}
OF_RUNS = "runs expectations rubric_scores claims notes suggestions tool_calls feedback".split()
KEYS = [column.name for column in RUN_KEYS]
OWN = {"workspace": "ws", "skill": "auth", "pass_rate": 1}


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
    for source in (ws, Workspace.from_tables({})):
        pandas = Workspace.from_tables(source.tables(), backend="pandas")
        for name, table in TABLES.items():
            frame, other = source.polars(name), pandas.table(name)
            assert getattr(source, name) is source.table(name) is frame
            assert bool(frame.height) == (source is ws)
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
        (lambda ws: ws.selct, "Did you mean `select`"),
        (lambda ws: ws.xyzzy, r"no `xyzzy`\.$"),
        (lambda ws: ws.select(itertion="x"), "`itertion`. Did you mean `iteration`"),
        (lambda _: Workspace.from_tables({"run": pl.DataFrame([OWN])}), "Did you mean `runs`"),
    ],
)
def test_an_unknown_name_gets_the_nearest(ws, wrong, says):
    with pytest.raises((KeyError, AttributeError)) as error:
        wrong(ws)
    assert error.match(says)
    # What notebooks ask every value for is no table.
    assert not hasattr(ws, "_ipython_canary_method_should_not_exist_")


# ── a part ─────────────────────────────────────────────────────────────────────────────────────


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


# ── of tables ──────────────────────────────────────────────────────────────────────────────────


def test_a_table_is_shown_whole_with_every_text_escaped():
    rows = pl.DataFrame({"eval_name": [f"<img src=x>{at}" for at in range(3_000)]})
    shown = str(Workspace.from_tables({"runs": rows}).show("runs").get_state())
    assert "<img src=x" not in shown
    assert sum(f"&lt;img src=x&gt;{at}" in shown for at in range(3_000)) == 3_000


# ── what is read when ────────────────────────────────────────────────────────────────────────

BUNDLED = sorted(
    {path.parent for path in (ROOT / "data").glob("*/README.md")} - {ROOT / "data/published"}
)


@pytest.mark.parametrize("backend", ["polar", "Pandas", "", None])
def test_an_unknown_backend_is_refused_before_anything_is_read(backend):
    with pytest.raises(ValueError, match="'polars' and 'pandas'"):
        sen.load("there/is/no/such/folder", backend=backend)


def test_folders_are_listed_at_once_and_files_read_once_when_a_table_is_asked_for(
    tmp_path, monkeypatch
):
    lay(tmp_path, two_sides())
    opened, real = [], os.open

    def watched(path, *arguments, **more):
        if Path(os.fsdecode(path)).is_relative_to(tmp_path):  # other threads may open others
            opened.append(Path(path).name)
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", watched)
    ws = sen.load(tmp_path)
    assert opened == []
    lay(tmp_path, {RUN.replace("run-1", "run-2") + "/grading.json": graded("p")})
    opened.clear()
    assert ws.runs.height == 2
    assert opened == ["grading.json"] * 2
    ws.tables()
    opened.clear()
    assert ws.tables()["runs"] is ws.runs
    assert opened == []
    assert sen.load(tmp_path).runs.height == 3


def compare_figures_with_full_pass(path: Path) -> None:
    """`runs` read alone, with all other tables after it, and after the problems."""
    ws, second = sen.load(path), sen.load(path)
    figures = ws.runs
    assert figures.equals(ws.tables()["runs"])
    assert figures.equals(ws.runs)
    assert second.problems.equals(ws.problems)
    assert second.runs.equals(figures)


def test_figures_alone_are_those_of_the_full_pass(corpus_workspaces):
    for path in (*BUNDLED, *corpus_workspaces[::8]):  # the bundled ones, and some of others'
        compare_figures_with_full_pass(path)


@given(workspaces())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_figures_alone_are_those_of_the_full_pass_on_any_workspace(tmp_path_factory, files):
    compare_figures_with_full_pass(lay(tmp_path_factory.mktemp("any") / "ws", files))


# ── frames ───────────────────────────────────────────────────────────────────────────────────

SMALL = Table("small", "a row", tuple(Column(kind, kind, "…") for kind in POLARS))
VALUES = {
    "text": st.none() | st.text(),
    "whole number": st.none() | st.integers(-(2**63), 2**63 - 1),
    "number": st.none() | st.floats(allow_nan=False),
    "true or false": st.none() | st.booleans(),
    "list of texts": st.lists(st.text()),
}


@given(st.lists(st.fixed_dictionaries(VALUES)))
@example(
    [dict.fromkeys(VALUES) | {"whole number": 2**53 + 1, "list of texts": []}]
)  # no float has it
@example([dict.fromkeys(VALUES) | {"list of texts": []}])
def test_values_come_back_as_they_went_in_and_nulls_as_nulls_in_both_backends(rows):
    frame = frame_of_rows(schema(SMALL.columns), [tuple(map(row.get, POLARS)) for row in rows])
    assert frame.to_dicts() == rows
    other = to_pandas(frame)
    assert other["true or false"].dtype == pd.BooleanDtype()
    for name in [*VALUES][:4]:
        assert other[name].isna().tolist() == [row[name] is None for row in rows]
        assert other[name].dropna().tolist() == [row[name] for row in rows if row[name] is not None]
    assert [list(one) for one in other["list of texts"]] == [row["list of texts"] for row in rows]


def test_what_statistics_and_charts_are_given_is_a_frame_or_a_type_error():
    given_frame = pd.DataFrame({"passed": pd.array([1, None], "Int64"), "pass_rate": [0.5, None]})
    assert frame_of(given_frame, "runs")["passed", "pass_rate"].rows() == [(1, 0.5), (None, None)]
    for data in (None, 3, "runs", [{"workspace": "ws"}], {"runs": 1}):
        with pytest.raises(TypeError):
            frame_of(data, "runs")
