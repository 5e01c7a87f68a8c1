"""What earlier runs of a workspace came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, Timing, mend, parse

from ..steps.state import ERRORED, EXECUTED


@dataclass(slots=True)
class Measured:
    """What the runs of a configuration came to; what was not measured is not here.

    Attributes:
        tokens: read and written, of each run.
        usd: US dollars of each run.
        calls: of the model, of each run.
    """

    tokens: list[float] = field(default_factory=list)
    usd: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)


def measured(workspace: Path, model: str) -> dict[str, Measured]:
    """The runs of a workspace that a model has done, by configuration.

    Only whole runs count, and only in the folders that this toolkit writes:
    iteration-N/eval-…/CONFIGURATION/run-R.
    """
    found: dict[str, Measured] = {}
    for path in sorted(workspace.glob(f"iteration-*/eval-*/*/run-*/{EXECUTED}")):
        try:
            timing, _ = mend(parse(read_bytes(path), Faults()), Timing)
        except (NotJSON, OSError):
            continue  # the tables say what is wrong with it; here it is one measurement less
        if timing.model != model or timing.status == ERRORED:
            continue
        one = found.setdefault(path.parent.parent.name, Measured())
        if timing.total_tokens:
            one.tokens.append(timing.total_tokens)
        if timing.cost_usd is not None:
            one.usd.append(timing.cost_usd)
        if timing.model_calls:
            one.calls.append(timing.model_calls)
    return found
