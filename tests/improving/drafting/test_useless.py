"""What is dropped and what is demoted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.improving.drafting.rules.useless import useless
from tests.improving.drafting.made import EXISTS, always, look, world

CONTAINS = {
    "id": "S2",
    "type": "file_contains",
    "description": "It has a heading",
    "pattern": "*.md",
    "match": "# ",
    "critical": True,
}


def never(*_: Any) -> bool:
    """A check that never passes."""
    return False


def by_chance(name: str, side: str, run: int) -> bool:
    """A check whose verdict hangs on the run alone."""
    return run % 2 == 0


@pytest.mark.parametrize(
    ("critical", "verdict", "kind"),
    [
        (False, always, None),
        (False, never, "drop"),
        (False, by_chance, None),
        (True, always, None),
        (True, never, "demote"),
        (True, by_chance, "demote"),
        (True, lambda name, side, run: (name, side, run) != ("1", "with_skill", 1), None),
    ],
)
def test_what_becomes_of_a_check(tmp_path: Path, critical: bool, verdict: Any, kind: Any) -> None:
    path = world(tmp_path, checks={"S1": ({**EXISTS, "critical": critical}, verdict)}, runs=4)
    drafts = list(useless(look(path)))
    assert [one.kind for one in drafts] == ([kind] if kind else [])
    for one in drafts:
        assert (one.target, one.evals) == ("S1", ("1", "2", "3", "4", "5", "6"))
        assert len(one.runs) == 48
        assert "24 runs of without_skill" in one.why
        assert one.new == (() if kind == "drop" else ({**EXISTS, "critical": False},))


def test_a_check_that_always_passes_goes_unless_only_evals_that_are_too_easy_have_it(
    tmp_path: Path,
) -> None:
    checks = {
        "S1": (EXISTS, always),
        "S2": ({**CONTAINS, "critical": False}, lambda name, side, run: name != "2" or run % 2),
    }
    (draft,) = useless(look(world(tmp_path / "some", checks=checks, evals=2, runs=4)))
    assert (draft.kind, draft.target, draft.evals) == ("drop", "S1", ("1", "2"))
    assert list(useless(look(world(tmp_path / "all", checks=checks, evals=1, runs=4)))) == []


@pytest.mark.parametrize(("failing", "kinds"), [(1, []), (2, ["demote"])])
def test_a_gate_that_failed_once_is_a_gate(tmp_path: Path, failing: int, kinds: list[str]) -> None:
    def verdict(name: str, side: str, run: int) -> bool:
        return side == "with_skill" or run > failing

    gate = ({**EXISTS, "critical": True}, verdict)
    drafts = useless(look(world(tmp_path, checks={"S1": gate}, evals=1, runs=4)))
    assert [one.kind for one in drafts] == kinds


def test_a_critical_check_goes_where_another_one_stands_in_for_it(tmp_path: Path) -> None:
    first = {**EXISTS, "critical": True}
    checks = {
        "S1": (first, always),
        "S2": (CONTAINS, always),
        "It is short": ("It is short", by_chance),
    }
    (draft,) = useless(look(world(tmp_path, checks=checks)))
    assert (draft.kind, draft.target) == ("drop", "S1")
    assert "S2 (‘It has a heading’) is critical as well" in draft.why


def test_one_about_other_files_does_not(tmp_path: Path) -> None:
    first = {**EXISTS, "critical": True, "pattern": "*.txt"}
    path = world(tmp_path, checks={"S1": (first, always), "S2": (CONTAINS, always)})
    assert list(useless(look(path))) == []
