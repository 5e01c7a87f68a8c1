"""comparison.json: a blind comparison of two outputs."""

from __future__ import annotations

from typing import Annotated

from .document import Amount, Count, Document, Rate, Seconds, says
from .grading import GradedExpectation
from .judging import JudgingUsage, Shown


class SideRubric(Document):
    """The comparator's scores of one side, by group (content, structure) and criterion."""

    content: Annotated[dict[str, float], says("criterion to score, 1 to 5")] = {}
    structure: Annotated[dict[str, float], says("criterion to score, 1 to 5")] = {}
    content_score: Annotated[float | None, says("mean of the content scores")] = None
    structure_score: Annotated[float | None, says("mean of the structure scores")] = None
    overall_score: Annotated[float | None, says("1 to 10")] = None
    justifications: Annotated[dict[str, str], says("criterion to why it got its score")] = {}


class OutputQuality(Document):
    """What is good and bad about one side."""

    score: Annotated[float | None, says("1 to 10")] = None
    strengths: Annotated[list[str], says("what is good")] = []
    weaknesses: Annotated[list[str], says("what is not")] = []


class ExpectationResults(Document):
    """How one side fared on the expectations."""

    passed: Annotated[Count | None, says("expectations that passed")] = None
    total: Annotated[Count | None, says("expectations in all")] = None
    pass_rate: Annotated[Rate | None, says("passed / total")] = None
    details: Annotated[list[GradedExpectation], says("the verdicts")] = []


class ComparedRun(Document):
    """The run whose outputs a side showed, by the keys that every table of runs begins with."""

    workspace: Annotated[str | None, says("its workspace")] = None
    skill: Annotated[str | None, says("the skill that its workspace evaluates")] = None
    iteration: Annotated[str | None, says("its iteration")] = None
    eval_id: Annotated[str | int | None, says("its eval")] = None
    eval_name: Annotated[str | None, says("its eval's name")] = None
    configuration: Annotated[str | None, says("its configuration")] = None
    run_number: Annotated[Count | None, says("its number")] = None
    path: Annotated[str | None, says("its folder, below the workspace")] = None


class Comparison(Document):
    """A comparator's verdict on two outputs that it saw as A and B.

    The `test-cases` dialect has its own document, which is read into this one: its
    criteria become the group `content`, and its versions `version_a` and `version_b`.
    `pair`, `order` and `repetition` tell which comparisons are of the same two runs.
    """

    winner: Annotated[str, says("A, B or tie")]
    reasoning: Annotated[str | None, says("why", also=("summary",))] = None
    rubric: Annotated[dict[str, SideRubric], says("side to scores")] = {}
    output_quality: Annotated[dict[str, OutputQuality], says("side to quality")] = {}
    expectation_results: Annotated[dict[str, ExpectationResults], says("side to results")] = {}
    comparison_id: Annotated[str | None, says("its id")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    eval_id: Annotated[str | int | None, says("the eval", also=("test_case_id",))] = None
    version_a: Annotated[str | int | None, says("version behind A")] = None
    version_b: Annotated[str | int | None, says("version behind B")] = None
    configuration_a: Annotated[str | None, says("configuration behind A")] = None
    configuration_b: Annotated[str | None, says("configuration behind B")] = None
    key_differentiators: Annotated[list[str], says("what made the difference")] = []
    pair: Annotated[str | None, says("opaque id of the two runs, whatever their order")] = None
    order: Annotated[
        Count | None, says("1 or 2: in which of its two orders the pair was shown")
    ] = None
    repetition: Annotated[Count | None, says("1, 2, …: how often it was shown in this order")] = (
        None
    )
    runs: Annotated[dict[str, ComparedRun], says("side to the run behind it")] = {}
    judge_model: Annotated[str | None, says("the model that compared")] = None
    shown: Annotated[dict[str, Shown], says("side to what the comparator was shown of it")] = {}
    refused_answers: Annotated[
        list[str], says("what was wrong with answers that had to be asked for again")
    ] = []
    usage: Annotated[JudgingUsage | None, says("tokens of this comparison")] = None
    cost_usd: Annotated[Amount | None, says("what it cost", unit="usd")] = None
    seconds: Annotated[Seconds | None, says("time that this comparison took")] = None
    fingerprint: Annotated[
        str | None, says("SHA-256 of what was shown and asked, of the model and the repetition")
    ] = None
