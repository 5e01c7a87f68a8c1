"""feedback.json: a human's review of the runs."""

from __future__ import annotations

from typing import Annotated

from .document import Document, Score, says


class Review(Document):
    """What a human said of one run; an empty text means that it was fine."""

    run_id: Annotated[str, says("the run: eval-0-with_skill, …", also=("run", "id"))]
    feedback: Annotated[str, says("the review", also=("comment", "text"))] = ""
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    scores: Annotated[dict[str, Score], says("the human's scores by rubric dimension, 1-5")] = {}


class Feedback(Document):
    """A human's reviews of an iteration."""

    reviews: Annotated[list[Review], says("one a run")]
    status: Annotated[str | None, says("in_progress or complete")] = None
