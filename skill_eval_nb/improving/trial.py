"""`try_out`: a draft on the stored runs, before anything is paid for."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from skill_eval_nb.disk import leads_out
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.asking import Terms
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.stats.values import RUN, runs_of

from .questions import Progress
from .tried import RUN_ERRORED, Request, Tried
from .values import Draft

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

KEPT = [
    *("status", "gate_passed", "pass_rate", "structural_pass_rate"),
    *("rubric_weighted_mean", "judge_model", "executor_model"),
]


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
    progress: Progress | None = None,
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
    terms = Terms(connection, prices, budget_usd, progress=progress, stop=stop)
    request = Request(draft, ws, baseline, level, allow_scripts, near, judge_model, terms)
    if draft.missing:
        lacking = ", ".join(draft.missing)
        answer = f"It cannot be tried yet; still to be written: {lacking}."
        return request.result("not tried", answer)
    if draft.part == "evals":
        return request.result(
            "not tried", "An eval has no stored outputs: it has to be run before it tells anything."
        )
    runs = runs_for(draft, ws)
    if runs.is_empty():
        evals = ", ".join(draft.evals) or "no eval"
        return request.result("not tried", f"There is no stored run of {evals}.")
    if draft.part == "structural_expectations":
        from .try_checks import try_checks

        return try_checks(request, runs)
    if draft.part == "dimensions":
        from .try_judging import try_dimensions

        return try_dimensions(request, runs)
    from .try_checks import try_verdicts

    return try_verdicts(request, runs)


def runs_for(draft: Draft, ws: Workspace) -> pl.DataFrame:
    """The runs of a draft's evals: RUN, KEPT, `folder`, `reason`.

    `reason` says why the outputs of a run cannot be looked at; it is null where they can.
    Two evals of different workspaces may have the same id: then the draft's own runs say
    which workspace is meant.

    Raises:
        Refused: nothing says which of several workspaces is meant.
    """
    import polars as pl

    runs = runs_of(ws).with_columns((pl.len().over("path") > 1).alias("shared"))
    runs = runs.filter(pl.col("eval_id").is_in(list(draft.evals)))
    meant = {(run.workspace, run.skill) for run in draft.runs}
    there = set(runs.select("workspace", "skill").rows())
    if len(there) > 1:
        if not meant & there:
            names = ", ".join(sorted({workspace for workspace, _ in there}))
            raise refuse(
                f"draft {draft.key} names evals {', '.join(draft.evals)}, and several workspaces "
                f"have them: {names}; select one, as ws.select(workspace=…) does"
            )
        wanted = pl.DataFrame(sorted(meant & there), ["workspace", "skill"], orient="row")
        runs = runs.join(wanted, on=["workspace", "skill"], how="semi", maintain_order="left")
    folders = [folder_of(ws.path, path) for path in runs["path"]]
    reasons = [
        _reason(status, folder, shared, ws.path)
        for status, folder, shared in zip(runs["status"], folders, runs["shared"], strict=True)
    ]
    return runs.select(
        *RUN,
        *KEPT,
        pl.Series("folder", folders, pl.String),
        pl.Series("reason", reasons, pl.String),
    )


def folder_of(base: str, path: str) -> str:
    """The folder of a run, whose path is told below what was loaded.

    >>> folder_of("data/ws", "iteration-1/eval-1"), folder_of("data/ws/run-1", "data/ws/run-1")
    ('data/ws/iteration-1/eval-1', 'data/ws/run-1')
    """
    return path if path == base or path.startswith("/") else f"{base or '.'}/{path}"


def _reason(status: str, folder: str, shared: bool, base: str) -> str | None:
    """Why a run's outputs cannot be looked at; errored runs have no verdict at all."""
    if status == "errored":
        return RUN_ERRORED
    if shared:
        return "several runs share its folder, so nobody can say whose the outputs are"
    outputs = f"{folder}/outputs"
    if os.path.isdir(outputs):  # noqa: PTH112 one system call a run
        fault = leads_out(outputs, base)
        return None if fault is None else f"its outputs are not looked at: {fault}"
    if os.path.isdir(folder):  # noqa: PTH112
        return "it has no stored outputs"
    return f"its folder is not there: {folder}"
