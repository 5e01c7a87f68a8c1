"""Every notebook runs from top to bottom in JupyterLab, in a browser, with no network."""

import pytest

from tests.checkout import ROOT
from tests.notebooks.desk import NOTEBOOKS, faults

NAMES = [path.name for path in NOTEBOOKS if not path.name.startswith("00_")]
"""The tour in one page has a test of its own, which does in it what a reader does."""


@pytest.mark.parametrize("name", NAMES)
def test_runs_in_jupyterlab(name, opened, desk):
    with opened(f"notebooks/{name}") as notebook:
        saved = notebook.run()
        notebook.screenshot(ROOT / "build" / "screenshots" / name.replace(".ipynb", ".png"))
    assert faults(saved) == []
    assert notebook.console_errors == []
    assert notebook.outside_requests == []
    assert desk.refused() == []
