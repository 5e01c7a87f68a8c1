"""Checks out of the words of suggestions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.improving.drafting.rules.spoken import spoken
from tests.improving.drafting.made import EXISTS, always, look, said, world

HOLDS = {
    "id": "S2",
    "type": "file_contains",
    "description": "It has a summary",
    "pattern": "report.*",
    "match": "Summary",
    "critical": False,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two checks."""
    checks = {"S1": (EXISTS, always), "S2": (HOLDS, always)}
    return world(tmp_path_factory.mktemp("spoken"), checks=checks, evals=2, runs=1)


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        (
            "Nothing checks that `## Risks` is there.",
            {"type": "file_contains", "pattern": "*.md", "match": "## Risks"},
        ),
        (
            "No check that the report is free of `TODO`.",
            {"type": "file_not_contains", "pattern": "*.md", "match": "TODO"},
        ),
        (
            "Nothing checks that figures.csv was written.",
            {"type": "file_exists", "pattern": "figures.csv"},
        ),
        (
            "It should be checked that there are at least two `*.csv` files.",
            {"type": "file_count", "pattern": "*.csv", "count": 2, "operator": ">="},
        ),
        (
            "Check that notes.md contains `Sources`.",
            {"type": "file_contains", "pattern": "notes.md", "match": "Sources"},
        ),
        ("Nothing checks that the code compiles.", {"type": "custom_script"}),
    ],
)
def test_a_missing_check_is_added(path: Path, reason: str, wanted: dict[str, Any]) -> None:
    suggestion = said(reason, "2")
    (one,) = spoken(look(path, suggestion))
    (item,) = one.new
    assert not isinstance(item, str)
    assert {name: item[name] for name in item if name in (*wanted, "match")} == wanted
    assert (one.kind, one.evals, one.target) == ("add", ("2",), None)
    assert one.suggestions == (suggestion.key,)
    assert [ref.eval_id for ref in one.runs] == ["2", "2"]
    assert one.missing == (("script",) if wanted["type"] == "custom_script" else ())


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        ("It should have `Risks` and `Sources`.", ["Risks", "Sources"]),
        ("It should have `Risks` or `Sources`.", [["Risks", "Sources"]]),
        ("It should have `Risks`, not `TODO` and not `FIXME`.", ["Risks", ["TODO", "FIXME"]]),
        ("It should never happen that draft.tmp is present.", [0]),
    ],
)
def test_all_that_is_named_is_looked_for(path: Path, reason: str, wanted: list[Any]) -> None:
    items = [item for one in spoken(look(path, said(reason, "1"))) for item in one.new]
    found = [
        next(item[name] for name in ("match", "match_any", "count") if name in item)
        for item in items
        if not isinstance(item, str)
    ]
    assert found == wanted


def test_a_check_that_a_suggestion_is_about_is_sharpened(path: Path) -> None:
    (one,) = spoken(look(path, said("It should look for `## Summary`.", "1", assertion="S2")))
    (item,) = one.new
    assert not isinstance(item, str)
    assert (one.kind, one.target, one.evals) == ("sharpen", "S2", ("1", "2"))
    assert (item["pattern"], item["match"]) == ("report.*", "## Summary")


def test_what_the_check_looks_for_already_is_no_news(path: Path) -> None:
    assert list(spoken(look(path, said("It must contain `Summary`.", "1", assertion="S2")))) == []


def test_what_several_ask_for_is_one_draft(path: Path) -> None:
    asked = [said("Check for `## Risks`.", "1"), said("`## Risks` should be asserted.", "2")]
    asked[1] = said("It should have `## Risks`.", "2")
    (one,) = spoken(look(path, *asked))
    assert one.evals == ("1", "2")
    assert one.suggestions == tuple(each.key for each in asked)
