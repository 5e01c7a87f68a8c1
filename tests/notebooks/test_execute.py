"""Every notebook runs from top to bottom with a kernel alone: no browser, no network.

Where there is a browser, `test_notebooks` does the same in JupyterLab, with the same kernel; here
the first one shows that a kernel is enough.
"""

import pytest

from tests import chromium
from tests.notebooks.desk import NOTEBOOKS, execute, faults


def test_there_is_a_tour():
    assert NOTEBOOKS, "notebooks/ holds no notebook"


@pytest.mark.parametrize(
    "name", [path.name for path in NOTEBOOKS][: 1 if chromium.find() else None]
)
def test_runs_from_top_to_bottom(name, desk):
    saved = execute(desk, f"notebooks/{name}")
    assert faults(saved) == []
    assert desk.refused() == []
