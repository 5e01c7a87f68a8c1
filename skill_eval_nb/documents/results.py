"""What runs come to: benchmark.json, comparison.json, analysis.json and history.json."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, ClassVar, NamedTuple

from .base import Count, Document, Rate, Seconds, names_of, plain_key, says
from .run import (
    Cost,
    GradedExpectation,
    JudgingUsage,
    OwnSkill,
    RefusedAnswers,
    RubricScore,
    RunMilliseconds,
    RunSeconds,
    Shown,
    ToolCalls,
)
from .sides import configuration_in


class Stats(Document):
    """Mean, sample standard deviation, smallest and largest of a figure over runs."""

    mean: Annotated[float | int | None, says("mean", also="average avg")] = None
    stddev: Annotated[float | int | None, says("standard deviation", also="std std_dev sd")] = None
    min: Annotated[float | int | None, says("smallest")] = None
    max: Annotated[float | int | None, says("largest")] = None


class RunResult(Document):
    """The figures of one run."""

    pass_rate: Annotated[Rate | None, says("passed / total", also="score coverage accuracy")] = None
    passed: Annotated[
        Count | None, says("expectations that passed", also="assertions_passed pass_count")
    ] = None
    failed: Annotated[
        Count | None, says("expectations that failed", also="assertions_failed fail_count")
    ] = None
    total: Annotated[
        Count | None, says("expectations in all", also="assertions_total total_assertions")
    ] = None
    time_seconds: RunSeconds = None
    duration_ms: RunMilliseconds = None
    tokens: Annotated[Count | None, says("tokens", also="total_tokens")] = None
    tool_calls: ToolCalls = None
    errors: Annotated[Count | None, says("errors on the way")] = None
    cost_usd: Cost = None
    rubric_normalized: Annotated[Rate | None, says("rubric score, 0.2 to 1")] = None


class BenchmarkRun(Document):
    """One run as the benchmark states it."""

    configuration: Annotated[
        str, says("with_skill, without_skill, …", also="config condition variant arm")
    ]
    eval_id: Annotated[
        str | int | None, says("the eval", also="case_id test_case_id test_id id")
    ] = None
    eval_name: Annotated[str | None, says("for people", also="name case_name eval case")] = None
    run_number: Annotated[
        Count | None, says("1, 2, …", also="run run_index repetition repeat sample_index")
    ] = None
    result: Annotated[RunResult | None, says("the figures", also="summary", inline=True)] = None
    status: Annotated[str | None, says("how it ended", also="run_status execution_status")] = None
    expectations: Annotated[
        list[GradedExpectation],
        says("the verdicts", also="assertion_results assertion_details assertions"),
    ] = []
    notes: Annotated[list[str], says("what the executor flagged")] = []
    rubric_scores: Annotated[dict[str, RubricScore], says("by dimension", also="quality")] = {}
    model: Annotated[str | None, says("the model that ran", also="executor_model")] = None
    harness: Annotated[str | None, says("what ran the prompt", also="agent executor")] = None
    skill: OwnSkill = None


class BenchmarkMetadata(Document):
    """What the benchmark is of."""

    skill_name: Annotated[str | None, says("the skill", also="skill")] = None
    skill_path: Annotated[str | None, says("where the skill was")] = None
    executor_model: Annotated[str | None, says("the model", also="model model_requested")] = None
    harness: Annotated[str | None, says("what ran the prompts", also="agent executor")] = None
    analyzer_model: Annotated[str | None, says("the model that graded or analysed")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601", also="generated_at created_at")] = None
    evals_run: Annotated[list[str | int], says("the evals")] = []
    runs_per_configuration: Annotated[
        Count | None, says("runs of an eval on a side", also="runs_per_eval")
    ] = None
    iteration: Annotated[str | int | None, says("the iteration")] = None


Stated = Stats | float | int | str | None
"""A figure as a benchmark states it: in full, as a bare mean, or printed (``"+0.50"``)."""


class ConfigurationSummary(Document):
    """What a benchmark states of one configuration, or (under `delta`) of the difference."""

    pass_rate: Annotated[
        Stated, says("pass rate, 0 to 1", unit="rate", also="mean_pass_rate avg_pass_rate")
    ] = None
    rubric_normalized: Annotated[Stated, says("rubric score, 0.2 to 1", unit="rate")] = None
    overall_efficiency: Annotated[Stated, says("mean of checks and rubric", unit="rate")] = None
    consistency: Annotated[float | None, says("1 - stddev / mean of overall_efficiency")] = None
    time_seconds: Annotated[
        Stated,
        says(
            "seconds",
            unit="seconds",
            also="duration_seconds mean_time_seconds avg_duration_seconds avg_time",
        ),
    ] = None
    tokens: Annotated[
        Stated, says("tokens", unit="tokens", also="mean_total_tokens mean_tokens avg_tokens")
    ] = None
    tool_calls: Annotated[Stated, says("tool calls", also="mean_tool_calls")] = None
    cost_usd: Annotated[Stated, says("what a run cost", unit="usd", also="avg_cost_usd")] = None
    rubric_dimensions: Annotated[dict[str, Stats], says("dimension to its scores")] = {}


class Benchmark(Document):
    """The aggregate of an iteration's runs: each run, and each configuration's figures.

    `skill-creator`, extended by `skill-evaluator` with rubric figures. The other dialects
    have documents of their own, which are read into this one.
    `run_summary` maps a configuration to its figures; its key `delta` holds the
    differences, usually printed as text, and is not a configuration.
    """

    metadata: Annotated[BenchmarkMetadata, says("what it is of", inline=True)]
    runs: Annotated[list[BenchmarkRun], says("the runs")]
    run_summary: Annotated[dict[str, ConfigurationSummary], says("configuration to figures")] = {}
    notes: Annotated[
        list[str], says("the analyst's remarks", also="analyst_notes analyst_observations")
    ] = []


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
    reasoning: Annotated[str | None, says("why", also="summary")] = None
    rubric: Annotated[dict[str, SideRubric], says("side to scores")] = {}
    output_quality: Annotated[dict[str, OutputQuality], says("side to quality")] = {}
    expectation_results: Annotated[dict[str, ExpectationResults], says("side to results")] = {}
    comparison_id: Annotated[str | None, says("its id")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    eval_id: Annotated[str | int | None, says("the eval", also="test_case_id")] = None
    version_a: Annotated[str | int | None, says("version behind A")] = None
    version_b: Annotated[str | int | None, says("version behind B")] = None
    configuration_a: Annotated[str | None, says("configuration behind A")] = None
    configuration_b: Annotated[str | None, says("configuration behind B")] = None
    key_differentiators: Annotated[list[str], says("what made the difference")] = []
    pair: Annotated[str | None, says("opaque id of the two runs, whatever their order")] = None
    order: Annotated[Count | None, says("in which of its two orders it was shown: 1, 2")] = None
    repetition: Annotated[Count | None, says("which showing in this order: 1, 2, …")] = None
    runs: Annotated[dict[str, ComparedRun], says("side to the run behind it")] = {}
    judge_model: Annotated[str | None, says("the model that compared")] = None
    shown: Annotated[dict[str, Shown], says("side to what the comparator was shown of it")] = {}
    refused_answers: RefusedAnswers = []
    usage: Annotated[JudgingUsage | None, says("tokens of this comparison")] = None
    cost_usd: Cost = None
    seconds: Annotated[Seconds | None, says("time that this comparison took")] = None
    fingerprint: Annotated[str | None, says("SHA-256 of what was asked of which model")] = None


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
    refused_answers: RefusedAnswers = []
    usage: Annotated[JudgingUsage | None, says("tokens of this analysis")] = None
    cost_usd: Cost = None
    seconds: Annotated[Seconds | None, says("time that this analysis took")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    fingerprint: Annotated[str | None, says("SHA-256 of what was asked of which model")] = None


class Version(Document):
    """One version of the skill."""

    version: Annotated[str, says("v0, v1, …")]
    parent: Annotated[str | None, says("the version it was made from")] = None
    expectation_pass_rate: Annotated[Rate | None, says("its pass rate", also="pass_rate")] = None
    grading_result: Annotated[str | None, says("baseline, won, lost or tie")] = None
    is_current_best: Annotated[bool | None, says("whether it is the best so far")] = None
    iteration: Annotated[str | None, says("the iteration that its runs are of")] = None
    configuration: Annotated[str | None, says("the configuration that its runs are of")] = None
    reason: Annotated[str | None, says("what the result rests on")] = None
    what_changed: Annotated[str | None, says("what differs from its parent's files")] = None


class History(Document):
    """The lineage of a skill's versions."""

    iterations: Annotated[list[Version], says("the versions, oldest first", also="versions")]
    skill_name: Annotated[str | None, says("the skill")] = None
    started_at: Annotated[str | None, says("when the improving began, ISO 8601")] = None
    current_best: Annotated[str | None, says("version that is the best so far")] = None


_STATISTICS = {
    **{name: field for field in names_of(Stats, own=True) for name in names_of(Stats, field)},
    "overall": "mean",
    "total": "total",
    "median": "median",
}
_METRICS = {
    plain_key(name): (field, 1.0)
    for field in ("time_seconds", "tokens", "tool_calls", "cost_usd")
    for name in names_of(RunResult, field)
}
_METRICS |= {"passrate": ("pass_rate", 1.0), "time": ("time_seconds", 1.0)}
_METRICS |= dict.fromkeys(("ms", "durationms"), ("time_seconds", 0.001))
"""What is measured, by the words that are left of a key, and its factor to the shared unit."""


class Figure(NamedTuple):
    """What a key names: whose figure, of what, which statistic, and the factor to our unit."""

    configuration: str | None
    metric: str | None
    statistic: str
    factor: float
    rest: str


@lru_cache(4096)  # the same keys come again in every row
def parse_figure_key(key: str) -> Figure:
    """Parse a key such as `avg_duration_ms` or `tokens_with_skill_mean`.

    >>> parse_figure_key("time_without_skill_mean")
    Figure(configuration='without_skill', metric='time_seconds', statistic='mean', factor=1.0,
           rest='time')
    >>> parse_figure_key("avg_humor").metric is None, parse_figure_key("avg_humor").rest
    (True, 'humor')
    """
    configuration = configuration_in(key)
    rest = key.lower().replace("-", "_").replace(configuration or "", "", 1)
    words = [word for word in re.split(r"[_\s-]+", rest) if word]
    statistic = "mean"
    if len(words) > 1:
        for place in (0, -1):
            if words[place] in _STATISTICS and words != ["total", "tokens"]:
                statistic = _STATISTICS[words.pop(place)]
                break
    metric, factor = _METRICS.get("".join(words), (None, 1.0))
    return Figure(configuration, metric, statistic, factor, "_".join(words))
