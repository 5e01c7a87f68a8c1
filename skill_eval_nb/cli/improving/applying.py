"""The command `improve apply`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..shell import err, out, told
from .app import improve

if TYPE_CHECKING:
    from skill_eval_nb.improving import Change, Draft

COLOURS = {"+": "green", "-": "red", "@": "dim"}
"""Of the lines of a diff, by their first character."""


@improve.command()
@told
def apply(
    drafts: Annotated[Path, typer.Argument(help="The accepted drafts: a drafts.json.")],
    evals: Annotated[
        Path, typer.Argument(help="The evals.json, or the skill's or workspace's folder with it.")
    ],
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--key", metavar="KEY", help="Only the draft of this key; may be given again."
        ),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(help="The workspace that the drafts are from; else the one beside EVALS."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
) -> None:
    """Write drafts into evals.json; the diff is shown first.

    The old file is kept, and the next iteration's folder is prepared. Without a yes nothing is
    written. Exit code 1 where a draft was refused or the evals would have new faults.
    """
    from skill_eval_nb.improving import preview, read_drafts

    change = preview(_chosen(read_drafts(drafts), keys), evals, workspace=workspace)
    _show(change)
    if change.after != change.before and not change.errors:
        if yes or (_at_a_terminal() and typer.confirm("Write this?")):
            for line in change.write().results:
                out.print(Text(line))
        else:
            out.print("Nothing was written; --yes writes it.")
    raise typer.Exit(1 if change.refused or change.errors else 0)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _chosen(drafts: Sequence[Draft], keys: list[str] | None) -> list[Draft]:
    """The drafts of the given keys, all where none is given.

    Raises:
        Refused: there is no such draft.
    """
    from skill_eval_nb.running.refused import Refused, no_such

    known = {draft.key: draft for draft in drafts}
    if missing := [key for key in keys or () if key not in known]:
        raise Refused(no_such("draft", key, known) for key in missing)
    return [draft for draft in drafts if not keys or draft.key in keys]


def _show(change: Change) -> None:
    for line in change.diff.splitlines():
        out.print(Text(line, style=COLOURS.get(line[:1], "")))
    out.print(Text(change.headline))
    for line in change.notes:
        err.print(Text(line, style="yellow"))
