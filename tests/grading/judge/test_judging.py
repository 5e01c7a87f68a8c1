"""From request to judging: good answers, bad ones, and none."""

from __future__ import annotations

import asyncio
import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.documents import Judging, dump
from skill_eval_nb.documents.dialects import check, read
from skill_eval_nb.grading.judge import SCHEMA, BadAnswer, Case, Judge, Unjudged, judge, read_answer
from skill_eval_nb.models import (
    BudgetSpent,
    Connection,
    Meter,
    ModelFault,
    StandIn,
    Tally,
    Usage,
    connect,
    load_prices,
)
from skill_eval_nb.models.stand_in.settings import Fault
from tests.documents.generated import ANY_JSON
from tests.grading.evidence.test_images import picture
from tests.grading.judge.cases import Scripted, answer, broken, case, last_text, reply

JUDGE = Judge("claude-haiku-4-5")


def judged(client: Any, of: Case, who: Judge = JUDGE, meter: Meter | None = None) -> Judging:
    tally = Tally() if meter is None else meter
    return asyncio.run(judge(client, who, of, 1, tally, prices=load_prices()))


def test_the_record_of_a_judging(tmp_path: Path) -> None:
    claims = [{"claim": "eight", "type": "factual", "evidence": "8 files", "verified": False}]
    client = Scripted([reply(answer(claims=claims))])
    one = judged(client, case(tmp_path))
    assert {name: score.score for name, score in one.rubric_scores.items()} == {
        "clarity": 4,
        "depth": 2,
        "care": 5,
    }
    assert [score.weight for score in one.rubric_scores.values()] == [2.0, 1.0, 0.5]
    assert one.rubric_summary is not None
    assert one.rubric_summary.weighted_mean == pytest.approx((4 * 2 + 2 + 5 * 0.5) / 3.5, abs=1e-4)
    assert one.rubric_summary.normalized == pytest.approx((4 * 2 + 2 + 2.5) / 3.5 / 5, abs=1e-4)
    assert [(v.id, v.text, v.passed) for v in one.expectations] == [
        ("X1", "The total is 1,204.50", True),
        (None, "Every invoice has a line", False),
    ]
    assert one.claims[0].claim == "eight"
    assert (one.judging, one.judge_model) == (1, "claude-haiku-4-5")
    assert sorted(one.dimension_order) == ["care", "clarity", "depth"]
    assert sorted(one.expectation_order) == ["E1", "E2"]
    assert one.shown is not None
    assert [shown.name for shown in one.shown.files] == ["table.md"]
    assert one.usage is not None
    assert one.usage.output_tokens == 10
    assert one.cost_usd == pytest.approx(100 * 1e-6 + 10 * 5e-6)
    assert one.seconds is not None
    again, faults = read("judging", json.loads(json.dumps(dump(one))))
    assert again == one
    assert not faults
    assert not check("judging", dump(one), "skill-evaluator")


def test_a_bad_answer_is_asked_for_again_telling_what_was_wrong(tmp_path: Path) -> None:
    client = Scripted(
        [
            reply("no JSON at all"),
            reply(answer(scores={"clarity": 9, "depth": 2, "care": 5})),
            reply(answer()),
        ]
    )
    tally = Tally()
    one = judged(client, case(tmp_path), meter=tally)
    assert [request["metadata"] for request in client.requests] == [{"user_id": "0f3c-1"}] * 3
    first, second, third = map(last_text, client.requests)
    assert "could not be used" not in first
    assert "no JSON" in second
    assert "is 9, not one of 1, 2, 3, 4, 5" in third
    assert len(one.refused_answers) == 2
    assert one.usage is not None
    assert (one.usage.calls, one.usage.output_tokens) == (3, 30)  # what was refused was paid for
    assert tally.calls == 3


def test_what_was_covered_up_is_put_back_in_all_that_the_judge_says(tmp_path: Path) -> None:
    of = case(
        tmp_path,
        {"RELEASE_NOTES.md": "By the release-notes skill", "a.md": "x"},
        hidden=("release-notes",),
    )
    quoted = "RELEASE_NOTES.md: “By the [name 1]”"
    said = answer(
        claims=[{"claim": quoted, "type": "process", "evidence": quoted, "verified": True}],
        user_notes={"uncertainties": [quoted], "needs_review": [], "workarounds": []},
        eval_feedback={
            "suggestions": [{"assertion": None, "reason": quoted}],
            "overall": "[name 2] stays",
        },
    )
    for one in (*said["expectations"], *said["dimensions"]):
        one["evidence"] = quoted
    client = Scripted([reply(said)])
    one = judged(client, of)
    (request,) = client.requests
    assert '<output file=\\"RELEASE_NOTES.md\\"' in json.dumps(request)
    assert "release-notes" not in json.dumps(request)
    whole = "RELEASE_NOTES.md: “By the release-notes skill”"
    assert {score.evidence for score in one.rubric_scores.values()} == {whole}
    assert {verdict.evidence for verdict in one.expectations} == {whole}
    assert (one.claims[0].claim, one.claims[0].evidence) == (whole, whole)
    assert one.user_notes_summary is not None
    assert one.user_notes_summary.uncertainties == [whole]
    assert one.eval_feedback is not None
    assert one.eval_feedback.suggestions[0].reason == whole
    assert one.eval_feedback.overall == "[name 2] stays"


@pytest.mark.parametrize(
    ("stop_reason", "told"),
    [
        ("refusal", "refused to answer"),
        ("max_tokens", "cut off at max_tokens=8192; raise it"),
        ("model_context_window_exceeded", "lower shown_chars"),
        ("pause_turn", "stopped for pause_turn"),
    ],
)
def test_what_stopped_is_no_judging_whatever_it_says(
    tmp_path: Path, stop_reason: str, told: str
) -> None:
    client = Scripted([reply(answer(), stop_reason)] * 2)  # the answer itself would be sound
    with pytest.raises(Unjudged, match=told):
        judged(client, case(tmp_path))
    assert len(client.requests) == 1


def test_pictures_that_the_api_refuses_are_named_instead(tmp_path: Path) -> None:
    of = case(tmp_path)
    (of.outputs / "chart.png").write_bytes(picture("PNG"))
    fault = ModelFault("refused", "Could not process image")
    client = Scripted([fault, reply(answer())])
    one = judged(client, of)
    kinds = [
        [block["type"] for block in request["messages"][0]["content"]]
        for request in client.requests
    ]
    assert "image" in kinds[0]
    assert "image" not in kinds[1]
    assert one.shown is not None
    assert one.shown.images == 0
    assert any("refused the pictures" in left.reason for left in one.shown.left_out)
    with pytest.raises(Unjudged, match="Could not process image"):
        judged(Scripted([fault, fault]), of)
    (of.outputs / "chart.png").unlink()
    client = Scripted([fault, reply(answer())])
    with pytest.raises(Unjudged, match="Could not process image"):
        judged(client, of)  # without a picture there is nothing to try again


def test_no_money_is_not_taken_for_no_judging(tmp_path: Path) -> None:
    class Poor(Tally):
        def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> Any:
            raise BudgetSpent("nothing left")

    with pytest.raises(BudgetSpent):
        judged(Scripted([]), case(tmp_path), meter=Poor())


def test_one_call_a_dimension(tmp_path: Path) -> None:
    who = replace(JUDGE, per_dimension=True)
    asked: list[str] = []

    class Answering(Scripted):
        async def send(self, request: dict[str, Any], **how: Any) -> Any:
            text = last_text(request)
            names = [name for name in ("clarity", "depth", "care") if f"### {name}" in text]
            asked.extend(names)
            verdicts = {"E1": True, "E2": True} if "[E1]" in text else {}
            self.answers = [reply(answer(verdicts, dict.fromkeys(names, 3)))]
            return await super().send(request, **how)

    client = Answering([])
    one = judged(client, case(tmp_path), who)
    assert len(client.requests) == 4
    assert one.dimension_order == asked
    assert {score.score for score in one.rubric_scores.values()} == {3.0}
    assert one.usage is not None
    assert one.usage.calls == 4
    assert one.cost_usd == pytest.approx(4 * (100 * 1e-6 + 10 * 5e-6))
    assert one.per_dimension


def through_stand_in(stand_in: StandIn, of: Case, who: Judge, number: int = 1) -> tuple[Any, Tally]:
    tally = Tally()

    async def main() -> Judging:
        async with connect(Connection(stand_in=stand_in)) as client:
            return await judge(client, who, of, number, tally, prices=load_prices())

    return asyncio.run(main()), tally


STAND_IN_JUDGE = Judge("stand-in-judge", judgings=2, deadline=20.0)


@pytest.mark.parametrize(
    ("kind", "per_dimension"),
    [
        (None, False),
        (None, True),
        ("invalid_json", True),
        *((one, False) for one in ("out_of_range", "missing_dimensions", "no_evidence")),
    ],
)
def test_the_real_sdk_and_a_judge_that_misbehaves_once(
    tmp_path: Path, kind: Any, per_dimension: bool
) -> None:
    who = replace(STAND_IN_JUDGE, per_dimension=per_dimension)
    faults = (Fault(kind, role="judge", first=1),) if kind else ()
    one, tally = through_stand_in(StandIn(seed=3, faults=faults), case(tmp_path), who)
    assert sorted(one.rubric_scores) == ["care", "clarity", "depth"]
    assert all(score.score in (1, 2, 3, 4, 5) for score in one.rubric_scores.values())
    assert len(one.expectations) == 2
    assert len(one.refused_answers) == bool(kind)
    assert one.usage.calls == tally.calls == (4 if per_dimension else 1) + bool(kind)
    assert tally.usage.output_tokens == one.usage.output_tokens


def test_what_the_stand_in_really_read_is_blind_and_cached(tmp_path: Path) -> None:
    from tests.grading.judge.test_requests import blind_case

    log = tmp_path / "log.jsonl"
    stand_in = StandIn(log=str(log))
    of = replace(blind_case(tmp_path / "ws", "with_skill"))
    (of.outputs / "long.txt").write_text("word " * 4000)

    async def main() -> list[Judging]:
        async with connect(Connection(stand_in=stand_in)) as client:
            return [await judge(client, STAND_IN_JUDGE, of, n, Tally()) for n in (1, 2)]

    first, second = asyncio.run(main())
    sent = log.read_text("utf-8").lower()
    assert '"user_id": "0f3c-2"' in sent or '"user_id":"0f3c-2"' in sent
    for canary in ("canary", "with_skill", "iteration-1"):
        assert canary not in sent.replace(str(log), "")
    assert first.usage is not None
    assert second.usage is not None
    assert first.usage.cache_write_tokens
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens
    assert first.shown is not None
    assert second.shown is not None
    assert first.shown.digest == second.shown.digest


# ── answers ────────────────────────────────────────────────────────────────────────────────────

EXPECTATIONS, DIMENSIONS = ["E1", "E2"], ["clarity", "depth", "care"]
FORM = jsonschema.Draft202012Validator(SCHEMA)


def sound(said: Any) -> bool:
    """What a sound answer is, told by other means: the schema, and the names counted."""
    if not FORM.is_valid(said):
        return False
    named = [one["id"] for one in said["expectations"]], [one["name"] for one in said["dimensions"]]
    judged = [*said["expectations"], *said["dimensions"]]
    return (
        [sorted(names) for names in named] == [sorted(EXPECTATIONS), sorted(DIMENSIONS)]
        and all(any(map(str.isalnum, one["evidence"])) for one in judged)
        and all(type(one["score"]) is int for one in said["dimensions"])
    )


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("dimensions.1", ..., "dimensions not answered: depth"),
        ("expectations.0", ..., "expectations not answered: E1"),
        ("dimensions.0.name", "Clarity", 'there is no dimension "Clarity"'),
        ("dimensions.1.name", "clarity", "`clarity` is there twice"),
        ("expectations.0.id", "E7", 'there is no expectation "E7"'),
        ("dimensions.0.evidence", " -", "dimension `clarity` has no evidence"),
        ("dimensions.0.evidence", ..., r"`dimensions\[0\]` lacks evidence"),
        ("expectations.1.evidence", "", "expectation `E2` has no evidence"),
        ("expectations.1.passed", "yes", 'passed` is "yes", not true or false'),
        ("dimensions.0.score", 6, "is 6, not one of 1, 2, 3, 4, 5"),
        ("dimensions.0.score", 4.0, "is 4.0, not a whole number"),
        ("dimensions.0.score", True, "is true, not a whole number"),
        ("dimensions", {}, "`dimensions` is {}, not a list"),
        ("claims", ..., "the answer lacks claims"),
        ("user_notes.workarounds", [1], r"`user_notes.workarounds\[0\]` is 1, not a text"),
        ("eval_feedback", 3, "`eval_feedback` is 3, not an object"),
    ],
)
def test_what_is_wrong_is_said(path: str, value: Any, fault: str) -> None:
    with pytest.raises(BadAnswer, match=fault):
        read_answer(broken(answer(), path, value), EXPECTATIONS, DIMENSIONS)
    with pytest.raises(BadAnswer, match=r"the answer is \[\], not an object"):
        read_answer([], EXPECTATIONS, DIMENSIONS)


@st.composite
def nearly_sound(draw: st.DrawFn) -> Any:
    """A sound answer with some things in it changed, at any place."""
    said: Any = answer()
    for _ in range(draw(st.integers(0, 3))):
        inner: Any = said
        while True:
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            below = inner[key]
            if isinstance(below, (dict, list)) and below and draw(st.booleans()):
                inner = below
                continue
            change = draw(st.sampled_from(["drop", "replace", "same", "double"]))
            if change == "drop":
                del inner[key]
            elif change == "replace":
                inner[key] = draw(st.one_of(ANY_JSON, st.sampled_from(["E2", "depth", 5, 1, True])))
            elif change == "double" and isinstance(inner, list):
                inner.append(copy.deepcopy(below))
            break
    return said


@settings(max_examples=100)
@given(nearly_sound())
def test_a_score_comes_of_sound_answers_only(said: Any) -> None:
    try:
        read = read_answer(said, EXPECTATIONS, DIMENSIONS)
    except BadAnswer:
        # What is refused beyond the schema is nothing; what the schema allows is not refused.
        assert not sound(said)
        return
    assert {one["score"] for one in read["dimensions"].values()} <= {1, 2, 3, 4, 5}
    assert sorted(read["dimensions"]) == sorted(DIMENSIONS)
    assert sorted(read["expectations"]) == sorted(EXPECTATIONS)
    stated = {one["name"]: one["score"] for one in said["dimensions"]}
    assert {name: one["score"] for name, one in read["dimensions"].items()} == stated
    assert all(any(map(str.isalnum, one["evidence"])) for one in read["dimensions"].values())
