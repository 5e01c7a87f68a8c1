"""The commands about triggering: queries drafted, measured, and a description searched for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import skill_eval_nb as sen
from skill_eval_nb.triggers.queries import read_queries
from tests import bubblewrap
from tests.cli.calls import done, run
from tests.triggers.made import make_skill

OLD = "Builds a kite of paper."
ALONE = ("--executor", "offline", "--others", "none")


def given(tmp_path: Path, yes: list[str], no: list[str]) -> tuple[Path, Path]:
    """A skill and its trigger set."""
    kites = make_skill(tmp_path / "kites", description=OLD)
    queries = [{"query": query, "should_trigger": query in yes} for query in (*yes, *no)]
    (kites / "trigger-eval-set.json").write_text(json.dumps(queries))
    return kites, kites / "trigger-eval-set.json"


def test_drafted_queries_are_printed_and_written_to_what_is_there(tmp_path):
    tidy = make_skill(tmp_path / "clean-rows", description="Sorts and cleans rows of tables.")
    notes = "Turns commits into release notes for users."
    other = make_skill(tmp_path / "release-notes", description=notes)
    file = tmp_path / "set.json"
    options = ("--model", "stand-in-judge", "--others", other, "--out", file)
    told = done("trigger-draft", tidy, "--n", 4, *options)
    assert [one.should_trigger for one in read_queries(file)] == [True, True, False, False]
    for part in ("near miss, for release-notes", "few", f"wrote {file}"):
        assert part in told
    mine = {"query": "sort it", "should_trigger": True, "note": "mine"}
    file.write_text(json.dumps({"queries": [mine]}))
    assert run("trigger-draft", tidy, "--n", 2, *options).exit_code == 0
    rows = json.loads(file.read_text())["queries"]
    assert (rows[0], len(rows)) == (mine, 3)


@bubblewrap.needed
def test_measuring_shows_rates_scores_and_doubts_and_keeps_the_attempts(tmp_path):
    kites = [f"Build a kite of paper, number {n}" for n in range(3)]
    command = ("trigger", *given(tmp_path, kites, ["Build a boat of wood, like a kite"]), *ALONE)
    result = run(*command, "--runs", 2)
    assert (result.exit_code, result.stderr) == (1, ""), "every query triggers: no measurement"
    assert re.search(r"(?s)8 attempts to be made.* 2 of 2 \(", result.stdout)
    assert "recall 1.00" in result.stdout
    assert "doubt: " in result.stdout
    ws = sen.load(tmp_path / "kites-workspace")
    assert ws.polars("triggers")["triggered"].to_list() == [2, 2, 2, 2]
    assert "nothing was missing" in run(*command, "--runs", 2).stdout
    priced = run(*command[:3], "--model", "claude-haiku-4-5", "--dry-run").stdout
    assert "12 attempts to be made, 72 calls at most; likely $" in priced
    assert "beside 6 other skills" in priced


@bubblewrap.needed
def test_optimising_shows_the_change_and_writes_it_only_where_asked(tmp_path):
    who = ("Belda", "Dorka", "Finmi", "Garno", "Lumru", "Novta", "Belwen")
    known = ["Novka builds a kite of paper"]
    unknown = [f"{name} repairs a torn tail of string" for name in who]
    poems = [f"{name} writes a poem of love" for name in who[:4]]
    kites, queries = given(tmp_path, known + unknown, poems)
    options = (*ALONE, "--runs", 1, "--held-out", 0.5)
    told = done("trigger-optimise", kites, queries, *options)
    file = kites / "SKILL.md"
    assert f"description: {OLD}\n" in file.read_text()
    for part in ("2 (chosen)", f"-description: {OLD}", "--write changes it"):
        assert part in told
    written = done("trigger-optimise", kites, queries, *options, "--write")
    assert "SKILL.md has the new description" in written
    assert 'description: "Builds a kite of paper. Use it as well for ' in file.read_text()
    assert f"description: {OLD}\n" in (kites / "SKILL.md.1.bak").read_text()
