from __future__ import annotations

from skill_eval_nb.charts.checks import share_of, table
from skill_eval_nb.charts.theme import SHARES, SOFT
from tests.charts.specs import rows_of, spec_of, texts_of, walk

CELL = {"passes": 2, "scored": 3, "unscored": 1, "run_number": 2, "passed": False, "evidence": None}
ROW = {"heading": "eval", "text": "reads", "layer": "judged", "cells": {"a": CELL, "b": CELL}}


def test_a_share_of_nothing_is_not_known() -> None:
    assert share_of({"passes": 0, "scored": 0}) is None
    assert share_of(CELL) == 2 / 3


def test_columns_stand_in_the_order_of_the_configurations() -> None:
    chart = table([ROW], {"b": "#000000", "a": "#111111"})
    [order] = {
        tuple(node["x"]["sort"]) for node in walk(spec_of(chart)) if "sort" in node.get("x", ())
    }
    assert order == ("b", "a")
    written = texts_of(chart)
    assert written.count("2/3") == 2
    assert {"eval", "reads", "a", "b"} <= set(written)


def test_missing_evidence_is_said_to_be_missing() -> None:
    chart = table([ROW], {"a": "#000000"})
    assert rows_of(chart, "verdicts")[0]["evidence"] == "run 2, failed: none stated"


def test_only_what_was_scored_is_coloured_and_what_was_not_is_dashed() -> None:
    none = CELL | {"passes": 0, "scored": 0, "passed": None}
    whole = CELL | {"passes": 3, "unscored": 0}
    shades = {"none": "#000000", "whole": "#111111"}
    chart = table([ROW | {"cells": {"none": none, "whole": whole}}], shades)
    fills = {row["configuration"]: (row["fill"], row["stroke"]) for row in rows_of(chart, "fill")}
    assert fills == {"none": ("transparent", SOFT), "whole": (SHARES[2], None)}
