"""What stands in the outputs of one side and not in those of the other."""

from __future__ import annotations

from .candidates import Candidate, mine
from .differing import Differing, differing
from .halves import halves
from .outputs import Output, common_glob, outputs_of

__all__ = [
    "Candidate",
    "Differing",
    "Output",
    "common_glob",
    "differing",
    "halves",
    "mine",
    "outputs_of",
]
