"""Skills, suites and executors that tests of plans are made with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.models import StandIn, Usage
from skill_eval_nb.running import Execution, Plan, Task, plan_runs
from skill_eval_nb.running.spec import Missing

SKILL = "---\nname: notes\ndescription: Writes notes.\n---\n\n# Notes\n\nWrite them.\n"

EVALS: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "Short log",
        "prompt": "Write notes of evals/files/log.txt",
        "expected_output": "one note",
        "files": ["evals/files/log.txt"],
        "expectations": ["It has one note"],
        "structural_expectations": [{"type": "file_exists", "pattern": "*.md", "critical": True}],
        "quality_rubric": {"dimensions": [{"name": "plain", "weight": 1.0}]},
    },
    {"id": 2, "name": "No log", "prompt": "Write notes", "expectations": ["It asks for a log"]},
    {"id": 3, "prompt": "Write notes about everything", "expectations": ["Notes are short"]},
]


def steps_of(missing: Missing) -> tuple[str, ...]:
    """The steps that a run lacks, in words: execute, check, judge 1, …, grade."""
    judged = [f"judge {number}" for number in missing.judgings]
    first = [name for name in ("execute", "check") if getattr(missing, name)]
    return (*first, *judged, *(["grade"] if missing.grade else []))


@dataclass(frozen=True)
class Fake:
    """An executor that is never executed."""

    name: str = "fake"
    stand_in: StandIn | None = None
    reason: str | None = None
    detail: int = 0

    def why_not(self, sandbox: str) -> str | None:
        return self.reason

    async def execute(self, task: Task, meter: object) -> Execution:
        return Execution("done", None, (), Usage(), 0.0, None)


OFFLINE = Fake("offline", StandIn())


def make_skill(folder: Path, evals: list[dict[str, Any]] | None = None, **suite: Any) -> Path:
    """A skill with its evals, and things beside it that are no part of it."""
    files = {
        "SKILL.md": SKILL,
        "scripts/help.py": "print('help')\n",
        "evals/evals.json": json.dumps({"evals": EVALS if evals is None else evals, **suite}),
        "evals/files/log.txt": "fix: clocks\n",
        "trigger-eval-set.json": "[]",
        "notes-workspace/iteration-1/benchmark.json": "{}",
        "__pycache__/x.pyc": "",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def plan(folder: Path, **options: Any) -> Plan:
    """A plan of the skill in `folder`/skill, which is made where it is not there."""
    skill = folder / "skill"
    if not skill.exists():
        make_skill(skill)
    given = {"executor": OFFLINE, "workspace": folder / "ws", **options}
    return plan_runs(skill, **given)
