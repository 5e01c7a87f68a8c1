"""The executor itself: one run from its task to how it went."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import AsyncExitStack
from dataclasses import dataclass

from skill_eval_nb.models import Meter, Tally, load_prices, together
from skill_eval_nb.running.executors.protocol import Execution, Task

from . import program
from .conversation import converse
from .events import event_of_left, event_of_refusals, events_of
from .opened import body_of, was_opened
from .place import handed_over, place
from .process import Process
from .relay import Relay
from .verdict import final_text, out_of_turns, reason_of


@dataclass(frozen=True)
class ClaudeCode:
    """Runs tasks with Claude Code itself.

    Attributes:
        program: another harness than the one that claude-agent-sdk brings: the path of a
            native `claude`.
    """

    program: str | None = None

    @property
    def name(self) -> str:
        """Its name, as the files of a run state it."""
        return "claude-code"

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        return program.why_not(self.program, sandbox)

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; see `Executor.execute`."""
        tally = Tally()
        ran = _Ran()
        prices, body = None, ""
        try:
            prices = load_prices()
            body = body_of(task.skill) if task.skill is not None else ""
            reason = self.why_not(task.sandbox)
            if reason is None:
                reason = await self._run(task, body, together(tally, meter), ran)
        except (OSError, LookupError, ValueError) as fault:
            reason = f"The run could not be made ready: {fault}"
        lines = ran.process.lines if ran.process is not None else []
        left = ran.process.left if ran.process is not None else 0
        if reason is None and ran.process is not None and not ran.enough:
            reason = reason_of(
                lines,
                task.limits,
                task.skills,
                calls=tally.usage.calls,
                exit_code=ran.process.exit_code,
                complaint=ran.process.complaint,
            )
        events = events_of(lines)
        skill = task.skill
        return Execution(
            status="done" if reason is None else "errored",
            reason=reason,
            events=(*events, *event_of_refusals(ran.turned_away), *event_of_left(left)),
            usage=tally.usage,
            cost_usd=tally.cost(prices) if prices is not None else None,
            skill_used=was_opened(skill.name, body, events) if skill is not None else None,
            final_text=final_text(lines),
            out_of_turns=out_of_turns(lines),
        )

    async def _run(self, task: Task, body: str, meter: Meter, ran: _Ran) -> str | None:
        """Run the harness to its end, or until the skill was opened where that is enough.

        Returns:
            why it was ended before, if it was.

        Raises:
            OSError: where the place cannot be made ready, or the harness not started.
            LookupError: where a key is needed and there is none.
            ValueError: where the table of prices cannot be used.
        """
        found = program.program(self.program)
        assert found is not None
        # Slow at first, and neither this run's time nor that of others who share the loop.
        for library in ("anthropic", "claude_agent_sdk"):
            await asyncio.to_thread(importlib.import_module, library)
        async with AsyncExitStack() as stack:
            at = stack.enter_context(place(task))
            relay, port = await stack.enter_async_context(
                Relay.listening(
                    task.connection, task.model, task.limits.output_tokens, meter, at.socket
                )
            )
            stack.enter_context(handed_over(at))
            process = ran.process = Process(at.command(found, port))

            def enough() -> bool:
                if task.until_opened and task.skill is not None:
                    ran.enough = was_opened(task.skill.name, body, events_of(process.lines))
                return ran.enough

            try:
                return await converse(process, task.prompt, at.box(found), relay.ended, enough)
            finally:
                ran.turned_away = tuple(relay.turned_away)


class _Ran:
    """What is known of a run, whether or not it came to its end; `enough`: it need not."""

    process: Process | None = None
    turned_away: tuple[str, ...] = ()
    enough: bool = False
