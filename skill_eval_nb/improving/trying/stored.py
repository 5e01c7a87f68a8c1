"""The stored runs that a draft is tried on, and which of them cannot be looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skill_eval_nb.disk import leads_out
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.stats.values import GROUP, RUN, runs_of

from ..values import Draft
from .checking import RUN_ERRORED

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

KEPT = [
    *("status", "gate_passed", "pass_rate", "structural_pass_rate"),
    *("rubric_weighted_mean", "judge_model", "executor_model"),
]


def runs_for(draft: Draft, ws: Workspace) -> pl.DataFrame:
    """The runs of a draft's evals: RUN, KEPT, `folder`, `reason`.

    `reason` says why the outputs of a run cannot be looked at; it is null where they can.
    Two evals of different workspaces may have the same id: then the draft's own runs say
    which workspace is meant.

    Raises:
        Refused: nothing says which of several workspaces is meant.
    """
    import polars as pl

    runs = runs_of(ws)
    alone = pl.len().over("path") == 1
    runs = runs.with_columns((~alone).alias("shared"))
    runs = runs.filter(pl.col("eval_id").is_in(list(draft.evals)))
    meant = {(one.workspace, one.skill) for one in draft.runs}
    there = set(runs.select("workspace", "skill").rows())
    if len(there) > 1:
        if not meant & there:
            names = ", ".join(sorted({workspace for workspace, _ in there}))
            raise refuse(
                f"draft {draft.key} names evals {', '.join(draft.evals)}, and several workspaces "
                f"have them: {names}; select one, as ws.select(workspace=…) does"
            )
        keys = [list(column) for column in zip(*sorted(meant & there), strict=True)]
        wanted = pl.DataFrame({"workspace": keys[0], "skill": keys[1]})
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


def elsewhere(draft: Draft, runs: pl.DataFrame) -> pl.DataFrame:
    """The runs of the evals that the draft was not found on."""
    import polars as pl

    return runs.filter(~pl.col("eval_id").is_in(list(draft.found_on)))


def groups(runs: pl.DataFrame) -> list[tuple[str, ...]]:
    """The workspace × skill × iteration that runs are of.

    >>> import polars as pl
    >>> groups(pl.DataFrame({"workspace": ["w"], "skill": ["s"], "iteration": ["i"]}))
    [('w', 's', 'i')]
    """
    return runs.select(GROUP).unique(maintain_order=True).rows()
