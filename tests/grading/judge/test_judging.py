"""From request to judging: good answers, bad ones, and none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.documents import Judging, dump
from skill_eval_nb.documents.dialects import check, read_as_shared
from skill_eval_nb.grading.judge import Case, Judge, Unjudged, judge, prepare
from skill_eval_nb.models import (
    BudgetSpent,
    Connection,
    Meter,
    ModelFault,
    Tally,
    connect,
    load_prices,
)
from tests.grading.evidence.test_images import picture
from tests.grading.judge.cases import Scripted, answer, case, reply
from tests.models.scripted import Ceiling
from tests.stand_in import Fault, RiggedStandIn

JUDGE = Judge("claude-haiku-4-5")


def judged(client: Any, of: Case, who: Judge = JUDGE, meter: Meter | None = None) -> Judging:
    tally = Tally() if meter is None else meter
    return asyncio.run(judge(client, prepare(who, of), 1, tally, prices=load_prices()))


def test_the_record_of_a_judging(tmp_path: Path) -> None:
    claims = [{"claim": "eight", "type": "factual", "evidence": "8 files", "verified": False}]
    client = Scripted([reply(answer(claims=claims))])
    one = judged(client, case(tmp_path))
    scores = {name: (score.score, score.weight) for name, score in one.rubric_scores.items()}
    assert scores == {"clarity": (4, 2.0), "depth": (2, 1.0), "care": (5, 0.5)}
    assert one.rubric_summary is not None
    assert one.rubric_summary.weighted_mean == pytest.approx((4 * 2 + 2 + 5 * 0.5) / 3.5, abs=1e-4)
    assert one.rubric_summary.normalized == pytest.approx((4 * 2 + 2 + 2.5) / 3.5 / 5, abs=1e-4)
    assert [(v.id, v.text, v.passed) for v in one.expectations] == [
        ("X1", "The total is 1,204.50", True),
        (None, "Every invoice has a line", False),
    ]
    assert (one.claims[0].claim, one.judging, one.judge_model) == ("eight", 1, "claude-haiku-4-5")
    assert sorted(one.dimension_order) == ["care", "clarity", "depth"]
    assert sorted(one.expectation_order) == ["E1", "E2"]
    assert one.shown is not None
    assert [shown.name for shown in one.shown.files] == ["table.md"]
    assert one.cost_usd == pytest.approx(100 * 1e-6 + 10 * 5e-6)
    assert one.seconds is not None
    again, faults = read_as_shared("judging", json.loads(json.dumps(dump(one))))
    assert again == one
    assert not faults
    assert not check("judging", dump(one), "skill-evaluator")


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


def test_what_stopped_is_no_judging_whatever_it_says(tmp_path: Path) -> None:
    client = Scripted([reply(answer(), "refusal")] * 2)  # the answer itself would be sound
    with pytest.raises(Unjudged, match="refused to answer"):
        judged(client, case(tmp_path))
    assert len(client.requests) == 1


def test_pictures_that_the_api_refuses_are_named_instead(tmp_path: Path) -> None:
    of = case(tmp_path)
    (of.outputs / "chart.png").write_bytes(picture("PNG"))
    fault = ModelFault("refused", "Could not process image")
    client = Scripted([fault, reply(answer())])
    one = judged(client, of)
    kinds = [
        {block["type"] for block in request["messages"][0]["content"]}
        for request in client.requests
    ]
    assert kinds == [{"text", "image"}, {"text"}]
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
    with pytest.raises(BudgetSpent):
        judged(Scripted([]), case(tmp_path), meter=Ceiling(0))


@pytest.mark.parametrize(
    ("kind", "per_dimension"), [(None, False), ("invalid_json", True), ("out_of_range", False)]
)
def test_the_real_sdk_and_a_judge_that_misbehaves_once(tmp_path, kind, per_dimension) -> None:
    who = Judge("stand-in-judge", judgings=2, deadline=20.0, per_dimension=per_dimension)
    faults = (Fault(kind, role="judge", first=1),) if kind else ()
    tally = Tally()

    async def main() -> Judging:
        async with connect(Connection(stand_in=RiggedStandIn(seed=3, faults=faults))) as client:
            return await judge(client, prepare(who, case(tmp_path)), 1, tally, prices=load_prices())

    one = asyncio.run(main())
    assert sorted(one.rubric_scores) == sorted(one.dimension_order) == ["care", "clarity", "depth"]
    assert one.per_dimension == (per_dimension or None)
    assert all(score.score in (1, 2, 3, 4, 5) for score in one.rubric_scores.values())
    assert len(one.expectations) == 2
    assert len(one.refused_answers) == bool(kind)
    assert one.usage is not None
    assert one.usage.calls == tally.calls == (4 if per_dimension else 1) + bool(kind)
    assert tally.usage.output_tokens == one.usage.output_tokens  # what was refused was paid for
