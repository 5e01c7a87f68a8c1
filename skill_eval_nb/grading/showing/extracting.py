"""The text of PDF and office files, through a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

KINDS = frozenset(("pdf", "xlsx", "docx", "pptx"))
MOST_BYTES = 50_000_000
MOST_CHARS = 2_000_000
SECONDS = 60
_PROGRAM = Path(__file__).with_name("extractor.py")


class NotExtracted(Exception):
    """There is no text to be had; the message says why, for whoever reads the judging."""


def extract(path: str, kind: str, size: int) -> tuple[str, bool]:
    """The text of a file, and whether it has more text than was taken.

    Raises:
        NotExtracted: it is damaged, too large, without text, or no library reads it here.
    """
    if size > MOST_BYTES:
        raise NotExtracted(f"a {kind} file of {size:,} bytes; up to {MOST_BYTES:,} are read")
    command = [sys.executable, "-I", "-B", str(_PROGRAM), kind, path, str(MOST_CHARS)]
    try:
        done = subprocess.run(  # noqa: S603 -- our own program, and no shell
            command, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise NotExtracted(f"a {kind} file that took more than {SECONDS} s to read") from None
    try:
        told = json.loads(done.stdout)
    except ValueError:
        raise NotExtracted(f"a {kind} file that its reader broke on") from None
    if "missing" in told:
        raise NotExtracted(
            f"a {kind} file; to show its text, `pip install 'skill-eval-nb[office]'` "
            f"(no module {told['missing']})"
        )
    if "error" in told:
        raise NotExtracted(f"a {kind} file that cannot be read ({told['error']})")
    text = str(told["text"])
    if not text.strip():
        raise NotExtracted(f"a {kind} file with no text in it")
    return text, bool(told["more"])
