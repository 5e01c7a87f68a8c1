"""The widgets' face: a function each, also once the package of its name is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skill_eval_nb import widgets
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
