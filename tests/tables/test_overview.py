"""What a workspace holds, counted by hand, and what to look at next."""

from __future__ import annotations

from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.overview import SEVERITIES, STATUSES, overview
from tests.checkout import ROOT
from tests.corpus.build import graded
from tests.tables.made import BASELINE, RUN, a_run, load, made, two_sides


def codes(facts) -> list[str]:
    return [code for code, _ in facts.next_steps]


def problem(severity: str, code: str, path: str = "p") -> dict[str, Any]:
    return {"severity": severity, "code": code, "path": path, "message": f"{code} at {path}"}


def test_the_bundled_workspace():
    facts = overview(sen.load(ROOT / "data" / "tdd-workspace"))
    (line,) = facts.lines
    assert (line.workspace, line.skill, line.n_evals) == ("tdd-workspace", "testing", 6)
    assert line.iterations == ("iteration-1", "iteration-2")
    assert set(line.configurations) == {"with_skill", "without_skill"}
    assert facts.statuses == line.statuses == {"graded": 67, "gated": 1, "errored": 1}
    assert facts.rows["runs"] == 69
    assert "triggers" not in facts.rows


def test_a_line_a_workspace_in_their_natural_order():
    facts = overview(made(runs=[a_run("ws-10"), a_run("ws-9"), a_run("ws-9")]))
    assert [(line.workspace, line.skill) for line in facts.lines] == [
        ("ws-9", "skill of ws-9"),
        ("ws-10", "skill of ws-10"),
    ]
    assert [line.statuses for line in facts.lines] == [{"graded": 2}, {"graded": 1}]


def test_what_has_graded_runs_comes_first():
    runs = [a_run("a", "ungraded"), a_run("b"), a_run("c"), a_run("c"), a_run("d", "executed")]
    assert [line.workspace for line in overview(made(runs=runs)).lines] == ["c", "b", "a", "d"]


def test_a_workspace_without_runs_and_evals_has_a_line_too():
    triggers = [{"workspace": "ws", "skill": "auth", "query": "Log in"}]
    (line,) = overview(made(triggers=triggers)).lines
    assert (line.workspace, line.n_evals, line.statuses) == ("ws", 0, {})


def test_iterations_are_in_order_and_no_iteration_is_none():
    names = ["iteration-10", "iteration-9", "none"]
    (line,) = overview(made(runs=[a_run(iteration=name) for name in names])).lines
    assert line.iterations == ("iteration-9", "iteration-10")


def test_an_eval_that_was_defined_and_run_is_one():
    evals = [{"workspace": "ws", "skill": "s", "eval_id": eval_id} for eval_id in ("1", "2")]
    assert overview(made(runs=[a_run(), a_run()], evals=evals)).lines[0].n_evals == 2


def test_statuses_are_in_the_order_of_the_design():
    facts = overview(made(runs=[a_run(status=status) for status in reversed(STATUSES)]))
    assert list(facts.statuses) == list(STATUSES)


def test_problems_are_told_by_kind_errors_first():
    facts = overview(
        made(
            problems=[
                problem("info", "other-name"),
                problem("warning", "converted", "first"),
                problem("error", "not-json"),
                problem("warning", "converted", "second"),
                problem("warning", "disagree"),
            ]
        )
    )
    assert [(kind.severity, kind.code, kind.count) for kind in facts.problems] == [
        ("error", "not-json", 1),
        ("warning", "converted", 2),
        ("warning", "disagree", 1),
        ("info", "other-name", 1),
    ]
    assert facts.problems[1].path == "first"
    assert facts.severities == {"error": 1, "warning": 3, "info": 1}


def test_nothing_is_counted_as_nothing():
    facts = overview(Workspace.from_tables({}))
    assert (facts.lines, facts.statuses, facts.problems, facts.next_steps) == ((), {}, (), ())
    assert facts.severities == dict.fromkeys(SEVERITIES, 0)
    assert facts.rows == {}


class TestNextSteps:
    def test_errors_come_first(self, tmp_path):
        facts = overview(load(tmp_path, two_sides() | {f"{BASELINE}/timing.json": "{"}))
        assert facts.next_steps[0] == ("ws.problems", "1 thing on disk could not be used")

    @pytest.mark.parametrize(
        ("waiting", "why"),
        [
            (1, "1 run has no grading: it enters no rate"),
            (2, "2 runs have no grading: they enter no rate"),
        ],
    )
    def test_runs_without_grading(self, waiting, why):
        facts = overview(made(runs=[a_run(), *[a_run(status="executed")] * waiting]))
        assert ("ws.runs", why) in facts.next_steps

    def test_two_sides_can_be_compared(self, tmp_path):
        assert codes(overview(load(tmp_path, two_sides())))[0] == "sen.charts.forest(ws)"

    def test_one_side_cannot(self, tmp_path):
        facts = overview(load(tmp_path, {f"{RUN}/grading.json": graded("p")}))
        assert facts.next_steps[0][1].startswith("every run is of with_skill: without a baseline")

    def test_sides_that_nobody_names_cannot(self, tmp_path):
        facts = overview(load(tmp_path, {"eval-1/grading.json": graded("p")}))
        assert facts.next_steps[0][1].startswith("no run names its configuration")

    def test_evals_without_runs(self, tmp_path):
        ws = load(tmp_path, {"evals.json": {"evals": [{"id": 1, "prompt": "Log in."}]}})
        assert overview(ws).next_steps == (("ws.evals", "there are evals here, and no runs yet"),)

    @pytest.mark.parametrize(
        "name", ["tdd-workspace", "iterations-workspace", "test-cases-workspace"]
    )
    def test_every_step_can_be_taken(self, name):
        ws = sen.load(ROOT / "data" / name)
        steps = codes(overview(ws))
        assert len(steps) >= 2
        for code in steps:
            assert eval(code, {"ws": ws, "sen": sen}) is not None
