"""What a draft replaces has its stored verdicts, else those of checking now."""

from __future__ import annotations

import json

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from tests.improving.trying.made import SOURCES, TOTAL, draft, planted, suite, world


@pytest.fixture
def root(tmp_path):
    """Two runs a side of one eval; the stored verdicts on S2 are made to say that it failed."""
    root = world(tmp_path, planted(2, 0), evals=["1"], runs=2)
    for path in root.rglob("structural.json"):
        content = json.loads(path.read_text())
        content["expectations"][1] |= {"passed": False, "evidence": "as stored"}
        path.write_text(json.dumps(content))
    return root


def replaced(root, target):
    """The rows of what is replaced."""
    return try_out(draft(SOURCES, evals=["1"], target=target), sen.load(root)).by_run


@pytest.mark.parametrize("target", ["S2", "A total", " a  TOTAL "])
def test_stored_verdicts_count(root, target):
    rows = replaced(root, target)
    assert rows["replaced_passed"].to_list() == [False] * 4
    assert set(rows["replaced_evidence"]) == {"as stored"}


def test_what_is_not_stored_is_checked_now(root):
    for path in root.rglob("with_skill/run-1/structural.json"):
        path.unlink()
    rows = replaced(root, "S2")
    assert rows["replaced_passed"].to_list() == [True, False, False, False]


def test_a_script_is_not_run_for_that_unless_allowed(tmp_path):
    script = {"id": "S9", "type": "custom_script", "description": "Runs", "script": "true"}
    suited = suite(["1"], [TOTAL, script])
    root = world(tmp_path, planted(1, 1), evals=["1"], runs=1, suited=suited, checked=False)
    assert replaced(root, "S9")["replaced_passed"].to_list() == [None, None]


def test_a_target_that_nothing_knows_has_no_verdict(root):
    rows = replaced(root, "S77")
    assert rows["replaced_passed"].to_list() == [None] * 4
    assert "was not found" in rows["replaced_evidence"][0]
