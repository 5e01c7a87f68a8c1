"""What lies in a run's folder: grading, structural verdicts, judgings, metrics and timing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from msgspec import Struct

from skill_eval_nb.text import count

from .base import Amount, Count, Document, Faults, Rate, Score, Seconds, names_of, says
from .parsing import ERRORED
from .repair import mend
from .sides import UNSTATED

SECONDS_NAMES = (
    "duration_seconds total_duration_seconds elapsed_seconds total_seconds time_seconds "
    "wall_seconds total_time_seconds wall_time_seconds wall_clock_seconds seconds duration_s "
    "elapsed_s wall_s time_s duration_sec elapsed_sec secs sec duration elapsed wall_time "
    "wall_clock"
)
"""Names that people give to the time of a run; one without a unit is in seconds, too."""

RunSeconds = Annotated[Seconds | None, says("time of the run", also=SECONDS_NAMES)]
RunMilliseconds = Annotated[
    Amount | None, says("in milliseconds", unit="milliseconds", also="elapsed_ms avg_ms ms")
]
ToolCalls = Annotated[
    dict[str, Count | None] | Count | None, says("calls by tool, or their sum", also="tool_uses")
]
Cost = Annotated[Amount | None, says("what it cost", unit="usd", also="total_cost_usd cost")]
SkillUsed = Annotated[bool | None, says("whether the skill was opened", also="skill_loaded")]
OwnSkill = Annotated[str | None, says("the skill, where a file is of several", also="skill_name")]
RefusedAnswers = Annotated[list[str], says("what was wrong with answers that were refused")]
"""Fields that several documents have, each with all names that people give to it."""


class Metrics(Document):
    """Tool calls, steps, errors and output sizes of one run.

    `output_chars` and `transcript_chars` are characters, never tokens.
    """

    tool_calls: ToolCalls = None
    total_tool_calls: Annotated[Count | None, says("calls in all", also="tool_use_count")] = None
    total_steps: Annotated[Count | None, says("major steps", also="steps num_turns turns")] = None
    files_created: Annotated[list[str], says("output files")] = []
    errors_encountered: Annotated[Count | None, says("errors on the way", also="errors")] = None
    output_chars: Annotated[Count | None, says("characters of the output files")] = None
    transcript_chars: Annotated[Count | None, says("characters of the transcript")] = None
    cost_usd: Cost = None
    skill_used: SkillUsed = None
    left_out: Annotated[list[str], says("outputs that were not kept, with the reason")] = []


TEXT_NAMES = "description expectation assertion name criterion statement check expected"
"""Other names of what is checked."""

STRUCTURAL = "structural"
"""The `layer` of a grading that repeats structural.json, as no judge looked at the run."""


class GradedExpectation(Document):
    """One expectation of a run, with the verdict on it.

    `passed` has three values: true, false, and null for an expectation that was not scored.
    """

    text: Annotated[str, says("what was checked", also=TEXT_NAMES)]
    passed: Annotated[
        bool | None,
        says("whether it passed", also="result met grade verdict status pass outcome success"),
    ]
    evidence: Annotated[str | None, says("why", also="details reason reasoning explanation")] = None
    id: Annotated[str | None, says("the expectation's id in the suite")] = None
    type: Annotated[str | None, says("kind of check, where it is a deterministic one")] = None
    critical: Annotated[bool | None, says("whether failing it fails the gate")] = None
    confidence: Annotated[str | None, says("how sure the grader is: high, medium or low")] = None
    notes: Annotated[str | None, says("the grader's remarks", also="note")] = None


class Summary(Document):
    """How many expectations passed, as the grader counted them."""

    passed: Annotated[
        Count | None,
        says("expectations that passed", also="pass_count assertions_passed pass total_passed"),
    ] = None
    failed: Annotated[
        Count | None, says("expectations that failed", also="fail_count assertions_failed fail")
    ] = None
    total: Annotated[
        Count | None, says("expectations in all", also="assertions_total total_assertions count")
    ] = None
    pass_rate: Annotated[
        Rate | None, says("passed / total", also="overall_score score coverage accuracy")
    ] = None


class RubricScore(Document):
    """The judge's score on one rubric dimension."""

    plain: ClassVar[str | None] = "score"

    score: Annotated[Score | None, says("1 (poor) to 5 (excellent); null: none was given")]
    evidence: Annotated[str | None, says("why", also="reason reasoning justification notes")] = None
    weight: Annotated[Amount | None, says("weight in the weighted mean")] = None


class RubricSummary(Document):
    """The rubric's aggregate over the dimensions of one run."""

    weighted_mean: Annotated[float | None, says("Σ(score × weight) / Σ(weight), 1 to 5")] = None
    max_possible: Annotated[float | None, says("the highest score there is")] = None
    normalized: Annotated[Rate | None, says("weighted_mean / 5; its floor is 0.2")] = None


class GradingTiming(Document):
    """How long the run and its grading took, as the grader noted it."""

    executor_duration_seconds: Annotated[Seconds | None, says("time of the executor")] = None
    grader_duration_seconds: Annotated[Seconds | None, says("time of the grader")] = None
    total_duration_seconds: Annotated[Seconds | None, says("both", also=SECONDS_NAMES)] = None
    total_tokens: Annotated[Count | None, says("tokens of the run", also="tokens")] = None
    duration_ms: RunMilliseconds = None
    start: Annotated[str | None, says("when grading began, ISO 8601")] = None
    end: Annotated[str | None, says("when grading ended, ISO 8601")] = None


class Claim(Document):
    """Something that the output claims, and whether it holds."""

    plain: ClassVar[str | None] = "claim"

    claim: Annotated[str, says("what is claimed", also="text statement")]
    type: Annotated[str | None, says("factual, process, quality, …")] = None
    verified: Annotated[bool | None, says("whether the grader could confirm it")] = None
    evidence: Annotated[str | None, says("what the grader found")] = None


class UserNotesSummary(Document):
    """Issues that the executor itself flagged."""

    uncertainties: Annotated[list[str], says("what it was not sure of")] = []
    needs_review: Annotated[list[str], says("what a human should look at")] = []
    workarounds: Annotated[list[str], says("where it left the intended path")] = []


class Suggestion(Document):
    """The grader's critique of one expectation, or of a missing one."""

    plain: ClassVar[str | None] = "reason"

    reason: Annotated[str, says("why the evals should change", also="suggestion text")]
    assertion: Annotated[
        str | None, says("the expectation it is about; null for a missing one", also="expectation")
    ] = None


class EvalFeedback(Document):
    """The grader's critique of the evals."""

    plain: ClassVar[str | None] = "overall"

    suggestions: Annotated[list[Suggestion], says("one an expectation or gap")] = []
    overall: Annotated[str | None, says("the critique in a sentence")] = None


class EvalCritique(Document):
    """The critique of the evals in the `test-cases` dialect."""

    vague_assertions: Annotated[list[str], says("expectations too vague to grade")] = []
    missing_coverage: Annotated[list[str], says("what nothing checks")] = []
    suggested_assertions: Annotated[list[str], says("expectations to add")] = []


class Grading(Document):
    """The grader's verdicts on one run: expectations, rubric scores, claims, critique.

    Dialects: `skill-creator`, extended by `skill-evaluator` (rubric); `codingbuddy` and
    `iterations` know the expectations alone; `test-cases` has its own document, which is
    read into this one.
    """

    expectations: Annotated[
        list[GradedExpectation],
        says(
            "the verdicts",
            also="assertion_results assertions assertion_details expectation_results evaluations "
            "grades results details",
        ),
    ]
    summary: Annotated[Summary | None, says("the grader's own count", inline=True)] = None
    rubric_scores: Annotated[
        dict[str, RubricScore], says("dimension name to score", also="quality rubric")
    ] = {}
    rubric_summary: Annotated[RubricSummary | None, says("the rubric's aggregate")] = None
    execution_metrics: Annotated[Metrics | None, says("what the executor used")] = None
    timing: Annotated[GradingTiming | None, says("how long it took")] = None
    claims: Annotated[list[Claim], says("claims that were looked into")] = []
    user_notes_summary: Annotated[UserNotesSummary | None, says("what the executor flagged")] = None
    eval_feedback: Annotated[EvalFeedback | None, says("critique of the evals")] = None
    eval_critique: Annotated[EvalCritique | None, says("the same, in `test-cases`")] = None
    factual_issues: Annotated[list[str], says("factual mistakes in the output")] = []
    layer: Annotated[str | None, says("`structural` where no judge looked at the run")] = None
    judge_model: Annotated[str | None, says("the judge", also="grader_model analyzer_model")] = None
    eval_id: Annotated[str | int | None, says("the eval", also="test_case_id")] = None
    eval_name: Annotated[str | None, says("the eval's name")] = None
    configuration: Annotated[
        str | None, says("the configuration", also="config condition run_type")
    ] = None
    skill: OwnSkill = None
    run_id: Annotated[str | None, says("the run")] = None
    skill_used: SkillUsed = None
    timestamp: Annotated[str | None, says("when it was graded, ISO 8601")] = None


CHECK_FAILED = "Not scored: the check itself failed"
"""How the evidence begins where a check could not be carried out for no reason that is known."""

_OF_JUDGE = re.compile(
    r"(?=.*\b(?:grader|grading|judge|llm|rubric|verdict))(?=.*(?:pars|json|extract|decod))"
    r"(?=.*(?:error|fail|could ?n[o']t|cannot|unable|invalid|malformed|unpars))"
    r"|(?:the |llm |rubric )*(?:grader|grading|judge)(?: model| call| response)? "
    r"(?:error|failed|timed out|timeout|crashed)(?:\s*[:(]|$)|grade not found in",
    re.IGNORECASE,
)
"""A judge, reading, and that it failed, in one line; that it failed; or as inspect_ai says it."""
_SEARCHED = 120
"""Characters at the beginning of evidence that are searched for it."""


def is_unread(evidence: str | None) -> bool:
    """Whether what a verdict rests on says that the judge's answer could not be read.

    >>> is_unread("grading parse error"), is_unread("the output is not JSON: parse error")
    (True, False)
    """
    return bool(_OF_JUDGE.match((evidence or "")[:_SEARCHED].partition("\n")[0]))


def drop_unread(grading: Grading) -> list[tuple[str, str]]:
    """Take verdicts and scores away that the judge did not give, as it failed or was not read.

    Returns what was checked, and what it rests on.
    """
    failed = (check for check in grading.expectations if check.passed is False)
    unread = [check for check in failed if is_unread(check.evidence)]
    scores = {k: v for k, v in grading.rubric_scores.items() if is_unread(v.evidence)}
    for check in unread:
        check.passed = grading.summary = None
    for score in scores.values():
        score.score = grading.rubric_summary = None
    found = [(check.text, check.evidence) for check in unread]
    found += [(name, score.evidence) for name, score in scores.items()]
    return [(what, why or "") for what, why in found]


def unread_message(found: list[tuple[str, str]]) -> str:
    """The message about checks whose verdicts in the judge's answer could not be read."""
    return (
        f"{count(len(found), 'check')} not scored, as the judge's answer could not be read "
        f"({found[0][1].splitlines()[0][:120]}): judge these runs again"
    )


class Structural(Document):
    """What the structural checker found in one run, and whether the gate was passed."""

    expectations: Annotated[
        list[GradedExpectation], says("the verdicts", also="assertions results checks")
    ]
    summary: Annotated[Summary | None, says("the checker's own count", inline=True)] = None
    gate_passed: Annotated[
        bool | None,
        says("false where a critical expectation failed; null where one was not scored instead"),
    ] = None


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
    inputs: Annotated[list[ShownFile], says("files that the executor got and did not change")] = []
    transcript: Annotated[ShownFile | None, says("the transcript")] = None
    left_out: Annotated[list[NotShown], says("everything that was not shown")] = []
    masked: Annotated[Count | None, says("places where a side's name was covered up")] = None
    digest: Annotated[str | None, says("SHA-256 of all that was shown")] = None


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
    judge_model: Annotated[str | None, says("the model that judged", also="model")] = None
    rubric_summary: Annotated[RubricSummary | None, says("the rubric's aggregate")] = None
    expectations: Annotated[list[GradedExpectation], says("verdicts of this judging")] = []
    claims: Annotated[list[Claim], says("claims that were looked into")] = []
    user_notes_summary: Annotated[UserNotesSummary | None, says("what the executor flagged")] = None
    eval_feedback: Annotated[EvalFeedback | None, says("critique of the evals")] = None
    dimension_order: Annotated[list[str], says("dimensions as they were asked for")] = []
    expectation_order: Annotated[
        list[str], says("E1, E2, …: expectations as they were asked for")
    ] = []
    per_dimension: Annotated[bool | None, says("whether each dimension had its own call")] = None
    shown: Annotated[Shown | None, says("what the judge was shown")] = None
    refused_answers: RefusedAnswers = []
    batch: Annotated[str | None, says("the batch that it came from, and its call there")] = None
    usage: Annotated[JudgingUsage | None, says("tokens of this judging")] = None
    cost_usd: Cost = None
    seconds: Annotated[Seconds | None, says("time that this judging took")] = None
    timestamp: Annotated[str | None, says("when it was judged, ISO 8601")] = None


_FAILURES = ERRORED | {"failed", "failure"}


class Timing(Document):
    """Wall clock and tokens of one run; what was not measured is absent, never 0.

    Times are ISO 8601, or seconds since 1970.
    """

    total_duration_seconds: RunSeconds = None
    total_tokens: Annotated[Count | None, says("input and output tokens", also="tokens")] = None
    duration_ms: RunMilliseconds = None
    executor_start: Annotated[
        str | float | None,
        says(
            "when it began",
            also="started_at start_time start_iso eval_start_utc start_ts start run_at",
        ),
    ] = None
    executor_end: Annotated[
        str | float | None,
        says(
            "when it ended",
            also="finished_at completed_at end_time end_iso eval_end_utc end_ts end",
        ),
    ] = None
    executor_duration_seconds: Annotated[Seconds | None, says("time of the executor alone")] = None
    grader_start: Annotated[str | float | None, says("when grading began")] = None
    grader_end: Annotated[str | float | None, says("when grading ended")] = None
    grader_duration_seconds: Annotated[Seconds | None, says("time of the grader")] = None
    model: Annotated[str | None, says("the model that ran", also="executor_model model_id")] = None
    exit_code: Annotated[int | None, says("the executor's exit code", also="returncode")] = None
    status: Annotated[str | None, says("how the run ended, in the executor's words")] = None
    reason: Annotated[str | None, says("why it ended in an error", also="error")] = None
    executor: Annotated[str | None, says("messages-api, claude-code, …")] = None
    harness: Annotated[str | None, says("the same, of other tools", also="agent")] = None
    cost_usd: Cost = None
    tool_calls: ToolCalls = None
    input_tokens: Annotated[Count | None, says("tokens read that no cache held")] = None
    output_tokens: Annotated[Count | None, says("tokens written")] = None
    cache_read_tokens: Annotated[Count | None, says("tokens read from the cache")] = None
    cache_write_tokens: Annotated[Count | None, says("tokens read and put into the cache")] = None
    model_calls: Annotated[Count | None, says("answers that the model gave")] = None

    @property
    def says_error(self) -> bool:
        """Whether `status` says that the executor failed."""
        return (self.status or "").lower() in _FAILURES


_OF_TIMING = {*names_of(Timing)} - {"status", "reason", "tool_calls"}


def read_timing(places: Mapping[str, Any], faults: Faults, *, known: bool = False) -> Timing:
    """What a run took, as objects say, by their places; of each figure the first that is told.

    Tokens are the total, else the sum of input and output tokens of one object. If they are
    `known` already, adding them up is not noted.
    """
    timing = Timing()
    for where, part in places.items():
        if not isinstance(part, dict):
            continue
        one, found = mend({key: part[key] for key in part if key in _OF_TIMING}, Timing)
        faults.extend(replace(fault, where=f"{where}{fault.where[1:]}") for fault in found)
        read, written, told = one.input_tokens, one.output_tokens, one.total_tokens
        if timing.total_tokens is told is None and read is not None and written is not None:
            one.total_tokens = read + written
            if not known:
                message = "tokens are input_tokens + output_tokens"
                faults.add("info", "tokens-added", where, message)
        for name in one.__struct_fields__:
            if getattr(timing, name) is None:
                setattr(timing, name, getattr(one, name))
    return timing


class RunRecord(Struct):
    """A run of any tool: its names there, and the documents that its folder has, or would have.

    Attributes:
        path: the folder or file that it was read from.
        rate: its pass rate, where a tool states one that is not a count of verdicts.
        score: the weighted figure of the tool that ran it.
        incomplete: why the tool that ran it does not take it for a result.
        took_place: whether anything but its documents says that it was run.
        unreadable: whether it has a grading that could not be read.
        checked_alone: whether its grading says that a program's checks are all that was due.
        unnamed: whether the row that states it does not name its eval.
        others: what second graders say of it.
    """

    configuration: str = UNSTATED
    eval_id: str | int | None = None
    eval_name: str | None = None
    run_number: int | None = None
    skill: str | None = None
    model: str | None = None
    harness: str | None = None
    judge_model: str | None = None
    path: str = ""
    grading: Grading | None = None
    structural: Structural | None = None
    timing: Timing | None = None
    metrics: Metrics | None = None
    judgings: list[Judging] = []
    rate: float | None = None
    score: float | None = None
    incomplete: str | None = None
    took_place: bool = False
    unreadable: bool = False
    checked_alone: bool = False
    unnamed: bool = False
    others: list[RunRecord] = []

    @property
    def known_metrics(self) -> Metrics | None:
        """Its metrics, else those that its grading holds."""
        return self.metrics or (self.grading.execution_metrics if self.grading else None)
