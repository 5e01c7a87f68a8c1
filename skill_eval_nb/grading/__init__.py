"""Grade what a run has produced: layer 1, the structural checks; layer 2, the judge.

`check` applies fixed rules and asks no model. `judge` asks a model; `grade` combines its judgings
into one grading. `sandbox` runs commands that somebody else has written. Modules are imported on
first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import load_lazily

if TYPE_CHECKING:
    from . import judge, sandbox, structural
    from .grades import grade
    from .structural import check

__all__ = ["check", "grade", "judge", "sandbox", "structural"]


__getattr__, __dir__ = load_lazily(
    __name__, {"": "judge sandbox structural", ".grades": "grade", ".structural": "check"}
)
