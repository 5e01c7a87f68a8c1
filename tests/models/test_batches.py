"""The batches of the real SDK's connection against a real server that keeps them."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from skill_eval_nb.models import (
    BudgetSpent,
    Client,
    ModelFault,
    Reply,
    Tally,
    Usage,
    batches,
    connect,
    load_prices,
    worst_case,
)
from skill_eval_nb.models import client as retry
from tests.models.scripted import (
    CUT,
    HANG_UP,
    REQUEST,
    SILENCE,
    Answer,
    Ceiling,
    Scripted,
    Seen,
    bad,
    message,
    plain,
)

T = TypeVar("T")


class Keeper:
    """A server's side of batches: they end after so many looks, with a result by custom id."""

    def __init__(self, looks: int = 1) -> None:
        self.looks = looks
        self.batches: dict[str, list[Any]] = {}
        self.asked: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, seen: Seen) -> Answer:
        with self._lock:
            parts = seen.path.strip("/").split("/")[3:]
            if not parts:
                name = f"msgbatch_{len(self.batches)}"
                self.batches[name] = json.loads(seen.body)["requests"]
                return self.status(name)
            if parts[0] not in self.batches:
                return bad(404, "not_found_error", "no such batch")
            if parts[1:] == ["results"]:
                return self.results(parts[0])
            self.asked[parts[0]] = self.asked.get(parts[0], 0) + 1
            return self.status(parts[0])

    def status(self, name: str) -> Answer:
        ended = self.asked.get(name, 0) >= self.looks
        counts = {"processing": 0, "succeeded": len(self.batches[name]), "errored": 0}
        status = "ended" if ended else "in_progress"
        return plain({"id": name, "processing_status": status, "request_counts": counts})

    def results(self, name: str) -> Answer:
        lines = [self.result(item) for item in reversed(self.batches[name])]
        return Answer(body="".join(f"{json.dumps(line)}\n" for line in lines).encode())

    def result(self, item: Any) -> Any:
        kind = item["custom_id"].split("-")[0]
        result: dict[str, Any] = {"type": kind}
        if kind == "succeeded":
            result["message"] = message(item["params"]["messages"][0]["content"])
        if kind == "half":
            result = {"type": "succeeded", "message": {"type": "message"}}
        if kind == "errored":
            error = {"type": "invalid_request_error", "message": "max_tokens: too many"}
            result["error"] = {"type": "error", "error": error, "request_id": "req_1"}
        return {"custom_id": item["custom_id"], "result": result}


def with_client(server: Scripted, does: Callable[[Client], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with connect(server.connection) as client:
            return await does(client)

    return asyncio.run(connected())


def named(*names: str) -> dict[str, dict[str, Any]]:
    return {name: REQUEST | {"messages": [{"role": "user", "content": name}]} for name in names}


MIXED = named("succeeded-1", "errored-1", "expired-1", "canceled-1", "succeeded-2", "half-1")


async def submitted_and_collected(client: Client) -> batches.Results | None:
    return await batches.collect(client, await batches.submit(client, MIXED))


def test_results_come_back_by_id_whatever_became_of_each():
    keeper = Keeper()
    with Scripted(keeper) as server:
        results = with_client(server, submitted_and_collected)
    assert results is not None
    assert set(results) == set(MIXED)
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
    with Scripted(Keeper(looks=2)) as server:
        assert with_client(server, submitted_and_collected) is None  # it is still at work


def test_all_of_it_is_metered_at_half_the_price():
    tally, ids = Tally(), list[str]()

    async def answered(client: Client) -> batches.Results:
        return await batches.answers(client, MIXED, meter=tally, every=0.01, created=ids.append)

    with Scripted(Keeper(looks=3)) as server:
        results = with_client(server, answered)
    assert len(results) == len(MIXED)
    assert ids == ["msgbatch_0"]
    assert tally.usage == Usage(24, 8, calls=2)
    assert tally.assumed == worst_case(MIXED["half-1"])
    assert tally.open == Usage()
    prices = load_prices()
    model = "claude-haiku-4-5"
    whole = prices.cost(tally.usage + tally.assumed, model)
    assert tally.cost(prices) == pytest.approx((whole or 0) / 2)


def test_a_batch_is_resumed_by_its_id_and_not_submitted_again():
    keeper, tally = Keeper(), Tally()

    async def resumed(client: Client) -> batches.Results:
        batch = await batches.submit(client, MIXED)
        return await batches.answers(client, MIXED, meter=tally, batch_id=batch, every=0.01)

    with Scripted(keeper) as server:
        assert len(with_client(server, resumed)) == len(MIXED)
    assert len(keeper.batches) == 1
    assert tally.usage.calls == 2


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
    assert results is not None
    assert set(results) == set(many)
    assert len(ids) == 3
    kept = itertools.chain.from_iterable(keeper.batches.values())
    assert [item["custom_id"] for item in kept] == list(many)
    if limit == "BYTES":
        assert max(map(len, bodies)) <= value


@pytest.mark.parametrize(
    ("answer", "taken"),
    [*((one, True) for one in (CUT, HANG_UP, SILENCE, bad(500), bad(504))), (bad(400), False)],
)
def test_a_batch_that_may_have_been_taken_is_paid_for_and_not_submitted_again(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, taken: bool
):
    monkeypatch.setattr(batches, "submit", partial(batches.submit, deadline=1.0))
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
        results = with_client(server, submitted_and_collected)
    assert results is not None
    assert len(results) == len(MIXED)


def test_a_budget_that_is_too_small_for_all_reserves_nothing():
    small = Ceiling(3)
    with Scripted(Keeper()) as server, pytest.raises(BudgetSpent):
        with_client(server, lambda client: batches.answers(client, MIXED, meter=small))
    assert not server.seen
    assert small.left == 3
