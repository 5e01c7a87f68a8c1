"""What stands beside what: runs of the same number, in the order of the evals."""

from __future__ import annotations

import pytest

from skill_eval_nb.widgets.review.queue import side_by_side
from skill_eval_nb.widgets.ui.source import RunKey


def row(eval_id, configuration, run_number, failed=0, gate_passed=None):
    key = RunKey("w", "s", "iteration-1", eval_id, configuration, run_number)
    return {**key._asdict(), "eval_name": eval_id, "failed": failed, "gate_passed": gate_passed}


def numbers(items):
    return [[(key.eval_id, key.run_number) for key in item.runs] for item in items]


@pytest.mark.parametrize(
    ("mine", "theirs", "paired"),
    [
        ([1, 2], [1, 2], [[1, 1], [2, 2]]),
        ([1, 2, 3], [1, 3], [[1, 1], [2], [3, 3]]),
        ([1, 2], [3, 4], [[1, 3], [2, 4]]),
        ([2], [1, 2, 3], [[2, 2], [1], [3]]),
        ([], [1], [[1]]),
        ([1], [], [[1]]),
    ],
)
def test_runs_of_the_same_number_come_together(mine, theirs, paired):
    items = side_by_side(
        [row("1", "with_skill", n) for n in mine], [row("1", "without_skill", n) for n in theirs]
    )
    assert [[n for _, n in one] for one in numbers(items)] == paired
