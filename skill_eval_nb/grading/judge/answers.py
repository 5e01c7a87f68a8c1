"""From a judge's replies to a judging: asked, looked through, asked again where it is bad."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents import (
    Dimension,
    GradedExpectation,
    Judging,
    RubricScore,
    RubricSummary,
)
from skill_eval_nb.documents.run import (
    Claim,
    EvalFeedback,
    JudgingUsage,
    Suggestion,
    UserNotesSummary,
)
from skill_eval_nb.models import Meter, ModelFault, Prices, Reply, Usage
from skill_eval_nb.models.ask import Unanswered, until_usable, whole
from skill_eval_nb.models.prompt import AnswerCheck, BadAnswer, filled, formed, parsed

from ..evidence import uncovered
from .prompt import SCHEMA, WHO, Case, Judge, Part, Prepared, Unjudged, calls, prepare, request

if TYPE_CHECKING:
    from skill_eval_nb.models import Client


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one expectation is met, and what that rests on."""

    passed: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of one dimension, 1 to 5, and what it rests on."""

    score: int
    evidence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole and sound answer: every expectation by its id, every dimension by its name."""

    expectations: dict[str, Verdict]
    dimensions: dict[str, Scored]
    claims: tuple[dict[str, Any], ...] = ()
    user_notes: dict[str, list[str]] | None = None
    suggestions: tuple[dict[str, Any], ...] = ()
    overall: str | None = None


_CLAIM = ("claim", "type", "evidence", "verified")
_NOTES = ("uncertainties", "needs_review", "workarounds")


def read_answer(text: str, expectations: Iterable[str], dimensions: Iterable[str]) -> Answer:
    """Read a judge's answer against what it was asked for.

    Args:
        text: the answer, JSON of the form `SCHEMA`.
        expectations: the ids that were asked for.
        dimensions: the names that were asked for.

    Raises:
        BadAnswer: it is no JSON of that form; or an expectation or dimension is missing, there
            twice, or was never asked for; or a score is no whole number from 1 to 5; or a
            score or verdict has no evidence.

    >>> import json
    >>> said = {"expectations": [], "dimensions": [{"name": "depth", "score": 4, "evidence": ""}],
    ...         "claims": [], "user_notes": {name: [] for name in _NOTES},
    ...         "eval_feedback": {"suggestions": [], "overall": ""}}
    >>> read_answer(json.dumps(said), [], ["depth"])
    Traceback (most recent call last):
    skill_eval_nb...BadAnswer: dimension `depth` has no evidence
    """
    raw = formed(parsed(text), SCHEMA)
    look = AnswerCheck()
    verdicts = look.named(raw["expectations"], "expectation", "id", list(expectations))
    scores = look.named(raw["dimensions"], "dimension", "name", list(dimensions))
    for what, found in (("expectation", verdicts), ("dimension", scores)):
        for name, row in found.items():
            look.telling(row, "evidence", f"{what} `{name}`")
    look.done()
    feedback = raw["eval_feedback"]
    return Answer(
        {name: Verdict(row["passed"], row["evidence"]) for name, row in verdicts.items()},
        {name: Scored(score["score"], score["evidence"]) for name, score in scores.items()},
        tuple({name: claim[name] for name in _CLAIM} for claim in raw["claims"]),
        {name: filled(raw["user_notes"][name]) for name in _NOTES},
        tuple(
            {"assertion": suggestion.get("assertion") or None, "reason": suggestion["reason"]}
            for suggestion in feedback["suggestions"]
        ),
        feedback["overall"] or None,
    )


def in_all_texts(value: Any, change: Callable[[str], str]) -> Any:
    """An answer, or any part of one, with all its texts changed; ids and names stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: in_all_texts(part, change) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(in_all_texts(part, change) for part in value)
    if isinstance(value, (Answer, Verdict, Scored)):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **in_all_texts(parts, change))
    return value


def usage_of(usage: Usage) -> JudgingUsage:
    """Tokens as a document has them."""
    return JudgingUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        calls=usage.calls,
    )


def now() -> str:
    """The time, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def answer_of(judge: Judge, part: Part, reply: Reply) -> Answer:
    """What one reply answers to what its call asked for.

    Raises:
        Unjudged: the model stopped before it had answered; asking again would not help.
        BadAnswer: it answered, but not what was asked.
    """
    try:
        whole(reply, WHO, judge.max_tokens)
    except Unanswered as error:
        raise Unjudged(error.reason) from None
    return read_answer(
        reply.text,
        [name for name, _ in part.expectations],
        [dimension.name for dimension in part.dimensions],
    )


def read_judging(
    judge: Judge,
    case: Case,
    number: int,
    replies: Reply | Sequence[Reply],
    *,
    prepared: Prepared | None = None,
    prices: Prices | None = None,
    batch: bool = False,
) -> Judging:
    """The judging that came of the replies to its calls, in the order of `calls`.

    Args:
        judge: who judged.
        case: the run.
        number: the judging, from 1.
        replies: the reply, or one for each call.
        prepared: what was shown, for the record.
        prices: what calls cost.
        batch: whether they went by a batch, at its price.

    Raises:
        Unjudged: a reply cannot be used.
    """
    given = [replies] if isinstance(replies, Reply) else list(replies)
    parts = calls(judge, case, number)
    if len(given) != len(parts):
        raise Unjudged(f"{len(parts)} calls were to be answered, and {len(given)} were")
    try:
        answers = [answer_of(judge, part, reply) for part, reply in zip(parts, given, strict=True)]
    except BadAnswer as bad:
        raise Unjudged(f"the judge's answer cannot be used: {bad}") from bad
    usage = sum((reply.usage for reply in given), Usage())
    return judging_of(
        judge, case, number, answers, usage, prepared=prepared, prices=prices, batch=batch
    )


def judging_of(
    judge: Judge,
    case: Case,
    number: int,
    answers: Sequence[Answer],
    usage: Usage,
    *,
    prepared: Prepared | None = None,
    prices: Prices | None = None,
    batch: bool = False,
    refused: Sequence[str] = (),
    seconds: float | None = None,
) -> Judging:
    """The document of a judging, from sound answers to all of its calls.

    Names that were covered up in what the judge was shown are put back in what it says.
    """
    parts = calls(judge, case, number)
    originals = {} if prepared is None else prepared.showing.originals
    answers = [in_all_texts(answer, lambda text: uncovered(text, originals)) for answer in answers]
    verdicts = {name: check for answer in answers for name, check in answer.expectations.items()}
    scores = {name: score for answer in answers for name, score in answer.dimensions.items()}
    first = answers[0]
    rubric = {
        dimension.name: RubricScore(
            score=float(scores[dimension.name].score),
            evidence=scores[dimension.name].evidence,
            weight=dimension.weight,
        )
        for dimension in case.dimensions
    }
    return Judging(
        judging=number,
        judge_model=judge.model,
        rubric_scores=rubric,
        rubric_summary=rubric_summary(rubric, case.dimensions),
        expectations=[
            GradedExpectation(
                id=expectation.id,
                text=expectation.text,
                passed=verdicts[f"E{n}"].passed,
                evidence=verdicts[f"E{n}"].evidence,
            )
            for n, expectation in enumerate(case.expectations, 1)
        ],
        claims=[Claim(**claim) for claim in first.claims],
        user_notes_summary=_notes(first.user_notes),
        eval_feedback=_feedback(first),
        dimension_order=[dimension.name for part in parts for dimension in part.dimensions],
        expectation_order=[name for part in parts for name, _ in part.expectations],
        per_dimension=judge.per_dimension or None,
        shown=None if prepared is None else prepared.showing.shown,
        refused_answers=list(refused),
        usage=usage_of(usage),
        cost_usd=None if prices is None else prices.cost(usage, judge.model, batch=batch),
        seconds=None if seconds is None else round(seconds, 3),
        timestamp=now(),
    )


def rubric_summary(
    scores: Mapping[str, RubricScore], dimensions: Sequence[Dimension] = ()
) -> RubricSummary | None:
    """Σ(score × weight) / Σ(weight), and that over 5; None where no score has a weight.

    Weights are the rubric's, else those kept with the scores, else 1 each.

    >>> rubric_summary({"a": RubricScore(4, weight=2.0), "b": RubricScore(1, weight=1.0)})
    RubricSummary(weighted_mean=3.0, max_possible=5.0, normalized=0.6)
    """
    weights = {dimension.name: dimension.weight for dimension in dimensions}
    weighted = [
        (score.score, weights.get(name, 1.0 if score.weight is None else score.weight))
        for name, score in scores.items()
        if score.score is not None
    ]
    total = sum(weight for _, weight in weighted)
    if not total:
        return None
    mean = sum(score * weight for score, weight in weighted) / total
    return RubricSummary(
        weighted_mean=round(mean, 4), max_possible=5.0, normalized=round(mean / 5, 4)
    )


def _notes(notes: dict[str, list[str]] | None) -> UserNotesSummary | None:
    return UserNotesSummary(**notes) if notes and any(notes.values()) else None


def _feedback(answer: Answer) -> EvalFeedback | None:
    if not answer.suggestions and answer.overall is None:
        return None
    return EvalFeedback(
        suggestions=[Suggestion(**suggestion) for suggestion in answer.suggestions],
        overall=answer.overall,
    )


async def judge(
    client: Client,
    judge: Judge,
    case: Case,
    number: int,
    meter: Meter,
    *,
    prices: Prices | None = None,
    prepared: Prepared | None = None,
) -> Judging:
    """Judge one run once.

    An answer that cannot be used is asked for again, at most twice, telling what was wrong.

    Args:
        client: how calls reach the model.
        judge: who judges.
        case: the run.
        number: the judging, from 1.
        meter: what every call goes through.
        prices: what calls cost, for the record.
        prepared: the run made ready; read from the disk where it is not given.

    Raises:
        Unjudged: there is no judging, and why.
        BudgetSpent: the meter allowed no further call.
    """
    began = time.monotonic()
    ready = prepared or await asyncio.to_thread(prepare, judge, case)
    asking = _Asking(client, ready, number, meter)
    try:
        answers = await asking.all()
    except ModelFault as fault:
        if fault.kind != "refused" or not ready.showing.shown.images:
            raise Unjudged(f"the judge model gave no answer: {fault}") from fault
        # One picture that the API cannot read spoils the whole request, whatever we looked at.
        asking.ready = await asyncio.to_thread(prepare, judge, case, images=False)
        try:
            answers = await asking.all()
        except ModelFault as again:
            raise Unjudged(f"the judge model gave no answer: {again}") from again
    return judging_of(
        judge,
        case,
        number,
        answers,
        asking.usage,
        prepared=asking.ready,
        prices=prices,
        refused=asking.refused,
        seconds=time.monotonic() - began,
    )


@dataclass
class _Asking:
    """The calls of one judging, and what they used."""

    client: Client
    ready: Prepared
    number: int
    meter: Meter
    usage: Usage = field(default_factory=Usage)
    refused: list[str] = field(default_factory=list)

    async def all(self) -> list[Answer]:
        """The answers to all calls, one after the other: the first one fills the cache."""
        parts = calls(self.ready.judge, self.ready.case, self.number)
        return [await self._answer(part) for part in range(len(parts))]

    async def _answer(self, part: int) -> Answer:
        judge, case = self.ready.judge, self.ready.case
        wanted = calls(judge, case, self.number)[part]

        def body(fault: str | None) -> dict[str, Any]:
            return request(judge, case, self.number, part, prepared=self.ready, fault=fault)

        def read(reply: Reply) -> Answer:
            return answer_of(judge, wanted, reply)

        try:
            got = await until_usable(
                self.client, body, read, self.meter, deadline=judge.deadline, who=WHO
            )
        except Unanswered as error:
            raise Unjudged(error.reason) from None
        self.usage += got.usage
        self.refused += got.refused
        return got.value
