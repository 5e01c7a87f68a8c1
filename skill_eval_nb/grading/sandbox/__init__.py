"""Where commands of others run: one folder, no network, no keys, and limits.

A `Box` says what a command may see and use, `run_in_box` runs one in it and says how it ended.
The commands are those of an agent, or the scripts of a `custom_script` check: whatever they
try, nothing outside their folder is read or changed, and no process of theirs stays behind.
"""

from .box import (
    INSIDE,
    Box,
    BoxKind,
    BoxLimits,
    Ended,
    Ran,
    left_words,
    lent,
    python,
    used,
    wrap_command,
)
from .process import SandboxMissing, arun, available, run_in_box, why_not

__all__ = [
    "INSIDE",
    "Box",
    "BoxKind",
    "BoxLimits",
    "Ended",
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
