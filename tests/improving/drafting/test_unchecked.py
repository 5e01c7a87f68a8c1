"""What graders miss: an expectation in their words, else a dimension to be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.improving.drafting.rules.unchecked import stated, unchecked
from tests.improving.drafting.made import always, look, said, world


@pytest.mark.parametrize(
    ("reason", "action", "text"),
    [
        ("Nothing checks that no task is lost.", None, "No task is lost"),
        ("No assertion checks whether totals add up; they do.", None, "Totals add up"),
        ("No test verifies the page shows a card, which it does.", None, "The page shows a card"),
        ("Nothing checks the onions", "Add: Onions are halved", "Onions are halved"),
        ("Too weak.", "Consider adding an assertion that pots fit the stove", "Pots fit the stove"),
        ("Nothing checks the onions", None, None),
        ("Five assertions all test the same outcome.", None, None),
        (f"Nothing checks that {'it is so ' * 30}", None, None),
    ],
)
def test_what_is_to_hold_is_read_out_of_what_was_said(reason, action, text) -> None:
    assert stated(said(reason, "1", action=action)) == text


def test_what_several_runs_state_becomes_an_expectation_of_their_evals(tmp_path: Path) -> None:
    path = world(tmp_path, checks={"J": ("Pots fit the stove", always)}, evals=2)
    asked = said("Nothing checks that no task is lost.", "2")
    countable = said("Nothing checks that `## Risks` is there.", "1", "2")
    there = said("Nothing checks that pots fit the stove.", "1")
    once = said("Nothing checks that the style is even.", "1", runs=1)
    (one,) = unchecked(look(path, asked, countable, there, once))
    assert (one.kind, one.part, one.evals) == ("add", "expectations", ("2",))
    assert (one.new, one.missing) == (("No task is lost",), ())
    assert one.suggestions == (asked.key,)
    assert len(one.runs) == 2


def test_what_is_missed_and_not_stated_becomes_a_dimension_to_be_written(tmp_path: Path) -> None:
    path = world(tmp_path, checks={}, evals=2)
    asked = said("Nobody looks at how convincing the argument is.", "1", "2")
    critique = said("Five assertions all test the same outcome.", "1", "2")
    (one,) = unchecked(look(path, asked, critique))
    assert (one.kind, one.part, one.evals) == ("add", "dimensions", ("1", "2"))
    assert one.missing == ("description", "scoring.1", "scoring.3", "scoring.5")
    assert one.suggestions == (asked.key,)
