"""Under what a query is asked: all that an attempt depends on, and the mark of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from skill_eval_nb.models import Connection
from skill_eval_nb.running.executors import Executor, Limits, SandboxKind
from skill_eval_nb.running.planning.fingerprint import plain

from .offering import Offered


@dataclass(frozen=True, slots=True)
class Setting:
    """Under what queries are asked.

    Attributes:
        offered: the skills on offer.
        executor: what works on the query.
        model: the model that decides.
        limits: what one run may use.
        sandbox: how an agent's commands are kept in.
        connection: how the model is reached.
        series: a name that sets this measurement apart from the same one before.
    """

    offered: Offered
    executor: Executor
    model: str
    limits: Limits
    sandbox: SandboxKind
    connection: Connection
    series: str

    @property
    def told(self) -> dict[str, Any]:
        """What attempts have in common that can be compared, as plain JSON."""
        own = self.offered.skill.name
        return {
            "skill": {own: self.offered.digests[own]},
            "others": {name: mark for name, mark in self.offered.digests.items() if name != own},
            "executor": {"name": self.executor.name, "options": plain(self.executor)},
            "model": self.model,
            "limits": plain(replace(self.limits, usd=None)),
            "sandbox": self.sandbox,
            "stand_in": plain(self.connection.stand_in),
            "series": self.series,
        }

    @property
    def fingerprint(self) -> str:
        """A short hash of it: the same where attempts can stand for each other."""
        return mark(self.told)


def mark(value: Any) -> str:
    """A short hash of plain JSON.

    >>> mark("a query") == mark("a query") != mark("another")
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
