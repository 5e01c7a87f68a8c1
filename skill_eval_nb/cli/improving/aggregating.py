"""The command `improve aggregate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..shell import PathArgument, busy, loaded, out, show, told
from ..spending import BudgetOption, YesOption, ask_first
from .app import improve, of_iterations


@improve.command()
@told
def aggregate(
    path: PathArgument,
    iteration: Annotated[
        str | None, typer.Option(help="Only this iteration, such as iteration-2.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Distance of wordings, 0 to 1, that counts as the same."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The file to write; else eval_feedback_aggregate.json in the iteration's folder, "
            "or in the workspace's where there are several.",
        ),
    ] = None,
    merge_model: Annotated[
        str | None, typer.Option(help="A model that may merge further what says the same.")
    ] = None,
    budget_usd: BudgetOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask no model and write nothing; say the price.")
    ] = False,
    yes: YesOption = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that something else made.")
    ] = False,
) -> None:
    """Collect what the graders suggest for the evals, the same thing once."""
    import skill_eval_nb as sen
    from skill_eval_nb.improving.aggregation import THRESHOLD, free, place_of
    from skill_eval_nb.models.stand_in.settings import MODELS

    ws = of_iterations(loaded(path), [] if iteration is None else [iteration])
    target = None if dry_run else free(file or place_of(ws), force=force)
    if not dry_run and merge_model not in (None, *MODELS):
        ask_first(budget_usd, yes)
    with busy("collecting what the graders suggest"):
        found = sen.improving.aggregate(
            ws,
            threshold=THRESHOLD if threshold is None else threshold,
            merge_model=merge_model,
            budget_usd=budget_usd,
            dry_run=dry_run,
        )
    show(found)
    if target is not None:
        out.print(Text(f"wrote {found.write(target, force=force)}"))
