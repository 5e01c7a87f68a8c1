"""What calls to a model used, what it costs, and the most that a call can use, known beforehand.

Every call goes through a `Meter`, which is asked before the call and told afterwards what it used.
The most that a call can use:

- Input: as many tokens as the request has bytes as JSON. A token of these models stands for at
  least one byte of UTF-8 (they use byte-level encodings), and a text's JSON is never shorter than
  its UTF-8. What the API adds itself (instructions for tools and structured output; its price
  list says 346 tokens for tools) is covered by `ADDED`, once for the request and once for each
  tool that the provider defines.
- Images: `IMAGE` each, whatever their bytes (at most 4,784 by the documentation of vision: the
  longest edge is scaled to 2,576 pixels, and a token covers about 750 pixels).
- Documents that are not text (PDF, or given by an address): `CONTEXT` together, the most that any
  current model reads at once, since their pages cannot be counted from outside.
- Output: `max_tokens`, including thinking.

If a request marks anything for the cache, all of its input is assumed to be written there, for an
hour if any mark says so: the most expensive case. Extras that we never request (tools that run at
the provider, fast mode, a fixed region) are not covered; the relay of the executor `claude-code`
blocks them.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Protocol
from uuid import UUID, uuid4

import msgspec

from skill_eval_nb.disk import read_bytes


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many, as the API counts them; usages can be added.

    `input_tokens` were neither read from the cache nor written to it, so the four kinds together
    are everything that was read and written.

    >>> Usage(input_tokens=20, output_tokens=5, calls=1) + Usage(cache_read_tokens=900, calls=1)
    Usage(input_tokens=20, output_tokens=5, cache_read_tokens=900, cache_write_tokens=0,
          calls=2, cache_write_1h_tokens=0)

    Attributes:
        input_tokens: read, at the plain rate.
        output_tokens: written by the model, including its thinking.
        cache_read_tokens: read from the cache.
        cache_write_tokens: read and stored in the cache, for five minutes or an hour.
        calls: the number of calls.
        cache_write_1h_tokens: the part of `cache_write_tokens` that is stored for an hour.
        longest: tokens that the longest call read, which may decide the price; if not given, all
            tokens that were read.
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

        Counts of the cache may be missing or null, which means 0; the other two may not. What is
        not counted in tokens, such as web searches by the provider's tools, is ignored: we never
        request it.

        >>> Usage.of({"input_tokens": 3, "output_tokens": 7, "cache_read_input_tokens": None})
        Usage(input_tokens=3, output_tokens=7, cache_read_tokens=0, cache_write_tokens=0,
              calls=1, cache_write_1h_tokens=0)

        Raises:
            ValueError: if a count is missing, or is not a whole number of at least 0.
        """
        split = usage.get("cache_creation")
        split = split if isinstance(split, Mapping) else {}
        hour = _count(split, "ephemeral_1h_input_tokens", 0)
        written = hour + _count(split, "ephemeral_5m_input_tokens", 0)
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
        return sum(_counts(self)[:4])

    def __add__(self, other: Usage) -> Usage:
        both = zip(_counts(self), _counts(other), strict=True)
        return Usage(*(a + b for a, b in both), longest=max(self.longest, other.longest))

    def __mul__(self, times: int) -> Usage:
        counts = (count * times for count in _counts(self))
        return Usage(*counts, longest=self.longest if times else 0)


_counts = attrgetter(
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("calls", "cache_write_1h_tokens"),
)


def _count(usage: Mapping[str, Any], name: str, missing: int | None = None) -> int:
    value = usage.get(name)
    if value is None and missing is not None:
        return missing
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"`usage.{name}` is not a number of tokens: {value!r}.")
    return value


ADDED = 1_024
"""Tokens that the API may add to a request: three times what its documentation states."""
IMAGE = 5_000
"""The most tokens of an image."""
CONTEXT = 1_000_000
"""The most tokens that a model reads."""


def worst_case(request: Mapping[str, Any], *, size: int | None = None) -> Usage:
    """The most that one call with this body can use.

    >>> request = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
    >>> worst_case(request, size=80)
    Usage(input_tokens=1104, output_tokens=100, cache_read_tokens=0, cache_write_tokens=0,
          calls=1, cache_write_1h_tokens=0)

    Args:
        request: the body of a call to `/v1/messages`.
        size: its bytes as JSON, if they are known already.

    Raises:
        ValueError: if `max_tokens` is not a whole number of at least 0.
    """
    output = request.get("max_tokens")
    if not isinstance(output, int) or isinstance(output, bool) or output < 0:
        raise ValueError(f"The request's `max_tokens` is not a number of tokens: {output!r}.")
    blocks = [*_blocks([request.get(part) for part in ("system", "messages", "tools")])]
    marks = [block.get("cache_control") for block in (request, *blocks)]
    marks = [mark for mark in marks if isinstance(mark, dict)]
    media = [
        (block["type"], source.get("type"), source.get("data"))
        for block in blocks
        if block.get("type") in ("image", "document")
        and isinstance(source := block.get("source"), dict)
    ]
    # Base64 is ASCII, so it has as many bytes in the request.
    packed = sum(
        len(data)
        for _, form, data in media
        if form == "base64" and isinstance(data, str) and data.isascii()
    )
    images = sum(kind == "image" for kind, *_ in media)
    unread = any(kind == "document" and form not in _TEXTS for kind, form, _ in media)
    offered = [tool.get("type") for tool in request.get("tools") or ()]
    tools = sum(kind not in (None, "custom") for kind in offered)
    if size is None:
        size = len(encode_body(request))
    most = size - packed + ADDED * (1 + tools) + IMAGE * images + CONTEXT * unread
    if not marks:
        return Usage(input_tokens=most, output_tokens=output, calls=1)
    return Usage(
        output_tokens=output,
        cache_write_tokens=most,
        calls=1,
        cache_write_1h_tokens=most if any(mark.get("ttl") == "1h" for mark in marks) else 0,
    )


_TEXTS = ("text", "content", None)
"""Sources of documents that are in the request as text."""
_DATA = ("input", "input_schema", "cache_control")
"""Fields in which names have no meaning: a tool's input and its schema are data."""


def _blocks(value: Any) -> Iterator[dict[str, Any]]:
    """Everything in a part of a request that may be a block, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _blocks(item)
    elif isinstance(value, dict):
        yield value
        for name, part in value.items():
            if name not in _DATA:
                yield from _blocks(part)


def encode_body(body: Mapping[str, Any]) -> bytes:
    """A body as compact JSON in UTF-8; all in ASCII if it has lone surrogates.

    Raises:
        TypeError: for a value that is not plain JSON.
        ValueError: for a number that JSON lacks, such as NaN.
    """
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


class BudgetSpent(Exception):
    """A call was not made because its worst case could exceed the ceiling."""


class Meter(Protocol):
    """Counts calls, and may forbid them.

    Each attempt at a call reserves its worst case, and later settles or releases it exactly once.
    All three methods may be called from any thread.
    """

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        """A ticket for a call that uses at most `worst`, at the batch price if `batch`.

        Raises:
            BudgetSpent: if the ceiling could be exceeded; then nothing is reserved.
        """
        ...

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count a call's usage; None if no answer came: it may be billed, so its worst counts."""
        ...

    def release(self, ticket: Any) -> None:
        """Count nothing: the call is certainly not billed, as it was refused or not sent."""
        ...


@dataclass(frozen=True, slots=True)
class CallReservation:
    """A reserved call.

    Attributes:
        model: the model to call.
        batch: whether the call is part of a batch.
        worst: the most that it can use.
        price: what that costs, in billionths of a dollar; 0 if its meter knows no prices.
        outer: the ticket of the outer meter, if there is one.
        mark: distinguishes it from every other ticket, even in a copy of its meter.
    """

    model: str
    batch: bool
    worst: Usage
    price: int = 0
    outer: Any = None
    mark: UUID = field(default_factory=uuid4)


class Tally:
    """A meter without a ceiling: it only counts. It is picklable and thread-safe.

    Within another meter, a call is only made if that one allows it, and both count it.

    >>> tally = Tally()
    >>> ticket = tally.reserve("stand-in", Usage(input_tokens=900, output_tokens=100, calls=1))
    >>> tally.settle(ticket, Usage(input_tokens=200, output_tokens=40, calls=1))
    >>> tally.usage.total, tally.calls
    (240, 1)
    """

    def __init__(self, within: Meter | None = None) -> None:
        self._within = within
        self.lock = threading.RLock()
        self._open: set[CallReservation] = set()
        self._known: dict[tuple[str, bool], Usage] = {}
        self._assumed: dict[tuple[str, bool], Usage] = {}

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> CallReservation:
        """A ticket; see `Meter.reserve`. Only a capped meter raises: a subclass or an outer one."""
        with self.lock:
            price, outer = self._allow(model, worst, batch), None
            if self._within is not None:
                outer = self._within.reserve(model, worst, batch=batch)
            ticket = CallReservation(model, batch, worst, price, outer)
            self._open.add(ticket)
            return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count the usage, or if it is None, the worst case as `assumed`.

        Raises:
            KeyError: for a ticket that is not open.
        """
        with self.lock:
            self._open.remove(ticket)
            self.count_call(ticket, usage)
            if self._within is not None:
                self._within.settle(ticket.outer, usage)

    def release(self, ticket: Any) -> None:
        """Count nothing.

        Raises:
            KeyError: for a ticket that is not open.
        """
        with self.lock:
            self._open.remove(ticket)
            if self._within is not None:
                self._within.release(ticket.outer)

    @property
    def usage(self) -> Usage:
        """The usage of all answered calls."""
        with self.lock:
            return sum(self._known.values(), Usage())

    @property
    def assumed(self) -> Usage:
        """The worst case of calls without an answer that may be billed."""
        with self.lock:
            return sum(self._assumed.values(), Usage())

    @property
    def open(self) -> Usage:
        """The worst case of calls in flight."""
        with self.lock:
            return sum((ticket.worst for ticket in self._open), Usage())

    @property
    def calls(self) -> int:
        """Calls that were answered or may be billed."""
        return self.usage.calls + self.assumed.calls

    def cost(self, prices: Prices) -> float | None:
        """US dollars of `usage` and `assumed`; None if a model's price is not known."""
        with self.lock:
            costs = [
                prices.cost(usage, model, batch=batch)
                for counts in (self._known, self._assumed)
                for (model, batch), usage in counts.items()
            ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def count_call(self, ticket: CallReservation, usage: Usage | None) -> None:
        """Count what a call used; called by `settle`."""
        counts = self._assumed if usage is None else self._known
        key = ticket.model, ticket.batch
        counts[key] = counts.get(key, Usage()) + (ticket.worst if usage is None else usage)

    def _allow(self, model: str, worst: Usage, batch: bool) -> int:  # noqa: ARG002 -- others need it
        """The worst price of a call, for its ticket; meters with a cap may refuse it."""
        return 0

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: copy(value) for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()


MILLION = 1_000_000

Figure = Annotated[float, msgspec.Meta(ge=0)]


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens of one model.

    Attributes:
        input: read, neither from the cache nor to be stored in it.
        output: written by the model.
        cache_read: read from the cache.
        cache_write: read and stored for five minutes.
        cache_write_1h: read and stored for an hour.
        batch: the factor for everything in a batch.
        long: the rates of calls that read more than `long.over` tokens, for all their tokens;
            None if there are none.
        over: these rates apply to calls that read more than this many tokens.

    Raises:
        ValueError: if the reserved worst case would not be the most expensive one: a call that may
            write to the cache is reserved at the price of writing, and a long one at `long`.
    """

    input: Figure
    output: Figure
    cache_read: Figure
    cache_write: Figure
    cache_write_1h: Figure
    batch: Annotated[float, msgspec.Meta(ge=0, le=1)]
    long: Rates | None = None
    over: Annotated[int, msgspec.Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        for low, high in itertools.pairwise(_LADDER):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(
                    f"`{low}` ({getattr(self, low):g}) costs more than `{high}` "
                    f"({getattr(self, high):g}); a budget relies on {' ≤ '.join(_LADDER)}"
                )
        if self.long is None:
            return
        if self.long.over <= self.over:
            raise ValueError("`long.over`: expected tokens, more than for the rates before it")
        if any(getattr(self.long, name) < getattr(self, name) for name in (*_LADDER, "output")):
            raise ValueError("`long` is cheaper in places; a budget relies on it costing more")

    def cost(self, usage: Usage, *, batch: bool = False) -> float:
        """US dollars of `usage`.

        If some of several calls are long, it is an upper bound: all of them at the higher rates.

        >>> Rates(3, 15, 0.3, 3.75, 6, 0.5).cost(Usage(1_000_000, 100_000))
        4.5
        """
        if self.long is not None and usage.longest > self.long.over:
            return self.long.cost(usage, batch=batch)
        dollars = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + (usage.cache_write_tokens - usage.cache_write_1h_tokens) * self.cache_write
            + usage.cache_write_1h_tokens * self.cache_write_1h
        )
        return dollars * (self.batch if batch else 1.0) / MILLION


_LADDER = ("cache_read", "input", "cache_write", "cache_write_1h")


_FACTORS = {"cache_read": 0.1, "cache_write": 1.25, "cache_write_1h": 2.0}
"""Default prices as multiples of plain input's price."""


def _parse_rates(entry: Any) -> Rates:
    """The rates of an entry; missing prices are multiples of that of plain input."""

    def fill_rates(part: Any) -> Any:
        if not isinstance(part, dict) or not isinstance(part.get("input"), int | float):
            return part
        rates = {name: part["input"] * factor for name, factor in _FACTORS.items()}
        return rates | {"batch": 0.5} | part | {"long": fill_rates(part.get("long"))}

    rates = msgspec.convert(fill_rates(entry), Rates)
    if rates.over:
        raise msgspec.ValidationError("`over` belongs into `long`")
    return rates


VARIABLE = "SKILL_EVAL_NB_PRICES"
"""The environment variable that names the user's own file."""

_FREE = "stand-in"
_DATED = re.compile(r"-(?:\d{8}|latest)$")
_NOTHING = Rates(0, 0, 0, 0, 0, 0)


class BadPrices(ValueError):
    """A file of prices cannot be used; the message says which, where and why."""


@dataclass(frozen=True)
class Prices:
    """Prices by model.

    A model is found by its name, or by its name without a date at the end
    (`claude-haiku-4-5-20251001`). No other name counts as the same model: one that begins the same
    way may be another model (`claude-fable-5-1`) at another price. Stand-in models, whose names
    begin with `stand-in`, are free.

    Attributes:
        date: the date of the prices, and where they come from.
        models: the rates by model.
    """

    date: str
    models: Mapping[str, Rates]

    def cost(self, usage: Usage, model: str, *, batch: bool = False) -> float | None:
        """US dollars of `usage`; None if the model's price is not known, even for no tokens.

        >>> prices = load_prices()
        >>> prices.cost(Usage(input_tokens=1_000_000), "claude-haiku-4-5-20251001")
        1.0
        >>> prices.cost(Usage(input_tokens=1_000_000), "claude-haiku-4-5", batch=True)
        0.5
        >>> prices.cost(Usage(), "some-other-model") is None
        True
        """
        rates = self.rates(model)
        return None if rates is None else rates.cost(usage, batch=batch)

    def rates(self, model: str) -> Rates | None:
        """The rates of a model; None if none are known."""
        if model.startswith(_FREE):
            return _NOTHING
        return self.models.get(model) or self.models.get(_DATED.sub("", model))

    def known(self, model: str) -> bool:
        """Whether the model's price is known.

        >>> load_prices().known("stand-in-judge"), load_prices().known("claude-fable-6")
        (True, False)
        """
        return self.rates(model) is not None

    def unknown(self, model: str) -> str:
        """What to tell the user about a model without a price.

        >>> print(load_prices().unknown("claude-sonet-5"))
        No price is known for the model `claude-sonet-5`. Did you mean `claude-sonnet-5`? ...
        """
        near = difflib.get_close_matches(model, self.models, n=1, cutoff=0.8)
        hint = f" Did you mean `{near[0]}`?" if near else ""
        return (
            f"No price is known for the model `{model}`.{hint} If the name is right, write a file "
            f'{{"date": "YYYY-MM", "models": {{"{model}": {{"input": …, "output": …}}}}}} with US '
            f"dollars per million tokens, and name it in the environment variable {VARIABLE}; or "
            "install a newer genai-prices, which may have one."
        )


@cache
def _published_prices() -> Prices:
    """Today's prices of Anthropic's models, from the installed genai-prices."""
    from genai_prices import data

    published: Any = data  # pyright takes 20 s for the type of its table
    now, models = datetime.now(UTC), dict[str, Rates]()
    (provider,) = (provider for provider in published.providers if provider.id == "anthropic")
    # Models of today come first: they are those that a batch has a price for.
    for model in sorted(provider.models, key=lambda model: not model.price_variants):
        stated = model.get_prices(now)
        figures = {name: getattr(stated, f"{name}_mtok") for name in (*_LADDER, "output")}
        tiers = {tier.start for figure in figures.values() for tier in getattr(figure, "tiers", ())}
        entry = None
        for over in sorted({0, *tiers}, reverse=True):
            known = {
                name: _figure_at(rate, over) for name, rate in figures.items() if rate is not None
            }
            entry = known | {"long": entry, "over": over}
        # A price that a budget could not rely on is treated as unknown.
        with suppress(ValueError):
            models[_DATED.sub("", model.id)] = _parse_rates(entry)
    return Prices(f"{now:%Y-%m-%d}, as genai-prices {version('genai-prices')} has them", models)


def _figure_at(price: Any, over: int) -> float:
    """A figure of genai-prices for calls that read more than `over` tokens."""
    tiers = (tier.price for tier in reversed(getattr(price, "tiers", ())) if tier.start <= over)
    return float(next(tiers, getattr(price, "base", price)))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    date: Annotated[str, msgspec.Meta(min_length=1)]
    models: dict[str, Any]
    about: Any = None


def load_prices(path: str | os.PathLike[str] | None = None) -> Prices:
    """Today's prices from genai-prices, with the user's own prices replacing them by model.

    A file says `{"date": "2026-06", "models": {"NAME": {"input": 3, "output": 15}}}` in US dollars
    per million tokens. A model may also state `cache_read`, `cache_write` (for five minutes) and
    `cache_write_1h`, also in dollars, and `batch`, a factor; if not stated, they are 0.1, 1.25 and
    2 times the input's price, and 0.5. `long` states the same for calls that read more than `over`
    tokens; it applies to all of their tokens. `about` next to `models` is for remarks.

    Args:
        path: the user's file; None for the one named by SKILL_EVAL_NB_PRICES, if any.

    Raises:
        BadPrices: if a file cannot be read or used; it says what is wrong with each model.
    """
    published = _published_prices()
    given = os.fspath(path) if path is not None else os.environ.get(VARIABLE)
    if not given:
        return published
    own = _read_prices(Path(given))
    date = f"{own.date} ({Path(given).name}), {published.date}"
    return Prices(date, {**published.models, **own.models})


def _read_prices(path: Path) -> Prices:
    try:
        content = msgspec.json.decode(read_bytes(path))
    except OSError as error:
        raise BadPrices(
            f"The file of prices {path} cannot be read: {error.strerror}. It is named by "
            f"`prices` or by the environment variable {VARIABLE}: correct it, or unset it."
        ) from None
    except ValueError as error:
        raise BadPrices(f"The file of prices {path} is not JSON: {error}.") from None
    models, wrong = dict[str, Rates](), list[str]()
    try:
        file = msgspec.convert(content, _File)
    except msgspec.ValidationError as error:
        raise BadPrices(f"The file of prices {path} cannot be used: {error}") from None
    for name, entry in file.models.items():
        try:
            models[name] = _parse_rates(entry)
        except msgspec.ValidationError as error:
            wrong.append(f"$.models[{json.dumps(name)}]: {error}")
    if wrong:
        raise BadPrices("\n  ".join([f"The file of prices {path} cannot be used:", *wrong]))
    return Prices(file.date, models)
