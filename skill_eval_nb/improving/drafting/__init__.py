"""From what graders suggest and figures show to concrete changes of a suite; none is written."""

from __future__ import annotations

from .drafts import Drafts, draft
from .filing import read_drafts, write_drafts
from .keys import edited, key_of, missing_in

__all__ = ["Drafts", "draft", "edited", "key_of", "missing_in", "read_drafts", "write_drafts"]
