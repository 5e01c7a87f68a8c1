"""From suggestions to a better suite: drafts, their try-outs, what is accepted, the diff."""

from .drafts import Drafts, drafts

__all__ = ["Drafts", "drafts"]
