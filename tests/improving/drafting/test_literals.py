"""What suggestions name word for word. All sentences are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving.drafting.literals import literals


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("Nothing checks that `afterEach` is called.", ["afterEach"], []),
        ("No assertion checks whether 'use strict' is present.", ["use strict"], []),
        ("Add a check that the module never calls `eval(`.", [], ["eval("]),
        ("Use `Map` instead of `vi.fn(`.", ["Map"], ["vi.fn("]),
        ("The files should contain “## Risks”, not “## Notes”.", ["## Risks"], ["## Notes"]),
        ("Consider checking for parseConfig and load_all.", ["parseConfig", "load_all"], []),
        ("It should be checked that `TODO` is not left over.", [], ["TODO"]),
        ("Avoid `any` in the signatures.", [], ["any"]),
        ("An output with an empty `body` would pass.", [], []),  # asks for nothing
        ("The output calls `main()` and looks fine.", [], []),
        ("The prompt should say `main()`.", [], []),
        ("Drop S1: S2 fails where the file is missing.", [], []),
        ("The check should say what 'connects' means.", [], []),
        ("Every name should be in camelCase.", [], []),
        ("It should run under Node.js, e.g. in CI.", [], []),
    ],
)
def test_what_is_wanted_and_what_is_not(text: str, wanted: list[str], unwanted: list[str]) -> None:
    found = literals(text)
    assert [one.text for one in found if one.wanted] == wanted
    assert [one.text for one in found if not one.wanted] == unwanted


def test_files_are_told_from_words() -> None:
    found = literals("Check that `out/*.csv`, notes.md and `load(` are there; `x.y(` as well.")
    assert [(one.text, one.is_file) for one in found] == [
        ("out/*.csv", True),
        ("notes.md", True),
        ("load(", False),
    ]


@given(st.text(max_size=200))
def test_what_is_named_stands_in_the_text(text: str) -> None:
    for one in literals(f"It should contain {text}"):
        assert one.text in text
