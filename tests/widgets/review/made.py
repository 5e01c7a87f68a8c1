"""A small workspace to review: two iterations, two evals, two sides, two runs each."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from skill_eval_nb.widgets.review import Review, review
from skill_eval_nb.widgets.review.queue import token_of
from skill_eval_nb.widgets.ui.source import RunKey
from tests.corpus.build import graded, lay
from tests.widgets.trees import find

EVALS = {"1": "login", "2": "orders"}
SIDES = ("with_skill", "without_skill")
TELLTALE = [
    *"with_skill without_skill iteration-1 skill_used 4,321 eval-1-login".split(),
    "It read the skill",
]
"""What a blind page must not say."""


def scored(marks: str, *scores: int) -> dict[str, Any]:
    named = zip(("order", "tone"), scores, strict=True)
    rubric = {name: {"score": one, "evidence": f"{name} {one}"} for name, one in named}
    return graded(marks, rubric_scores=rubric)


def workspace(folder: Path, iterations: int = 2, runs: int = 2) -> Path:
    dimensions = [
        {"id": "Q1", "name": "order", "description": "In order", "scoring": {"1": "a heap"}},
        {"id": "Q2", "name": "tone", "description": "How it sounds", "scoring": {}},
    ]
    rubric = {"quality_rubric": {"dimensions": dimensions}}
    suite = [
        {"id": int(id_), "name": name, "prompt": f"Do {name}"}
        | {"expected_output": f"{name} is done", **rubric}
        for id_, name in EVALS.items()
    ]
    files: dict[str, Any] = {"evals/evals.json": {"skill_name": "tidy", "evals": suite}}
    for iteration, (id_, name), side, run in product(
        range(1, iterations + 1), EVALS.items(), SIDES, range(1, runs + 1)
    ):
        at = f"iteration-{iteration}/eval-{id_}-{name}/{side}/run-{run}"
        marks = "pp" if (side, id_) == ("with_skill", "1") else "pf"
        answer = f"# {name}\n\nanswer {iteration} {run} in {len(side)} words\n"
        files[f"{at}/grading.json"] = scored(marks, 4, 3)
        files[f"{at}/timing.json"] = {"total_tokens": 4321}
        files[f"{at}/outputs/answer.md"] = answer
        files[f"{at}/transcript.md"] = f"It read the skill of {side}.\n"
    return lay(folder / "tidy-workspace", files)


def opened(folder: Path, **chosen: Any) -> Review:
    return review(workspace(folder), **chosen)


def key(iteration: str, eval_id: str, side: str, run: int = 1) -> RunKey:
    return RunKey("tidy-workspace", "tidy", iteration, eval_id, side, run)


def token(eval_id: str, side: str, run: int = 1, iteration: str = "iteration-2") -> str:
    return token_of(key(iteration, eval_id, side, run))


def held(folder: Path, iteration: int = 2) -> Any:
    """What the file holds, without times."""
    path = folder / "tidy-workspace" / f"iteration-{iteration}" / "feedback.json"
    value = json.loads(path.read_text())
    for one in value["reviews"]:
        one.pop("timestamp", None)
    return value


def shown_runs(panel: Review) -> list[str]:
    """The tokens of the runs that are looked at, in the order in which they are seen."""
    areas = find(panel.view(), tag="textarea")
    return [one[1]["on"]["input"][1] for one in areas]


def doubted(folder: Path) -> Path:
    """The workspace with a check on which judgings differ, and one that a script contradicts."""
    made = workspace(folder, iterations=1, runs=3)
    for path in made.rglob("grading.json"):
        grading = graded("pfpfpfpf")
        if "eval-1-login/with_skill/run-2" in path.as_posix():
            for one in grading["expectations"]:
                one["confidence"] = "medium"
            script = {"expectations": [{"text": "check 1", "passed": False, "id": "S1"}]}
            (path.parent / "structural.json").write_text(json.dumps(script))
        path.write_text(json.dumps(grading))
    return made
