"""Every misbehaviour, seen from the real SDK over both ways."""

from __future__ import annotations

import json
from typing import get_args

import anthropic
import httpx2
import pydantic
import pytest

from skill_eval_nb.models.stand_in import StandIn
from tests.models.stand_in.asking import WAYS, ask, judging, plain, work
from tests.stand_in import Fault, RiggedStandIn
from tests.stand_in.faults import Kind, Misfortune

way = pytest.mark.parametrize("way", WAYS)
TRIED = set()


def told(kind, **fields):
    TRIED.add(kind)
    return RiggedStandIn(faults=(Fault(kind, **fields),))


def create(stand_in, way, request=None, **options):
    return ask(stand_in, way, lambda sdk: sdk.messages.create(**request or plain()), **options)


@way
@pytest.mark.parametrize(
    ("kind", "status", "error"),
    [
        ("bad_request_400", 400, "invalid_request_error"),
        ("unauthorized_401", 401, "authentication_error"),
        ("rate_limited_429", 429, "rate_limit_error"),
        ("server_error_500", 500, "api_error"),
        ("overloaded_529", 529, "overloaded_error"),
    ],
)
def test_error_answers(way, kind, status, error):
    with pytest.raises(anthropic.APIStatusError) as raised:
        create(told(kind, retry_after=7), way)
    assert raised.value.status_code == status
    assert raised.value.body["error"]["type"] == error
    after = raised.value.response.headers.get("retry-after")
    assert after == ("7" if status == 429 else None)


@way
@pytest.mark.parametrize(
    ("kind", "error"),
    [("silence", anthropic.APITimeoutError), ("cut", anthropic.APIConnectionError)],
)
def test_no_answer_comes_or_half_of_one(way, kind, error):
    with pytest.raises(error) as raised:
        create(told(kind), way, timeout=0.5 if kind == "silence" else 20)
    assert type(raised.value) is error


async def streamed(sdk):
    async with sdk.messages.stream(**plain()) as stream:
        return [event.type async for event in stream]


@way
def test_a_connection_is_cut_in_the_middle_of_a_stream(way):
    with pytest.raises((httpx2.RemoteProtocolError, anthropic.APIConnectionError)):
        ask(told("cut"), way, streamed)
    assert "message_stop" in ask(StandIn(), way, streamed)


@way
def test_an_error_comes_in_the_middle_of_a_stream(way):
    with pytest.raises(anthropic.APIStatusError) as raised:
        ask(told("stream_error"), way, streamed)
    assert raised.value.body["error"]["type"] == "overloaded_error"
    assert create(told("stream_error"), way).stop_reason == "end_turn"


@way
def test_a_refusal_has_no_content(way):
    answer = create(told("refusal"), way)
    assert (answer.stop_reason, answer.content) == ("refusal", [])
    assert answer.stop_details.type == "refusal"


@way
def test_an_answer_is_cut_at_max_tokens(way):
    whole = create(StandIn(), way).content[0].text
    for answer in (create(told("max_tokens"), way), create(StandIn(), way, plain(max_tokens=20))):
        assert answer.stop_reason == "max_tokens"
        assert 0 < len(answer.content[0].text) < len(whole)
        assert whole.startswith(answer.content[0].text)
        assert answer.usage.output_tokens <= 40
    assert create(StandIn(), way, plain(max_tokens=1)).content == []


@way
def test_a_judge_gives_invalid_json(way):
    class Verdict(pydantic.BaseModel):
        name: str

    def parse(sdk):
        return sdk.messages.parse(**plain(), output_format=Verdict)

    assert isinstance(ask(StandIn(), way, parse).parsed_output, Verdict)
    with pytest.raises(pydantic.ValidationError):
        ask(told("invalid_json"), way, parse)
    text = create(told("invalid_json"), way, judging("x")).content[0].text
    with pytest.raises(ValueError, match="column"):
        json.loads(text)


@way
def test_a_judge_gives_wrong_scores(way):
    request = judging("x", dimensions=("a", "b", "c"))

    def scores(kind):
        return json.loads(create(told(kind), way, request).content[0].text)["dimensions"]

    assert [score["score"] for score in scores("out_of_range")] == [9, 9, 9]
    assert [score["name"] for score in scores("missing_dimensions")] == ["a", "b"]
    assert [score["evidence"] for score in scores("no_evidence")] == ["", "", ""]


@way
def test_what_is_huge(way, tmp_path):
    stand_in = told("huge_output", size=3_000_000)
    messages = ask(stand_in, way, lambda sdk: work(sdk, "Tell a tale.", tmp_path))
    assert (tmp_path / "huge.txt").stat().st_size == 3_000_000
    assert len(messages[2]["content"][0]["content"]) == 3_000_000
    assert (tmp_path / "answer.md").exists()
    # With a time-out of its own the SDK lets so much be asked for without a stream.
    answer = create(told("huge_answer", size=2_000_000), way, plain(max_tokens=10**7), timeout=60)
    assert len(answer.content[0].text) == 2_000_000
    assert create(told("huge_answer", size=2_000_000), way).stop_reason == "max_tokens"


def test_every_kind_was_tried_here():
    if len(TRIED) < 5:
        pytest.skip("the other tests of this file were not run")
    assert set(get_args(Kind)) == TRIED


def strikes(fault, calls, seed=0):
    misfortune = Misfortune((fault,), seed)
    return [misfortune.strike(*call) is not None for call in calls]


def test_a_share_is_drawn_from_the_seed_and_not_from_the_order():
    calls = [("executor", f"run-{n}", 1, "") for n in range(2_000)]
    hit = strikes(Fault("cut", share=0.1), calls)
    # 200 with sd 13.4: four of them either way.
    assert 146 <= sum(hit) <= 254
    assert strikes(Fault("cut", share=0.1), calls[::-1])[::-1] == hit
    assert strikes(Fault("cut", share=0.1), calls, seed=1) != hit
    again = [("executor", "run-1", 1, "")] * 2_000
    assert 146 <= sum(strikes(Fault("cut", share=0.1), again)) <= 254, "a retry draws anew"
