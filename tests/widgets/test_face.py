"""The widgets' face: a function each, also once the package of its name is loaded."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from anywidget import AnyWidget

from skill_eval_nb import widgets
from skill_eval_nb.widgets.ui import REDRAWS, Panel
from tests.checkout import ROOT


def test_loading_the_package_behind_a_function_leaves_the_function() -> None:
    look = (
        "import skill_eval_nb.widgets.explore, skill_eval_nb.widgets.diff, skill_eval_nb as sen; "
        "from skill_eval_nb.widgets import diff, explore; "
        "print(*(getattr(sen, one.__name__) is one is getattr(sen.widgets, one.__name__) "
        "for one in (explore, diff)), explore.__name__, diff.__name__)"
    )
    found = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.split() == ["True", "True", "explore", "diff"]


def test_any_other_name_is_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'draft'"):
        _ = widgets.draft


def test_no_action_is_called_like_a_method_of_every_widget() -> None:
    """Else it takes the place of what Jupyter calls, as `open` or `close`."""
    for name in (
        *(name for name in widgets.__all__ if "_" not in name),
        "library",
        "run",
        "trigger",
    ):
        import_module(f"skill_eval_nb.widgets.{name}")
    kinds, actions = [Panel], set()
    for kind in kinds:
        kinds += kind.__subclasses__()
        actions |= {name for name, method in vars(kind).items() if hasattr(method, REDRAWS)}
    assert len(actions) > 50
    assert not [name for name in actions if hasattr(AnyWidget, name)]
