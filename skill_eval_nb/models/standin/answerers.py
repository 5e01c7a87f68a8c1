"""Who answers what is asked for as JSON: one module a role, each found when it is needed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import reading
from .instance import minimal

if TYPE_CHECKING:
    from .misbehaviour import Role
    from .stand_in import StandIn

_HOMES: dict[Role, str] = {
    "analyst": "analyst",
    "comparator": "comparator",
    "drafter": "drafter",
    "merger": "merger",
    "proposer": "proposer",
    "query_drafter": "query_drafter",
}
"""The module of each role; its function `answer(stand_in, request)` gives the JSON."""


def answer(stand_in: StandIn, request: Mapping[str, Any], role: Role) -> Any:
    """The answer of a role that is no executor and no judge; the least of the form elsewhere."""
    home = _HOMES.get(role)
    if home is None:
        return minimal(reading.schema_of(request))
    return importlib.import_module(f".{home}", __package__).answer(stand_in, request)
