"""`skill-eval-nb improve try`."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from tests.cli.calls import run
from tests.improving.made_trials import SOURCES, draft, planted, world

RIGOUR = {"name": "rigour", "description": "d", "weight": 1.0}
RIGOUR |= {"scoring": {"1": "none", "3": "some", "5": "all"}}


@pytest.fixture
def root(tmp_path):
    """A workspace of two evals."""
    return world(tmp_path, planted(3, 0), evals=["1", "2"], runs=3)


@pytest.fixture
def file(tmp_path):
    """A file of a check and a dimension."""
    drafts = [
        draft(SOURCES, evals=["1", "2"], target="S1"),
        draft(RIGOUR, evals=["1", "2"], part="dimensions"),
    ]
    return sen.improving.write_drafts(tmp_path / "drafts.json", drafts)


def test_every_draft_has_its_answer_and_its_sides(root, file):
    result = run("improve", "try", file, root, "--judge-model", "claude-haiku-4-5")
    assert result.exit_code == 0
    assert "Its pass rate is 1 in with_skill (6 runs)" in result.stdout
    assert "Better than what it replaces" in result.stdout
    assert "12 runs would be judged by claude-haiku-4-5, $" in result.stdout
    assert "replaced  all    without_skill" in result.stdout
    assert not (root / ".skill-eval-nb").exists()


def test_one_draft_by_its_key_judged_offline(root, file):
    _, dimension = sen.improving.read_drafts(file)
    options = ("--key", dimension.key, "--judge-model", "stand-in-judge")
    result = run("improve", "try", file, root, *options)
    assert "Its mean score is" in result.stdout
    assert "pass rate" not in result.stdout
    assert result.stderr == ""
