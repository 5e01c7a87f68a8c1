"""The last step of a run: its checks and judgings become one grading."""

from __future__ import annotations

import time

from skill_eval_nb.documents import Judging, Metrics, Structural, Timing, dump, to_json

from .files import read_document, write
from .orders import Ended, Run
from .state import CHECKED, EXECUTED, GRADED, JUDGINGS


def grade(run: Run) -> Ended:
    """Put a run's checks and judgings together, and write grading.json.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.judge import grade as put_together

    clock = time.perf_counter()
    numbered = sorted(
        (int(path.stem), path)
        for path in (run.place / JUDGINGS).glob("*.json")
        if path.stem.isdecimal()
    )
    grading = put_together(
        read_document(run.place / CHECKED, Structural),
        [read_document(path, Judging) for _, path in numbered],
        read_document(run.place / "metrics.json", Metrics),
        read_document(run.place / EXECUTED, Timing),
        dimensions=run.eval.dimensions,
    )
    write(run.place / GRADED, to_json(dump(grading)))
    return Ended(seconds=time.perf_counter() - clock)
