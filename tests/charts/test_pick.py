from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.charts.pick import GROUP, PARTS, as_polars, part_by, pick, why_none
from skill_eval_nb.tables.frames import to_pandas
from tests.charts.worlds import run_keys, table, workspace


def frame(*rows):
    return pl.DataFrame([dict(zip(GROUP, row, strict=True)) for row in rows])


def test_the_last_iteration_is_so_by_number() -> None:
    picked = pick(frame(("w", "s", "iteration-9"), ("w", "s", "iteration-10")))
    assert [dict(part.keys)["iteration"] for part in picked.parts] == ["iteration-10"]
    assert "‘iteration-10’" in picked.notes[0]


def test_each_workspace_has_its_own_last_iteration() -> None:
    picked = pick(frame(("a", "s", "1"), ("a", "s", "2"), ("b", "s", "1")))
    assert [part.heading for part in picked.parts] == ["a · 2", "b · 1"]


def test_one_part_has_no_heading_and_one_iteration_no_note() -> None:
    picked = pick(frame(("w", "s", "none")))
    assert [part.heading for part in picked.parts] == [""]
    assert picked.notes == ()


def test_several_iterations_become_parts() -> None:
    rows = frame(("w", "s", "1"), ("w", "s", "2"), ("w", "s", "none"))
    picked = pick(rows, ["none", "1"])
    assert [part.heading for part in picked.parts] == ["1", "(no iteration)"]


def test_the_skill_is_named_where_a_workspace_holds_several() -> None:
    picked = pick(frame(("a", "s", "1"), ("a", "t", "1"), ("b", "u", "1")))
    assert [part.heading for part in picked.parts] == ["a · s", "a · t", "b"]


def test_an_unknown_iteration_is_an_error_with_a_hint() -> None:
    with pytest.raises(ValueError, match="Did you mean `iteration-1`"):
        pick(frame(("w", "s", "iteration-1")), "iteration1")


def test_nothing_gives_no_parts() -> None:
    assert pick(frame(("w", "s", "1")).clear()).parts == ()


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=30))
def test_parts_are_few_and_their_rows_disjoint(keys) -> None:
    rows = frame(*((a, b, "1") for a, b in keys))
    parts, more = part_by(rows, GROUP)
    assert len(parts) == min(len(set(keys)), PARTS)
    assert bool(more) == (len(set(keys)) > PARTS)
    assert sum(part.of(rows).height for part in parts) <= rows.height
    least = min(part.of(rows).height for part in parts)
    left = set(keys) - {(dict(part.keys)["workspace"], dict(part.keys)["skill"]) for part in parts}
    assert all(keys.count(key) <= least for key in left)


def test_the_reason_counts_the_runs_that_were_asked_about() -> None:
    bare = run_keys(status="errored", path=".")
    ws = workspace(runs=[bare, bare | {"run_number": 2}, bare | {"iteration": "iteration-2"}])
    assert why_none(ws, "score").startswith("None of the 3 runs has a score.")
    assert why_none(ws, "score", "iteration-1").startswith("None of the 2 runs")
    assert why_none(ws, "score", "iteration-2").startswith("The only run has no score.")
    assert why_none(ws, "overall efficiency").startswith("None of the 3 runs has an overall")
    assert why_none(workspace(), "score").startswith("There are no runs.")
    assert why_none(ws.runs, "score") == "No row of the table has a score."


@pytest.mark.parametrize("kind", [lambda frame: frame, to_pandas])
def test_names_that_a_table_lacks_are_empty(kind) -> None:
    bare = table("runs", [{"pass_rate": 1.0, "run_number": 1}])
    row = as_polars(kind(bare)).row(0, named=True)
    assert (row["workspace"], row["eval_name"], row["pass_rate"]) == ("", "", 1.0)
