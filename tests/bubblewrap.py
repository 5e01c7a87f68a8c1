"""Whether a sandbox works here, and how to get one: `python -m tests.bubblewrap`."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from skill_eval_nb.grading.sandbox import available
from tests import apt

needed = pytest.mark.skipif(
    available() is not None, reason=f"left out, since no sandbox works here: {available()}"
)
"""Marks the tests that run something in a sandbox."""


def required() -> bool:
    """Whether the tests that need a sandbox may not be left out."""
    return os.environ.get("SKILL_EVAL_NB_REQUIRE_SANDBOX") == "1"


def install() -> None:
    """Install bubblewrap by apt where it is missing and root may."""
    if not shutil.which("bwrap"):
        apt.install("bubblewrap")


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
