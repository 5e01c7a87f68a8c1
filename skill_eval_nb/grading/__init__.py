"""Grading what a run has put out: layer 1, the structural checks; layer 2, the judge.

`check` looks with plain rules and asks nobody. The room `judge` asks a model; `grade` makes
one grading of its judgings. The room `sandbox` holds what runs a command that nobody here
has written. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skill_eval_nb.models.usage import BudgetSpent

    from . import judge, sandbox, structural
    from .judge import Case, Judge, grade
    from .structural import check

__all__ = [
    "BudgetSpent",
    "Case",
    "Judge",
    "check",
    "grade",
    "judge",
    "sandbox",
    "structural",
]

_ROOMS = ("judge", "sandbox", "structural")
_HOMES = {
    "BudgetSpent": "skill_eval_nb.models.usage",
    "Case": "skill_eval_nb.grading.judge",
    "Judge": "skill_eval_nb.grading.judge",
    "check": "skill_eval_nb.grading.structural",
    "grade": "skill_eval_nb.grading.grades",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
