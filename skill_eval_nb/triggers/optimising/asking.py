"""The proposer asked: within the ceiling, each answer kept, the same question never paid twice."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models.asking import Answered, Question
from skill_eval_nb.running.asking import NO_MONEY, ask_all, worst_usd
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.names import OWN

from .searching import Over

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices

KEPT = Path(OWN, "proposals")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is kept of a question to the proposer.

    Attributes:
        description: its answer; None where there is none yet.
        spent_usd: what it has cost, an answer that never came at its worst; None where a price
            is not known.
    """

    description: str | None = None
    spent_usd: float | None = 0.0


def kept(folder: Path, key: str) -> Proposal:
    """What is there of a question; nothing where it was not asked, or cannot be read."""
    try:
        told: Any = json.loads(read_bytes(folder / KEPT / f"{key}.json"))
        return Proposal(told["description"], told["spent_usd"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return Proposal()


def propose(
    question: Question[str],
    folder: Path,
    *,
    left_usd: float | None,
    connection: Connection | None,
    prices: Prices,
    stop: threading.Event | None,
) -> Proposal:
    """Ask for a description; an answer that is kept is given back as it is.

    That it was asked is written before, with its worst price, and the answer as soon as it came.

    Args:
        question: what is asked.
        folder: where answers are kept.
        left_usd: the most that it may cost now; None for no ceiling.
        connection: how the model is reached.
        prices: what calls cost.
        stop: once it is set, asking ends.

    Raises:
        Over: there is no answer, or no money for it.
        Stopped: `stop` was set.
        ModelFault: no API key was found.
        OSError: the answer cannot be kept.
    """
    before = kept(folder, question.key)
    if before.description is not None:
        return before
    worst = worst_usd([question], prices)
    if left_usd is not None and worst is not None and worst > left_usd:
        raise Over(f"the proposer may cost ${worst:.4f}, and the budget does not hold it")
    _keep(folder, question.key, Proposal(None, _sum(before.spent_usd, worst)))

    def keep(_: Question[str], answered: Answered[str]) -> None:
        spent = _sum(before.spent_usd, prices.cost(answered.usage, question.model))
        _keep(folder, question.key, Proposal(answered.value, spent))

    asked = ask_all(
        [question],
        connection=connection,
        prices=prices,
        budget_usd=left_usd,
        keep=keep,
        stop=stop,
    )
    if question.key in asked.failed:
        reason = asked.failed[question.key]
        spent = 0.0 if reason == NO_MONEY else asked.cost_usd
        _keep(folder, question.key, Proposal(None, _sum(before.spent_usd, spent)))
        raise Over(f"there is no further proposal: {reason}")
    return kept(folder, question.key)


def _keep(folder: Path, key: str, proposal: Proposal) -> None:
    told = {"description": proposal.description, "spent_usd": proposal.spent_usd}
    write_atomic(folder / KEPT / f"{key}.json", json.dumps(told, indent=2) + "\n")


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
