"""What was checked, scored and said of a run, and its figures."""

import json

from skill_eval_nb.widgets.show.run import (
    critique_summary,
    show_checks,
    show_critique,
    show_figures,
    show_rubric,
)
from tests.widgets.show import zoo
from tests.widgets.show.runs import KEY, workspace
from tests.widgets.trees import find, text


def check(layer, passed, words, evidence=None, **more):
    return {"layer": layer, "passed": passed, "text": words, "evidence": evidence, **more}


def test_checks_stand_by_layer_with_outcome_evidence_and_counts():
    checks = [
        check("judged", None, "`a.md` is short"),
        check("structural", True, "there is a file", "Found: a.md", type="file_exists"),
        check("structural", False, zoo.CANARY, f"a.md:3: {zoo.TURNED}{zoo.CANARY}", type="regex"),
        check("judged", True, None, expectation_id="E2", confidence="low"),
    ]
    node = show_checks(workspace(expectations=checks), KEY)
    assert [text(find(one, cls="sen-unseen")) for one in find(node, tag="li")] == [
        *("passed", "failed", "not scored", "passed")
    ]
    parts = ["Structural", "1 of 2 passed", "there is a file", "Found: a.md", "Judged"]
    parts += ["1 of 1 passed, 1 not scored", "E2", "confidence low"]
    assert sorted(parts, key=text(node).index) == parts
    assert text(node).count(zoo.CANARY) == 2
    assert zoo.TURNED not in text(node)
    many = [check("judged", True, f"check {n}") for n in range(1_000)]
    words = text(show_checks(workspace(expectations=many), KEY))
    assert "1,000 of 1,000 passed" in words
    assert "The first 300 of 1,000 expectations." in words


def test_claims_notes_and_suggestions_of_the_judge():
    claims = [
        {"claim": "All tests pass", "type": "process", "verified": False, "evidence": "None."},
        {"claim": "It is short", "type": None, "verified": True, "evidence": None},
        {"claim": "It is fast", "type": None, "verified": None, "evidence": None},
    ]
    suggestions = [
        {"expectation": "a test", "kind": "critique", "reason": "Every run has one."},
        {"expectation": None, "kind": "overall", "reason": None},
    ]
    notes = [{"kind": "needs_review", "text": "Look at `b`."}]
    ws = workspace(claims=claims, notes=notes, suggestions=suggestions)
    node = show_critique(ws, KEY)
    assert [text(one) for one in find(node, cls="sen-unseen")] == [
        *("not verified", "verified", "not looked into")
    ]
    for part in ("None.", "needs review", "On: a test\nEvery run has one."):
        assert part in text(node)
    assert critique_summary(ws, KEY) == "3 claims, 1 note, 2 suggestions"


def test_each_figure_stands_with_its_unit_and_a_missing_one_is_no_zero():
    run = {"status": "graded", "path": "run-1", "pass_rate": 0.75, "passed": 3, "total": 4}
    run |= {"gate_passed": True, "rubric_weighted_mean": 4.25, "time_seconds": 134.0}
    run |= {"tokens": 20921, "cost_usd": 0.0123, "tool_calls": 0, "errors": 0}
    run |= {"skill_used": False, "executor_model": "m <b>", "judge_model": "j"}

    def figures(ws):
        found = find(show_figures(ws, KEY), cls="sen-figure")
        return " | ".join(text(one).replace("\n", " ") for one in found)

    assert figures(workspace(runs=[run])) == (
        "Status graded | Pass rate 75% 3 of 4 | Gate passed | Rubric 4.25 of 5 | Time 134.0 s"
        " | Tokens 20,921 | Cost $0.012 | Tool calls 0 | Skill not opened"
        " | Executor model m <b> | Judge model j"
    )
    assert figures(workspace()) == "Status graded"


def test_why_a_run_errored_stands_beside_it():
    problems = [
        {"severity": severity, "code": "x", "path": path, "message": message}
        for severity, path, message in (
            ("warning", "run-1", "ended in an error (timeout)"),
            ("error", "run-1/grading.json", "no JSON"),
            ("info", "run-1", "known"),
            ("error", "run-10", "another run"),
        )
    ]
    runs = [{"status": "errored", "path": "run-1"}]
    node = show_figures(workspace(runs=runs, problems=problems), KEY)
    told = ["warning ended in an error (timeout)", "error no JSON"]
    assert [text(one) for one in find(node, tag="li")] == told


def test_each_judging_has_its_score_and_evidence_and_what_scores_mean_is_told():
    keys = ("dimension", "judging", "score", "evidence", "weight")
    rows = (
        ("style", 1, 4.0, "Reads well.", 2.0),
        ("style", 2, 3.0, "Too long.", 2.0),
        ("depth", 1, None, None, 1.0),
        ("depth", 2, 2.0, "Shallow.", 1.0),
    )
    scores = [dict(zip(keys, row, strict=True)) | {"judge_model": "j"} for row in rows]
    anchors = json.dumps({"1": "badly", "5": "well"})
    dimensions = [
        {"dimension": "style", "description": "How it *reads*", "anchors": anchors},
        {"dimension": "depth", "anchors": "[" * 9_999},
    ]
    runs = [{"status": "graded", "path": "r", "rubric_weighted_mean": 3.4}]
    node = show_rubric(workspace(runs=runs, rubric_scores=scores, dimensions=dimensions), KEY)
    assert "Weighted mean 3.4 of 5" in text(node)
    assert "2 judgings · j" in text(node)
    items = map(text, find(node, tag="li", cls="sen-item sen-of-rubric"))
    (style,) = [one for one in items if one.startswith("style")]
    for part in ("3.5 of 5 4, 3 in 2 judgings", "Reads well.", "Too long.", "× 2", "it *reads*"):
        assert part in style
    assert [text(one) for one in find(find(node, tag="dl"), tag="dd")] == ["badly", "well"]
