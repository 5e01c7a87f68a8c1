"""The stand-in as the real SDK sees it: streams, errors and batches, over both ways."""

from __future__ import annotations

import anthropic
import pytest

from skill_eval_nb.models.stand_in import StandIn
from tests.models.stand_in.asking import LISTING, TOOLS, WAYS, ask, plain

# ── wire ───────────────────────────────────────────────────────────────────────────────────────

way = pytest.mark.parametrize("way", WAYS)


@way
def test_a_stream_gives_the_same_message_as_a_plain_answer(way):
    request = plain("Write release notes of commits, ünïcode 🦀", tools=TOOLS, system=LISTING)

    async def both(sdk):
        async with sdk.messages.stream(**request) as stream:
            kinds = [event.type async for event in stream]
            return await sdk.messages.create(**request), await stream.get_final_message(), kinds

    whole, streamed, kinds = ask(StandIn(), way, both)
    assert whole.content[1].input == {"skill": "release-notes"}
    assert streamed.to_dict() == whole.to_dict()
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2
    assert "input_json" in kinds


@way
def test_errors_have_the_form_of_the_api(way):
    async def wrong(sdk):
        with pytest.raises(anthropic.NotFoundError) as missing:
            await sdk.get("/v1/nothing", cast_to=object)
        with pytest.raises(anthropic.BadRequestError) as bad:
            await sdk.messages.create(**plain() | {"messages": []})
        return missing.value, bad.value

    for error in ask(StandIn(), way, wrong):
        assert error.body["type"] == "error"
        assert error.body["request_id"] == error.request_id
        assert error.body["error"]["type"] in ("not_found_error", "invalid_request_error")


@way
def test_an_answer_is_cut_at_max_tokens(way):
    async def at_most(sdk):
        asked = [plain(max_tokens=most) for most in (4000, 20, 1)]
        return [await sdk.messages.create(**one) for one in asked]

    whole, short, none = ask(StandIn(), way, at_most)
    assert (short.stop_reason, none.content) == ("max_tokens", [])
    assert 0 < len(short.content[0].text) < len(whole.content[0].text)
    assert whole.content[0].text.startswith(short.content[0].text)
    assert short.usage.output_tokens <= 20


# ── batches ────────────────────────────────────────────────────────────────────────────────────


def requests(*names):
    return [{"custom_id": name, "params": plain(f"hello {name}", session=name)} for name in names]


async def collected(sdk, batch_id):
    return {r.custom_id: r.result async for r in await sdk.messages.batches.results(batch_id)}


@way
def test_a_batch_gives_what_single_calls_give(way):
    names = [f"n-{number}" for number in range(12)]

    async def run(sdk):
        wrong = {"custom_id": "wrong", "params": {"model": "m"}}
        made = await sdk.messages.batches.create(requests=[*requests(*names), wrong])
        assert made.processing_status == "in_progress"
        assert made.request_counts.processing == 13
        ended = await sdk.messages.batches.retrieve(made.id)
        assert ended.processing_status == "ended"
        assert ended.request_counts.succeeded == 12
        results = await collected(sdk, made.id)
        assert results.pop("wrong").error.error.type == "invalid_request_error"
        single = await sdk.messages.create(**requests("n-3")[0]["params"])
        assert results["n-3"].message.content == single.content
        assert results["n-3"].message.usage.service_tier == "batch"
        return list(results)

    order = ask(StandIn(), way, run)
    assert sorted(order) == sorted(names)
    assert order != names, "nobody may lean on an order that the API does not promise"
