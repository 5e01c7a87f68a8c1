"""What was asked for, looked at before anything is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skill_eval_nb.models import Connection
from skill_eval_nb.running.asking import reached_by
from skill_eval_nb.running.executors import Executor

from ..values import Query


def faults_of(queries: Sequence[Query], budget_usd: float | None) -> list[str]:
    """What is wrong with the queries, or with the budget, which may be 0."""
    faults = []
    if not queries:
        faults.append("there are no queries; `triggers.read_queries` reads a file of them")
    for text, times in Counter(one.query for one in queries).items():
        if times > 1:
            faults.append(f"the query {text!r} is there {times} times; each is to be there once")
        if not text.strip():
            faults.append("a query is empty; take it out")
    if budget_usd is not None and not budget_usd >= 0:
        faults.append(f"budget_usd is {budget_usd}; it is at least 0")
    return faults


def reached_from(runner: Executor | None, model: str | None) -> Connection:
    """How the model is reached where nobody says."""
    stand_in = getattr(runner, "stand_in", None)
    return reached_by(filter(None, [model])) if stand_in is None else Connection(stand_in=stand_in)


def model_of(
    model: str | None, runner: Executor | None, connection: Connection | None, faults: list[str]
) -> str | None:
    """Who decides: the stand-in where one answers and nobody else is named."""
    from skill_eval_nb.models.standin.stand_in import EXECUTOR

    answers = getattr(runner, "stand_in", None) or getattr(connection, "stand_in", None)
    if model is None and answers is not None:
        return EXECUTOR
    if model is None and runner is not None:
        faults.append(f"model is not given: executor `{runner.name}` needs the name of a model")
    return model
