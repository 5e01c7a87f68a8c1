"""What the notebook tests lean on: a desk has no network, and `faults` sees what goes wrong."""

import pytest

from tests.notebooks.desk import execute, faults
from tests.notebooks.pages import write

ASK = "import urllib.request as u; u.urlopen('http://example.org')"
CELLS = (
    "1 + 1",
    "print('fine')",
    "import socket; socket.create_connection(('192.0.2.1', 80))",
    f"import subprocess, sys\nsubprocess.call([sys.executable, '-c', {ASK!r}]) and None",
    "import warnings; warnings.warn('look out')",
    "1 / 0",
    "2",
)


@pytest.fixture(scope="module")
def refused_and_faults(desk):
    """What a kernel was refused, the same asked again, and the faults of what was saved."""
    write(desk, "faulty.ipynb", *CELLS)
    saved = execute(desk, "faulty.ipynb")
    saved.cells[6].execution_count = None
    return desk.refused(), desk.refused(), faults(saved)


def test_a_kernel_and_what_its_cells_start_are_refused_the_network_and_told_on(refused_and_faults):
    told, again, _ = refused_and_faults
    # The second is the proxy, where all that would leave is sent.
    assert told == ["192.0.2.1:80", "127.0.0.1:9"]
    assert again == []


def test_faults_sees_errors_a_warning_and_a_cell_that_was_not_run(refused_and_faults):
    refused, started, warning, error, not_run = refused_and_faults[2]
    assert refused.startswith("cell 2: OSError: there is no network here")
    assert started.startswith("cell 3, stderr")
    assert "cell 4, stderr" in warning
    assert "look out" in warning
    assert error == "cell 5: ZeroDivisionError: division by zero"
    assert not_run == "cell 6 was not run"
