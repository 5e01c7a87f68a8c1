"""Drafts into a suite: looked at first, then written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..values import Draft
from .change import Change
from .checking import new_problems
from .habits import layout_of
from .opening import opened
from .placing import place
from .rewriting import rewritten

if TYPE_CHECKING:
    from skill_eval_nb.workspace import PathLike


def preview(
    drafts: Draft | Iterable[Draft], evals: PathLike, *, workspace: PathLike | None = None
) -> Change:
    """What drafts make of a suite; nothing is written.

    The file is changed as text: whatever the drafts do not speak of stays as it is, byte for
    byte, and what is new is written like what is beside it. A draft that has no place, or
    whose place an earlier one has, is refused, with the reason.

    A new item takes the place of another one with that one's id and the fields of it that we do
    not know. Of a check and a dimension, the fields that the new item does not say go; of an
    eval they stay.

    Args:
        drafts: the accepted ones.
        evals: the suite's file, or the folder of a skill or a workspace with one.
        workspace: the workspace whose tables the drafts speak of; where it is not given, the
            one that the suite lies in or beside.

    Returns:
        the change, which shows itself and can be written.

    Raises:
        Refused: there is no suite, or its file cannot be changed in place. It is a ValueError.
        OSError: it cannot be read.
    """
    suite = opened(evals, workspace)
    placed = place([drafts] if isinstance(drafts, Draft) else drafts, suite)
    after = suite.data
    if placed.edits:
        root = suite.text.root
        after = suite.text.encoded(rewritten(layout_of(suite.text.text, root), root, placed.edits))
    problems = new_problems(suite, after) if after != suite.data else ()
    return Change(suite, after, tuple(placed.ids), placed.refused, tuple(problems), placed.ids)


def apply(
    drafts: Draft | Iterable[Draft], evals: PathLike, *, workspace: PathLike | None = None
) -> Change:
    """Write drafts into a suite, keep the old file, and prepare the next iteration.

    Args:
        drafts: as `preview` takes them.
        evals: as `preview` takes it.
        workspace: as `preview` takes it.

    Returns:
        the change as it was written; `written` says where the old file is.

    Raises:
        Refused: there is no suite, its file cannot be changed in place, or it would have faults
            that it does not have now; nothing was written. It is a ValueError.
        OSError: it cannot be read or written.
    """
    return preview(drafts, evals, workspace=workspace).write()
