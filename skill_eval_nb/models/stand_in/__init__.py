"""The stand-in model: answers the Messages API offline, by rules and a seed.

No model is behind it, and its answers say so. It exists so that runs, grading, retries and
statistics can be tried, tested and shown without a network, a key or a cent. One and the same
app answers in two ways: `serve(StandIn())` is a real HTTP server on 127.0.0.1, and
`transport(StandIn())` is a transport inside the process for the SDK's HTTP client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import lazy

from .settings import Fault, StandIn

if TYPE_CHECKING:
    from .app import serve, transport

__all__ = ["Fault", "StandIn", "serve", "transport"]

__getattr__, __dir__ = lazy(
    __name__,
    {".app": "serve transport"},
)
