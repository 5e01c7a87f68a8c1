"""Explorers for these tests: of the bundled workspace, and of made-up ones."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from skill_eval_nb import load
from skill_eval_nb.widgets.explore import Explore, explore
from tests.checkout import ROOT
from tests.widgets.trees import text

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

TDD = ROOT / "data" / "tdd-workspace"


@cache
def bundled() -> Workspace:
    """The bundled workspace, read once."""
    return load(TDD)


def explorer(ws: Any = None, **asked: Any) -> Explore:
    """An explorer with everything counted, of the bundled workspace where none is given."""
    panel = explore(bundled() if ws is None else ws, **asked)
    assert panel.settle()
    return panel


def after(panel: Explore, name: str, *values: Any) -> str:
    """What is to be read after an action, when everything is counted; it must not fail."""
    panel.do(name, *values)
    assert panel.settle()
    assert panel.fault is None
    shown = words(panel)
    assert "could not be shown" not in shown
    return shown


def words(panel: Explore) -> str:
    """What is to be read, with spaces that are spaces."""
    return text(panel._tree).replace("\xa0", " ")
