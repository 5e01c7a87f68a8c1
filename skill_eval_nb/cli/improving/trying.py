"""The command `improve try`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..making import ScriptsOption
from ..shell import PathArgument, loaded, show, tell, told
from ..spending import BudgetOption, PricesOption
from .app import improve

if TYPE_CHECKING:
    from skill_eval_nb.running.asking import AskingProgress


@improve.command(name="try")
@told
def try_(
    drafts: Annotated[Path, typer.Argument(help="A file of drafts, as `improve draft` writes it.")],
    path: PathArgument,
    keys: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="KEY", help="Only this draft; may be given again."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The configuration to compare against.")
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Who judges a dimension; else the one that did before.")
    ] = None,
    budget_usd: BudgetOption = None,
    prices: PricesOption = None,
    allow_scripts: ScriptsOption = False,
    near: Annotated[
        int, typer.Option(help="Lines within which except_context exempts a match.")
    ] = 2,
) -> None:
    """Try drafts on the stored outputs, before anything is paid for.

    Nothing of the suite or of the runs changes. A drafted rubric dimension is judged only with
    --budget-usd, which is for all drafts together; without it the price is told.
    """
    import skill_eval_nb as sen
    from skill_eval_nb.running.refused import no_such, refuse

    every = {draft.key: draft for draft in sen.improving.read_drafts(drafts)}
    for key in keys or ():
        if key not in every:
            raise refuse(no_such("draft", key, every))
    ws, left = loaded(path), budget_usd
    known = sen.models.load_prices(prices)
    for key in keys or every:
        tried = sen.improving.try_out(
            every[key],
            ws,
            baseline=baseline,
            allow_scripts=allow_scripts,
            near=near,
            judge_model=judge_model,
            prices=known,
            budget_usd=left,
            progress=_tell,
        )
        show(tried)
        if left is not None:
            left = max(0.0, left - (tried.cost_usd or 0.0))


def _tell(progress: AskingProgress) -> None:
    """Print how far it is."""
    tell(f"{progress.done} of {progress.total}: {progress.what}")
