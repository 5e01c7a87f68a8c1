"""Run untrusted commands: with one folder, no network, no keys, and limits.

A `Box` says what a command may see and use; `run_in_box` runs a command in it and says how it
ended. The commands come from an agent, or from a `custom_script` check: whatever they try, nothing
outside their folder is read or changed, and none of their processes stays behind.
"""

from .box import (
    Box,
    BoxKind,
    BoxLimits,
    Ran,
    left_words,
    lent,
    python,
    used,
    wrap_command,
)
from .process import SandboxMissing, arun, available, run_in_box, why_not

__all__ = [
    "Box",
    "BoxKind",
    "BoxLimits",
    "Ran",
    "SandboxMissing",
    "arun",
    "available",
    "left_words",
    "lent",
    "python",
    "run_in_box",
    "used",
    "why_not",
    "wrap_command",
]
