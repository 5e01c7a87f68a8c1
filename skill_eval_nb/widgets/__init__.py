"""Widgets that drive it from the notebook: explore, review, run_panel, diff, drafts and others.

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from skill_eval_nb.faces import load_lazily

if TYPE_CHECKING:
    from .diff import diff
    from .drafts import drafts
    from .explore import explore
    from .library import library_panel
    from .review import review
    from .run import run_panel
    from .trigger import trigger_panel

__all__ = ["diff", "drafts", "explore", "library_panel", "review", "run_panel", "trigger_panel"]


__getattr__, __dir__ = load_lazily(
    __name__,
    {
        **{f".{name}": name for name in ("diff", "drafts", "explore", "review")},
        ".library": "library_panel",
        ".run": "run_panel",
        ".trigger": "trigger_panel",
    },
)


class _Face(ModuleType):
    """The module as it is, but that a function stays one when the package of its name is loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
