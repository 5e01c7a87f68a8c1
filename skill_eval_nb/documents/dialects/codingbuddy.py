"""The dialect `codingbuddy`: strict schemas, ids from 1 in the suite and from 0 in folders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from .. import eval_metadata, evals, feedback, grading, timing, triggers
from ..document import Count, Document, Seconds, says
from .codingbuddy_benchmark import BENCHMARK, FromOne, FromZero, Kebab
from .figures import Plain, when, without_none
from .names import kebab, named, numbered
from .wire import Dialect, Form, narrow

OneOrMore = msgspec.Meta(min_length=1)

Eval = narrow(
    evals.Eval,
    "id prompt expected_output files",
    required="id expected_output files",
    id=FromOne,
    expected_output=str,
)
Evals = narrow(
    evals.Evals,
    "skill_name evals",
    required="skill_name",
    skill_name=Kebab,
    evals=Annotated[list[Eval], OneOrMore],
)


class Assertion(Document, kw_only=True):
    """Something that the output must fulfil."""

    name: Annotated[str, says("a short name")]
    description: Annotated[str, says("when it is passed", also=("text",))]


EvalMetadata = narrow(
    eval_metadata.EvalMetadata,
    "eval_id eval_name prompt assertions",
    required="eval_id eval_name prompt assertions",
    eval_id=FromZero,
    eval_name=str,
    prompt=str,
    assertions=Annotated[list[Assertion], OneOrMore],
)

Expectation = narrow(
    grading.GradedExpectation,
    "text passed evidence",
    required="evidence",
    passed=bool,
    evidence=str,
)
Grading = narrow(
    grading.Grading, "expectations", expectations=Annotated[list[Expectation], OneOrMore]
)

Timing = narrow(
    timing.Timing,
    "total_tokens duration_ms total_duration_seconds",
    required="total_tokens duration_ms total_duration_seconds",
    total_tokens=Count,
    duration_ms=Count,
    total_duration_seconds=Seconds,
)

Review = narrow(
    feedback.Review,
    "run_id feedback timestamp",
    required="feedback timestamp",
    run_id=Annotated[str, msgspec.Meta(pattern="^eval-[0-9]+-(?:with_skill|without_skill)$")],
    timestamp=str,
)
Feedback = narrow(
    feedback.Feedback,
    "reviews status",
    required="status",
    reviews=list[Review],
    status=Literal["in_progress", "complete"],
)

Query = narrow(triggers.TriggerQuery, "query should_trigger", should_trigger=bool)
Triggers = narrow(
    triggers.TriggerSet, "queries", plain="queries", queries=Annotated[list[Query], OneOrMore]
)


def _evals(plain: Plain) -> Plain:
    ids = [one.get("id") for one in plain["evals"]]
    whole = all(type(one) is int for one in ids)
    first = 1 - min(ids, default=1) if whole and min(ids, default=1) < 1 else 0
    return {
        **plain,
        "skill_name": when(plain.get("skill_name"), kebab),
        "evals": [
            {
                "expected_output": "",
                "files": [],
                **one,
                "id": one["id"] + first if whole else number,
            }
            for number, one in enumerate(plain["evals"], 1)
        ],
    }


def _eval_metadata(plain: Plain) -> Plain:
    name = plain.get("eval_id")
    number = numbered(name) if isinstance(name, str) else name
    title = plain.get("eval_name", when(name, str))
    return without_none(
        {
            **plain,
            "eval_id": number,
            "eval_name": title,
            "assertions": named(plain.get("assertions", [])),
        }
    )


def _grading(plain: Plain) -> Plain:
    scored = [one for one in plain["expectations"] if one.get("passed") is not None]
    return {"expectations": [{"evidence": "", **one} for one in scored]}


def _timing(plain: Plain) -> Plain:
    seconds, milliseconds = plain.get("total_duration_seconds"), plain.get("duration_ms")
    if seconds is None:
        seconds = when(milliseconds, lambda value: value / 1000)
    if milliseconds is None:
        milliseconds = when(seconds, lambda value: value * 1000)
    return without_none(
        {
            "total_tokens": plain.get("total_tokens"),
            "duration_ms": when(milliseconds, round),
            "total_duration_seconds": seconds,
        }
    )


def reviews(plain: Plain) -> Plain:
    """Reviews with their text, empty or not: an empty one says that all is well."""
    return {**plain, "reviews": [{"feedback": "", **one} for one in plain["reviews"]]}


def queries(plain: Plain) -> list[Any]:
    """The queries of a trigger set as the bare list that its file is.

    Those of which nobody says whether they should trigger have no place there.
    """
    return [one for one in plain["queries"] if one.get("should_trigger") is not None]


CODINGBUDDY = Dialect(
    "codingbuddy",
    {
        "evals": Form(Evals, _evals),
        "eval_metadata": Form(EvalMetadata, _eval_metadata),
        "grading": Form(Grading, _grading),
        "timing": Form(Timing, _timing),
        "feedback": Form(Feedback, reviews),
        "benchmark": BENCHMARK,
        "triggers": Form(Triggers, queries),
    },
)
