"""What an analyst would say, written by rule."""

from .notes import notes

__all__ = ["notes"]
