"""The stand-in model: answers the Messages API offline, by rules and a seed.

No model is behind it, and its answers say so. It exists so that runs, grading, retries and
statistics can be tried, tested and shown without a network, a key or a cent. One and the same
app answers in two ways: `serve(StandIn())` is a real HTTP server on 127.0.0.1, and
`transport(StandIn())` is a transport inside the process for the SDK's HTTP client.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .settings import Fault, StandIn

if TYPE_CHECKING:
    from .app import serve, transport

_HOMES = {"serve": "app", "transport": "app"}
"""What is loaded when it is first asked for: whoever holds a `StandIn` needs no server."""

__all__ = ["Fault", "StandIn", "serve", "transport"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
