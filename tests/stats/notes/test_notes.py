"""What an analyst would say, by rule: each kind of note where it belongs, and nowhere else."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given

from skill_eval_nb.stats import deltas, notes
from skill_eval_nb.stats.notes.note import KINDS
from skill_eval_nb.tables import Workspace
from tests.stats.made import Row, run_rows, runs_table, scores_table
from tests.stats.verdicts import few, plain, sides, verdicts_table

SIDES = ("with_skill", "without_skill")
T, F = True, False


def world(
    runs: list[Row], verdicts: list[Row] = (), scores: list[Row] = (), backend: Any = "polars"
) -> Workspace:
    tables = {
        "runs": runs_table(runs),
        "expectations": verdicts_table(verdicts),
        "rubric_scores": scores_table(
            {"eval_name": row.get("eval_id", "1"), **row} for row in scores
        ),
    }
    return Workspace.from_tables(tables, backend=backend)


def pair(own: float | None, other: float | None, times: int = 3, **more: Any) -> list[Row]:
    """Runs of an eval on both sides, all with the same pass rate."""
    return [
        {"configuration": name, "pass_rate": rate, **more}
        for name, rate in zip(SIDES, (own, other), strict=True)
        for _ in range(times)
    ]


def by_kind(ws: Workspace, **options: Any) -> dict[str, Row]:
    """The notes by kind, of which there is one each; numbers as a dict."""
    rows = plain(notes(ws, **options))
    found = {row["kind"]: row for row in rows}
    assert len(found) == len(rows)
    for row in rows:
        row["numbers"] = {number["name"]: number["value"] for number in row["numbers"]}
        assert "\n" not in row["text"]
        assert row["text"].endswith(".")
    assert [row["kind"] for row in rows] == [kind for kind in KINDS if kind in found]
    return found


def test_what_is_gained_and_what_it_costs() -> None:
    runs = [
        row
        | {
            "tokens": 3000 + 1700 * own,
            "time_seconds": 40.0 + 12.5 * own,
            "cost_usd": 0.02 + own / 100,
        }
        for row in pair(1.0, 0.5)
        for own in [row["configuration"] == "with_skill"]
    ]
    note = by_kind(world(runs))["gain and cost"]
    assert note["text"] == (
        "with_skill against without_skill: +50 pp pass rate on 1 paired eval "
        f"({deltas(world(runs))['verdict'].item()}, p = 0.1), "
        "for +12.5 s, +1,700 tokens and +$0.01 a run."
    )
    assert note["numbers"] == pytest.approx(
        {
            "pass_rate": 0.5,
            "n_evals": 1,
            "p": 0.1,
            "time_seconds": 12.5,
            "tokens": 1700,
            "cost_usd": 0.01,
        }
    )
    assert "gain and cost" not in by_kind(world(pair(1.0, 0.5)))


def test_expectations_that_tell_nothing_or_the_wrong_thing() -> None:
    verdicts = sides([T] * 4, [T] * 4, text="easy") + sides([T] * 4, [T] * 4, text="easy, too")
    verdicts += sides([F] * 4, [F] * 4, text="hard") + sides([F] * 6, [T] * 6, text="worse")
    verdicts += sides([T] * 6, [F] * 6, text="better")
    found = by_kind(world([], verdicts))
    assert found["always passes"]["text"] == (
        "2 of 5 expectations always passed in with_skill and without_skill: ‘easy’ and "
        "‘easy, too’. Make them harder, or leave them out."
    )
    assert found["always passes"]["expectations"] == ["easy", "easy, too"]
    assert found["always passes"]["numbers"]["n_verdicts_baseline"] == 8
    assert "‘hard’" in found["always fails"]["text"]
    assert "‘worse’ (0 of 6 against 6 of 6)" in found["hurts"]["text"]
    assert (found["hurts"]["evals"], found["hurts"]["configuration"]) == (["1"], "with_skill")


def test_evals_that_waver() -> None:
    verdicts = [
        row
        for text in ("a", "b", "c")
        for row in sides([T, F, T], [T, T, T], text=text, eval_id="flaky")
        + sides([T, text != "a"], [T, T], text=text, eval_id="steady")
    ]
    note = by_kind(world([], verdicts))["flaky eval"]
    assert note["evals"] == ["flaky"]
    assert note["expectations"] == ["a", "b", "c"]
    assert "‘flaky’ (3 of 3)" in note["text"]


def test_runs_without_figures_and_evals_without_a_side() -> None:
    runs = pair(1.0, 0.5) + pair(1.0, None, eval_id="2")
    for row in runs[-3:]:
        row["status"] = "errored"
    runs += [{"configuration": "with_skill", "eval_id": "3", "pass_rate": 1.0, "status": "gated"}]
    found = by_kind(world(runs))
    assert found["left out"]["text"] == (
        "Not in every figure: of 13 runs 3 errored (2 without_skill run 1, 2 without_skill run 2 "
        "and 2 without_skill run 3); 1 without rubric scores, as a critical check failed "
        "(3 with_skill run 1)."
    )
    assert found["left out"]["numbers"] == {"n_runs": 13, "n_errored": 3, "n_gated": 1}
    assert len(found["left out"]["runs"]) == 4
    assert found["unpaired"]["evals"] == ["2", "3"]
    assert "2 of 3 evals cannot be compared" in found["unpaired"]["text"]
    assert "‘3’ (no run of without_skill)" in found["unpaired"]["text"]


def test_a_run_that_stands_out() -> None:
    runs = [
        {"configuration": "with_skill", "time_seconds": 40.0 + at, "run_number": at}
        for at in range(11)
    ]
    runs.append({"configuration": "with_skill", "time_seconds": 400.0, "run_number": 12})
    note = by_kind(world(runs))["outlier"]
    assert note["runs"] == ["1 with_skill run 12"]
    assert note["text"].startswith(
        "Far from the others: 1 with_skill run 12 took 400 s, where 45.5 s is usual (modified z "
    )
    assert note["text"].endswith("Without it the mean of with_skill is 45 s, not 74.6 s.")


def scored(dimension: str, own: list[list[float]], other: list[list[float]]) -> list[Row]:
    """Scores of an eval: a list a run, of its judgings."""
    return [
        {"dimension": dimension, "configuration": name, "run_number": run, "eval_id": eval_id}
        | {"judging": judging, "score": score}
        for eval_id in ("1", "2")
        for name, runs in zip(SIDES, (own, other), strict=True)
        for run, judgings in enumerate(runs, 1)
        for judging, score in enumerate(judgings, 1)
    ]


def test_a_dimension_with_more_noise_than_effect() -> None:
    runs = pair(1.0, 1.0) + pair(1.0, 1.0, eval_id="2")
    clear = scored("clear", [[5, 5]] * 3, [[2, 2], [2, 3], [2, 2]])
    judge = scored("the judge's", [[1, 5], [5, 1], [3, 3]], [[1, 4], [5, 1], [3, 4]])
    run = scored("the run's", [[1, 1], [5, 5], [3, 3]], [[5, 5], [3, 3], [1, 2]])
    note = by_kind(world(runs, scores=[*clear, *judge, *run]))["noisy dimension"]
    assert "clear" not in note["text"]
    assert {name.partition(" of ")[2] for name in note["numbers"]} == {"the judge's", "the run's"}
    assert "More runs would narrow it down. ‘the judge's’: it is mostly the judge" in note["text"]
    assert note["numbers"]["noise of the run's"] > abs(note["numbers"]["estimate of the run's"])


def test_names_from_files_are_cut_and_stay_on_a_line() -> None:
    name = "two\nlines " + "long " * 200
    verdicts = sides([T] * 4, [T] * 4, text=name, eval_id=name)
    [note] = plain(notes(world([], verdicts)))
    assert len(note["text"]) < 300
    assert "two lines long" in note["text"]
    assert note["expectations"] == note["evals"] == [name]


def test_the_first_few_of_each_iteration() -> None:
    verdicts = [
        row | {"iteration": iteration}
        for iteration in ("iteration-10", "iteration-9")
        for row in sides([T] * 4, [T] * 4, text="easy") + sides([F] * 4, [F] * 4, text="hard")
    ]
    found = notes(world([], verdicts), most=1)
    assert found.select("iteration", "kind").rows() == [
        ("iteration-9", "always passes"),
        ("iteration-10", "always passes"),
    ]


@few
@given(run_rows())
def test_every_backend_says_the_same_in_any_order(rows: list[Row]) -> None:
    table = runs_table(rows)
    expected = plain(notes(Workspace.from_tables({"runs": table})))
    backwards = Workspace.from_tables({"runs": table[::-1]}, backend="pandas")
    found = notes(backwards)
    assert isinstance(found, pd.DataFrame)
    said = [row["text"] for row in expected]
    assert found["text"].to_list() == said


def test_nothing_to_say_and_no_workspace() -> None:
    empty = notes(Workspace.from_tables({}))
    assert (empty.height, empty.schema["evals"]) == (0, pl.List(pl.String))
    with pytest.raises(TypeError, match="give a Workspace, not DataFrame"):
        notes(runs_table([]))
