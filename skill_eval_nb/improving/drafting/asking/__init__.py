"""Asking a model for drafts: what it is told, what it may answer, what of it is taken."""

from __future__ import annotations

from .asked import ModelDrafts, ask_model

__all__ = ["ModelDrafts", "ask_model"]
