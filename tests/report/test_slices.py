"""Parts of a workspace, and folders that are safe whatever the names."""

from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import skill_eval_nb as sen
from skill_eval_nb import stats
from skill_eval_nb.report.measured import Slice, folders, slices
from tests.checkout import ROOT
from tests.report.made import (
    HOSTILE,
    SIDES,
    check,
    in_iterations,
    of_two_models,
    problem,
    run,
    workspace,
)

ODD = ["", ".", "..", "/", "../../etc", "a/b", "C:\\x", "nul", "a" * 300, "none", *HOSTILE]
NAMES = st.one_of(st.sampled_from(ODD), st.text(max_size=20))


@given(st.lists(st.builds(Slice, NAMES, NAMES, NAMES), unique=True, max_size=8))
@example([Slice("a", "s", "i"), Slice("A", "s", "i")])
def test_folders_are_apart_and_below(parts):
    found = folders(parts)
    assert len(found) == len({str(folder).casefold() for folder in found}) == len(parts)
    for folder in found:
        assert not folder.is_absolute()
        assert ".." not in folder.parts
        assert not [step for step in folder.parts if not 0 < len(step.encode()) < 256]
        assert not set("".join(folder.parts)) & set('<>:"/\\|?*\0\n')


def test_the_skill_stands_between_where_a_workspace_has_several():
    parts = [Slice("w", "a", "i"), Slice("w", "b", "i"), Slice("v", "a", "i")]
    assert [str(folder) for folder in folders(parts)] == ["w/a/i", "w/b/i", "v/i"]


def test_a_part_has_its_own_rows_and_problems():
    rows = in_iterations(1, 2)
    other = run("1", "with_skill", 1, 1.0, workspace="other")
    own, seconds, suite = (
        f"tdd-workspace/{path}"
        for path in ("iteration-1/eval-1", "iteration-2/eval-1", "evals.json")
    )
    problems = [problem(message="m", path=path) for path in (own, seconds, suite)]
    problems.append(problem(message="m", path="other/iteration-1", workspace="other"))
    ws = workspace(runs=[*rows, other], problems=problems)
    _, first, _ = places = slices(ws)
    assert [(one.workspace, one.iteration[-1]) for one in places] == [
        *(("other", "1"), ("tdd-workspace", "1"), ("tdd-workspace", "2"))
    ]
    part = first.of(ws)
    assert (part.runs.height, {*part.problems["path"]}) == (len(rows) / 2, {own, suite})


ORDERS = [
    ({"iteration-10": None, "iteration-9": None}, ["iteration-9", "iteration-10"]),
    ({"iteration-2": None, "iteration-main": None}, ["iteration-main", "iteration-2"]),
    ({"iteration-2": "2026-03-01", "final": "2026-04-01"}, ["iteration-2", "final"]),
    ({"iteration-2": "2026-03-01", "base": "2026-02-01"}, ["base", "iteration-2"]),
    ({"after": "2026-02-01", "before": "2026-01-01"}, ["before", "after"]),
]


@pytest.mark.parametrize(("begun", "order"), ORDERS)
def test_the_newest_iteration_is_last_in_reports_and_figures(begun, order):
    rows = [
        run("1", side, 1, 1.0, iteration=name, started_at=stamp and f"{stamp}T12:00:00Z")
        for name, stamp in begun.items()
        for side in SIDES
    ]
    ws = workspace(runs=rows)
    assert [place.iteration for place in slices(ws)] == order
    for figures in (stats.summarize, stats.deltas, stats.deltas_by_eval, stats.pass_at_k):
        assert list(dict.fromkeys(figures(ws)["iteration"])) == order


def test_several_models_are_a_slice_each_and_together_all_there_is():
    rows = of_two_models("a/b", HOSTILE[2])
    checks = [check(row, "c", True) for row in rows]
    ws = workspace(runs=rows, expectations=checks)
    places = slices(ws)
    assert [dict(one.model) for one in places] == [
        {"executor_model": name} for name in (HOSTILE[2], "a/b", "third")
    ]
    parts = [one.of(ws) for one in places]
    for table in ("runs", "expectations"):
        assert [part.polars(table).height for part in parts] == [8, 8, 1]
        assert ws.polars(table).height == 17
    names = [str(folder) for folder in folders(places)]
    assert len(set(names)) == 3
    assert all(name.count("/") == 2 and ".." not in name for name in names)
    assert names[-1] == "tdd-workspace/iteration-1/third"


FIGURES = (
    *(stats.summarize, stats.variance, stats.outliers, stats.notes, stats.audit, stats.next_step),
    *(stats.discrimination, stats.deltas_by_eval, stats.deltas_by_dimension),
    *(partial(stats.deltas, scope=scope) for scope in ("suite", "population")),
    partial(stats.deltas, metric=("tokens", "time_seconds"), level=0.99),
)


@pytest.mark.parametrize("name", [".", "made"])
def test_what_is_worked_out_for_all_iterations_in_one_go_is_that_of_each_alone(name):
    if name == "made":  # evals that belong together, in one of them more than in the other
        rows = in_iterations(1, 2) + [
            run(eval_id, side, 1, 0.5, eval_name=f"{word} {eval_id}", iteration="iteration-2")
            for eval_id, word in (("7", "table"), ("8", "table"), ("9", "chart"), ("10", "chart"))
            for side in SIDES
        ]
        other = [run("1", side, 1, 1.0, skill="other") for side in ("with_skill", "old_skill")]
        ws = workspace(runs=[*rows, *other])
    else:
        ws = sen.load(ROOT / "data" / name)
    places = slices(ws)
    assert len(places) > 1
    for place in places:
        part, alone = place.of(ws), place.of(ws)
        alone.part_of = None
        for figures in FIGURES:
            assert_frame_equal(figures(part), figures(alone), rel_tol=1e-9)
