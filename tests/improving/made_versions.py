"""Workspaces with planted differences between the versions of a skill."""

from __future__ import annotations

from typing import Any

from tests.corpus.build import graded

CHECKS = 20


def marks(share: float, wobble: int = 0) -> str:
    """So many of the checks passed, in twentieths, and some more."""
    passed = round(share * CHECKS) + wobble
    return "p" * passed + "f" * (CHECKS - passed)


def iteration(
    number: int, share: float, side: str = "with_skill", evals: int = 6, **more: Any
) -> dict[str, Any]:
    """Files of an iteration's side: three runs an eval around a pass rate, one twentieth apart."""
    files: dict[str, Any] = {}
    for eval_id in range(1, evals + 1):
        folder = f"iteration-{number}/eval-{eval_id}-task/{side}"
        for run in (1, 2, 3):
            files[f"{folder}/run-{run}/grading.json"] = graded(marks(share, run - 2), **more)
    return files
