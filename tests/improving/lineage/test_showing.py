"""How a lineage shows itself, and its table."""

from __future__ import annotations

from dataclasses import fields

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import Lineage, history
from skill_eval_nb.improving.lineage import Version
from tests.checkout import ROOT
from tests.tables.made import a_run, made


@pytest.fixture(scope="module")
def found() -> Lineage:
    return history(sen.load(ROOT / "data" / "tdd-workspace"))


def test_the_text_says_result_reason_and_change(found):
    text = repr(found)
    assert text.startswith("2 versions of testing by pass rate; none is proven to be the best\n")
    assert "v1  iteration-2, with_skill: 0.875, tie, from v0 (stated)" in text
    assert "changed: SKILL.md +9 −5 lines" in text
    assert "  ! history.json says that v1 won; its runs say: tie." in text
    assert max(map(len, text.splitlines())) < 120


def test_the_table_has_a_row_a_version_and_types_without_rows(found):
    table = found.table()
    assert table.columns[:4] == ["workspace", "skill", "metric", "level"]
    assert table.columns[4:] == [one.name for one in fields(Version)]
    assert table["grading_result"].to_list() == ["baseline", "tie"]
    empty = Lineage("w", "s", "pass_rate", 0.95).table()
    assert empty.schema == table.schema
    assert table.schema["is_current_best"] == pl.Boolean
    pandas = found.table("pandas")
    assert isinstance(pandas, pd.DataFrame)
    assert pandas["estimate"].isna().tolist() == [True, False]


def test_names_from_files_are_escaped_in_html():
    bad = "<script>alert(1)</script>"
    ws = made(
        runs=[
            a_run(bad, iteration=f"iteration-{n}{bad}", configuration="with_skill", pass_rate=0.5)
            for n in (1, 2)
        ]
    )
    html = history(ws)._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html
    assert "<style>" in html
