"""Drafts for rubric dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skill_eval_nb.improving.drafting.rules.rubric import of_rubric
from tests.improving.drafting.made import look, world

ANCHORS = {"1": "Poor.", "3": "Fair.", "5": "Good."}


def scored(**scores: Any):
    """Each dimension's score as a function of eval, side and run."""

    def scores_of(name: str, side: str, run: int) -> dict[str, Any]:
        given = {each: of(name, side, run) for each, of in scores.items()}
        return {
            "rubric_scores": {
                each: {"score": score, "evidence": f"It is a {score}, as {each} goes"}
                for each, score in given.items()
            }
        }

    return scores_of


def test_missing_anchors_quote_runs_of_that_score(tmp_path: Path) -> None:
    dimension = {"id": "Q1", "name": "tone", "description": "How it sounds", "scoring": {"3": "x"}}
    scores = scored(tone=lambda name, side, run: {1: 2, 2: 4, 3: 5}[run])
    path = world(tmp_path, checks={}, dimensions=(dimension,), scores=scores, evals=2)
    (one,) = of_rubric(look(path))
    (item,) = one.new
    assert not isinstance(item, str)
    assert (one.kind, one.part, one.target) == ("sharpen", "dimensions", "Q1")
    assert item["scoring"] == {
        "1": "“It is a 2, as tone goes” (eval-1)",
        "3": "x",
        "5": "“It is a 5, as tone goes” (eval-1)",
    }
    assert one.missing == ()
    assert len(one.runs) == 12


def test_what_no_run_shows_is_left_to_a_person(tmp_path: Path) -> None:
    dimension = {"name": "tone", "description": "How it sounds"}
    scores = scored(tone=lambda name, side, run: 4 if run == 1 else 5)
    path = world(tmp_path, checks={}, dimensions=(dimension,), scores=scores, evals=2)
    (one,) = of_rubric(look(path))
    assert one.missing == ("scoring.1", "scoring.3")


def test_a_dimension_that_never_differs_weighs_less(tmp_path: Path) -> None:
    tone = {"name": "tone", "description": "d", "scoring": ANCHORS, "weight": 3.0}
    depth = {**tone, "name": "depth"}
    scores = scored(tone=lambda *_: 4, depth=lambda name, side, run: run)
    path = world(tmp_path, checks={}, dimensions=(tone, depth), scores=scores, evals=2)
    (one,) = of_rubric(look(path))
    (item,) = one.new
    assert not isinstance(item, str)
    assert (one.target, item["weight"], item["scoring"]) == ("tone", 1.5, ANCHORS)


def test_a_noisy_judge_gets_instances_with_the_anchors(tmp_path: Path) -> None:
    tone = {"name": "tone", "description": "d", "scoring": ANCHORS}
    more = {}
    for eval_id in ("1", "2", "3"):
        for side in ("with_skill", "without_skill"):
            for run in (1, 2, 3):
                for judging, score in enumerate((1, 3, 5), 1):
                    more[f"eval-{eval_id}/{side}/run-{run}/judgings/{judging}.json"] = {
                        "judging": judging,
                        "judge_model": "made-up-judge",
                        "rubric_scores": {"tone": {"score": score, "evidence": f"a {score} it is"}},
                    }
    scores = scored(tone=lambda *_: 1)
    path = world(tmp_path, checks={}, dimensions=(tone,), scores=scores, evals=3, more=more)
    (one,) = of_rubric(look(path))
    (item,) = one.new
    assert not isinstance(item, str)
    assert item["scoring"]["5"] == "Good. For instance: “a 5 it is” (eval-1)"
    assert "100 % and more is the judge" in one.why
