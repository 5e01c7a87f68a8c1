"""What calls to a model used, in tokens, and the most that one can use, known before it is sent.

Every call goes through a `Meter`: it is asked beforehand, and told what the call used.

- Input: no more tokens than the request has bytes as JSON. A token of these models stands
  for at least one byte of UTF-8 (they are byte-level encodings), and a text's JSON is never
  shorter than its UTF-8. What the API adds of its own (instructions for tools and for
  structured output, 346 tokens for tools in its documentation of prices) is bounded by
  `ADDED`, once for the request and once for each tool whose definition is the provider's.
- Images: `IMAGE` each, whatever their bytes (at most 4,784 by the documentation of vision:
  the longest edge is scaled to 2,576 pixels, and a token covers about 750 pixels).
- Documents that are no text (PDF, or by address): `CONTEXT` together, the most that any
  current model reads at once, since pages cannot be counted from outside.
- Output: `max_tokens`, thinking included.

Where the request marks a part of itself for the cache, all of its input is taken to be
written there, for an hour if any mark says so: the dearest that input can be. Extras that
no request of ours asks for (tools that run at the provider's, fast mode, a fixed region)
are not bounded here; the relay of the executor `claude-code` lets none of them pass.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many, as the API counts them; they add up.

    `input_tokens` are those that were neither read from the cache nor written to it, so
    that the four kinds together are all that was read and written.

    >>> Usage(input_tokens=20, output_tokens=5, calls=1) + Usage(cache_read_tokens=900, calls=1)
    Usage(input_tokens=20, output_tokens=5, cache_read_tokens=900, cache_write_tokens=0,
          calls=2, cache_write_1h_tokens=0)

    Attributes:
        input_tokens: read, at the plain rate.
        output_tokens: written by the model, its thinking included.
        cache_read_tokens: read from the cache.
        cache_write_tokens: read and kept in the cache, for five minutes or for an hour.
        calls: calls that this is the usage of.
        cache_write_1h_tokens: those of `cache_write_tokens` that are kept for an hour.
        longest: tokens that the longest of the calls read, which may decide the price; all that
            were read, where nothing else is given.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    calls: int = 0
    cache_write_1h_tokens: int = 0
    longest: int = field(default=-1, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.longest < 0:
            object.__setattr__(self, "longest", self.total - self.output_tokens)

    @classmethod
    def of(cls, usage: Mapping[str, Any]) -> Usage:
        """The usage of one call, from the `usage` object of the API's answer.

        Counts of the cache may be missing or null there, which the API means as 0; the two
        others may not. What is not counted in tokens, such as searches of the web by tools
        that run at the provider's, is not looked at: no request of ours asks for it.

        >>> Usage.of({"input_tokens": 3, "output_tokens": 7, "cache_read_input_tokens": None})
        Usage(input_tokens=3, output_tokens=7, cache_read_tokens=0, cache_write_tokens=0,
              calls=1, cache_write_1h_tokens=0)

        Raises:
            ValueError: where a count is missing, or is no whole number from 0 upwards.
        """
        split = usage.get("cache_creation")
        hour = 0
        if isinstance(split, Mapping):
            hour = _count(split, "ephemeral_1h_input_tokens", 0)
            written = hour + _count(split, "ephemeral_5m_input_tokens", 0)
        else:
            written = 0
        return cls(
            input_tokens=_count(usage, "input_tokens"),
            output_tokens=_count(usage, "output_tokens"),
            cache_read_tokens=_count(usage, "cache_read_input_tokens", 0),
            cache_write_tokens=max(written, _count(usage, "cache_creation_input_tokens", 0)),
            calls=1,
            cache_write_1h_tokens=hour,
        )

    @property
    def total(self) -> int:
        """All tokens, read and written.

        >>> Usage(1, 2, 3, 4).total
        10
        """
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.calls + other.calls,
            self.cache_write_1h_tokens + other.cache_write_1h_tokens,
            max(self.longest, other.longest),
        )

    def __mul__(self, times: int) -> Usage:
        return Usage(
            self.input_tokens * times,
            self.output_tokens * times,
            self.cache_read_tokens * times,
            self.cache_write_tokens * times,
            self.calls * times,
            self.cache_write_1h_tokens * times,
            self.longest if times else 0,
        )


def _count(usage: Mapping[str, Any], name: str, missing: int | None = None) -> int:
    value = usage.get(name)
    if value is None and missing is not None:
        return missing
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"`usage.{name}` is no number of tokens: {value!r}.")
    return value


ADDED = 1_024
"""Tokens that the API may add to a request: three times what its documentation states."""
IMAGE = 5_000
"""Tokens that an image is at most."""
CONTEXT = 1_000_000
"""Tokens that a model reads at most."""


def worst_case(request: Mapping[str, Any], *, size: int | None = None) -> Usage:
    """The most that one call with this body can use.

    >>> request = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
    >>> worst_case(request, size=80)
    Usage(input_tokens=1104, output_tokens=100, cache_read_tokens=0, cache_write_tokens=0,
          calls=1, cache_write_1h_tokens=0)

    Args:
        request: the body of a call to `/v1/messages`.
        size: its bytes as JSON, where they are known already.

    Raises:
        ValueError: where `max_tokens` is no whole number from 0 upwards.
    """
    output = request.get("max_tokens")
    if not isinstance(output, int) or isinstance(output, bool) or output < 0:
        raise ValueError(f"The request's `max_tokens` is no number of tokens: {output!r}.")
    found = _Found()
    for part in ("system", "messages", "tools", "cache_control"):
        found.look(request.get(part), part)
    if size is None:
        size = len(encoded(request))
    most = size - found.bytes + ADDED * (1 + found.tools) + IMAGE * found.images
    most += CONTEXT if found.documents else 0
    if not found.marks:
        return Usage(input_tokens=most, output_tokens=output, calls=1)
    return Usage(
        output_tokens=output,
        cache_write_tokens=most,
        calls=1,
        cache_write_1h_tokens=most if found.hour else 0,
    )


class _Found:
    """What a request holds that is not priced by its bytes."""

    def __init__(self) -> None:
        self.bytes = 0
        self.images = 0
        self.documents = 0
        self.tools = 0
        self.marks = 0
        self.hour = False

    def look(self, value: Any, name: str) -> None:
        """Look through a part of the request, down to its leaves."""
        if isinstance(value, list):
            for item in value:
                self.look(item, name)
        elif isinstance(value, dict):
            self._look_at(value, name)

    def _look_at(self, block: dict[str, Any], name: str) -> None:
        if name == "cache_control":
            self.marks += 1
            self.hour = self.hour or block.get("ttl") == "1h"
            return
        kind, source = block.get("type"), block.get("source")
        if name == "tools" and kind not in (None, "custom"):
            self.tools += 1
        form = source.get("type") if isinstance(source, dict) else None
        if kind == "image" and form is not None:
            self.images += 1
        elif kind == "document" and form not in ("text", "content", None):
            self.documents += 1
        if form == "base64" and kind in ("image", "document") and isinstance(source, dict):
            data = source.get("data")
            # Its letters are ASCII, so that they are as many bytes in the request.
            self.bytes += len(data) if isinstance(data, str) and data.isascii() else 0
            self.look(block.get("cache_control"), "cache_control")
            return
        for key, value in block.items():
            # A tool's input and its schema are data, in which names mean nothing.
            if key not in ("input", "input_schema"):
                self.look(value, key)


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as compact JSON in UTF-8; all in ASCII where it has lone surrogates.

    Raises:
        TypeError: for a value that is no plain JSON.
        ValueError: for a number that JSON lacks, such as NaN.
    """
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


class BudgetSpent(Exception):
    """A call was not made, because its worst case could pass the ceiling."""


class PriceList(Protocol):
    """What knows prices: `Prices` does."""

    def cost(self, usage: Usage, model: str, *, batch: bool = False) -> float | None:
        """The price of a usage in US dollars; None where none is known for the model."""
        ...


class Meter(Protocol):
    """Counts calls, and may forbid them.

    Each attempt at a call reserves its worst case, and then settles or releases it, exactly
    once. The three may be called from any thread.
    """

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        """A ticket for a call that uses at most `worst`, at the price of batches if `batch`.

        Raises:
            BudgetSpent: where the ceiling could be passed; nothing is then reserved.
        """
        ...

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """The call used `usage`. None: no answer came, but it may be billed; the worst counts."""
        ...

    def release(self, ticket: Any) -> None:
        """The call is surely not billed: it was refused before an answer began, or not sent."""
        ...


class Tally:
    """A meter without a ceiling: it only counts. Picklable, and safe among threads.

    >>> tally = Tally()
    >>> ticket = tally.reserve("stand-in", Usage(input_tokens=900, output_tokens=100, calls=1))
    >>> tally.settle(ticket, Usage(input_tokens=200, output_tokens=40, calls=1))
    >>> tally.usage.total, tally.calls
    (240, 1)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[str, bool, Usage]] = {}
        self._known: dict[tuple[str, bool], Usage] = {}
        self._assumed: dict[tuple[str, bool], Usage] = {}

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> Hashable:
        """A ticket; see `Meter.reserve`. Never raises."""
        with self._lock:
            ticket = next(self._numbers)
            self._open[ticket] = (model, batch, worst)
        return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count the usage; without one, the worst case, as `assumed`.

        Raises:
            KeyError: for a ticket that is not open.
        """
        with self._lock:
            model, batch, worst = self._open.pop(ticket)
            counts = self._assumed if usage is None else self._known
            used = worst if usage is None else usage
            counts[model, batch] = counts.get((model, batch), Usage()) + used

    def release(self, ticket: Any) -> None:
        """Count nothing.

        Raises:
            KeyError: for a ticket that is not open.
        """
        with self._lock:
            del self._open[ticket]

    @property
    def usage(self) -> Usage:
        """What the calls used that were answered."""
        with self._lock:
            return sum(self._known.values(), Usage())

    @property
    def assumed(self) -> Usage:
        """The worst case of calls that were not answered but may be billed."""
        with self._lock:
            return sum(self._assumed.values(), Usage())

    @property
    def open(self) -> Usage:
        """The worst case of calls in flight."""
        with self._lock:
            return sum((worst for _, _, worst in self._open.values()), Usage())

    @property
    def calls(self) -> int:
        """Calls that were answered or may be billed."""
        return self.usage.calls + self.assumed.calls

    def cost(self, prices: PriceList) -> float | None:
        """US dollars of `usage` and `assumed`; None where a model's price is not known."""
        with self._lock:
            costs = [
                prices.cost(usage, model, batch=batch)
                for counts in (self._known, self._assumed)
                for (model, batch), usage in counts.items()
            ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {"open": dict(self._open), "next": next(self._numbers)}
            return state | {"known": dict(self._known), "assumed": dict(self._assumed)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(state["next"])
        self._open = state["open"]
        self._known = state["known"]
        self._assumed = state["assumed"]


class _Together:
    def __init__(self, meters: tuple[Meter, ...]) -> None:
        self._meters = meters

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        tickets: list[object] = []
        try:
            for meter in self._meters:
                # Said only where it is so: most meters are never asked for the price of batches.
                ticket = (
                    meter.reserve(model, worst, batch=True)
                    if batch
                    else meter.reserve(model, worst)
                )
                tickets.append(ticket)
        except BaseException:
            for meter, ticket in zip(self._meters, tickets, strict=False):
                meter.release(ticket)
            raise
        return tuple(tickets)

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        for meter, own in zip(self._meters, ticket, strict=True):
            meter.settle(own, usage)

    def release(self, ticket: Any) -> None:
        for meter, own in zip(self._meters, ticket, strict=True):
            meter.release(own)


def together(*meters: Meter) -> Meter:
    """Several meters as one: a call is made only if each allows it, and each counts it.

    >>> tally, all_runs = Tally(), Tally()
    >>> both = together(tally, all_runs)
    >>> both.settle(both.reserve("stand-in", Usage(calls=1)), Usage(9, calls=1))
    >>> tally.usage == all_runs.usage == Usage(9, calls=1)
    True
    """
    return _Together(meters)
