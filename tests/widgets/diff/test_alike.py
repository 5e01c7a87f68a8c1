"""What else differs between two iterations."""

from __future__ import annotations

import json

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.diff import SetupDifference, unlike
from skill_eval_nb.widgets.diff.skill import Pair
from tests.corpus.build import graded
from tests.tables.made import workspace as made_of
from tests.widgets.diff.made import workspace

FIRST = "iteration-1/eval-2-logout/with_skill/run-1"
SECOND = "iteration-2/eval-2-logout/with_skill/run-1"


PAIR = Pair("iteration-1", "iteration-2")


def of(path) -> list[SetupDifference]:
    return unlike(sen.load(path), PAIR)


def touching(found) -> bool:
    return any(one.touches_deltas for one in found)


def test_an_eval_of_one_iteration_alone(tmp_path):
    assert of(workspace(tmp_path / "same")) == []
    third = {"iteration-2/eval-3-third/with_skill/run-1/grading.json": graded("p")}
    found = of(workspace(tmp_path, third))  # that it has expectations of its own is no news
    assert found == [SetupDifference("Evals", "third", None, "third")]
    assert not touching(found)


def test_a_changed_prompt(tmp_path):
    changed = {"eval_id": 2, "eval_name": "logout", "prompt": "Do the logout twice"}
    path = workspace(tmp_path, {"iteration-2/eval-2-logout/eval_metadata.json": changed})
    found = of(path)
    assert found == [SetupDifference("Prompts", "logout", "Do the logout", "Do the logout twice")]
    assert touching(found)
    (path / "iteration-1" / "eval-2-logout" / "eval_metadata.json").unlink()
    assert of(path) == []  # what is not known is no difference


def test_expectations_of_one_iteration_alone_and_reworded(tmp_path):
    def expectations(*pairs):
        return {"expectations": [{"id": id_, "text": text, "passed": True} for id_, text in pairs]}

    runs = [f"iteration-{n}/eval-2-logout/{side}/run-1/grading.json"
            for n in (1, 2) for side in ("with_skill", "without_skill")]  # fmt: skip
    old = expectations(("E1", "it works"), (None, "gone"), (None, "stays"))
    new = expectations(("E1", "it works well"), (None, "came"), (None, "stays"))
    found = of(workspace(tmp_path, dict(zip(runs, (old, old, new, new), strict=True))))
    assert found == [
        SetupDifference("Expectations", "logout, E1", "it works", "it works well"),
        SetupDifference("Expectations", "logout", "gone", None),
        SetupDifference("Expectations", "logout", None, "came"),
    ]
    assert touching(found)


@pytest.mark.parametrize(
    ("column", "name", "touches"),
    [("executor_model", "executor's model", False), ("judge_model", "judge's model", True)],
)
def test_another_model(column, name, touches):
    run = {"workspace": "w", "skill": "s", "eval_id": "1", "configuration": "with_skill"}
    several = (("iteration-1", "old"), ("iteration-1", None), ("iteration-2", "new"))
    runs = [
        run | {"iteration": iteration, "run_number": at, column: model}
        for at, (iteration, model) in enumerate(several)
    ]
    found = unlike(made_of(runs=runs), PAIR)
    assert found == [SetupDifference("Models", name, "old", "new")]
    assert touching(found) is touches


def test_rubric_dimensions_of_one_iteration_alone(tmp_path):
    def scored(*names):
        scores = {name: {"score": 4, "evidence": "e"} for name in names}
        return graded("pp") | {"rubric_scores": scores}

    runs = {
        f"{FIRST}/grading.json": scored("clarity", "depth"),
        f"{SECOND}/grading.json": scored("clarity"),
    }
    found = of(workspace(tmp_path, runs))
    assert found == [SetupDifference("Rubric dimensions", "depth", "depth", None)]
    del runs[f"{SECOND}/grading.json"]
    assert of(workspace(tmp_path / "other", runs)) == []  # not judged is not unlike


def test_what_our_journals_say_of_how_it_was_run(tmp_path):
    def journal(seed, skill):
        runs = {"skills": {"with_skill": skill}, "seed": seed, "limits": {"turns": 30 + seed}}
        told = {"runs": runs, "grading": {"judge": None, "allow_scripts": True}}
        return json.dumps({"event": "planned", "fingerprint": told})

    logs = {f"iteration-{n}/journal.jsonl": journal(n, str(n)) for n in (1, 2)}
    assert of(workspace(tmp_path, logs)) == [
        SetupDifference("How it was run", "seed", "1", "2"),
        SetupDifference("How it was run", "limits, turns", "31", "32"),
    ]
