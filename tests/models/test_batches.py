"""The batches of the real SDK's connection against a real server that keeps them."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from functools import partial
from typing import Any

import pytest

from skill_eval_nb.models import (
    BudgetSpent,
    Client,
    ModelFault,
    Reply,
    Tally,
    Usage,
    batches,
    load_prices,
    worst_case,
)
from skill_eval_nb.models import client as retry
from tests.models.scripted import (
    CUT,
    REQUEST,
    SILENCE,
    Answer,
    Ceiling,
    Scripted,
    Seen,
    bad,
    message,
    plain,
    with_client,
)


class Keeper:
    """A server's side of batches: they end after so many looks, with a result by custom id."""

    def __init__(self, looks: int = 1) -> None:
        self.looks = looks
        self.batches: dict[str, list[Any]] = {}
        self.asked: Counter[str] = Counter()

    def __call__(self, seen: Seen) -> Answer:
        name, *results = [*seen.path.strip("/").split("/")[3:], ""]
        if not name:
            name = f"msgbatch_{len(self.batches)}"
            self.batches[name] = json.loads(seen.body)["requests"]
        elif results[0]:
            lines = [json.dumps(self.result(item)) for item in reversed(self.batches[name])]
            return Answer(body="\n".join([*lines, ""]).encode())
        else:
            self.asked[name] += 1
        counts = {"processing": 0, "succeeded": len(self.batches[name]), "errored": 0}
        status = "ended" if self.asked[name] >= self.looks else "in_progress"
        return plain({"id": name, "processing_status": status, "request_counts": counts})

    def result(self, item: Any) -> Any:
        kind = item["custom_id"].split("-")[0]
        error = {"type": "invalid_request_error", "message": "max_tokens: too many"}
        about: dict[str, Any] = {
            "succeeded": {"message": message(item["params"]["messages"][0]["content"])},
            "half": {"type": "succeeded", "message": {"type": "message"}},
            "errored": {"error": {"type": "error", "error": error, "request_id": "req_1"}},
        }
        result = {"type": kind} | about.get(kind, {})
        return {"custom_id": item["custom_id"], "result": result}


def named(*names: str) -> dict[str, dict[str, Any]]:
    return {name: REQUEST | {"messages": [{"role": "user", "content": name}]} for name in names}


MIXED = named("succeeded-1", "errored-1", "expired-1", "canceled-1", "succeeded-2", "half-1")


async def submitted_and_collected(client: Client) -> Any:
    return await batches.collect(client, await batches.submit(client, MIXED))


def test_results_come_back_by_id_whatever_became_of_each_and_are_metered_at_half_the_price():
    tally, ids, keeper = Tally(), list[str](), Keeper(looks=3)
    with Scripted(keeper) as server:
        assert with_client(server, submitted_and_collected) is None  # it is still at work
        for one in (None, "msgbatch_0"):  # a batch is resumed by its id, and not submitted again
            own = {"meter": tally, "every": 0.01, "batch_id": one, "created": ids.append}
            asks = partial(batches.answers, requests=MIXED, **own)
            results = with_client(server, asks)
            assert set(results) == set(MIXED)
    assert ids == ["msgbatch_1"]
    assert list(keeper.batches) == ["msgbatch_0", "msgbatch_1"]
    for name, result in results.items():
        kind = name.split("-")[0]
        if kind == "succeeded":
            assert isinstance(result, Reply)
            assert result.text == name
        else:
            assert isinstance(result, ModelFault)
            assert result.kind == ("connection" if kind == "half" else kind)
    assert "max_tokens: too many" in str(results["errored-1"])
    assert [item["params"] for item in keeper.batches["msgbatch_0"]] == list(MIXED.values())
    assert tally.usage == Usage(48, 16, calls=4)
    assert (tally.assumed, tally.open) == (worst_case(MIXED["half-1"]) * 2, Usage())
    prices = load_prices()
    whole = prices.cost(tally.usage + tally.assumed, "claude-haiku-4-5")
    assert tally.cost(prices) == pytest.approx((whole or 0) / 2)


@pytest.mark.parametrize(("limit", "value"), [("REQUESTS", 2), ("BYTES", 500)])
def test_too_much_for_one_batch_becomes_several(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
):
    monkeypatch.setattr(batches, limit, value)
    keeper, ids = Keeper(), list[str]()
    many = named(*(f"succeeded-{n}" for n in range(5)))

    async def round_trip(client: Client) -> batches.Results | None:
        batch = await batches.submit(client, many, created=ids.append)
        assert batch.split(",") == ids
        return await batches.collect(client, batch)

    with Scripted(keeper) as server:
        results = with_client(server, round_trip)
        bodies = [seen.body for seen in server.seen if seen.path == "/v1/messages/batches"]
    assert set(results or ()) == set(many)
    assert len(ids) == 3
    kept = itertools.chain.from_iterable(keeper.batches.values())
    assert [item["custom_id"] for item in kept] == list(many)
    if limit == "BYTES":
        assert max(map(len, bodies)) <= value


@pytest.mark.parametrize(
    ("answer", "taken"),
    [*((one, True) for one in (CUT, SILENCE, bad(500))), (bad(400), False)],
)
def test_a_batch_that_may_have_been_taken_is_paid_for_and_not_submitted_again(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, taken: bool
):
    monkeypatch.setattr(batches, "DEADLINE", 1.0)
    tally = Tally()
    with Scripted([answer]) as server, pytest.raises(ModelFault) as caught:
        with_client(server, lambda client: batches.answers(client, MIXED, meter=tally))
    assert len(server.seen) == 1
    assert ("may have been accepted" in str(caught.value)) == taken
    worst = sum((worst_case(request) for request in MIXED.values()), Usage())
    assert tally.assumed == (worst if taken else Usage())
    assert tally.open == Usage()


def test_results_that_are_cut_short_are_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retry, "FIRST", 0.01)
    keeper, cut = Keeper(), iter([True])

    def cutting(seen: Seen) -> Answer:
        answer = keeper(seen)
        if seen.path.endswith("/results") and next(cut, False):
            return Answer(body=answer.body[: answer.body.index(b"\n") + 1])
        return answer

    with Scripted(cutting) as server:
        assert len(with_client(server, submitted_and_collected)) == len(MIXED)


def test_a_budget_that_is_too_small_for_all_reserves_nothing():
    small = Ceiling(3)
    with Scripted(Keeper()) as server, pytest.raises(BudgetSpent):
        with_client(server, lambda client: batches.answers(client, MIXED, meter=small))
    assert not server.seen
    assert small.left == 3
