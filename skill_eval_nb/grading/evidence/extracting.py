"""The text of PDF and office files, through a process of its own in a sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from skill_eval_nb.grading import sandbox
from skill_eval_nb.grading.sandbox import Ran

KINDS = frozenset(("pdf", "xlsx", "docx", "pptx"))
MOST_BYTES = 50_000_000
MOST_CHARS = 2_000_000
SECONDS = 60
MEMORY = 2**30
_PROGRAM = Path(__file__).with_name("extractor.py")


class NotExtracted(Exception):
    """There is no text to be had; the message says why, for whoever reads the judging."""


def extract(path: str, kind: str, size: int, seconds: float = SECONDS) -> tuple[str, bool]:
    """The text of a file, and whether it has more text than was taken.

    Args:
        path: the file.
        kind: one of `KINDS`; or `grid` for the cells of a workbook, `png` for a picture.
        size: its bytes.
        seconds: that its reader may take, `SECONDS` at most.

    Raises:
        NotExtracted: it is damaged, too large, without text, or no library reads it here.
    """
    if size > MOST_BYTES:
        raise NotExtracted(f"a {kind} file of {size:,} bytes; up to {MOST_BYTES:,} are read")
    seconds = min(seconds, SECONDS)
    ran = _run(os.path.realpath(path), kind, seconds)
    if ran.ended == "time":
        raise NotExtracted(f"a {kind} file that took more than {seconds:.0f} s to read")
    try:
        answer = json.loads(ran.stdout)
    except ValueError:
        why = f" ({ran.message})" if ran.ended != "exit" else ""
        raise NotExtracted(f"a {kind} file that its reader broke on{why}") from None
    if "missing" in answer:
        raise NotExtracted(
            f"a {kind} file; to show its text, `pip install 'skill-eval-nb[office]'` "
            f"(no module {answer['missing']})"
        )
    if "error" in answer:
        raise NotExtracted(f"a {kind} file that cannot be read ({answer['error']})")
    text = str(answer["text"])
    if not text.strip():
        raise NotExtracted(f"a {kind} file with no text in it")
    return text, bool(answer["more"])


def _run(path: str, kind: str, seconds: float) -> Ran:
    """Run the program where it sees the file and the libraries, and nothing else.

    Without a sandbox it has its limits and no variables of ours, but the user's rights.
    """
    boxed = sandbox.available() is None
    libraries = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    libraries = [library for library in libraries if Path(library).is_dir()]
    shown = [("/extractor.py", _PROGRAM), (f"/file.{kind}", Path(path))]
    shown += [
        (library, Path(library))
        for library in libraries
        if not Path(library).is_relative_to("/usr")
    ]
    program, file = ("/extractor.py", f"/file.{kind}") if boxed else (str(_PROGRAM), path)
    kept_in: sandbox.BoxKind = "bubblewrap" if boxed else "none"
    python = [sandbox.python(kept_in), "-I", "-S", "-B", program]
    with tempfile.TemporaryDirectory() as folder:
        box = sandbox.Box(
            Path(folder),
            readable=tuple(shown),
            limits=sandbox.BoxLimits(
                seconds=seconds, memory_bytes=MEMORY, output_bytes=16 * MOST_CHARS
            ),
            kind=kept_in,
        )
        command = [*python, kind, file, str(MOST_CHARS), *libraries]
        return sandbox.run(box, command) if os.name == "posix" else _unlimited(command, seconds)


def _unlimited(command: list[str], seconds: float) -> Ran:
    """Run it where there are no limits to be set: on Windows."""
    own = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 -- our own program, and no shell
            command,
            capture_output=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            env=own,
        )
    except subprocess.TimeoutExpired:
        return Ran(1, b"", b"", cut=False, ended="time", message="")
    return Ran(done.returncode, done.stdout, done.stderr, cut=False, ended="exit", message="")
