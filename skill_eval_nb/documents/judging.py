"""judgings/N.json: one pass of the judge over one run's output."""

from __future__ import annotations

from typing import Annotated

from .document import Amount, Count, Document, Seconds, says
from .grading import (
    Claim,
    EvalFeedback,
    GradedExpectation,
    RubricScore,
    RubricSummary,
    UserNotesSummary,
)


class ShownFile(Document):
    """One file as the judge saw it: whole, or its head and tail."""

    name: Annotated[str, says("its path within the outputs or inputs")]
    kind: Annotated[str | None, says("text, image, pdf, notebook, …")] = None
    size_bytes: Annotated[Count | None, says("size of the file", unit="bytes")] = None
    chars: Annotated[Count | None, says("characters that its text has")] = None
    shown_chars: Annotated[Count | None, says("characters of it that were shown")] = None


class NotShown(Document):
    """Something that the judge was not shown, and why."""

    what: Annotated[str, says("a file, a part of one, or a part of the transcript")]
    reason: Annotated[str, says("why it was left out")]
    chars: Annotated[Count | None, says("characters left out, where they were counted")] = None
    size_bytes: Annotated[Count | None, says("bytes left out, where not read", unit="bytes")] = None


class Shown(Document):
    """What the judge was shown of a run."""

    budget_chars: Annotated[Count | None, says("the most characters there was room for")] = None
    chars: Annotated[Count | None, says("characters of files, transcript and their list")] = None
    images: Annotated[Count | None, says("pictures that were shown as pictures")] = None
    files: Annotated[list[ShownFile], says("the outputs, in the order they were shown")] = []
    inputs: Annotated[
        list[ShownFile], says("files that the executor was given and left unchanged")
    ] = []
    transcript: Annotated[ShownFile | None, says("the transcript")] = None
    left_out: Annotated[list[NotShown], says("everything that was not shown")] = []
    masked: Annotated[
        Count | None, says("places where a name that tells the side was covered up")
    ] = None
    digest: Annotated[
        str | None, says("SHA-256 of what was shown: the same where two judgings saw the same")
    ] = None


class JudgingUsage(Document):
    """Tokens of all calls of one judging, refused answers included."""

    input_tokens: Annotated[Count | None, says("tokens read at full price")] = None
    output_tokens: Annotated[Count | None, says("tokens written")] = None
    cache_read_tokens: Annotated[Count | None, says("tokens read from the cache")] = None
    cache_write_tokens: Annotated[Count | None, says("tokens written to the cache")] = None
    calls: Annotated[Count | None, says("calls of the model")] = None


class Judging(Document):
    """The rubric scores of one judging; a run that was judged k times has k of these."""

    rubric_scores: Annotated[dict[str, RubricScore], says("dimension name to score")]
    judging: Annotated[Count | None, says("1, 2, …")] = None
    judge_model: Annotated[str | None, says("the model that judged", also=("model",))] = None
    rubric_summary: Annotated[RubricSummary | None, says("the rubric's aggregate")] = None
    expectations: Annotated[list[GradedExpectation], says("verdicts of this judging")] = []
    claims: Annotated[list[Claim], says("claims that were looked into")] = []
    user_notes_summary: Annotated[UserNotesSummary | None, says("what the executor flagged")] = None
    eval_feedback: Annotated[EvalFeedback | None, says("critique of the evals")] = None
    dimension_order: Annotated[
        list[str], says("dimensions in the order in which they were asked for")
    ] = []
    expectation_order: Annotated[
        list[str], says("E1, E2, …: expectations in the order in which they were asked for")
    ] = []
    per_dimension: Annotated[
        bool | None, says("whether each dimension was asked for in a call of its own")
    ] = None
    shown: Annotated[Shown | None, says("what the judge was shown")] = None
    refused_answers: Annotated[
        list[str], says("what was wrong with answers that had to be asked for again")
    ] = []
    batch: Annotated[str | None, says("the batch that it came from, and its call there")] = None
    usage: Annotated[JudgingUsage | None, says("tokens of this judging")] = None
    cost_usd: Annotated[Amount | None, says("what it cost", unit="usd")] = None
    seconds: Annotated[Seconds | None, says("time that this judging took")] = None
    timestamp: Annotated[str | None, says("when it was judged, ISO 8601")] = None
