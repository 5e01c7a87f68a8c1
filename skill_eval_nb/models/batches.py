"""The Message Batches API: many requests at half the price, answered within a day.

A batch outlives the process that submitted it. Keep the id that `submit` returns (or passes to
`created` as soon as there is one): `collect` and `answers` use it to get the results within 29
days.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from .client import Call, Client, ModelFault, Reply
from .usage import Meter, encode_body, worst_case

REQUESTS = 100_000
"""The most requests in one batch."""
BYTES = 256_000_000
"""The most bytes in one batch."""
DAY = 86_400.0

DEADLINE = 600.0
"""Seconds for one call to be answered."""
_PATH = "/v1/messages/batches"

Results = dict[str, Reply | ModelFault]
"""The result of each request, by your id."""


async def submit(
    client: Client,
    requests: Mapping[str, Mapping[str, Any]],
    *,
    created: Callable[[str], None] | None = None,
) -> str:
    """Submit requests, as several batches if they do not fit into one.

    A batch that may have been accepted is not submitted again. Nothing is metered here;
    `reserve_batch` does that.

    Args:
        client: made by `connect`.
        requests: at least one body of `/v1/messages`, by ids of 1 to 64 of a–z, A–Z, 0–9, _, -.
        created: called with each batch's id at once, so that it can be stored.

    Returns:
        The id, or several ids separated by commas. `collect` takes either.

    Raises:
        ModelFault: if a batch was not accepted, or may not have been; the message says which.
    """
    ids: list[str] = []
    for body in _pack_bodies(requests):
        try:
            call = Call(_PATH, _id, body)
            ids.append(await client.exchange(call, deadline=DEADLINE, once=True))
        except ModelFault as fault:
            before = f" Submitted before, and billed: {','.join(ids)}." if ids else ""
            may = " The batch may have been accepted anyway." if fault.sent else ""
            sent = fault.sent or bool(ids)
            raise ModelFault(fault.kind, f"{fault.message}{may}{before}", sent) from None
        if created is not None:
            created(ids[-1])
    return ",".join(ids)


async def collect(client: Client, batch_id: str) -> Results | None:
    """The results of a batch; None if it has not ended.

    A request that errored, expired or was cancelled has a `ModelFault` of that kind, and is not
    billed. The order has no meaning.

    Raises:
        ModelFault: if the API does not answer, or does not know the batch.
    """
    sizes: dict[str, int] = {}
    for id_ in batch_id.split(","):
        call = Call(f"{_PATH}/{quote(id_, safe='')}", _read_status)
        status, sizes[id_] = await client.exchange(call, deadline=DEADLINE)
        if status != "ended":
            return None
    results: Results = {}
    for id_, size in sizes.items():
        call = Call(f"{_PATH}/{quote(id_, safe='')}/results", _lines(size))
        results |= await client.exchange(call, deadline=DEADLINE)
    return results


def reserve_batch(meter: Meter, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
    """Reserve the worst case of each request at the batch price; all of them, or none.

    Returns:
        The tickets by the ids of the requests, for `settle_batch`.

    Raises:
        BudgetSpent: if the meter does not allow it.
        ValueError: for a request without `model` or `max_tokens`.
    """
    tickets: dict[str, object] = {}
    try:
        for name, request in requests.items():
            worst = worst_case(request)
            tickets[name] = meter.reserve(str(request.get("model")), worst, batch=True)
    except BaseException:
        for ticket in tickets.values():
            meter.release(ticket)
        raise
    return tickets


def settle_batch(
    meter: Meter, tickets: Mapping[str, object], results: Mapping[str, Reply | ModelFault] | None
) -> None:
    """Count what the results used, or the worst case without results.

    Requests that errored, expired or were cancelled are not billed. Requests without a result
    count at their worst case.
    """
    for name, ticket in tickets.items():
        result = None if results is None else results.get(name)
        if isinstance(result, Reply):
            meter.settle(ticket, result.usage)
        elif isinstance(result, ModelFault) and not result.sent:
            meter.release(ticket)
        else:
            meter.settle(ticket, None)


async def answers(
    client: Client,
    requests: Mapping[str, Mapping[str, Any]],
    *,
    meter: Meter,
    batch_id: str | None = None,
    every: float = 30.0,
    created: Callable[[str], None] | None = None,
) -> Results:
    """Reserve, submit, wait for and settle a batch, or only wait for one that was submitted before.

    Args:
        client: made by `connect`.
        requests: bodies of `/v1/messages`, by ids that you choose.
        meter: has to allow the worst case of all requests, at half price.
        batch_id: a batch that was submitted with the same requests; it is not submitted again.
        every: seconds between two looks.
        created: called with each batch's id at once.

    Raises:
        BudgetSpent: if the meter does not allow it; then nothing was submitted.
        ModelFault: if the batch was not accepted, or has not ended within a day. In the second
            case it continues, and its worst case counts as spent.
    """
    end = time.monotonic() + DAY
    tickets = reserve_batch(meter, requests)
    results: Results | None = None
    try:
        if batch_id is None:
            try:
                batch_id = await submit(client, requests, created=created)
            except ModelFault as fault:
                if not fault.sent:  # nothing is billed
                    results = dict.fromkeys(tickets, fault)
                raise
        while (results := await _look_for_results(client, batch_id)) is None:
            if time.monotonic() + every > end:
                raise ModelFault(
                    "timeout",
                    f"The batch {batch_id} has not ended within a day. It continues, and its "
                    "results can be collected later by this id.",
                    sent=True,
                )
            await asyncio.sleep(every)
        return results
    finally:
        settle_batch(meter, tickets, results)


async def _look_for_results(client: Client, batch_id: str) -> Results | None:
    """Like `collect`, but a busy server is not an error: it may answer at the next look."""
    try:
        return await collect(client, batch_id)
    except ModelFault as fault:
        if fault.kind in ("overloaded", "timeout", "connection"):
            return None
        raise


def _pack_bodies(requests: Mapping[str, Mapping[str, Any]]) -> Iterator[bytes]:
    """Bodies of batches, each as large as allowed."""
    lines: list[bytes] = []
    size = 0
    for name, request in requests.items():
        line = encode_body({"custom_id": name, "params": request})
        if lines and (len(lines) >= REQUESTS or size + len(line) + 1 > BYTES - 100):
            yield b'{"requests":[' + b",".join(lines) + b"]}"
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
    yield b'{"requests":[' + b",".join(lines) + b"]}"


def _id(body: bytes) -> str:
    found = json.loads(body)["id"]
    if not isinstance(found, str) or not found:
        raise ValueError("its `id` is not text")
    return found


def _read_status(body: bytes) -> tuple[str, int]:
    """The status of a batch, and how many requests it has."""
    batch = json.loads(body)
    return str(batch["processing_status"]), sum(batch["request_counts"].values())


def _lines(size: int) -> Callable[[bytes], Results]:
    """A reader for the results of a batch of `size` requests."""

    def read_lines(body: bytes) -> Results:
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        if len(lines) != size:
            raise ValueError(f"there are {len(lines)} of {size} results")
        return {line["custom_id"]: _read_result(line["result"]) for line in lines}

    return read_lines


def _read_result(result: Mapping[str, Any]) -> Reply | ModelFault:
    kind = result["type"]
    if kind == "succeeded":
        try:
            return Reply.of(result["message"])
        except ValueError as error:
            return ModelFault(
                "connection", f"The answer received is incomplete: {error}.", sent=True
            )
    if kind == "expired":
        return ModelFault("expired", "The batch ended before this request's turn came.")
    if kind == "canceled":
        return ModelFault("canceled", "The batch was cancelled before this request's turn came.")
    error = result.get("error") or {}
    error = error.get("error", error)
    return ModelFault("errored", f"{error.get('type', kind)}: {error.get('message', result)}")
