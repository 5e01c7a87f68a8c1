"""Everything that calls a model's API: the client, prices, batches and the stand-in.

    from skill_eval_nb.models import Connection, Tally, connect, load_prices

    tally = Tally()
    async with connect(Connection()) as client:
        reply = await client.send(request, meter=tally, deadline=300.0)
    tally.cost(load_prices())

Every call goes through a `Meter`, which decides beforehand whether its worst case may be spent.
Importing this package does not load the SDK or the stand-in; they are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import load_lazily

if TYPE_CHECKING:
    from . import batches as batches
    from .client import Client as Client
    from .client import Connection, Reply
    from .client import ModelFault as ModelFault
    from .client import connect as connect
    from .stand_in import StandIn
    from .usage import (
        BadPrices,
        BudgetSpent,
        Meter,
        Prices,
        Tally,
        load_prices,
        worst_case,
    )
    from .usage import Usage as Usage


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
    "worst_case",
]


__getattr__, __dir__ = load_lazily(
    __name__,
    {
        "": "batches",
        ".client": "Client Connection ModelFault Reply connect",
        ".stand_in": "StandIn",
        ".usage": "BadPrices BudgetSpent Meter Prices Tally Usage load_prices worst_case",
    },
)
