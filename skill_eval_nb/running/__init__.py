"""From a skill and its evals to a graded workspace: plan, driver, journal, budget.

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skill_eval_nb.models import BudgetSpent

    from .iteration import Cell
    from .job import Job
    from .plan import Plan, plan_runs
    from .protocol import Execution, Executor, Limits, Refused, Skill, Task, executor
    from .rejudging import judge_again
    from .stored_runs import grade_stored

__all__ = [
    "BudgetSpent",
    "Cell",
    "Execution",
    "Executor",
    "Job",
    "Limits",
    "Plan",
    "Refused",
    "Skill",
    "Task",
    "executor",
    "grade_stored",
    "judge_again",
    "plan_runs",
]

_HOMES = {
    "BudgetSpent": "skill_eval_nb.models",
    "Cell": "skill_eval_nb.running.iteration",
    "Execution": "skill_eval_nb.running.protocol",
    "Executor": "skill_eval_nb.running.protocol",
    "Job": "skill_eval_nb.running.job",
    "Limits": "skill_eval_nb.running.protocol",
    "Plan": "skill_eval_nb.running.plan",
    "Refused": "skill_eval_nb.running.protocol",
    "Skill": "skill_eval_nb.running.protocol",
    "Task": "skill_eval_nb.running.protocol",
    "executor": "skill_eval_nb.running.protocol",
    "grade_stored": "skill_eval_nb.running.stored_runs",
    "judge_again": "skill_eval_nb.running.rejudging",
    "plan_runs": "skill_eval_nb.running.plan",
}
"""Where each name of the face lives; looked up when it is asked for."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
