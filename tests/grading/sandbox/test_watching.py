"""What is seen of a running command."""

import os
import signal
import subprocess
import sys

import pytest

from skill_eval_nb.grading.sandbox import Box, BoxLimits
from skill_eval_nb.grading.sandbox.limits import Watch, descendants
from tests.grading.sandbox.made import MIB, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="left out: /proc is Linux's")


@pytest.fixture
def family():
    """A shell with three children, one of them a grandchild."""
    command = ["sh", "-c", "(sleep 30 & wait) & sleep 30 & wait"]
    with subprocess.Popen(command, start_new_session=True) as popen:
        assert until(lambda: len(list(descendants(popen.pid))) == 4)
        yield popen.pid
        os.killpg(popen.pid, signal.SIGKILL)


def test_memory_that_is_shared_counts_once(family, tmp_path):
    """Four shells and sleeps hold the same libraries: some 5 MB together, not 4 × 3."""
    assert Watch(Box(tmp_path, limits=BoxLimits(memory_bytes=64 * MIB))).passed(family) is None
    passed = Watch(Box(tmp_path, limits=BoxLimits(memory_bytes=4096))).passed(family)
    assert passed is not None
    assert passed[0] == "killed"


def test_the_temporary_folder_counts_too(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "tmp").mkdir()
    box = Box(tmp_path / "work", temporary=tmp_path / "tmp", limits=BoxLimits(disk_bytes=MIB))
    watch = Watch(box)
    (tmp_path / "tmp" / "new").write_bytes(os.urandom(2 * MIB))
    passed = watch.passed(None)
    assert passed is not None
    assert passed[0] == "disk"
