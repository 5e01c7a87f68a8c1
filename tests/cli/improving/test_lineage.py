"""The command `improve history`."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.calls import TDD, run


@pytest.fixture
def tdd(tmp_path):
    return shutil.copytree(TDD, tmp_path / TDD.name)


def test_it_prints_the_versions_and_writes_nothing_unasked(tdd):
    before = (tdd / "history.json").read_bytes()
    result = run("improve", "history", tdd)
    assert result.exit_code == 0
    assert "v1  iteration-2, with_skill: 0.875, tie, from v0 (stated)" in result.stdout
    assert (tdd / "history.json").read_bytes() == before


def test_a_history_of_others_is_replaced_by_force_only(tdd, tmp_path):
    refused = run("improve", "history", tdd, "--out", tdd)
    assert refused.exit_code == 2
    assert "written by others" in refused.stderr
    forced = run("improve", "history", tdd, "--out", tdd, "--force")
    assert forced.exit_code == 0
    assert (tdd / "history.json.1.bak").exists()
    elsewhere = tmp_path / "own.json"
    assert run("improve", "history", tdd, "--out", elsewhere).exit_code == 0
    assert json.loads(elsewhere.read_text())["current_best"] is None
