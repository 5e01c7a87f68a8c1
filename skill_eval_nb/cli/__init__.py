"""The shell: `skill-eval-nb check | report | run | judge | …`.

Commands are thin: they call what Python users call, print the result, and end with 1
where something was wrong with the data, with 2 where something was wrong with the call.
"""

# A command registers itself where it stands.
from . import improving, making, reading
from .shell import app, main

__all__ = ["app", "improving", "main", "making", "reading"]
