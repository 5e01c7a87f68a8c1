"""Skills, queries, executors and models that measurements are tried with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Usage
from skill_eval_nb.running import Execution, Task
from skill_eval_nb.triggers import Measured, Query, measure
from tests.corpus.build import lay
from tests.grading.made import called

BODY = "# Kites\n\nFold the paper twice along its longest side.\nTie the string to the cross.\n"

FLY = Query("Build me a kite from this paper", should_trigger=True)
ROW = Query("Build me a boat from this wood", should_trigger=False, tags=("near miss",))


def make_skill(
    folder: Path, name: str = "", description: str = "Builds kites.", body: str = BODY
) -> Path:
    """A skill's folder, of its name."""
    head = f"---\nname: {name or folder.name}\ndescription: {description}\n---\n\n"
    return lay(folder, {"SKILL.md": head + body})


DESCRIPTION = "Sorts and cleans the rows of tables. Use it when the user wants to tidy a CSV file."


def tidy_tables(home: Path, **more: str) -> Path:
    """A skill that tidies tables."""
    return make_skill(home / "tidy-tables", description=DESCRIPTION, **more)


QUERIES = [Query(f"Builds of kites, number {n}", should_trigger=True) for n in range(8)]


@dataclass(frozen=True)
class Told:
    """An executor whose runs go as a function tells; nothing is called, nothing is spent."""

    run: Callable[[Task], Execution] = field(compare=False)
    name: str = "told"

    def why_not(self, sandbox: str) -> str | None:
        return None

    async def execute(self, task: Task, meter: object) -> Execution:
        return self.run(task)


def went(*events: Mapping[str, Any], skill_used: bool | None = False, **more: Any) -> Execution:
    """A run that came to its end."""
    return replace(Execution("done", None, events, Usage(), 0.0, skill_used), **more)


OPENED = went(*called("Skill", "Launching skill: kites", skill="kites"), skill_used=True)


def measured(root: Path, *queries: Query, run: Any = None, **options: Any) -> Measured:
    """A measurement of the skill in `root / "kites"`, which is made where it is missing."""
    if not (root / "kites").exists():
        make_skill(root / "kites")
    if run is not None:
        options = {"executor": Told(run), "model": "stand-in"} | options
    return measure(root / "kites", queries or (FLY, ROW), **({"others": "none"} | options))


def outcomes(found: Measured) -> dict[str, list[str]]:
    """The outcomes by query, in the order of the runs."""
    told: dict[str, list[str]] = {}
    for one in found.attempts:
        told.setdefault(one.query.query, []).append(one.outcome)
    return told


WHO = ("Belda", "Dorka", "Finmi", "Garno", "Lumru", "Novta", "Belwen", "Dorzet")


def about(topics: Mapping[bool, tuple[str, ...]]) -> list[Query]:
    """Queries of so many people about topics, which are their tags: none is in one half alone."""
    return [
        Query(f"For {name}{topic[:2]}: please do the {topic}", should, (topic,))
        for should, own in topics.items()
        for topic in own
        for name in WHO
    ]
