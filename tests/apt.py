"""Installing what tests need from the system, where that can be done."""

from __future__ import annotations

import os
import shutil
import subprocess


def install(package: str) -> None:
    """Install a package by apt, where there is one and root may; else nothing happens."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    apt = ["apt-get", "--quiet=2", "--option=Dpkg::Use-Pty=0"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", package]):
        subprocess.run([*apt, *command], env=environment, stdin=subprocess.DEVNULL, check=False)
