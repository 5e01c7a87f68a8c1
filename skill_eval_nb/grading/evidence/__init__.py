"""What a judge is shown of a run, by a stated rule; nothing is left out silently."""

from .contents import SHOWN_CHARS
from .show import Cover, Showing, show, uncover_names

__all__ = ["SHOWN_CHARS", "Cover", "Showing", "show", "uncover_names"]
