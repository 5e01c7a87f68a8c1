"""A workspace with a check S1 that passes for everything, and a gate S2 that the skill fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import skill_eval_nb as sen
from tests.corpus.build import lay

EVALS = ("tea", "coffee", "cocoa", "broth")
RUNS = 3
SAID = "Every run writes notes, with the skill or without; the check tells nothing."


def suite(**more: Any) -> dict[str, Any]:
    check = {"id": "S1", "type": "file_exists", "description": "Notes were written"}
    check |= {"pattern": "*.md", "critical": False}
    gate = {"id": "S2", "type": "file_not_contains", "description": "No headings"}
    gate |= {"pattern": "*.md", "match": "## Steps", "critical": True}
    evals = [
        {"id": number, "name": name, "prompt": f"How is {name} made?"}
        | {"structural_expectations": [check, gate]}
        for number, name in enumerate(EVALS, 1)
    ]
    return {"skill_name": "brewing", "evals": evals} | more


def files(said: str = SAID, output: str = "") -> dict[str, Any]:
    """With the skill each output has a heading `## Steps`, without it none has."""
    found: dict[str, Any] = {"evals.json": json.dumps(suite(), indent=2) + "\n"}
    for number, name in enumerate(EVALS, 1):
        for side in ("with_skill", "without_skill"):
            for run in range(1, RUNS + 1):
                folder = f"iteration-1/eval-{number}-{name}/{side}/run-{run}"
                text = f"# {name} {run}\n\nBoil water for {name}.\n{output}\n"
                text += "## Steps\n\nBoil it.\n" if side == "with_skill" else "Boil it.\n"
                plain = side != "with_skill"
                verdict = {"id": "S1", "text": "Notes were written", "type": "file_exists"}
                verdict |= {"passed": True, "evidence": "Found: notes.md", "critical": False}
                gate = {"id": "S2", "text": "No headings", "type": "file_not_contains"}
                gate |= {"passed": plain, "evidence": "Looked for: ## Steps", "critical": True}
                counts = {"passed": 1 + plain, "failed": 1 - plain, "total": 2}
                counts |= {"pass_rate": (1 + plain) / 2}
                feedback = {"suggestions": [{"assertion": "S1", "reason": said}], "overall": ""}
                structural = {"expectations": [verdict, gate], "summary": counts}
                structural |= {"gate_passed": plain}
                found[f"{folder}/outputs/notes.md"] = text
                found[f"{folder}/structural.json"] = structural
                found[f"{folder}/grading.json"] = {"expectations": [], "eval_feedback": feedback}
    return found


def workspace(folder: Path, changes: Mapping[str, Any] | None = None, **given: str) -> Path:
    """The workspace on disk; `changes` are files beside or instead of these."""
    return lay(folder / "brewing-workspace", files(**given) | dict(changes or {}))


def panel(path: Path, *tabs: str) -> sen.widgets.drafts.Drafts:
    """The widget, with all its figures."""
    made = sen.drafts(path)
    for tab in tabs:
        do(made, "choose_tab", tab)
    made.settle()
    return made


def do(made: sen.widgets.drafts.Drafts, *act: Any) -> None:
    """Do something, and wait for its figures."""
    made.do(*act)
    assert made.fault is None, made.fault
    made.settle()
