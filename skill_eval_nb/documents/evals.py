"""What people write: an eval suite, trigger queries, feedback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar

from skill_eval_nb.text import count

from .base import Amount, Count, Document, Rate, Score, says
from .run import TEXT_NAMES, OwnSkill


class Expectation(Document):
    """An expectation that a judge is to verify, as the suite states it."""

    plain: ClassVar[str | None] = "text"

    text: Annotated[str, says("what the output must fulfil", also=TEXT_NAMES)]
    id: Annotated[str | None, says("its id within the eval")] = None
    name: Annotated[str | None, says("a short machine-readable name")] = None
    type: Annotated[str | None, says("kind of check: file_exists, row_count, …")] = None


class StructuralExpectation(Document):
    """A deterministic expectation (layer 1). Which further fields count depends on `type`."""

    type: Annotated[
        str,
        says(
            "file_exists, file_contains, file_not_contains, file_count or custom_script; of the "
            "transcript no_errors, tool_called, tool_not_called, tools_in_order, command_matches, "
            "skill_opened, max_turns or max_tokens"
        ),
    ]
    id: Annotated[str | None, says("its id within the eval: S1, S2, …")] = None
    description: Annotated[str | None, says("what it checks, for people", also="text name")] = None
    critical: Annotated[bool, says("failing it fails the gate, and the judge is skipped")] = False
    pattern: Annotated[str | None, says("glob of the files to look at", also="path")] = None
    match: Annotated[str | None, says("text to look for", also="value")] = None
    match_any: Annotated[list[str], says("texts of which one is enough")] = []
    match_regex: Annotated[str | None, says("Python regular expression to look for")] = None
    except_context: Annotated[list[str], says("texts that exempt a match near them")] = []
    count: Annotated[Count | None, says("number of files; least calls, most turns")] = None
    operator: Annotated[str | None, says("==, >= or <=, for file_count")] = None
    tool: Annotated[str | None, says("name of the tool, in any case; * stands for anything")] = None
    tools: Annotated[list[str], says("names of tools, in their order")] = []
    skill: Annotated[str | None, says("name of the skill that skill_opened wants")] = None
    script: Annotated[str | None, says("command of custom_script; exit 0 passes")] = None


class Dimension(Document):
    """One dimension of a quality rubric, scored from 1 to 5."""

    name: Annotated[str, says("machine-readable name; scores are kept under it")]
    id: Annotated[str | None, says("its id within the eval: Q1, Q2, …")] = None
    description: Annotated[str | None, says("what it measures and why that matters")] = None
    weight: Annotated[Amount, says("weight in the weighted mean")] = 1.0
    scoring: Annotated[dict[str, str], says("what a 1, a 3 and a 5 look like", also="anchors")] = {}


class QualityRubric(Document):
    """The rubric of one eval (layer 2)."""

    dimensions: Annotated[list[Dimension], says("the dimensions")] = []


class Eval(Document):
    """One eval: a prompt, and what its output is to be."""

    prompt: Annotated[str, says("the task", also="task task_prompt query input question")]
    id: Annotated[str | int | None, says("unique within the suite", also="eval_id case_id")] = None
    name: Annotated[str | None, says("for people", also="eval_name title")] = None
    expected_output: Annotated[
        str | None, says("what success looks like", also="expected expected_behavior ground_truth")
    ] = None
    files: Annotated[list[str], says("input files, relative to the skill", also="input_file")] = []
    expectations: Annotated[
        list[Expectation],
        says("what a judge verifies", also="assertions expected_behaviors expected_behavior"),
    ] = []
    structural_expectations: Annotated[list[StructuralExpectation], says("layer 1")] = []
    quality_rubric: Annotated[QualityRubric | None, says("layer 2", also="rubric")] = None
    tags: Annotated[list[str], says("categories", also="category")] = []
    weight: Annotated[Amount, says("weight in the suite's score")] = 1.0
    skill: Annotated[
        str | None,
        says("the skill, where a suite is of several", also="skill_name skill_dir skill_path"),
    ] = None


class EvalConfig(Document):
    """Settings of a suite."""

    runs_per_eval: Annotated[Count | None, says("runs of each eval; 3 where it is absent")] = None
    structural_gate: Annotated[bool | None, says("skip the judge when the gate fails")] = None
    judge_model: Annotated[str | None, says("model of the judge; not the executor's")] = None
    baseline_comparison: Annotated[bool | None, says("also run without the skill")] = None


class Evals(Document):
    """The eval suite of a skill.

    `skill-creator` states expectations as texts, `iterations` as objects with a type,
    `skill-evaluator` adds structural expectations and a rubric, `codingbuddy` has
    neither (they stand in eval_metadata.json), `test-cases` calls the file
    eval_metadata.json and its evals test cases.
    """

    plain: ClassVar[str | None] = "evals"

    evals: Annotated[list[Eval], says("the evals", also="cases test_cases scenarios")]
    skill_name: Annotated[str | None, says("the skill", also="skill target_skill")] = None
    eval_config: Annotated[EvalConfig | None, says("settings")] = None
    version: Annotated[str | None, says("version of the suite")] = None


class EvalMetadata(Document):
    """Which eval the runs below this folder are of, and what is checked there."""

    eval_id: Annotated[str | int | None, says("the eval's id", also="id case_id")] = None
    eval_name: Annotated[str | None, says("for people", also="name")] = None
    prompt: Annotated[str | None, says("the task that was given", also="task_prompt task")] = None
    assertions: Annotated[list[Expectation], says("what is checked", also="expectations")] = []
    configuration: Annotated[str | None, says("the configuration", also="config condition")] = None
    model: Annotated[str | None, says("the model that ran", also="executor_model")] = None
    skill: OwnSkill = None


class TriggerQuery(Document):
    """A query, whether the skill should be picked up for it, and whether it was."""

    query: Annotated[str, says("what the user says", also="prompt input text")]
    should_trigger: Annotated[bool | None, says("whether the skill should be picked up")]
    id: Annotated[str | int | None, says("its id in the set", also="query_id")] = None
    triggered: Annotated[Count | None, says("runs that picked it up", also="trigger_count")] = None
    runs: Annotated[Count | None, says("runs of this query", also="run_count")] = None
    trigger_rate: Annotated[Rate | None, says("triggered / runs")] = None
    split: Annotated[str | None, says("train or test")] = None
    tags: Annotated[list[str], says("what kind of query it is", also="tag")] = []
    expected: Annotated[
        str | None, says("the skill that should be picked up", also="expected_skill")
    ] = None
    description: Annotated[str | None, says("the description, where a set has several")] = None

    @property
    def rate(self) -> float | None:
        """The stated rate, else triggered / runs; None if the query was not measured."""
        if self.trigger_rate is not None or not self.runs or self.triggered is None:
            return self.trigger_rate
        return self.triggered / self.runs


NO_SKILL_OPENED = (
    "No other skill is known to have been opened either: likely the skill was not on offer "
    "(its folder, its name, its front matter), or the queries are so easy that the model "
    "needs none. Read a transcript: is the skill on the list?"
)
"""Why a skill never triggers, if nothing else is known."""


def find_broken_rates(
    queries: Iterable[tuple[bool | None, float | None]], why_never: str = NO_SKILL_OPENED
) -> Iterator[tuple[str, str]]:
    """What is broken in rates that would be the same for any description: name and sentence.

    Args:
        queries: of each whether it should trigger, and its rate.
        why_never: what is likely if no query triggers that should.

    >>> [name for name, _ in find_broken_rates([(True, 0.0), (True, 0.0), (False, 0.0)])]
    ['never triggers']
    >>> [name for name, _ in find_broken_rates([(True, 1.0), (False, 1.0)])]
    ['always triggers']
    """
    rates: dict[bool | None, list[float]] = {True: [], False: [], None: []}
    for should, rate in queries:
        if rate is not None:
            rates[should].append(rate)
    wanted, others = rates[True], rates[False]
    if wanted and max(wanted) == 0:
        what = f"No run of {count(len(wanted), 'query')} that should trigger did. "
        yield "never triggers", what + why_never
    if wanted and others and min(wanted) == min(others) == 1:
        what = f"Every run triggered, also those of {count(len(others), 'query')} that should not. "
        why = (
            "Probably something other than the description opens the skill (the system text, the "
            "executor), it is the only skill on offer, or the description claims everything. "
            "Put other skills beside it, and read a transcript."
        )
        yield "always triggers", what + why


class TriggerSet(Document):
    """A set of trigger queries; in the file a bare list."""

    plain: ClassVar[str | None] = "queries"

    queries: Annotated[
        list[TriggerQuery],
        says("the queries", also="query_results results evals cases test_cases tests prompts"),
    ]
    skill_name: Annotated[str | None, says("the skill", also="skill target_skill")] = None
    description: Annotated[str | None, says("the description that was measured")] = None


class OptimizationStep(Document):
    """One description that was tried."""

    description: Annotated[str, says("the description")]
    iteration: Annotated[Count | None, says("1, 2, …")] = None
    train_score: Annotated[Rate | None, says("share right on the train queries")] = None
    test_score: Annotated[Rate | None, says("share right on the held-out queries")] = None
    train_low: Annotated[Rate | None, says("lower end of its 95 % interval")] = None
    train_high: Annotated[Rate | None, says("upper end of its 95 % interval")] = None
    test_low: Annotated[Rate | None, says("lower end of its 95 % interval")] = None
    test_high: Annotated[Rate | None, says("upper end of its 95 % interval")] = None


class Optimization(Document):
    """The result of a search for a better description."""

    best_description: Annotated[str, says("the winner")]
    iterations: Annotated[list[OptimizationStep], says("what was tried, in order", also="history")]
    best_score: Annotated[Rate | None, says("the winner's score")] = None
    best_low: Annotated[Rate | None, says("lower end of its 95 % interval")] = None
    best_high: Annotated[Rate | None, says("upper end of its 95 % interval")] = None
    selected_score: Annotated[
        Rate | None, says("the held-out score that it was chosen by, which flatters it")
    ] = None
    why: Annotated[str | None, says("why it was chosen")] = None
    skill_name: Annotated[str | None, says("the skill")] = None


class CheckLabel(Document):
    """A human's verdict on one check of a run."""

    text: Annotated[str, says("what was checked, word for word as the grading has it")]
    passed: Annotated[bool | None, says("whether it passed; null where nobody could tell")]
    sampled: Annotated[bool, says("whether the check was drawn at random")] = False


class Review(Document):
    """What a human said of one run; an empty text means that it was fine."""

    run_id: Annotated[str, says("the run: eval-0-with_skill, …", also="run id")]
    feedback: Annotated[str, says("the review", also="comment text")] = ""
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    scores: Annotated[dict[str, Score], says("the human's scores by rubric dimension, 1-5")] = {}
    labels: Annotated[list[CheckLabel], says("the human's verdicts on single checks")] = []
    reviewed: Annotated[bool, says("false where only checks of the run were labelled")] = True


class Feedback(Document):
    """A human's reviews of an iteration."""

    reviews: Annotated[list[Review], says("one a run")]
    status: Annotated[str | None, says("in_progress or complete")] = None


class SuggestionSource(Document):
    """What a grader said in one run, word for word."""

    reason: Annotated[str, says("what was said")]
    kind: Annotated[str | None, says("critique, vague, missing_coverage or suggested")] = None
    expectation: Annotated[str | None, says("what it is about, in the grader's words")] = None
    workspace: Annotated[str | None, says("the workspace of the run")] = None
    skill: Annotated[str | None, says("the skill of the run")] = None
    iteration: Annotated[str | int | None, says("the iteration of the run")] = None
    eval_id: Annotated[str | int | None, says("the eval of the run")] = None
    eval_name: Annotated[str | None, says("its name")] = None
    configuration: Annotated[str | None, says("the configuration of the run")] = None
    run_number: Annotated[int | None, says("1, 2, … within eval and configuration")] = None


class AggregatedSuggestion(Document):
    """One suggestion, and how many runs made it."""

    reason: Annotated[str, says("why the evals should change")]
    frequency: Annotated[Count, says("number of runs that said it")] = 1
    assertion: Annotated[str | None, says("the expectation's id or text; null if missing")] = None
    action: Annotated[str | None, says("what to do about it")] = None
    kind: Annotated[str | None, says("the sources' most frequent kind")] = None
    evals: Annotated[list[str | int], says("ids of the evals whose runs said it")] = []
    sources: Annotated[list[SuggestionSource], says("every wording, with its run")] = []


class SuggestionAggregate(Document):
    """The graders' suggestions, collected over runs and evals."""

    suggestions: Annotated[list[AggregatedSuggestion], says("most frequent first")]
    skill_name: Annotated[str | None, says("the skill")] = None
    iteration: Annotated[str | int | None, says("the iteration")] = None
    total_runs: Annotated[Count | None, says("runs that were read")] = None
    threshold: Annotated[Rate | None, says("largest distance of wordings that count as one")] = None
    merged_by: Annotated[str | None, says("model that merged further; null where none did")] = None
