"""A measurement that is killed at random instants goes on, and pays for nothing twice."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import bubblewrap
from tests.checkout import ROOT


@pytest.mark.slow
@bubblewrap.needed
def test_killed_again_and_again_it_makes_only_what_is_missing(tmp_path):
    # In a process of its own: it forks, which other tests' threads would not survive.
    command = [sys.executable, "-m", "tests.triggers.killing", str(tmp_path), "2"]
    done = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("for 16 attempts\n")
