"""Skills, queries, executors and models that measurements are tried with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection, Usage
from skill_eval_nb.running import Execution, Task
from skill_eval_nb.triggers import Measured, Query, measure
from tests.running.executors.scripted_model import Scripted

BODY = "# Kites\n\nFold the paper twice along its longest side.\nTie the string to the cross.\n"

FLY = Query("Build me a kite from this paper", should_trigger=True)
ROW = Query("Build me a boat from this wood", should_trigger=False, tags=("near miss",))


def make_skill(
    folder: Path, name: str = "kites", description: str = "Builds kites.", body: str = BODY
) -> Path:
    """A skill's folder."""
    folder.mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\n\n{body}"
    (folder / "SKILL.md").write_text(text, "utf-8")
    return folder


@dataclass(frozen=True)
class Told:
    """An executor whose runs go as a function tells; nothing is called, nothing is spent."""

    run: Callable[[Task], Execution] = field(compare=False)
    name: str = "told"

    def why_not(self, sandbox: str) -> str | None:
        return None

    async def execute(self, task: Task, meter: object) -> Execution:
        return self.run(task)


def used(name: str, number: int = 1, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": str(number), "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


def gave(text: str, number: int = 1, *, is_error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": str(number), "content": text}
    return {"type": "user", "message": {"content": [{**block, "is_error": is_error}]}}


def went(*events: Mapping[str, Any], skill_used: bool | None = False, **more: Any) -> Execution:
    """A run that came to its end."""
    return replace(Execution("done", None, events, Usage(), 0.0, skill_used, ""), **more)


OPENED = went(used("Skill", skill="kites"), gave("Launching skill: kites"), skill_used=True)


def measured(root: Path, *queries: Query, run: Any = None, **options: Any) -> Measured:
    """A measurement of the skill in `root / "kites"`, which is made where it is missing."""
    if not (root / "kites").exists():
        make_skill(root / "kites")
    if run is not None:
        options.setdefault("executor", Told(run))
        options.setdefault("model", "stand-in")
    options.setdefault("others", "none")
    return measure(root / "kites", queries or (FLY, ROW), **options)


def by_model(step: Callable[[dict[str, Any]], Any]) -> tuple[Scripted, dict[str, Any]]:
    """A model that answers by a function of the request, and the options that lead to it."""
    model = Scripted(step)
    return model, {"connection": Connection(stand_in=model), "model": "stand-in"}  # type: ignore[arg-type]


def outcomes(found: Measured) -> dict[str, list[str]]:
    """The outcomes by query, in the order of the runs."""
    told: dict[str, list[str]] = {}
    for one in found.attempts:
        told.setdefault(one.query.query, []).append(one.outcome)
    return told


def turn_of(request: Mapping[str, Any]) -> int:
    """How often the model has answered before."""
    return sum(message["role"] == "assistant" for message in request["messages"])


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
