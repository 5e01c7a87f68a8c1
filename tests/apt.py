"""Installing what tests need from the system, where that can be done."""

from __future__ import annotations

import os
import shutil
import subprocess


def install(*packages: str) -> None:
    """Install packages by apt, where there is one and root may; else nothing happens.

    Each by itself: one that this system does not know keeps no other away.
    """
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    apt = ["apt-get", "--quiet=2", "--option=Dpkg::Use-Pty=0"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    installs = (["install", "--yes", "--no-install-recommends", one] for one in packages)
    for command in (["update"], *installs):
        subprocess.run([*apt, *command], env=environment, stdin=subprocess.DEVNULL, check=False)
