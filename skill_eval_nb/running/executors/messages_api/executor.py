"""The executor itself: one run from its task to how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skill_eval_nb.grading.sandbox import BoxLimits, SandboxMissing
from skill_eval_nb.grading.sandbox import why_not as no_sandbox
from skill_eval_nb.models import BudgetSpent, Meter, ModelFault, Tally, load_prices, together
from skill_eval_nb.running.executors.protocol import Execution, Task

from .clients import shared_client
from .loop import OutOfTurns, Stopped, Work, common
from .opening import offered
from .prompts import tools
from .recording import Recording
from .toolbox import Toolbox


@dataclass(frozen=True)
class MessagesApi:
    """Runs tasks with a plain tool loop over the Messages API.

    Attributes:
        effort: how much work the model is told to put in (`low` to `max`); None leaves it to
            the model's own.
        thinking: whether the model may think before it answers, as it sees fit.
        command: what each command of the agent may use; its `disk_bytes` are those of the
            whole run.
        result_chars: characters of a tool's result that the model is shown; what is left
            out is told.
    """

    effort: str | None = None
    thinking: bool = False
    command: BoxLimits = field(default_factory=lambda: BoxLimits(seconds=120.0))
    result_chars: int = 30_000

    @property
    def name(self) -> str:
        """Its name, as the files of a run state it."""
        return "messages-api"

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        return no_sandbox("none" if sandbox == "none" else "bubblewrap")

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; see `Executor.execute`."""
        tally, recording = Tally(), Recording()
        reason, text, toolbox, out_of_turns = None, "", None, False
        listed = tools(task.skills, self.command.seconds)
        recording.begin(task.model, listed, task.skills)
        try:
            toolbox = self._toolbox(task, listed)
            async with shared_client(task.connection) as client:
                request = common(task, listed, effort=self.effort, thinking=self.thinking)
                work = Work(task, request, client, together(tally, meter), toolbox, recording)
                text = await work.done()
        except (Stopped, BudgetSpent, ModelFault, SandboxMissing) as fault:
            reason = str(fault)
            out_of_turns = isinstance(fault, OutOfTurns)
        except OSError as fault:
            reason = f"The run's folders cannot be used: {fault}"
        cost = tally.cost(load_prices())
        recording.end(reason, text, tally.usage, cost)
        return Execution(
            status="done" if reason is None else "errored",
            reason=reason,
            events=tuple(recording.events),
            usage=tally.usage,
            cost_usd=cost,
            skill_used=self._used(task, toolbox),
            final_text=text,
            out_of_turns=out_of_turns,
        )

    def _toolbox(self, task: Task, listed: list[dict[str, Any]]) -> Toolbox:
        if (reason := self.why_not(task.sandbox)) is not None:
            raise SandboxMissing(reason)
        skills = [offered(one, task.sandbox, task.scratch) for one in task.skills]
        for skill in skills:
            skill.text  # noqa: B018 (read now: that it cannot be is no fault of the agent's)
        schemas = {tool["name"]: tool["input_schema"] for tool in listed}
        return Toolbox(task, skills, schemas, self.command, self.result_chars)

    def _used(self, task: Task, toolbox: Toolbox | None) -> bool | None:
        return None if task.skill is None else toolbox is not None and toolbox.skill_used
