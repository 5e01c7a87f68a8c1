"""`sen.show`: a table, files, or one run as a whole: its figures, transcript and outputs."""

from __future__ import annotations

from typing import Any

from skill_eval_nb.view import show_table

__all__ = ["show"]


def show(
    what: Any,
    rows: int | str | tuple[Any, ...] | None = 20,
    *,
    empty: str = "Nothing to show.",
) -> Any:
    """Show a table with its full texts, files as links, or one run with all that it has.

    In a table a null is a dash, a flag is yes or no, a number has four digits, and a list of
    texts is joined by `; `. Below the rows it says how many there are in all.

    A run is shown as `explore` shows it: prompt, figures, checks with their evidence, rubric,
    transcript and outputs. `explore` has the line for each of its runs, to copy.

    Args:
        what: a table in polars or pandas; a path or a sequence, whose paths become links that a
            notebook in the working folder can open; or, with a run, a workspace or its path.
        rows: how many rows to show, None for all; or the run: its `path` in `ws.runs`, or the
            workspace, skill, iteration, eval id, configuration and run number that it has there.
        empty: what to say if there are no rows.

    Raises:
        TypeError: if it is neither a table nor a sequence.
        ValueError: if there is no such run; the message suggests the nearest one.

    >>> show((), empty="Every query is sound.")
    Every query is sound.
    """
    if not isinstance(rows, str | tuple):
        return show_table(what, rows, empty)
    from .run import RunView

    return RunView(what, rows)
