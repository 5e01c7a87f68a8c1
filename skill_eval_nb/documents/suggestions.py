"""eval_feedback_aggregate.json: the graders' suggestions over all runs."""

from __future__ import annotations

from typing import Annotated

from .document import Count, Document, says


class AggregatedSuggestion(Document):
    """One suggestion, and how many runs made it."""

    reason: Annotated[str, says("why the evals should change")]
    frequency: Annotated[Count, says("number of runs that said it")] = 1
    assertion: Annotated[
        str | None, says("id or text of the expectation; null for a missing one")
    ] = None
    action: Annotated[str | None, says("what to do about it")] = None


class SuggestionAggregate(Document):
    """The graders' suggestions, collected over runs and evals."""

    suggestions: Annotated[list[AggregatedSuggestion], says("most frequent first")]
    skill_name: Annotated[str | None, says("the skill")] = None
    iteration: Annotated[str | int | None, says("the iteration")] = None
    total_runs: Annotated[Count | None, says("runs that were read")] = None
