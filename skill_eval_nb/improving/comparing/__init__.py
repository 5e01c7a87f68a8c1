"""Which of two sides is better, told by a model that does not know whose work it sees."""

from .compared import Compared, NotCompared
from .comparing import compare

__all__ = ["Compared", "NotCompared", "compare"]
