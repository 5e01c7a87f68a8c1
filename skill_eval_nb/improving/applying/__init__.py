"""Accepted drafts into evals.json: as text, so that nothing else in it changes by a byte."""

from .change import Change, Written
from .previewing import apply, preview

__all__ = ["Change", "Written", "apply", "preview"]
