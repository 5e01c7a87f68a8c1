"""The command `improve draft`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..shell import PathArgument, busy, loaded, out, show, told
from .app import improve, of_iterations


@improve.command()
@told
def draft(
    path: PathArgument,
    to: Annotated[
        Path | None, typer.Option("--out", help="File to write the drafts to: drafts.json.")
    ] = None,
    iteration: Annotated[
        list[str] | None,
        typer.Option("--iteration", metavar="ITERATION", help="Only this iteration; repeatable."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Configuration to compare against; chosen by name else.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model that drafts beside the rules; none where not given.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", help="The most that the model may cost.")
    ] = None,
) -> None:
    """Draft changes of the evals from suggestions and figures; nothing but --out is written."""
    import skill_eval_nb as sen
    from skill_eval_nb.text import dollars

    ws = of_iterations(loaded(path), iteration or [])
    with busy("drafting"):
        drafts = sen.improving.draft(ws, baseline=baseline, model=model, budget_usd=budget_usd)
    show(drafts)
    if drafts.cost_usd:
        out.print(f"spent {dollars(drafts.cost_usd)}")
    if to is not None:
        out.print(Text(f"wrote {sen.improving.write_drafts(to, drafts)}"))
