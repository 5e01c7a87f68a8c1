"""The executor `offline`: another executor with the stand-in model, without network or key."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal

from skill_eval_nb.models import Meter, StandIn

from ..protocol import Execution, Executor, Task


@dataclass(frozen=True)
class Offline:
    """Runs tasks like another executor, with the stand-in instead of a model.

    Attributes:
        stand_in: how the stand-in answers.
        through: the executor that works: "messages-api", or "claude-code", the real harness.
    """

    stand_in: StandIn = field(default_factory=StandIn)
    through: Literal["messages-api", "claude-code"] = "messages-api"

    def __post_init__(self) -> None:
        if self.through not in ("messages-api", "claude-code"):
            raise ValueError(
                f"through={self.through!r} is not an executor that can run offline; choose "
                "'messages-api' and 'claude-code'."
            )

    @property
    def name(self) -> str:
        """Its name, as stated in a run's files."""
        return "offline"

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        return self._inner().why_not(sandbox)

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; see `Executor.execute`."""
        connection = dataclasses.replace(task.connection, base_url=None, stand_in=self.stand_in)
        client = task.client if connection == task.connection else None
        own = dataclasses.replace(task, connection=connection, client=client)
        return await self._inner().execute(own, meter)

    def _inner(self) -> Executor:
        if self.through == "claude-code":
            from .claude_code import ClaudeCode

            return ClaudeCode()
        from .messages_api import MessagesApi

        return MessagesApi()
