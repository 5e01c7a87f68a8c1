"""The shell's `improve`: the app that its commands register themselves with."""

from __future__ import annotations

import typer

from ..shell import app

improve = typer.Typer(
    no_args_is_help=True,
    help="From results to better evals: aggregate, draft, try, apply, history.",
)
app.add_typer(improve, name="improve")


def may_spend(model: str | None, budget_usd: float | None, yes: bool) -> None:
    """Go on where asking a model costs nothing, a ceiling is given, or the user says so."""
    from skill_eval_nb.models.standin.stand_in import MODELS

    if model is None or model in MODELS or budget_usd is not None or yes:
        return
    if not typer.confirm(f"Asking {model} costs money and has no --budget-usd. Go on?"):
        raise typer.Exit(2)
