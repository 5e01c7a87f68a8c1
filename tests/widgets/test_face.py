"""The widgets' face: a function each, and nothing heavy before one of them is used."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import skill_eval_nb as sen
from skill_eval_nb import widgets
from tests.checkout import ROOT

HEAVY = ("anywidget", "ipywidgets", "IPython", "polars", "pandas", "altair", "markdown_it")


def test_importing_it_imports_nothing_heavy() -> None:
    look = f"import sys, skill_eval_nb.widgets; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("name", widgets.__all__)
def test_every_name_is_a_function_that_says_what_it_is_for(name) -> None:
    function = getattr(sen, name)
    assert function is getattr(widgets, name)
    assert inspect.isfunction(function)
    assert (function.__doc__ or "").strip()
    assert name in dir(widgets)


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
