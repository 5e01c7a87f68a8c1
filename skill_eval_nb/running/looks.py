"""Planned looks: a job stops for a look after so many runs a side, and ends if one decides.

Whether a look can decide, and does, is for statistics. This room does not know them: the package
itself, which knows all rooms, hands them down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol


class LookRules(Protocol):
    """What statistics say of looks."""

    def check_looks(self, looks: Sequence[int], n_evals: int) -> None:
        """Raise a ValueError where looks over so many evals cannot be planned."""
        ...

    def decide_look(
        self, workspace: Path, iteration: int, looks: Sequence[int], runs: int
    ) -> str | None:
        """What the look at so many runs a side decides, in words; None if it decides nothing."""
        ...


def _lack_rules() -> LookRules:
    raise NotImplementedError("the rules of looks were not set")


rules: Callable[[], LookRules] = _lack_rules
"""Gives them; `skill_eval_nb` sets it when it is imported."""
