"""`Workspace`: its tables by name, a part of it by keys, one made of tables."""

from __future__ import annotations

import shutil

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.columns import RUN_KEYS
from tests.checkout import ROOT

KEYS = [column.name for column in RUN_KEYS]


@pytest.fixture(scope="module")
def ws() -> Workspace:
    """All the bundled workspaces: every table has rows."""
    return sen.load(ROOT / "data")


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

    def numbers(part: Workspace, table: str) -> list[int | None]:
        return part.polars(table)["run_number"].to_list()

    assert numbers(ws.select(executor_model="small"), "runs") == [2]
    assert numbers(ws.select(executor_model="small"), "expectations") == [2, 2]
    assert numbers(ws.select(executor_model="small"), "notes") == [2, None]
    assert numbers(ws.select(executor_model=None), "expectations") == [3, 3]
    assert numbers(ws.select(executor_model=["large", None], harness=None), "runs") == [1, 3]
    with pytest.raises(KeyError, match="Did you mean `executor_model`"):
        ws.select(executor="small")


class TestNames:
    @pytest.mark.parametrize("name", TABLES)
    def test_a_table_is_an_attribute(self, ws, name):
        assert getattr(ws, name) is ws.table(name) is ws.polars(name)
        assert ws.table(name).height

    def test_every_table_at_once(self, ws):
        assert list(ws.tables()) == list(TABLES)

    def test_tab_completion_knows_the_tables(self, ws):
        assert set(dir(ws)) >= {*TABLES, "table", "tables", "select"}

    def test_an_unknown_table_names_the_nearest(self, ws):
        with pytest.raises(KeyError, match="Did you mean `expectations`"):
            ws.table("expectation")

    @pytest.mark.parametrize(
        ("name", "near"),
        [("rubric_score", "rubric_scores"), ("selct", "select"), ("table_", "table")],
    )
    def test_an_unknown_attribute_names_the_nearest(self, ws, name, near):
        with pytest.raises(AttributeError, match=f"Did you mean `{near}`"):
            getattr(ws, name)

    def test_an_attribute_like_no_other_gets_no_guess(self, ws):
        with pytest.raises(AttributeError, match=r"no `xyzzy`\.$"):
            ws.xyzzy  # noqa: B018

    def test_what_notebooks_ask_every_value_for_is_no_table(self, ws):
        assert not hasattr(ws, "_ipython_canary_method_should_not_exist_")
        assert not hasattr(ws, "__array__")


class TestSelect:
    def test_every_table_with_the_key_keeps_its_rows(self, ws):
        part = ws.select(workspace="tdd-workspace", iteration="iteration-2")
        for name in TABLES:
            rows = ws.polars(name)
            if name != "problems":
                for key, value in (("workspace", "tdd-workspace"), ("iteration", "iteration-2")):
                    if rows.schema.get(key) == pl.String:
                        rows = rows.filter(rows[key] == value)
                assert part.polars(name).equals(rows), name
        assert part.runs.height == 36

    def test_an_iteration_of_a_description_search_is_another_thing(self, ws):
        part = ws.select(iteration="iteration-1")
        assert part.optimizations.equals(ws.optimizations)
        assert set(part.runs["iteration"]) == {"iteration-1"}

    def test_problems_of_other_workspaces_are_left_out(self):
        problems = {"severity": "info", "code": "x", "path": "p", "message": "m"}
        rows = [{**problems, "workspace": name} for name in ("a", "b", None)]
        ws = Workspace.from_tables({"problems": pl.DataFrame(rows)})
        assert ws.select(workspace="a").problems["workspace"].to_list() == ["a", None]
        assert ws.select(iteration="iteration-1").problems.height == 3

    @pytest.mark.parametrize("key", KEYS)
    def test_any_key_of_a_run_will_do(self, ws, key):
        value = ws.runs[key][0]
        part = ws.select(**{key: value})
        assert part.runs.equals(ws.runs.filter(ws.runs[key] == value))
        assert all(frame is not None for frame in part.tables().values())

    def test_ids_of_evals_may_be_given_as_numbers(self, ws):
        assert ws.select(eval_id=1).runs.equals(ws.select(eval_id="1").runs)
        assert ws.select(eval_id=1).runs.height

    def test_several_values_of_a_key(self, ws):
        part = ws.select(eval_id=["1", 2], iteration=["iteration-1"])
        each = [ws.select(eval_id=one, iteration="iteration-1").runs.height for one in (1, 2)]
        assert set(part.runs["eval_id"]) == {"1", "2"}
        assert part.runs.height == sum(each)
        assert ws.select(eval_id=[]).runs.is_empty()

    def test_a_part_of_a_part(self, ws):
        part = ws.select(workspace="tdd-workspace").select(configuration="with_skill")
        assert set(part.runs["configuration"]) == {"with_skill"}
        assert set(part.runs["workspace"]) == {"tdd-workspace"}

    def test_what_is_nowhere_leaves_nothing(self, ws):
        part = ws.select(iteration="iteration-99")
        assert part.runs.is_empty()
        assert part.runs.schema == ws.runs.schema

    def test_the_backend_stays(self):
        pandas = sen.load(ROOT / "data" / "tdd-workspace", backend="pandas")
        assert isinstance(pandas.select(iteration="iteration-1").runs, pd.DataFrame)

    def test_figures_of_a_part_are_read_without_texts(self):
        asked = []

        def reader(texts: bool) -> dict[str, pl.DataFrame]:
            asked.append(texts)
            return Workspace.from_tables({}).tables()

        assert Workspace(reader).select(iteration="x").runs.is_empty()
        assert asked == [False]

    @pytest.mark.parametrize(("key", "near"), [("itertion", "iteration"), ("evalid", "eval_id")])
    def test_an_unknown_key_names_the_nearest(self, ws, key, near):
        with pytest.raises(KeyError, match=f"`{key}`. Did you mean `{near}`"):
            ws.select(**{key: "x"})


RUN = {"workspace": "ws", "skill": "auth", "pass_rate": 1}


class TestFromTables:
    @pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
    def test_tables_of_either_kind(self, kind):
        ws = Workspace.from_tables({"runs": kind([RUN])})
        assert ws.runs.schema == Workspace.from_tables({}).runs.schema
        assert ws.runs.row(0, named=True) == dict.fromkeys(ws.runs.columns) | RUN

    def test_tables_that_are_not_given_are_empty(self):
        ws = Workspace.from_tables({"runs": pl.DataFrame([RUN])})
        assert {name for name, frame in ws.tables().items() if frame.height} == {"runs"}

    def test_round_trip(self, ws):
        again = Workspace.from_tables(ws.tables(), ws.path)
        assert all(again.polars(name).equals(ws.polars(name)) for name in TABLES)
        assert repr(again) == repr(ws)

    def test_round_trip_through_pandas(self, ws):
        pandas = Workspace.from_tables(ws.tables(), backend="pandas")
        again = Workspace.from_tables(pandas.tables())
        assert all(again.polars(name).equals(ws.polars(name)) for name in TABLES)

    def test_an_unknown_table_names_the_nearest(self):
        with pytest.raises(KeyError, match="Did you mean `runs`"):
            Workspace.from_tables({"run": pl.DataFrame([RUN])})


def test_read_anew_it_is_the_same_selection_of_what_is_there_by_then(tmp_path) -> None:
    shutil.copytree(ROOT / "data" / "tdd-workspace", tmp_path / "ws")
    part = sen.load(tmp_path / "ws", backend="pandas").select(iteration="iteration-2")
    shutil.rmtree(tmp_path / "ws" / "iteration-1")
    again = part.again()
    assert again.backend == "pandas"
    assert again.polars("runs").equals(part.polars("runs"))
    given = Workspace.from_tables({})
    assert given.again() is given


def test_a_table_is_shown_whole_with_every_text_escaped():
    rows = [
        dict(zip(KEYS, ["w", "s", "i", "1", f"<img src=x>{at}", "with_skill", at], strict=True))
        for at in range(3_000)
    ]
    ws = Workspace.from_tables({"runs": pl.DataFrame(rows)})
    shown = str(ws.show("runs").get_state())
    assert "<img src=x" not in shown
    assert sum(f"&lt;img src=x&gt;{at}" in shown for at in range(3_000)) == 3_000
    with pytest.raises(KeyError, match="Did you mean `runs`"):
        ws.show("run")
