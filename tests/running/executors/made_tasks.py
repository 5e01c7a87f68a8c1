"""Tasks and skills that executors are tried with."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection
from skill_eval_nb.running.protocol import Limits, Skill, Task
from tests.corpus.build import lay


def task(root: Path, connection: Connection, **given: Any) -> Task:
    """A task with its folders made, for a model whose name is in no other run's environment."""
    folder, scratch = root / "work", root / "scratch"
    for one in (folder, scratch):
        one.mkdir(parents=True, exist_ok=True)
    plain: dict[str, Any] = {
        "prompt": "Write release notes for version 2.0 from mixed.txt.",
        "skill": None,
        "model": f"stand-in-{secrets.token_hex(4)}",
        "limits": Limits(seconds=60.0),
        "key": root.name,
        "sandbox": "bubblewrap",
    }
    return Task(folder=folder, scratch=scratch, connection=connection, **{**plain, **given})


def skill(root: Path, name: str, description: str, body: str, **files: str) -> Skill:
    """A skill in a folder of its own."""
    text = f"---\nname: {name}\ndescription: {description}\n---\n\n{body}"
    return Skill(name, description, lay(root / "staged", {"SKILL.md": text, **files}))
