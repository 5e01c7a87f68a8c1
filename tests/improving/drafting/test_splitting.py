"""Statements that a text joins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving.drafting.rules.splitting import parts_of, splitting
from tests.improving.drafting.made import look, said, world


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("The total is right; the tax is listed", 2),
        ("The total is right, and the tax is listed", 2),
        ("It has a title and it names the author", 2),
        ("Rows and columns are both labelled", 1),
        ("The limit is tested: the third is lent, the fourth refused", 1),
        ("It is short and sweet", 1),
        ("The total is right and short, and the tax is listed", 1),
    ],
)
def test_how_many_statements_there_are(text: str, parts: int) -> None:
    assert len(parts_of(text)) == parts


@given(st.text(st.sampled_from("abc ;,.isand"), max_size=60))
def test_no_word_is_lost_but_what_joins(text: str) -> None:
    def words(one: str) -> list[str]:
        return re.findall(r"\w+", one.casefold())

    kept = [word for part in parts_of(text) for word in words(part)]
    joining = {"and", "also", "that", "but", "while"}
    assert [one for one in kept if one not in joining] == [
        one for one in words(text) if one not in joining
    ]


def test_a_flaky_expectation_is_split_and_a_vague_one_reworded(tmp_path: Path) -> None:
    text = "The total is right, and the tax is listed"
    path = world(
        tmp_path,
        checks={
            "a": (text, lambda name, side, run: (int(name) + run) % 2 == 0),
            "b": ("The report is good", lambda *_: True),
        },
        runs=4,
    )
    vague = said("Nobody can say.", "1", assertion="The report is good", kind="vague")
    split, reword = splitting(look(path, vague))
    assert (split.kind, split.target) == ("split", text)
    assert split.new == ("The total is right", "The tax is listed")
    assert (reword.kind, reword.target, reword.missing) == (
        "reword",
        "The report is good",
        ("text",),
    )
    assert reword.suggestions == (vague.key,)
