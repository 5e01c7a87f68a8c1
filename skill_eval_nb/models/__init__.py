"""The only room that knows a model's API: the client, prices, batches and the stand-in.

    from skill_eval_nb.models import Connection, Tally, connect, load_prices

    tally = Tally()
    async with connect(Connection()) as client:
        reply = await client.send(request, meter=tally, deadline=300.0)
    tally.cost(load_prices())

Every call goes through a `Meter`, which is asked beforehand whether its worst case may be
spent. Importing this room loads neither the SDK nor the stand-in: they come when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import batches as batches
    from .client import Client as Client
    from .client import Connection, Reply
    from .client import connect as connect
    from .faults import ModelFault as ModelFault
    from .stand_in import StandIn, serve
    from .usage import (
        BadPrices,
        BudgetSpent,
        Meter,
        Prices,
        Tally,
        load_prices,
        together,
        worst_case,
    )
    from .usage import Usage as Usage

_HOMES = {
    "BadPrices": "usage",
    "BudgetSpent": "usage",
    "Client": "client",
    "Connection": "client",
    "Meter": "usage",
    "ModelFault": "faults",
    "Prices": "usage",
    "Reply": "client",
    "StandIn": "stand_in",
    "Tally": "usage",
    "Usage": "usage",
    "connect": "client",
    "load_prices": "usage",
    "serve": "stand_in",
    "together": "usage",
    "worst_case": "usage",
}
"""The module that each name comes from when it is first asked for."""

__all__ = [
    "BadPrices",
    "BudgetSpent",
    "Client",
    "Connection",
    "Meter",
    "ModelFault",
    "Prices",
    "Reply",
    "StandIn",
    "Tally",
    "Usage",
    "batches",
    "connect",
    "load_prices",
    "serve",
    "together",
    "worst_case",
]


def __getattr__(name: str) -> Any:
    if name == "batches":
        return importlib.import_module(".batches", __name__)
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
