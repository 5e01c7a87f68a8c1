"""Trigger evals: which queries should make a model pick the skill up, and what happened."""

from __future__ import annotations

from typing import Annotated, ClassVar

from .document import Count, Document, Rate, says


class TriggerQuery(Document):
    """A query, whether the skill should be picked up for it, and whether it was."""

    query: Annotated[str, says("what the user says", also=("prompt", "input", "text"))]
    should_trigger: Annotated[bool | None, says("whether the skill should be picked up")]
    triggered: Annotated[Count | None, says("runs that picked it up", also=("trigger_count",))] = (
        None
    )
    runs: Annotated[Count | None, says("runs of this query", also=("run_count",))] = None
    trigger_rate: Annotated[Rate | None, says("triggered / runs")] = None
    split: Annotated[str | None, says("train or test")] = None
    tags: Annotated[list[str], says("what kind of query it is", also=("tag",))] = []
    expected: Annotated[
        str | None,
        says(
            "which skill should be picked up, where a set is for several",
            also=("expected_skill",),
        ),
    ] = None


class TriggerSet(Document):
    """A set of trigger queries; in the file a bare list."""

    plain: ClassVar[str | None] = "queries"

    queries: Annotated[
        list[TriggerQuery],
        says(
            "the queries",
            also=("query_results", "results", "evals", "cases", "test_cases", "tests", "prompts"),
        ),
    ]
    skill_name: Annotated[str | None, says("the skill", also=("skill", "target_skill"))] = None
    description: Annotated[str | None, says("the description that was measured")] = None
