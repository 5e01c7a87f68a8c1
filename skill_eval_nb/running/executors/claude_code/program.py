"""Where the harness is, and why it cannot run where it is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

INSTALL = (
    "The executor `claude-code` needs the package claude-agent-sdk, which brings the harness "
    "with it. Install it with `pip install 'skill-eval-nb[claude-code]'`, and restart the kernel."
)


def program(given: str | None = None) -> Path | None:
    """The harness: the one that is given, else the SDK's own, else the one on the PATH.

    None where there is none.
    """
    if given is not None:
        found = shutil.which(given)
        return Path(os.path.realpath(found)) if found is not None else None
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "_bundled" / "claude"
        if bundled.is_file():
            return bundled
    return program("claude") if shutil.which("claude") is not None else None


def why_not(given: str | None, sandbox: str) -> str | None:
    """Why the harness cannot be started here, in words for the user; None where it can."""
    if os.name != "posix":
        return "The executor `claude-code` runs on Linux and macOS only."
    if importlib.util.find_spec("claude_agent_sdk") is None:
        return INSTALL
    found = program(given)
    if found is None:
        what = f"at `{given}`" if given is not None else "in claude-agent-sdk or on the PATH"
        return f"No harness was found {what}: the command `claude` of Claude Code is needed."
    if sandbox == "none":
        return None
    if sandbox != "bubblewrap":
        return f'There is no sandbox "{sandbox}": there are "bubblewrap" and "none".'
    with found.open("rb") as file:
        script = file.read(2) == b"#!"
    if script:
        return (
            f"The harness at {found} is a script, and what it needs is not in the sandbox. Use "
            "the one that claude-agent-sdk brings, or the native installation of Claude Code."
        )
    from skill_eval_nb.grading.sandbox import available

    return available()
