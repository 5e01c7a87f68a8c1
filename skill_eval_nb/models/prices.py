"""What tokens cost: the prices of genai-prices, which the user's own file corrects and extends."""

from __future__ import annotations

import difflib
import itertools
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import msgspec

from .usage import Usage

MILLION = 1_000_000

Figure = Annotated[float, msgspec.Meta(ge=0)]


class Factors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What multiplies the price of plain input (`batch`: of everything) where nothing is stated."""

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
            tokens; None where there are no others.
        over: tokens read by a call, above which these rates hold.

    Raises:
        ValueError: where the worst case of a call would not be its dearest: a call that may
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

    def whole(part: Any) -> Any:
        if not isinstance(part, dict) or not isinstance(part.get("input"), int | float):
            return part
        rates = {
            name: part["input"] * factor for name, factor in msgspec.structs.asdict(factors).items()
        }
        return rates | {"batch": factors.batch} | part | {"long": whole(part.get("long"))}

    rates = msgspec.convert(whole(entry), Rates)
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
        """US dollars of `usage`; None where no price of the model is known, even for none.

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
        """The rates of a model; None where none are known."""
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
def _published() -> Prices:
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
            known = {name: _at(rate, over) for name, rate in figures.items() if rate is not None}
            entry = known | {"long": entry, "over": over}
        # One that a budget could not rely on has no price, as if it were not there.
        with suppress(ValueError):
            models[_DATED.sub("", model.id)] = _rates(entry)
    return Prices(f"{now:%Y-%m-%d}, as genai-prices {version('genai-prices')} has them", models)


def _at(price: Any, over: int) -> float:
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
        BadPrices: where a file cannot be read, or does not say what it should, with what is
            wrong with each model.
    """
    published = _published()
    given = os.fspath(path) if path is not None else os.environ.get(VARIABLE)
    if not given:
        return published
    own = _read(Path(given))
    date = f"{own.date} ({Path(given).name}), {published.date}"
    return Prices(date, {**published.models, **own.models})


def _read(path: Path) -> Prices:
    try:
        content = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise BadPrices(
            f"The file of prices {path} cannot be read: {error.strerror}. It is named by "
            f"`prices` or by the environment variable {VARIABLE}: correct it, or unset it."
        ) from None
    except ValueError as error:
        raise BadPrices(f"The file of prices {path} is no JSON: {error}.") from None
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
