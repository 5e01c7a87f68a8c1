"""analysis.json: why the winner of a comparison won."""

from __future__ import annotations

from typing import Annotated, ClassVar

from .comparison import ComparedRun
from .document import Amount, Document, Seconds, says
from .judging import JudgingUsage


class ComparisonSummary(Document):
    """What the comparison had decided."""

    winner: Annotated[str | None, says("A, B or tie")] = None
    winner_skill: Annotated[str | None, says("path of the winner's skill")] = None
    loser_skill: Annotated[str | None, says("path of the loser's skill")] = None
    comparator_reasoning: Annotated[str | None, says("the comparator's reasons in brief")] = None


class Following(Document):
    """How well one side followed its skill."""

    score: Annotated[float | None, says("1 to 10")] = None
    issues: Annotated[list[str], says("where it did not")] = []


class ImprovementSuggestion(Document):
    """A change to the losing skill that the analyst proposes."""

    plain: ClassVar[str | None] = "suggestion"

    suggestion: Annotated[str, says("what to change")]
    priority: Annotated[str | None, says("high, medium or low")] = None
    category: Annotated[str | None, says("instructions, tools, examples, …")] = None
    expected_impact: Annotated[str | None, says("what it should bring")] = None


class Analysis(Document):
    """An analyst's reading of a comparison, after the sides were named."""

    improvement_suggestions: Annotated[list[ImprovementSuggestion], says("what to change")]
    comparison_summary: Annotated[ComparisonSummary | None, says("what had been decided")] = None
    winner_strengths: Annotated[list[str], says("what the winner did well")] = []
    loser_weaknesses: Annotated[list[str], says("what the loser did badly")] = []
    instruction_following: Annotated[dict[str, Following], says("winner and loser")] = {}
    transcript_insights: Annotated[dict[str, str], says("how each side went about it")] = {}
    comparisons: Annotated[list[str], says("ids of the comparisons that it is about")] = []
    pair: Annotated[str | None, says("opaque id of the two runs, as comparisons have it")] = None
    eval_id: Annotated[str | int | None, says("the eval")] = None
    runs: Annotated[dict[str, ComparedRun], says("winner and loser to the run behind them")] = {}
    analyst_model: Annotated[str | None, says("the model that analysed")] = None
    refused_answers: Annotated[
        list[str], says("what was wrong with answers that had to be asked for again")
    ] = []
    usage: Annotated[JudgingUsage | None, says("tokens of this analysis")] = None
    cost_usd: Annotated[Amount | None, says("what it cost", unit="usd")] = None
    seconds: Annotated[Seconds | None, says("time that this analysis took")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    fingerprint: Annotated[str | None, says("SHA-256 of what was asked of which model")] = None
