"""`try_out`: a draft on what is stored, before anything is paid for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.asking import AskingProgress

from ..values import Draft
from .asked import Asked
from .stored import runs_for
from .tried import Tried

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


def try_out(
    draft: Draft,
    ws: Workspace,
    *,
    baseline: str | None = None,
    level: float = 0.95,
    allow_scripts: bool = False,
    near: int = 2,
    judge_model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    progress: Callable[[AskingProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> Tried:
    """Try a draft on the stored runs of its evals; nothing of the suite or of the runs changes.

    Drafted checks are made on all stored outputs at once. A drafted rubric dimension is judged
    on them: without `budget_usd` that is only priced, unless the judge costs nothing. Each
    judging is kept below the workspace, in `.skill-eval-nb/tries`, as soon as there is one,
    and read from there the next time: nothing is paid for twice. Where something goes or only
    its weight changes, the stored figures say what would become of them.

    p-values are of one draft: of twenty drafts that tell nothing, one comes below .05.

    Args:
        draft: what `draft` or a person drafted.
        ws: the workspace; `ws.select(iteration=…)` for a part of it.
        baseline: the configuration to compare against; chosen by name where not given.
        level: 1 - alpha.
        allow_scripts: whether a drafted `custom_script` may run, in the sandbox.
        near: within how many lines of a match a text of `except_context` exempts it.
        judge_model: who judges a dimension; else the one that judged these runs.
        connection: how it is reached; where it is not given, the stand-in answers in process
            for its own models, and any other model from outside.
        prices: what calls cost; the bundled table where it is not given.
        budget_usd: the most that may be spent, in US dollars; what does not fit is not judged.
        progress: called while it goes on.
        stop: once it is set, judgings in flight are cancelled; those that were kept stay.

    Raises:
        Stopped: `stop` was set before the end of judging.
        Refused: a figure makes no sense; there is no such baseline; nothing says which of
            several workspaces is meant; there is a budget and no known price.
        OSError: a judging cannot be written; what was written stays.
        ModelFault: no API key was found; nothing was sent.
    """
    asked = Asked(
        draft,
        ws,
        baseline,
        level,
        allow_scripts,
        near,
        judge_model,
        connection,
        prices,
        budget_usd,
        progress,
        stop,
    )
    if draft.missing:
        lacking = ", ".join(draft.missing)
        return asked.tried("not tried", f"It cannot be tried yet; still to be written: {lacking}.")
    if draft.part == "evals":
        return asked.tried(
            "not tried", "An eval has no stored outputs: it has to be run before it tells anything."
        )
    runs = runs_for(draft, ws)
    if runs.is_empty():
        evals = ", ".join(draft.evals) or "no eval"
        return asked.tried("not tried", f"There is no stored run of {evals}.")
    if draft.part == "structural_expectations":
        from .by_checks import try_checks

        return try_checks(asked, runs)
    if draft.part == "dimensions":
        from .by_judging import try_dimensions

        return try_dimensions(asked, runs)
    from .by_verdicts import try_verdicts

    return try_verdicts(asked, runs)
