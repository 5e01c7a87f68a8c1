"""Grading what a run has put out: layer 1, the structural checks; layer 2, the judge.

`check` looks with plain rules and asks nobody. The room `judge` asks a model; `grade` makes
one grading of its judgings. The room `sandbox` holds what runs a command that nobody here
has written. Nothing is imported before it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import lazy

if TYPE_CHECKING:
    from skill_eval_nb.models.usage import BudgetSpent

    from . import judge, sandbox, structural
    from .grades import grade
    from .judge import Case, Judge
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


__getattr__, __dir__ = lazy(
    __name__,
    {
        "": "judge sandbox structural",
        "skill_eval_nb.models": "BudgetSpent",
        ".grades": "grade",
        ".judge": "Case Judge",
        ".structural": "check",
    },
)
