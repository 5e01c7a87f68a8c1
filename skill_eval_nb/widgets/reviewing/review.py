"""`review`: look at runs, alone or side by side, and say what is to be said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .items import PAIRS, Pair
from .scope import Asked
from .widget import Review

if TYPE_CHECKING:
    import os

    from skill_eval_nb.tables import Workspace


def review(
    ws: Workspace | str | os.PathLike[str],
    pair: Pair = "with and without",
    *,
    blind: bool = False,
    iteration: str | int | None = None,
    workspace: str = "",
    configuration: str = "",
    against: str = "",
    seed: int = 0,
) -> Review:
    """Review runs: look at them, alone or side by side, and say what is to be said of them.

    What is said is written as one types, to the `feedback.json` of the iteration; `.feedback`
    of the widget gives it as a table.

    Args:
        ws: a `Workspace`, or the path of one.
        pair: what is put side by side: `with and without` the skill, two `iterations`, or
            nothing (`single`).
        blind: whether it is hidden which side is which, until both sides of all pairs are scored.
        iteration: the iteration, by its name or number; the last one where none is given.
        workspace: which one, where several are loaded; the first where none is given.
        configuration: the one that is reviewed; the one with the skill where none is given.
        against: what stands beside it: a configuration, or with `iterations` an iteration.
        seed: in a blind review the order of the sides depends on it, and on the pair.

    Returns:
        the widget.

    Raises:
        LookupError: there is no such iteration, configuration or workspace.
        TypeError: `ws` is neither a workspace nor a path.
        ValueError: there is no such `pair`.
    """
    if pair not in PAIRS:
        raise ValueError(f"There is no pair `{pair}`; there are {', '.join(PAIRS)}.")
    name = f"iteration-{iteration}" if isinstance(iteration, int) else iteration or ""
    asked = Asked(pair, workspace, name, configuration, against)
    return Review(ws, asked, blind=blind, seed=seed)
