"""judgings/N.json: one pass of the judge over one run's output."""

from __future__ import annotations

from typing import Annotated

from .document import Count, Document, says
from .grading import GradedExpectation, RubricScore, RubricSummary


class Judging(Document):
    """The rubric scores of one judging; a run that was judged k times has k of these."""

    rubric_scores: Annotated[dict[str, RubricScore], says("dimension name to score")]
    judging: Annotated[Count | None, says("1, 2, …")] = None
    judge_model: Annotated[str | None, says("the model that judged", also=("model",))] = None
    rubric_summary: Annotated[RubricSummary | None, says("the rubric's aggregate")] = None
    expectations: Annotated[list[GradedExpectation], says("verdicts of this judging")] = []
    timestamp: Annotated[str | None, says("when it was judged, ISO 8601")] = None
