"""Documents besides the runs: reviews, comparisons, analyses, versions, triggers, suggestions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.build import graded, row
from tests.tables.made import coded, load, rows, two_sides


def values(ws, table: str, *names: str) -> list[tuple[Any, ...]]:
    """These columns of a table, as rows."""
    return ws.polars(table).select(names).rows()


def reviewed(tmp_path, run_id: str, more: dict[str, Any] | None = None, **fields: Any):
    """The workspace with a review of a run."""
    review = {"run_id": run_id, "feedback": "Too long.", "timestamp": "2026-01-02T03:04:05Z"}
    feedback = {"reviews": [review | fields], "status": "complete"}
    return load(tmp_path, two_sides() | (more or {}) | {"iteration-1/feedback.json": feedback})


OWN = {"iteration-1/eval-1-login/baseline-v2/run-1/grading.json": graded("p")}
TOLD = {"iteration-1/benchmark.json": {"runs": [row(7, "tuned", "pf", eval_name="Orders")]}}


@pytest.mark.parametrize(
    ("run_id", "more", "key"),
    [
        ("eval-1-with_skill", {}, ("1", "login", "with_skill", 1)),
        ("eval-1-without_skill", {}, ("1", "login", "without_skill", 1)),
        ("eval-1-login-with_skill", {}, ("1", "login", "with_skill", 1)),
        ("eval-1-login-with_skill-run-1", {}, ("1", "login", "with_skill", 1)),
        ("eval-1-login/without_skill/run-1", {}, ("1", "login", "without_skill", 1)),
        ("login-with_skill", {}, ("1", "login", "with_skill", 1)),
        # Configurations have any name, and a run may be one that only a benchmark tells of.
        ("eval-1-login-baseline-v2", OWN, ("1", "login", "baseline-v2", 1)),
        ("eval-7-tuned", TOLD, ("7", "Orders", "tuned", 1)),
    ],
)
def test_a_review_finds_its_run(tmp_path, run_id, more, key):
    ws = reviewed(tmp_path, run_id, more)
    names = ("eval_id", "eval_name", "configuration", "run_number")
    assert values(ws, "feedback", *names) == [key]
    names = ("feedback", "status", "timestamp", "iteration")
    said = ("Too long.", "complete", "2026-01-02T03:04:05Z", "iteration-1")
    assert values(ws, "feedback", *names) == [said]
    assert coded(ws, "unknown-run") == []


@pytest.mark.parametrize(
    ("scores", "told"),
    [({"tone": 4, "ordre é": 2.5}, '{"tone": 4, "ordre é": 2.5}'), ({}, None), (None, None)],
)
def test_the_scores_of_a_human(tmp_path, scores, told):
    ws = reviewed(tmp_path, "eval-1-with_skill", scores=scores)
    assert values(ws, "feedback", "scores") == [(told,)]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([{"text": "é", "passed": True, "by": "Ann"}], [("é", True, False)]),
        ([{"text": "a", "passed": False, "sampled": True}, {"text": "b", "passed": None}],
         [("a", False, True)]),
        ([], None),
    ],
)  # fmt: skip
def test_the_labels_of_a_human(tmp_path, labels, told):
    ws = reviewed(tmp_path, "eval-1-with_skill", labels=labels)
    [(found,)] = values(ws, "feedback", "labels")
    rows = None if found is None else [tuple(label.values()) for label in json.loads(found)]
    assert rows == told
    ws = reviewed(tmp_path, "eval-1-with_skill", labels=labels, reviewed=False)
    assert values(ws, "feedback", "feedback") == [(None,)]


@pytest.mark.parametrize("run_id", ["eval-9-with_skill", "eval-1", "the first one"])
def test_a_review_of_no_known_run_is_kept_and_told(tmp_path, run_id):
    ws = reviewed(tmp_path, run_id)
    assert values(ws, "feedback", "feedback") == [("Too long.",)]
    (problem,) = coded(ws, "unknown-run")
    assert problem["where"] == "$.reviews[0].run_id"
    assert run_id in problem["message"]


COMPARISON = {
    "winner": "A",
    "reasoning": "A is deeper.",
    "rubric": {
        "A": {
            "content": {"correctness": 5},
            "structure": {"order": 4},
            "content_score": 5,
            "overall_score": 9.0,
        },
        "B": {"content": {"correctness": 3}},
    },
    "output_quality": {"B": {"score": 6}},
    "eval_id": 1,
    "configuration_a": "with_skill",
    "configuration_b": "without_skill",
    "version_a": 2,
}


def test_a_comparison_is_a_row_for_each_side_and_criterion(tmp_path):
    ws = load(tmp_path, {"comparison.json": COMPARISON})
    names = ("side", "configuration", "version", "group", "criterion", "score")
    assert values(ws, "comparisons", *names) == [
        ("A", "with_skill", "2", "content", "correctness", 5.0),
        ("A", "with_skill", "2", "structure", "order", 4.0),
        ("A", "with_skill", "2", "overall", "content_score", 5.0),
        ("A", "with_skill", "2", "overall", "overall_score", 9.0),
        ("B", "without_skill", None, "content", "correctness", 3.0),
        ("B", "without_skill", None, "overall", "output_quality", 6.0),
    ]
    about = values(ws, "comparisons", "comparison", "eval_id", "winner", "reasoning")
    assert set(about) == {("comparison.json", "1", "A", "A is deeper.")}


def test_a_comparison_may_tell_its_pair_and_the_runs_behind_its_sides(tmp_path):
    runs = {"A": {"path": "iteration-1/eval-1/with_skill/run-1", "run_number": 1}}
    told = COMPARISON | {"pair": "f00d", "order": 2, "repetition": 1, "runs": runs}
    ws = load(tmp_path, {"comparisons/comparison-1.json": told})
    assert set(values(ws, "comparisons", "pair", "side", "run")) == {
        ("f00d", "A", "iteration-1/eval-1/with_skill/run-1"),
        ("f00d", "B", None),
    }


def test_a_comparison_without_scores_still_tells_its_winner(tmp_path):
    bare = {"winner": "tie", "reasoning": "Both fine.", "rubric": {}, "comparison_id": "c-1"}
    ws = load(tmp_path, {"comparison.json": bare})
    assert values(ws, "comparisons", "comparison", "winner", "side", "score") == [
        ("c-1", "tie", "A", None),
        ("c-1", "tie", "B", None),
    ]


def test_an_analysis(tmp_path):
    suggestion = {
        "priority": "high",
        "category": "instructions",
        "suggestion": "Say how to log out.",
        "expected_impact": "One check more",
    }
    analysis = {"comparison_summary": {"winner": "A"}, "improvement_suggestions": [suggestion]}
    (row,) = rows(load(tmp_path, {"analysis.json": analysis}), "analyses")
    assert row == {"workspace": "ws", "skill": "ws", "analysis": "analysis.json", **suggestion}


def test_history(tmp_path):
    names = ("version", "parent", "expectation_pass_rate", "grading_result", "is_current_best")
    told = [("v0", None, 0.5, "baseline"), ("v1", "v0", 0.75, "won"), ("v2", "v1", None, None)]
    versions: list[Any] = [dict(zip(names, one, strict=False)) for one in told]
    versions[2]["is_current_best"] = True
    best = {"skill_name": "auth", "current_best": "v1", "iterations": versions}
    ws = load(tmp_path / "a", {"history.json": best})
    marked = zip(told, (False, True, True), strict=True)
    assert values(ws, "history", *names) == [(*one, mark) for one, mark in marked]
    # Without a best version none is said to be it.
    ws = load(tmp_path / "b", {"history.json": {"skill_name": "a", "iterations": versions[:2]}})
    assert values(ws, "history", "is_current_best") == [(None,), (None,)]


@pytest.mark.parametrize(
    ("query", "rate"),
    [
        ({"triggered": 2, "runs": 3}, pytest.approx(2 / 3)),
        ({"triggered": 0, "runs": 3}, 0.0),
        ({"triggered": 2, "runs": 3, "trigger_rate": 0.7}, 0.7),
        ({"triggered": 0, "runs": 0}, None),
        ({"runs": 3}, None),
        ({}, None),
    ],
)
def test_a_trigger_rate_is_stated_or_counted(tmp_path, query, rate):
    asked = {"query": "Log me in", "should_trigger": True, **query}
    queries = [asked, {"query": "Out", "should_trigger": False, "tags": ["near miss", "for login"]}]
    first, second = rows(load(tmp_path, {"trigger_eval.json": queries}), "triggers")
    assert first["trigger_rate"] == rate
    assert (first["query"], first["should_trigger"], first["tags"]) == ("Log me in", True, [])
    assert second["tags"] == ["near miss", "for login"]


def test_a_search_for_a_description(tmp_path):
    search = {
        "best_description": "Does logins.",
        "best_score": 0.9,
        "iterations": [
            {"description": "Logins.", "train_score": 0.5, "test_score": 0.4},
            {"iteration": 5, "description": "Does logins.", "train_score": 0.9},
        ],
    }
    ws = load(tmp_path, {"optimization_result.json": search})
    names = ("iteration", "description", "train_score", "test_score", "is_best")
    assert values(ws, "optimizations", *names) == [
        (1, "Logins.", 0.5, 0.4, False),
        (5, "Does logins.", 0.9, None, True),
    ]


def test_suggestions_over_runs_are_of_no_run(tmp_path):
    first = {"reason": "Too weak", "frequency": 3, "assertion": "It works", "action": "Say how"}
    aggregate = {"suggestions": [first, {"reason": "No expiry"}]}
    ws = load(tmp_path, two_sides() | {"iteration-1/eval_feedback_aggregate.json": aggregate})
    names = ("iteration", "eval_id", "configuration", "run_number", "kind", "expectation", "reason")
    of_no_run = ("iteration-1", "unstated", "unstated", 0, "aggregate")
    assert values(ws, "suggestions", *names) == [
        (*of_no_run, "It works", "Too weak (said 3 times) Proposed: Say how"),
        (*of_no_run, None, "No expiry (said once)"),
    ]
