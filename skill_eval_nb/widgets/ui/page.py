"""The page's side of a panel: one script, in parts of one idea each.

The parts are modules, and name what they take from each other; a widget has one module, so they
are joined. No two parts may name the same thing outside of their functions.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent

PARTS = "tree kept frames place asking controls files drawing focus acting view".split()
"""Each after those that it takes something from."""


def script() -> str:
    """All parts as one module."""
    parts = [(HERE / f"{name}.js").read_text("utf-8") for name in PARTS]
    return "\n".join(
        re.sub(r"(?m)^import [^;]*;\n|^export (?!default)", "", part) for part in parts
    )
