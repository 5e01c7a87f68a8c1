"""What calls to a model used, their prices, and the most that one can use, known before.

Every call goes through a `Meter`: it is asked beforehand, and told what the call used.

- Input: no more tokens than the request has bytes as JSON. A token of these models stands
  for at least one byte of UTF-8 (they are byte-level encodings), and a text's JSON is never
  shorter than its UTF-8. What the API adds of its own (instructions for tools and for
  structured output, 346 tokens for tools in its documentation of prices) is bounded by
  `ADDED`, once for the request and once for each tool whose definition is the provider's.
- Images: `IMAGE` each, whatever their bytes (at most 4,784 by the documentation of vision:
  the longest edge is scaled to 2,576 pixels, and a token covers about 750 pixels).
- Documents that are not text (PDF, or by address): `CONTEXT` together, the most that any
  current model reads at once, since pages cannot be counted from outside.
- Output: `max_tokens`, thinking included.

Where the request marks a part of itself for the cache, all of its input is taken to be
written there, for an hour if any mark says so: the dearest that input can be. Extras that
no request of ours asks for (tools that run at the provider's, fast mode, a fixed region)
are not bounded here; the relay of the executor `claude-code` lets none of them pass.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import re
import threading
from collections.abc import Mapping
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
            were read, if nothing else is given.
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
            ValueError: if a count is missing, or is no whole number from 0 upwards.
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
        size: its bytes as JSON, if they are known already.

    Raises:
        ValueError: if `max_tokens` is no whole number from 0 upwards.
    """
    output = request.get("max_tokens")
    if not isinstance(output, int) or isinstance(output, bool) or output < 0:
        raise ValueError(f"The request's `max_tokens` is not a number of tokens: {output!r}.")
    found = _Found()
    for part in ("system", "messages", "tools", "cache_control"):
        found.look(request.get(part), part)
    if size is None:
        size = len(encode_body(request))
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
    """A call was not made, because its worst case could pass the ceiling."""


class Meter(Protocol):
    """Counts calls, and may forbid them.

    Each attempt at a call reserves its worst case, and then settles or releases it, exactly
    once. The three may be called from any thread.
    """

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        """A ticket for a call that uses at most `worst`, at the price of batches if `batch`.

        Raises:
            BudgetSpent: if the ceiling could be passed; nothing is then reserved.
        """
        ...

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """The call used `usage`. None: no answer came, but it may be billed; the worst counts."""
        ...

    def release(self, ticket: Any) -> None:
        """The call is surely not billed: it was refused before an answer began, or not sent."""
        ...


@dataclass(frozen=True, slots=True)
class CallReservation:
    """A call that was reserved.

    Attributes:
        model: who is called.
        batch: whether it goes by a batch.
        worst: the most that it can use.
        price: what that costs, in billionths of a dollar; 0 where its meter knows no prices.
        outer: the ticket of the meter that its own counts within.
        mark: tells it from every other, in a copy of its meter too.
    """

    model: str
    batch: bool
    worst: Usage
    price: int = 0
    outer: Any = None
    mark: UUID = field(default_factory=uuid4)


class Tally:
    """A meter without a ceiling: it only counts. Picklable, and safe among threads.

    Within another meter, a call is made only if that allows it, and both count it.

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
        """A ticket; see `Meter.reserve`. Only a meter with a cap raises, this one or an outer."""
        with self.lock:
            price, outer = self._allow(model, worst, batch), None
            if self._within is not None:
                outer = self._within.reserve(model, worst, batch=batch)
            ticket = CallReservation(model, batch, worst, price, outer)
            self._open.add(ticket)
            return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count the usage; without one, the worst case, as `assumed`.

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
        """What the calls used that were answered."""
        with self.lock:
            return sum(self._known.values(), Usage())

    @property
    def assumed(self) -> Usage:
        """The worst case of calls that were not answered but may be billed."""
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
        """Count what a call has used; `settle` does."""
        counts = self._assumed if usage is None else self._known
        key = ticket.model, ticket.batch
        counts[key] = counts.get(key, Usage()) + (ticket.worst if usage is None else usage)

    def _allow(self, model: str, worst: Usage, batch: bool) -> int:  # noqa: ARG002 -- others need it
        """The price of a call at its worst, as its ticket has it; meters with a cap may refuse."""
        return 0

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: copy(value) for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()


MILLION = 1_000_000

Figure = Annotated[float, msgspec.Meta(ge=0)]


class Factors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What multiplies the price of plain input (`batch`: of everything) if nothing is stated."""

    cache_read: Figure = 0.1
    cache_write: Figure = 1.25
    cache_write_1h: Figure = 2.0
    batch: Figure = 0.5


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens of one model.

    Attributes:
        input: read, neither from the cache nor to be kept in it.
        output: written by the model.
        cache_read: read from the cache.
        cache_write: read and kept for five minutes.
        cache_write_1h: read and kept for an hour.
        batch: what multiplies all of it in a batch.
        long: the rates of calls that read more than `long.over` tokens, for all of their
            tokens; None if there are no others.
        over: tokens read by a call, above which these rates hold.

    Raises:
        ValueError: if the worst case of a call would not be its dearest: a call that may
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
                    f"`{low}` ({getattr(self, low):g}) is dearer than `{high}` "
                    f"({getattr(self, high):g}); a budget relies on {' ≤ '.join(_LADDER)}"
                )
        if self.long is None:
            return
        if self.long.over <= self.over:
            raise ValueError("`long.over`: expected tokens, more than for the rates before it")
        if any(getattr(self.long, name) < getattr(self, name) for name in (*_LADDER, "output")):
            raise ValueError("`long` is cheaper somewhere; a budget relies on its being dearer")

    def cost(self, usage: Usage, *, batch: bool = False) -> float:
        """US dollars of `usage`.

        Of several calls, of which one or more are long, it is the most that it can be: all of
        them at the dearer rates.

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


def _rates(entry: Any, factors: Factors = Factors()) -> Rates:  # noqa: B008 - it is frozen
    """The rates of an entry, whose missing figures are multiples of its plain input's."""

    def fill_rates(part: Any) -> Any:
        if not isinstance(part, dict) or not isinstance(part.get("input"), int | float):
            return part
        rates = {
            name: part["input"] * factor for name, factor in msgspec.structs.asdict(factors).items()
        }
        return rates | {"batch": factors.batch} | part | {"long": fill_rates(part.get("long"))}

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
    """A file of prices that cannot be used; the message says which, where and why."""


@dataclass(frozen=True)
class Prices:
    """Prices by model.

    A model is found by its name, or by its name without a date at the end
    (`claude-haiku-4-5-20251001`). Nothing else is taken for the same model: what begins
    alike may be another one (`claude-fable-5-1`), at another price. Stand-in models, all
    whose names begin with `stand-in`, cost nothing.

    Attributes:
        date: of which day the prices are, and where they come from.
        models: the rates by model.
    """

    date: str
    models: Mapping[str, Rates]

    def cost(self, usage: Usage, model: str, *, batch: bool = False) -> float | None:
        """US dollars of `usage`; None if no price of the model is known, even for none.

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
        """Whether a price of the model is known.

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
    """The prices of Anthropic's models that hold today, as the installed genai-prices has them."""
    from genai_prices import data

    now, models = datetime.now(UTC), dict[str, Rates]()
    (provider,) = (provider for provider in data.providers if provider.id == "anthropic")
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
        # One that a budget could not rely on has no price, as if it were not there.
        with suppress(ValueError):
            models[_DATED.sub("", model.id)] = _rates(entry)
    return Prices(f"{now:%Y-%m-%d}, as genai-prices {version('genai-prices')} has them", models)


def _figure_at(price: Any, over: int) -> float:
    """A figure of genai-prices for calls that read more than `over` tokens."""
    tiers = (tier.price for tier in reversed(getattr(price, "tiers", ())) if tier.start <= over)
    return float(next(tiers, getattr(price, "base", price)))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    date: Annotated[str, msgspec.Meta(min_length=1)]
    models: dict[str, Any]
    factors: Factors = Factors()
    about: Any = None


def load_prices(path: str | os.PathLike[str] | None = None) -> Prices:
    """Prices of today as genai-prices has them, overlaid model by model with the user's.

    A file says `{"date": "2026-06", "models": {"NAME": {"input": 3, "output": 15}}}` in US
    dollars per million tokens. A model may also state `cache_read`, `cache_write` (for five
    minutes), `cache_write_1h`, in dollars too, and `batch`, a factor; `factors` beside
    `models` says what they are otherwise, as multiples of the input's price. `long` states
    the same for calls that read more than `over` tokens: all of their tokens are priced so.
    `about` is for remarks.

    Args:
        path: the user's file; None for the one that SKILL_EVAL_NB_PRICES names, if any.

    Raises:
        BadPrices: if a file cannot be read, or does not say what it should, with what is
            wrong with each model.
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
            models[name] = _rates(entry, file.factors)
        except msgspec.ValidationError as error:
            wrong.append(f"$.models[{json.dumps(name)}]: {error}")
    if wrong:
        raise BadPrices("\n  ".join([f"The file of prices {path} cannot be used:", *wrong]))
    return Prices(file.date, models)
