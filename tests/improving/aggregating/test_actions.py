"""What is to be done is read where it is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving.aggregating.actions import action_of


@pytest.mark.parametrize(
    ("reason", "action"),
    [
        ("Too weak. Consider checking `a.b` as well.", "Consider checking `a.b` as well"),
        ("Too weak; add a limit.", "Add a limit"),
        ("Proposed: Drop it.", "Drop it"),
        (
            "Look at more, e.g. `a`, approx. two. `B` is fine.",
            "Look at more, e.g. `a`, approx. two",
        ),
        (
            "It says nothing. Drop it, or ask for 0.5 of it. Else fine.",
            "Drop it, or ask for 0.5 of it",
        ),
        (
            "Weak — a stronger assertion would look at the sum.",
            "A stronger assertion would look at the sum",
        ),
        ("C'est trop facile. Envisager une borne.", "Envisager une borne"),
        ("Nothing adds up here, and checks fail.", None),
        ("Additional files pass.", None),
        ("", None),
    ],
)
def test_read(reason, action):
    assert action_of("critique", reason) == action


@given(st.text())
def test_an_action_is_part_of_what_was_said(reason):
    action = action_of("critique", reason)
    assert action is None or action[1:] in " ".join(reason.split())
