"""The dialect `iterations`: one benchmark over many iterations, with printed deltas."""

from __future__ import annotations

from statistics import fmean
from typing import Annotated

from .. import evals, results, run
from ..base import Amount, Document, Rate, objects, says
from .form import Form, Plain, forms_of, narrow, select_keys, without_none


class TestedAssertion(Document, kw_only=True):
    """How often an assertion passed over the runs of an eval."""

    name: Annotated[str, says("the assertion")]
    pass_rate: Annotated[Rate | None, says("share of the runs in which it passed")] = None
    details: Annotated[str | None, says("the same in words")] = None


class Test(Document, kw_only=True):
    """The runs of an eval under a configuration, taken together."""

    eval_id: Annotated[str | int | None, says("the eval")] = None
    eval_name: Annotated[str | None, says("for people")] = None
    assertions: Annotated[list[TestedAssertion], says("how often each passed")] = []
    tokens: Annotated[results.Stats | None, says("tokens over the runs")] = None
    duration_seconds: Annotated[results.Stats | None, says("time over the runs")] = None


class Overall(Document, kw_only=True):
    """The means of a configuration."""

    pass_rate: Annotated[Rate | None, says("mean pass rate")] = None
    avg_tokens: Annotated[Amount | None, says("mean tokens")] = None
    avg_duration_seconds: Annotated[Amount | None, says("mean time in seconds")] = None


class Configuration(Document, kw_only=True):
    """A configuration of an iteration."""

    name: Annotated[str, says("with_skill, without_skill, …")]
    tests: Annotated[list[Test], says("one an eval")] = []
    overall: Annotated[Overall | None, says("the means")] = None


class Deltas(Document, kw_only=True):
    """The differences between the configurations, as they are printed."""

    pass_rate_improvement: Annotated[str | None, says("of the pass rate")] = None
    token_difference: Annotated[str | None, says("of the tokens")] = None
    duration_difference: Annotated[str | None, says("of the time")] = None


class Iteration(Document, kw_only=True):
    """An iteration of the skill."""

    iteration: Annotated[int | str | None, says("1, 2, …")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    configurations: Annotated[list[Configuration], says("what was compared")]
    deltas: Annotated[Deltas | None, says("the differences in print")] = None


class Benchmark(Document, kw_only=True):
    """All iterations of a skill."""

    skill_name: Annotated[str | None, says("the skill")] = None
    iterations: Annotated[list[Iteration], says("oldest first")]


OVERALL = {"pass_rate": "pass_rate", "tokens": "avg_tokens", "time_seconds": "avg_duration_seconds"}
DELTAS = {
    "pass_rate": "pass_rate_improvement",
    "tokens": "token_difference",
    "time_seconds": "duration_difference",
}
"""What a figure of the shared benchmark is called here."""


def _to_blocks(wire: Plain) -> Plain:
    """The same with tests as runs, and what is stated under the names of the shared benchmark."""
    blocks = []
    for block in wire["iterations"]:
        sides = block["configurations"]
        overall = {side["name"]: side["overall"] for side in sides if side.get("overall")}
        stated = {name: select_keys(figures, "", **OVERALL) for name, figures in overall.items()}
        stated["delta"] = select_keys(block.get("deltas", {}), "", **DELTAS)
        runs = [_to_run(test, side["name"]) for side in sides for test in side.get("tests", [])]
        about = select_keys(block, "timestamp iteration")
        blocks.append({**about, "runs": runs, "run_summary": stated})
    return {**select_keys(wire, "skill_name"), "iterations": blocks}


def _to_run(test: Plain, configuration: str) -> Plain:
    """A test as one row: its runs are not told apart in this dialect.

    An assertion that passed in a part of the runs has no verdict of its own.
    """
    assertions = test.get("assertions", [])
    rates = [assertion["pass_rate"] for assertion in assertions if "pass_rate" in assertion]
    tokens = test.get("tokens", {}).get("mean")
    figures = {
        "pass_rate": fmean(rates) if rates else None,
        "tokens": None if tokens is None else round(tokens),
        "time_seconds": test.get("duration_seconds", {}).get("mean"),
    }
    return {
        **select_keys(test, "eval_id eval_name"),
        "configuration": configuration,
        "result": without_none(figures),
        "expectations": [
            {
                "text": assertion["name"],
                "passed": {0: False, 1: True}.get(assertion.get("pass_rate")),
                "evidence": assertion.get("details"),
            }
            for assertion in assertions
        ],
    }


BENCHMARK = Form(
    Benchmark,
    _to_blocks,
    lambda raw: any("configurations" in block for block in objects(raw, "iterations")),
)


class Assertion(Document, kw_only=True):
    """Something that the output must fulfil, and how it is checked."""

    name: Annotated[str, says("a short name")]
    description: Annotated[str, says("what it checks, for people", also="text")]
    type: Annotated[str | None, says("file_exists, row_count, contains_text, custom, …")] = None


class Eval(Document, kw_only=True):
    """An eval with its assertions."""

    id: Annotated[int | str, says("unique within the suite")]
    prompt: Annotated[str, says("the task")]
    expected_output: Annotated[str | None, says("what success looks like")] = None
    files: Annotated[list[str], says("input files")] = []
    assertions: Annotated[list[Assertion], says("what is checked", also="expectations")] = []


class Evals(Document, kw_only=True):
    """The eval suite of a skill."""

    skill_name: Annotated[str, says("the skill")]
    evals: Annotated[list[Eval], says("the evals")]


FIELDS = {
    evals.EvalMetadata: "eval_id eval_name prompt assertions",
    run.GradedExpectation: "text passed evidence",
    run.Grading: "expectations",
    run.Timing: "total_tokens duration_ms total_duration_seconds",
    evals.Review: "run_id feedback! timestamp",
    evals.Feedback: "reviews status",
    evals.TriggerQuery: "query should_trigger",
    evals.TriggerSet: "queries=",
    evals.OptimizationStep: "iteration description train_score test_score",
    evals.Optimization: "best_description best_score iterations",
}
TYPES = {"EvalMetadata.assertions": list[Assertion], "TriggerQuery.should_trigger": bool}

ITERATIONS = {**forms_of(narrow(FIELDS, TYPES)), "evals": Form(Evals), "benchmark": BENCHMARK}
