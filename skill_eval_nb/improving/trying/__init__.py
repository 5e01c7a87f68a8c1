"""Drafts tried on what is stored, before a single new run is paid for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trial import try_out
    from .tried import About, Difference, Tried

_HOMES = {
    "About": ".tried",
    "Difference": ".tried",
    "Tried": ".tried",
    "try_out": ".trial",
}

__all__ = ["About", "Difference", "Tried", "try_out"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
