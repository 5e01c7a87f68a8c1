"""Widgets that drive it from the notebook: explore, review, run_panel, diff.

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diffing import diff
    from .exploring import explore
    from .launching import run_panel
    from .reviewing import review

__all__ = ["diff", "explore", "review", "run_panel"]

_HOMES = {
    "diff": "diffing",
    "explore": "exploring",
    "review": "reviewing",
    "run_panel": "launching",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
