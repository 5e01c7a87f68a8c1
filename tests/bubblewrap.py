"""Whether a sandbox works here, and how to get one: `python -m tests.bubblewrap`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from skill_eval_nb.grading.sandbox import available

needed = pytest.mark.skipif(
    available() is not None, reason=f"left out, since no sandbox works here: {available()}"
)
"""Marks the tests that run something in a sandbox."""


def required() -> bool:
    """Whether the tests that need a sandbox may not be left out."""
    return os.environ.get("SKILL_EVAL_NB_REQUIRE_SANDBOX") == "1"


def install() -> None:
    """Install bubblewrap by apt where it is missing and root may."""
    if shutil.which("bwrap") or shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    apt = ["apt-get", "--quiet=2", "--option=Dpkg::Use-Pty=0"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", "bubblewrap"]):
        subprocess.run([*apt, *command], env=environment, stdin=subprocess.DEVNULL, check=False)


def main() -> None:
    """Install bubblewrap where it is missing, and say how that went."""
    install()
    available.cache_clear()
    why = available()
    if why is None:
        print(f"Sandbox tests use {shutil.which('bwrap')}.")
    elif required():
        sys.exit(f"The sandbox tests may not be left out, but: {why}")
    else:
        print(f"The sandbox tests are left out: {why}")


if __name__ == "__main__":
    main()
