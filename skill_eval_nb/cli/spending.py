"""What the commands share that may cost money: options, the question before it, how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .shell import INTERRUPTED, tell

if TYPE_CHECKING:
    from skill_eval_nb.running.asking import AskingProgress

BudgetOption = Annotated[
    float | None,
    typer.Option("--budget-usd", help="Stop before more than this is spent, in US dollars."),
]
PricesOption = Annotated[Path | None, typer.Option(help="A table of prices of your own.")]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Spend money without a budget, and without asking.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be done and its price; do nothing.")
]
ExecutorOption = Annotated[
    str, typer.Option(help="offline, messages-api, claude-code, or one you installed.")
]


def ask_first(
    budget_usd: float | None, yes: bool, worst_usd: float | None = None, *, keyed: bool = True
) -> None:
    """Go on where nothing can be spent, a ceiling is given, or the user says so.

    Args:
        budget_usd: the ceiling.
        yes: whether the user said so beforehand.
        worst_usd: what it may cost at most; None where that is not known.
        keyed: whether it takes the key of the API.

    Raises:
        Refused: money may be spent, and there is no key to spend it with.
    """
    from skill_eval_nb.models import Connection
    from skill_eval_nb.running.refused import refuse

    if worst_usd == 0:
        return
    if keyed and (why := Connection().why_not()):
        raise refuse(why)
    if budget_usd is not None or yes:
        return
    most = "" if worst_usd is None else f", ${worst_usd:.2f} at most,"
    try:
        agreed = typer.confirm(f"This costs money{most} and has no --budget-usd. Go on?")
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
        raise
    if not agreed:
        raise typer.Exit(2)


def tell_spent(progress: AskingProgress) -> None:
    """Say on a terminal how far asking is, and what it has cost."""
    from skill_eval_nb.text import dollars

    line = f"{progress.done} of {progress.total}, {dollars(progress.spent_usd)}"
    tell(f"{line}: {progress.what}")
