"""A run as it is seen: its outputs as what they are, its transcript, and what was said of it."""

from __future__ import annotations

from pathlib import Path

from .outputs import show_outputs
from .run import show_figures, show_run

SHOWING_CSS = Path(__file__).with_name("show.css")
"""The style of all this, for `panel.style`."""

__all__ = ["SHOWING_CSS", "show_figures", "show_outputs", "show_run"]
