"""A workspace with a check S1 that passes for everything, and a gate S2 that the skill fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from tests.corpus.build import lay

EVALS = ("tea", "coffee", "cocoa", "broth")
SAID = "Every run writes notes, with the skill or without; the check tells nothing."


def suite() -> dict[str, Any]:
    check = {"id": "S1", "type": "file_exists", "description": "Notes were written"}
    check |= {"pattern": "*.md", "critical": False}
    gate = {"id": "S2", "type": "file_not_contains", "description": "No headings"}
    gate |= {"pattern": "*.md", "match": "## Steps", "critical": True}
    evals = [
        {"id": number, "name": name, "prompt": f"How is {name} made?"}
        | {"structural_expectations": [check, gate]}
        for number, name in enumerate(EVALS, 1)
    ]
    return {"skill_name": "brewing", "evals": evals}


def graded(plain: bool) -> dict[str, Any]:
    """What the checks say of an output, of which a plain one has no heading."""
    check = {"id": "S1", "text": "Notes were written", "type": "file_exists"}
    check |= {"passed": True, "evidence": "Found: notes.md", "critical": False}
    gate = {"id": "S2", "text": "No headings", "type": "file_not_contains"}
    gate |= {"passed": plain, "evidence": "Looked for: ## Steps", "critical": True}
    counts = {"passed": 1 + plain, "failed": 1 - plain, "total": 2, "pass_rate": (1 + plain) / 2}
    return {"expectations": [check, gate], "summary": counts, "gate_passed": plain}


def workspace(folder: Path, changes: Mapping[str, Any] | None = None) -> Path:
    """The workspace on disk; `changes` are files beside or instead of these.

    With the skill each output has a heading `## Steps`, without it none has.
    """
    feedback = {"suggestions": [{"assertion": "S1", "reason": SAID}], "overall": ""}
    files: dict[str, Any] = {"evals.json": json.dumps(suite(), indent=2) + "\n"}
    for (number, name), side in product(enumerate(EVALS, 1), ("with_skill", "without_skill")):
        home = f"iteration-1/eval-{number}-{name}/{side}"
        plain = side == "without_skill"
        files[f"{home}/run-{{1,2,3}}/structural.json"] = graded(plain)
        files[f"{home}/run-{{1,2,3}}/grading.json"] = {
            "expectations": [],
            "eval_feedback": feedback,
        }
        for run in (1, 2, 3):
            steps = "" if plain else "## Steps\n\n"
            text = f"# {name} {run}\n\nBoil water for {name}.\n\n{steps}Boil it.\n"
            files[f"{home}/run-{run}/outputs/notes.md"] = text
    return lay(folder / "brewing-workspace", files | dict(changes or {}))
