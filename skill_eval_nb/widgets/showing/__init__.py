"""A run as it is seen: its outputs as what they are, its transcript, and what was said of it."""

from __future__ import annotations

from pathlib import Path

from .checks import show_checks
from .critique import show_critique
from .figures import show_figures
from .found import OutputFile, output_files
from .outputs import show_file, show_outputs
from .rubric import show_rubric
from .run import SECTIONS, show_run
from .transcripts import show_transcript

SHOWING_CSS = Path(__file__).with_name("showing.css")
"""The style of all this, for `panel.style`."""

__all__ = [
    "SECTIONS",
    "SHOWING_CSS",
    "OutputFile",
    "output_files",
    "show_checks",
    "show_critique",
    "show_figures",
    "show_file",
    "show_outputs",
    "show_rubric",
    "show_run",
    "show_transcript",
]
