"""A drafted dimension being judged on stored outputs: started, watched, stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from skill_eval_nb.improving import try_out
from skill_eval_nb.running.threads import Stopped

if TYPE_CHECKING:
    from skill_eval_nb.improving import Draft, Tried
    from skill_eval_nb.running.asking import AskingProgress
    from skill_eval_nb.tables import Workspace


class Judging:
    """A try-out that pays a judge, in a thread of its own.

    Attributes:
        going: whether it goes on.
        progress: how far it is; None before the first judging has ended.
        tried: what came of it; None until there is something.
        message: why it ended without a result; None otherwise.
    """

    def __init__(
        self,
        draft: Draft,
        ws: Workspace,
        model: str,
        budget_usd: float,
        told: Callable[[], None],
    ) -> None:
        """Begin it.

        Args:
            draft: what is tried.
            ws: on whose outputs.
            model: who judges.
            budget_usd: the most that may be spent.
            told: called, in its thread, whenever there is something new to see.
        """
        self.going = True
        self.progress: AskingProgress | None = None
        self.tried: Tried | None = None
        self.message: str | None = None
        self._told, self._stop = told, threading.Event()
        self._work = lambda: try_out(
            draft,
            ws,
            judge_model=model or None,
            budget_usd=budget_usd,
            progress=self._heard,
            stop=self._stop,
        )
        threading.Thread(target=self._run, name="skill-eval-nb trying", daemon=True).start()

    def stop(self) -> None:
        """Cancel what is in flight; what was judged stays, and is not paid for again."""
        self._stop.set()

    def _run(self) -> None:
        try:
            self.tried = self._work()
        except Stopped:
            self.message = "Stopped. What was judged is kept, and is not paid for again."
        except Exception as error:  # noqa: BLE001 -- shown, whatever it is
            self.message = str(error) or type(error).__name__
        self.going = False
        self._told()

    def _heard(self, now: AskingProgress) -> None:
        self.progress = now
        self._told()
