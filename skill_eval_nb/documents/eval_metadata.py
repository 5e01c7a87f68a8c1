"""eval_metadata.json: the eval that a folder of runs belongs to."""

from __future__ import annotations

from typing import Annotated

from .document import Document, says
from .evals import Expectation


class EvalMetadata(Document):
    """Which eval the runs below this folder are of, and what is checked there."""

    eval_id: Annotated[str | int | None, says("the eval's id", also=("id", "case_id"))] = None
    eval_name: Annotated[str | None, says("for people", also=("name",))] = None
    prompt: Annotated[str | None, says("the task that was given", also=("task_prompt", "task"))] = (
        None
    )
    assertions: Annotated[list[Expectation], says("what is checked", also=("expectations",))] = []
    configuration: Annotated[
        str | None, says("the configuration", also=("config", "condition"))
    ] = None
    model: Annotated[str | None, says("the model that ran", also=("executor_model",))] = None
    skill: Annotated[
        str | None, says("the skill, where evals are of several", also=("skill_name",))
    ] = None
