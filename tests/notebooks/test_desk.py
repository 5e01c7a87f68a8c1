"""What the notebook tests lean on: a desk has no network, and `faults` sees what goes wrong."""

from tests.notebooks.desk import execute, faults
from tests.notebooks.pages import write


def test_a_kernel_is_refused_the_network_and_told_on(desk):
    write(desk, "asks.ipynb", "import socket; socket.create_connection(('192.0.2.1', 80))")
    (fault,) = faults(execute(desk, "asks.ipynb"))
    assert "OSError: there is no network here" in fault
    assert desk.refused() == ["192.0.2.1:80"]
    assert desk.refused() == []


def test_a_program_that_a_cell_starts_has_no_network_either(desk):
    ask = "import urllib.request as u; u.urlopen('http://example.org')"
    cell = f"import subprocess, sys; subprocess.call([sys.executable, '-c', {ask!r}])"
    write(desk, "starts.ipynb", cell)
    execute(desk, "starts.ipynb")
    assert desk.refused() == ["127.0.0.1:9"]  # the proxy, where all that would leave is sent


def test_faults_sees_an_error_a_warning_and_a_cell_that_was_not_run(desk):
    write(desk, "faulty.ipynb", "import warnings; warnings.warn('look out')", "1 / 0", "2")
    saved = execute(desk, "faulty.ipynb")
    saved.cells[2].execution_count = None
    warning, error, not_run = faults(saved)
    assert "cell 0, stderr" in warning
    assert "look out" in warning
    assert error == "cell 1: ZeroDivisionError: division by zero"
    assert not_run == "cell 2 was not run"


def test_a_sound_notebook_has_no_faults(desk):
    write(desk, "sound.ipynb", "1 + 1", "print('fine')")
    assert faults(execute(desk, "sound.ipynb")) == []
    assert desk.refused() == []
