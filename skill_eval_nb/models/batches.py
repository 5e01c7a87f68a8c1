"""Many requests at half the price, answered within a day: the Message Batches API.

A batch outlives the process that submitted it. Keep the id that `submit` gives (or hands to
`created`, as soon as there is one): with it `collect` or `answers` brings the results at any
time within 29 days.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from .client import Call, Client, ModelFault, Reply
from .usage import Meter, encode_body, worst_case

REQUESTS = 100_000
"""Requests that a batch holds at most."""
BYTES = 256_000_000
"""Bytes that a batch holds at most."""
DAY = 86_400.0

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PATH = "/v1/messages/batches"

Results = dict[str, Reply | ModelFault]
"""What came of each request, by its own id."""


async def submit(
    client: Client,
    requests: Mapping[str, Mapping[str, Any]],
    *,
    deadline: float = 600.0,
    created: Callable[[str], None] | None = None,
) -> str:
    """Submit requests, and give the batch's id; what is too much for one batch becomes several.

    A batch that may have been taken is not submitted again. Nothing is metered here: that is
    what `reserve` is for.

    Args:
        client: made by `connect`.
        requests: bodies of `/v1/messages` by ids of your own.
        deadline: seconds for each batch to be taken.
        created: is given each batch's id at once, so that it can be kept.

    Returns:
        The id; the ids with commas between them where there are several. `collect` and
        `cancel` take it as it is.

    Raises:
        ValueError: for no requests, and for an id that is not 1 to 64 of a–z, A–Z, 0–9, _ and -.
        ModelFault: where a batch was not taken, or may not have been: the message says so.
    """
    if not requests:
        raise ValueError("There are no requests to submit.")
    odd = [name for name in requests if not _CUSTOM_ID.fullmatch(name)]
    if odd:
        raise ValueError(
            f"The id of a request is 1 to 64 of a–z, A–Z, 0–9, _ and -: not {odd[0]!r}."
        )
    ids: list[str] = []
    for body in _pack_bodies(requests):
        try:
            call = Call("post", _PATH, _id, body, once=True)
            ids.append(await client.exchange(call, deadline=deadline))
        except ModelFault as fault:
            before = f" Submitted before: {','.join(ids)}; cancel or collect it." if ids else ""
            may = " The batch may have been taken all the same." if fault.sent else ""
            sent = fault.sent or bool(ids)
            raise ModelFault(fault.kind, f"{fault.message}{may}{before}", sent) from None
        if created is not None:
            created(ids[-1])
    return ",".join(ids)


async def collect(client: Client, batch_id: str, *, deadline: float = 600.0) -> Results | None:
    """The results of a batch; None where it has not ended.

    A request that errored, expired or was cancelled has a `ModelFault` of that kind, and is
    not billed. The order means nothing.

    Raises:
        ModelFault: where the API gave no answer, or does not know the batch.
    """
    end = time.monotonic() + deadline
    sizes: dict[str, int] = {}
    for id_ in batch_id.split(","):
        call = Call("get", f"{_PATH}/{quote(id_, safe='')}", _read_status)
        status, sizes[id_] = await client.exchange(call, deadline=_seconds_left(end))
        if status != "ended":
            return None
    results: Results = {}
    for id_, size in sizes.items():
        call = Call("get", f"{_PATH}/{quote(id_, safe='')}/results", _lines(size))
        results |= await client.exchange(call, deadline=_seconds_left(end))
    return results


async def cancel(client: Client, batch_id: str, *, deadline: float = 60.0) -> None:
    """Ask for a batch to end early; what has been answered by then stays, and is billed.

    Raises:
        ModelFault: where the API gave no answer, or the batch has ended already; of several
            batches the others have been asked all the same.
    """
    end = time.monotonic() + deadline
    faults: list[ModelFault] = []
    for id_ in batch_id.split(","):
        call = Call("post", f"{_PATH}/{quote(id_, safe='')}/cancel", _id, b"{}")
        try:
            await client.exchange(call, deadline=_seconds_left(end))
        except ModelFault as fault:
            faults.append(fault)
    if faults:
        raise faults[0]


class Reserved:
    """What a batch may cost, reserved request by request; made by `reserve`."""

    def __init__(self, meter: Meter, tickets: dict[str, object]) -> None:
        self._meter = meter
        self._tickets = tickets

    def settle(self, results: Mapping[str, Reply | ModelFault] | None) -> None:
        """Count what the results used; without results, what they may cost at the worst.

        Requests that errored, expired or were cancelled are not billed. What is not among
        the results counts at its worst.
        """
        while self._tickets:
            name, ticket = self._tickets.popitem()
            result = None if results is None else results.get(name)
            if isinstance(result, Reply):
                self._meter.settle(ticket, result.usage)
            elif isinstance(result, ModelFault) and not result.sent:
                self._meter.release(ticket)
            else:
                self._meter.settle(ticket, None)

    def release(self) -> None:
        """Count nothing: the batch was surely not taken."""
        while self._tickets:
            self._meter.release(self._tickets.popitem()[1])


def reserve(meter: Meter, requests: Mapping[str, Mapping[str, Any]]) -> Reserved:
    """Reserve the worst case of each request at the price of batches; all of them, or none.

    Raises:
        BudgetSpent: where the meter forbids it.
        ValueError: for a request without `model` or `max_tokens`.
    """
    tickets: dict[str, object] = {}
    reserved = Reserved(meter, tickets)
    try:
        for name, request in requests.items():
            worst = worst_case(request)
            tickets[name] = meter.reserve(str(request.get("model")), worst, batch=True)
    except BaseException:
        reserved.release()
        raise
    return reserved


async def answers(
    client: Client,
    requests: Mapping[str, Mapping[str, Any]],
    *,
    meter: Meter,
    batch_id: str | None = None,
    seconds: float = DAY,
    every: float = 30.0,
    created: Callable[[str], None] | None = None,
) -> Results:
    """Reserve, submit, wait for and settle a batch; or only wait for one submitted before.

    Args:
        client: made by `connect`.
        requests: bodies of `/v1/messages` by ids of your own.
        meter: is asked for the worst case of all requests, at half price.
        batch_id: of a batch that was submitted with the same requests; it is not submitted again.
        seconds: to wait at most.
        every: seconds between looks.
        created: is given each batch's id at once.

    Raises:
        BudgetSpent: where the meter forbids it; nothing was submitted then.
        ModelFault: where the batch was not taken, or has not ended in time: it goes on then,
            and what it may cost counts at its worst.
    """
    end = time.monotonic() + seconds
    reserved = reserve(meter, requests)
    results: Results | None = None
    try:
        if batch_id is None:
            try:
                batch_id = await submit(client, requests, created=created)
            except ModelFault as fault:
                if not fault.sent:
                    reserved.release()
                raise
        while (results := await _look_for_results(client, batch_id, end)) is None:
            if time.monotonic() + every > end:
                raise ModelFault(
                    "timeout",
                    f"The batch {batch_id} has not ended within {seconds:.3g} s. It goes on, and "
                    "its results can be collected later by this id.",
                    sent=True,
                )
            await asyncio.sleep(every)
        return results
    finally:
        reserved.settle(results)


async def _look_for_results(client: Client, batch_id: str, end: float) -> Results | None:
    """As `collect`; a server that is busy now may not be at the next look."""
    try:
        return await collect(client, batch_id)
    except ModelFault as fault:
        if fault.kind in ("overloaded", "timeout", "connection") and time.monotonic() < end:
            return None
        raise


def _seconds_left(end: float) -> float:
    # A call that begins late has still a moment, so that its own words are heard.
    return max(end - time.monotonic(), 0.1)


def _pack_bodies(requests: Mapping[str, Mapping[str, Any]]) -> Iterator[bytes]:
    """Bodies of batches, each as large as may be."""
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
        raise ValueError("its `id` is no text")
    return found


def _read_status(body: bytes) -> tuple[str, int]:
    """How far a batch is, and how many requests it has."""
    batch = json.loads(body)
    return str(batch["processing_status"]), sum(batch["request_counts"].values())


def _lines(size: int) -> Callable[[bytes], Results]:
    """What reads the results of a batch of `size` requests."""

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
            return ModelFault("connection", f"What came is no whole answer: {error}.", sent=True)
    if kind == "expired":
        return ModelFault("expired", "The batch ended before this request's turn came.")
    if kind == "canceled":
        return ModelFault("canceled", "The batch was cancelled before this request's turn came.")
    error = result.get("error") or {}
    error = error.get("error", error)
    return ModelFault("errored", f"{error.get('type', kind)}: {error.get('message', result)}")
