"""Complaints are told by their phrases, and opposites part suggestions."""

from __future__ import annotations

import pytest

from skill_eval_nb.improving.aggregating.complaints import (
    LIKE,
    OTHER,
    SAME,
    agreement,
    complaints,
)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Every run writes a test file; the check tells nothing.", "tells nothing"),
        ("It does not discriminate.", "tells nothing"),
        ("A blank file would pass.", "lets bad work pass"),
        ("Far too strict: tables are rejected.", "fails good work"),
        ("This can't be verified from the outputs.", "cannot be verified"),
        ("Untestable without the page.", "cannot be verified"),
        ("'Friendly' is a matter of taste.", "is vague"),
        ("Subsumed by S2.", "is redundant"),
        ("The prompt does not ask for a report.", "was not asked for"),
        ("Vacuously true.", "is vacuous"),
        ("It contradicts the convention.", "rests on an error"),
        ("No run can pass.", "never passes"),
    ],
)
def test_told(text, complaint):
    assert complaint in complaints(text)


def test_nothing_is_told_of_a_plain_sentence():
    assert complaints("The head names the month.") == frozenset()


@pytest.mark.parametrize(
    ("one", "other", "more"),
    [
        ("Ambiguous.", "It is vague.", SAME),
        ("A blank file would pass.", "Zeros would pass.", LIKE),
        ("Trivial.", "A blank file would pass.", 0.0),
        ("Far too strict.", "A blank file would pass.", OTHER),
        ("Far too strict.", "The head names the month.", 0.0),
    ],
)
def test_agreement(one, other, more):
    assert agreement(complaints(one), complaints(other)) == more
    assert agreement(complaints(other), complaints(one)) == more
