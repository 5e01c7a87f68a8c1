"""Where a Chromium is, and how to get one: `python -m tests.chromium`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import apt

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIGHT = "chromium-headless-shell"
"""Chromium without windows: it draws the same, and a page costs a fifth. It shows no PDF."""

ARGUMENTS = (
    "--no-sandbox",  # root, in a container, has none
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",  # containers give /dev/shm little room
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

MISSING = (
    "no Chromium was found: install chromium or google-chrome, or run "
    "`.venv/bin/playwright install chromium`"
)


def find() -> Path | None:
    """The Chromium of this machine, or Playwright's own; None where there is none.

    A browser that is there but does not start, as the one that only tells to install
    something else, counts as none.
    """
    on_path = [Path(path) for name in NAMES if (path := shutil.which(name))]
    return next((path for path in on_path if _starts(path)), None) or _of_playwright()


def light() -> Path | None:
    """The Chromium without windows, where this machine has it; else that with them."""
    path = shutil.which(LIGHT)
    return Path(path) if path and _starts(Path(path)) else find()


def required() -> bool:
    """Whether the tests that need a browser may not be left out."""
    return os.environ.get("SKILL_EVAL_NB_REQUIRE_BROWSER") == "1"


def install() -> Path | None:
    """Find a Chromium, else install one: by apt where root may, else as Playwright does."""
    return find() or _by_apt() or _by_playwright()


def _starts(path: Path) -> bool:
    version = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=60)
    return version.returncode == 0


def _of_playwright() -> Path | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    return path if path.exists() and _starts(path) else None


def _by_apt() -> Path | None:
    apt.install("chromium", LIGHT)
    return find()


def _by_playwright() -> Path | None:
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    return find()


def main() -> None:
    """Install a Chromium where there is none, and say how that went."""
    found = install()
    if found:
        print(f"Browser tests use {found}.")
    elif required():
        sys.exit(f"The browser tests may not be left out, but {MISSING}.")
    else:
        print(f"The browser tests are left out: {MISSING}.")


if __name__ == "__main__":
    main()
