"""Why the winner of a blind comparison won, and what to change in the skill."""

from .analysed import Analysed, NotAnalysed
from .explaining import analyse

__all__ = ["Analysed", "NotAnalysed", "analyse"]
