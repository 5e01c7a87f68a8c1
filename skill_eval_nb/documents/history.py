"""history.json: the versions of a skill, and how each fared."""

from __future__ import annotations

from typing import Annotated

from .document import Document, Rate, says


class Version(Document):
    """One version of the skill."""

    version: Annotated[str, says("v0, v1, …")]
    parent: Annotated[str | None, says("the version it was made from")] = None
    expectation_pass_rate: Annotated[
        Rate | None, says("pass rate from grading", also=("pass_rate",))
    ] = None
    grading_result: Annotated[str | None, says("baseline, won, lost or tie")] = None
    is_current_best: Annotated[bool | None, says("whether it is the best so far")] = None
    iteration: Annotated[str | None, says("the iteration that its runs are of")] = None
    configuration: Annotated[str | None, says("the configuration that its runs are of")] = None
    reason: Annotated[str | None, says("what the result rests on")] = None
    what_changed: Annotated[str | None, says("what differs from its parent's files")] = None


class History(Document):
    """The lineage of a skill's versions."""

    iterations: Annotated[list[Version], says("the versions, oldest first", also=("versions",))]
    skill_name: Annotated[str | None, says("the skill")] = None
    started_at: Annotated[str | None, says("when the improving began, ISO 8601")] = None
    current_best: Annotated[str | None, says("version that is the best so far")] = None
