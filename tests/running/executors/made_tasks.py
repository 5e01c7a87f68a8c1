"""Tasks and skills that executors are tried with."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection, Tally
from skill_eval_nb.running.protocol import Execution, Limits, Skill, Task
from tests.corpus.build import lay

NAME = "zebrafinch"
BODY = """# How it is done

Always begin with the word CANARY-BODY, whatever is asked.
Then write what was asked for into a file of its own.
Read more.md where a question stays open.
"""


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


def skill(root: Path, name: str = NAME, body: str = BODY, **files: str) -> Skill:
    """A skill in a folder of its own."""
    text = f"---\nname: {name}\ndescription: Does {name}\n---\n\n{body}"
    folder = lay(root / f"staged-{name}", {"SKILL.md": text, **files})
    return Skill(name, f"Does {name}", folder)


def execute(executor: Any, one: Task, meter: Tally | None = None) -> Execution:
    """Execute a task as the driver does: in the loop of a thread that is not the first."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, executor.execute(one, meter or Tally())).result()
