"""The shell: `skill-eval-nb check | report | run | judge | …`.

Commands are thin: they call what Python users call, print what came of it, and end with 1
where something was wrong with the data, with 2 where something was wrong with the call.
"""

from . import making, reading, trying  # a command registers itself where it stands
from .shell import app, main

__all__ = ["app", "main", "making", "reading", "trying"]
