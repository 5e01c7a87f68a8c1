"""What a judge is sent, blind and fenced; what comes of its answers; k judgings as a grading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.documents import (
    GradedExpectation,
    Judging,
    dump,
)
from skill_eval_nb.documents.dialects import check, read_as_shared
from skill_eval_nb.grading import grade
from skill_eval_nb.grading.judge import (
    Case,
    Judge,
    Unjudged,
    calls,
    judge,
    prepare,
    questions,
    worst,
)
from skill_eval_nb.models import (
    Tally,
    Usage,
    load_prices,
    worst_case,
)
from skill_eval_nb.models.ask import fault_text
from tests.corpus.build import lay
from tests.golden import hold, lines_of
from tests.grading.made import case, judging, picture
from tests.models.scripted import Answer, Scripted, bad, good, with_client

JUDGE = Judge("claude-haiku-4-5")


def body(who: Judge, of: Case, number: int, part: int = 0, fault: str | None = None) -> Any:
    """The body of one call of a judging."""
    return questions(prepare(who, of), number)[part].body(fault)


# ── what is sent ───────────────────────────────────────────────────────────────────────────────


def test_only_the_last_block_differs_between_judgings_and_has_an_order_of_its_own(tmp_path) -> None:
    who = Judge("judge-1", judgings=3)
    bodies = [body(who, case(tmp_path), number) for number in (1, 2, 3)]
    bodies.append(body(who, case(tmp_path), 1, fault="no evidence"))
    contents = [one["messages"][0]["content"] for one in bodies]
    assert len({json.dumps({**one, "metadata": 0, "messages": 0}) for one in bodies}) == 1
    assert len({json.dumps(begin) for *begin, _ in contents}) == 1
    assert ["cache_control" in block for block in contents[0]][-3:] == [False, True, False]
    last = [content[-1]["text"] for content in contents]
    assert len(set(last)) == 4
    names = ("clarity", "depth", "care")
    orders = [tuple(sorted(names, key=lambda n: text.index(f"### {n}"))) for text in last]
    assert len(set(orders)) == 3


def test_of_calls_a_dimension_one_is_of_the_whole(tmp_path: Path) -> None:
    """It is of the expectations and remarks; without any, remarks are of the first dimension."""
    who = Judge("j", per_dimension=True)
    for more, kinds in (
        ({}, [(2, 0, True), *[(0, 1, False)] * 3]),
        ({"expectations": ()}, [(0, 1, True), *[(0, 1, False)] * 2]),
    ):
        parts = calls(who, case(tmp_path, **more), 1)
        assert [(len(one.expectations), len(one.dimensions), one.remarks) for one in parts] == kinds


@pytest.mark.parametrize("per_dimension", [False, True])
def test_the_worst_is_no_less_than_all_calls_with_all_their_repeats(tmp_path, per_dimension):
    who, of = Judge("j", judgings=2, per_dimension=per_dimension), case(tmp_path)
    bound = worst(prepare(who, of))
    for number in (1, 2):
        used = Usage()
        for part in range(len(calls(who, of, number))):
            for fault in (None, "no evidence; " * 30, 'ä"\\' * 600):
                text = None if fault is None else fault_text([fault])
                used += worst_case(body(who, of, number, part, fault=text))
        assert (bound.output_tokens, bound.calls) == (used.output_tokens, used.calls)
        assert bound.cache_write_tokens >= used.cache_write_tokens > 0
        assert bound.input_tokens == used.input_tokens == 0


# ── what is answered ───────────────────────────────────────────────────────────────────────────


def judged(of: Case, *answers: Answer) -> tuple[Judging, list[Any]]:
    """The judging from these answers, and the requests."""
    ready, prices = prepare(JUDGE, of), load_prices()
    with Scripted(answers) as server:
        one = with_client(server, lambda to: judge(to, ready, 1, Tally(), prices=prices))
        return one, [json.loads(seen.body)["messages"][0]["content"] for seen in server.seen]


def test_the_record_of_a_judging(tmp_path: Path) -> None:
    """What was covered up is put back in all that the judge says."""
    files = {"RELEASE_NOTES.md": "By the release-notes skill", "a.md": "x"}
    of = case(tmp_path, files, hidden=("release-notes",))
    quoted = "RELEASE_NOTES.md: “By the [name 1]”"
    answer = judging(
        claims=[{"claim": quoted, "type": "process", "evidence": quoted, "verified": True}],
        user_notes={"uncertainties": [quoted], "needs_review": [], "workarounds": []},
        eval_feedback={
            "suggestions": [{"assertion": None, "reason": quoted}],
            "overall": "[name 2] stays",
        },
    )
    for row in (*answer["expectations"], *answer["dimensions"]):
        row["evidence"] = quoted
    one, (request,) = judged(of, good(json.dumps(answer), input_tokens=100, output_tokens=10))
    assert '<output file=\\"RELEASE_NOTES.md\\"' in json.dumps(request)
    assert "release-notes" not in json.dumps(request)
    assert one.rubric_summary is not None
    assert one.rubric_summary.weighted_mean == pytest.approx((4 * 2 + 2 + 5 * 0.5) / 3.5, abs=1e-4)
    assert one.rubric_summary.normalized == pytest.approx((4 * 2 + 2 + 2.5) / 3.5 / 5, abs=1e-4)
    assert one.cost_usd == pytest.approx(100 * 1e-6 + 10 * 5e-6)
    assert one.seconds is not None
    assert read_as_shared("judging", json.loads(json.dumps(dump(one)))) == (one, [])
    assert not check("judging", dump(one), "skill-evaluator")
    hold("judging", lines_of(dump(one) | dict.fromkeys(("seconds", "timestamp"))))


def test_pictures_that_the_api_refuses_are_named_instead(tmp_path: Path) -> None:
    of = case(tmp_path)
    lay(of.outputs, {"chart.png": picture("PNG")})
    fault, answer = bad(400, words="Could not process image"), good(json.dumps(judging()))
    one, requests = judged(of, fault, answer)
    kinds = [{block["type"] for block in request} for request in requests]
    assert kinds == [{"text", "image"}, {"text"}]
    assert one.shown is not None
    assert one.shown.images == 0
    assert any("the API refused them" in left.reason for left in one.shown.left_out)
    with pytest.raises(Unjudged, match="Could not process image"):
        judged(of, fault)
    (of.outputs / "chart.png").unlink()
    with pytest.raises(Unjudged, match="Could not process image"):
        judged(of, fault, answer)  # without a picture there is nothing to try again


# ── k judgings ─────────────────────────────────────────────────────────────────────────────────


def judging_of(number: int, passed: bool | None) -> Judging:
    """One with a verdict on one expectation."""
    verdict = GradedExpectation(text="x", id="x", passed=passed, evidence=f"{number} {passed}")
    return Judging({}, judging=number, expectations=[verdict])


@pytest.mark.parametrize(
    ("votes", "passed", "confidence"),
    [
        ([True], True, None),
        ([False], False, None),
        ([True, True], True, "high"),
        ([False, False, False], False, "high"),
        ([True, False, True], True, "medium"),
        ([False, False, True], False, "medium"),
        ([True, False], False, "low"),
        ([True, False, False, True], False, "low"),
        ([None], None, None),
        ([None, True], True, None),
    ],
)
def test_verdicts_are_of_the_majority_and_a_tie_has_failed(votes, passed, confidence) -> None:
    made = grade(None, [judging_of(n, vote) for n, vote in enumerate(votes, 1)])
    (one,) = made.expectations
    assert (one.passed, one.confidence) == (passed, confidence)
    if confidence == "low":
        assert (one.evidence or "").startswith("For: 1 True\nAgainst: 2 False")
    elif passed is not None:
        assert (one.evidence or "").endswith(str(passed))
    assert made.summary is not None
    counts = made.summary.total, made.summary.passed, made.summary.failed
    assert counts == (1, passed is True, passed is False)
