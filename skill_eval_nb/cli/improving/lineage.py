"""The command `improve history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..shell import PathArgument, busy, loaded, out, show, told
from .app import improve


@improve.command()
@told
def history(
    path: PathArgument,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="Write history.json: the file, or the folder it is to lie in."),
    ] = None,
    parent: Annotated[
        list[str] | None,
        typer.Option(
            "--parent",
            metavar="VERSION=PARENT",
            help="What a version was made from, where the files do not say; repeatable.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a history.json of others; it is kept as .bak."),
    ] = False,
) -> None:
    """Which version of the skill won: what each was made from, what changed, and by how much.

    A win that the statistics do not bear out is a tie, and says so.
    """
    from skill_eval_nb.improving.lineage import history

    ws = loaded(path)
    with busy("comparing the versions"):
        found = history(ws, parents=dict(map(_pair, parent or ())))
    show(found)
    if out_file is not None:
        out.print(Text(f"wrote {found.write(out_file, force=force)}"))


def _pair(given: str) -> tuple[str, str]:
    version, equals, parent = given.partition("=")
    if not equals:
        raise typer.BadParameter(
            f"`{given}` is not of the form VERSION=PARENT", param_hint="--parent"
        )
    return version, parent
