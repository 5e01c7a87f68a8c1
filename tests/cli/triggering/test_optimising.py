"""The command `trigger-optimise`: the price, the rounds, the change, written where asked for."""

from __future__ import annotations

import json

import pytest

from skill_eval_nb.cli import triggering  # noqa: F401 -- it registers its commands
from tests import bubblewrap
from tests.cli.calls import run
from tests.triggers.measuring.made import make_skill

OLD = "Builds a kite of paper."
KNOWN, UNKNOWN = "{} builds a kite of paper", "{} repairs a torn tail of string"
OTHER = "{} writes a poem of love"
WHO = ("Belda", "Dorka", "Finmi", "Garno", "Lumru", "Novta", "Belwen")


@pytest.fixture
def given(tmp_path):
    """A skill and its trigger set, of which the description covers a part."""
    skill = make_skill(tmp_path / "kites", description=OLD)
    asked = [KNOWN.format("Novka")] + [UNKNOWN.format(one) for one in WHO]
    queries = [{"query": one, "should_trigger": True} for one in asked]
    queries += [{"query": OTHER.format(one), "should_trigger": False} for one in WHO[:4]]
    (tmp_path / "queries.json").write_text(json.dumps(queries))
    return skill, tmp_path / "queries.json"


@bubblewrap.needed
def test_a_dry_run_shows_the_price_and_writes_nothing(tmp_path, given):
    result = run("trigger-optimise", *given, "--model", "claude-haiku-4-5", "--dry-run")
    assert result.exit_code == 0
    assert "195 runs at most, likely $" in result.stdout
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kites", "queries.json"]


@bubblewrap.needed
def test_without_a_budget_it_asks_before_money_is_spent(tmp_path, given, key):
    result = run("trigger-optimise", *given, "--model", "claude-haiku-4-5")
    assert result.exit_code == 1
    assert "This costs money, $" in result.stdout
    assert not (tmp_path / "kites-workspace").exists()


@bubblewrap.needed
def test_it_shows_the_change_and_writes_it_only_where_told(given):
    options = ("--executor", "offline", "--others", "none", "--runs", 1, "--held-out", 0.5)
    result = run("trigger-optimise", *given, *options)
    file = given[0] / "SKILL.md"
    assert f"description: {OLD}\n" in file.read_text()
    assert result.stderr == ""
    assert "2 (chosen)" in result.stdout
    assert f"-description: {OLD}" in result.stdout
    assert "--write changes it" in result.stdout
    assert result.exit_code == 0
    written = run("trigger-optimise", *given, *options, "--write")
    assert "SKILL.md has the new description" in written.stdout
    assert 'description: "Builds a kite of paper. Use it as well for ' in file.read_text()
    assert (given[0] / "SKILL.md.1.bak").exists()
