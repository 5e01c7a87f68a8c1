"""Planned looks: after so many runs per side a job stops to look, and ends if that decides.

Statistics determine whether a look can decide, and does. This package does not import them:
`skill_eval_nb/__init__.py` passes them in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol


class LookRules(Protocol):
    """The statistics of looks."""

    def check_looks(self, looks: Sequence[int], n_evals: int) -> None:
        """Raise a ValueError if looks over this many evals cannot be planned."""
        ...

    def decide_look(
        self, workspace: Path, iteration: int, looks: Sequence[int], runs: int
    ) -> str | None:
        """What the look at so many runs per side decides, in words; None if it decides nothing."""
        ...


def _lack_rules() -> LookRules:
    raise NotImplementedError("the rules of looks were not set")


rules: Callable[[], LookRules] = _lack_rules
"""Gives them; `skill_eval_nb` sets it when it is imported."""
