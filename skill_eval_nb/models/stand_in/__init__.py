"""The stand-in model: answers the Messages API offline, by rules and a seed.

No model is behind it, and its answers say so. It exists so that runs, grading, retries and
statistics can be tried, tested and shown without a network, a key or a cent. It answers through
`transport(StandIn())`, a transport inside the process for the SDK's HTTP client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import lazy

from .settings import StandIn

if TYPE_CHECKING:
    from .app import transport

__all__ = ["StandIn", "transport"]

__getattr__, __dir__ = lazy(
    __name__,
    {".app": "transport"},
)
