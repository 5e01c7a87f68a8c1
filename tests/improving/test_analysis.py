"""Analyses: of pairs that were won, with what stands behind the letters; paid once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import json_schema
from skill_eval_nb.improving.analysis import analyse
from skill_eval_nb.improving.comparison import compare
from skill_eval_nb.tables import check
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.improving.made import LINE, NEW, OLD, ledgers, offline, requests

BUNDLED = ROOT / "data" / "skill-creator-workspace"


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> Path:
    """A workspace with four pairs, each won by the skill in both orders."""
    path = ledgers(tmp_path_factory.mktemp("made"), evals=2, runs=2, iterations=("iteration-2",))
    compare(path, NEW, OLD, connection=offline("better"))
    return path


@pytest.fixture
def made(compared, tmp_path) -> Path:
    """A copy of it, with the skill beside it."""
    shutil.copytree(compared.parent, tmp_path / "all")
    return tmp_path / "all" / compared.name


def kept(path: Path) -> list[Path]:
    return sorted((path / "comparisons").glob("analysis-*.json"))


def test_every_pair_with_a_winner_is_analysed_once_and_loaded_again(made, tmp_path):
    found = analyse(made)
    assert (found.status, found.n_before, found.n_missing) == ("done", 0, 0)
    assert found.model == "stand-in-judge"  # who compared
    assert len(found.explained) == len(kept(made)) == 4
    assert repr(found).count(f": {NEW} of iteration-2, run ") == 4
    for path in kept(made):
        raw = json.loads(path.read_text())
        jsonschema.validate(raw, json_schema("analysis"))
        assert [one["issues"] for one in raw["instruction_following"].values()] == [[], []]
    assert not [one for one in check(made) if one.severity != "info"]
    rows = sen.load(made).table("analyses")
    said = {s.suggestion for one in found.explained for s in one.document.improvement_suggestions}
    assert set(rows["suggestion"]) == said
    assert set(rows["analysis"]) == {
        one.path.relative_to(made).as_posix() for one in found.explained
    }
    # Nothing is asked for twice.
    before = {path: path.read_bytes() for path in kept(made)}
    again = analyse(made, connection=offline(log=str(tmp_path / "log")))
    assert (again.n_before, len(again.explained)) == (4, 4)
    assert {path: path.read_bytes() for path in kept(made)} == before
    assert requests(tmp_path / "log") == []


def test_the_analyst_is_shown_the_skill_as_it_was(made, tmp_path):
    assert analyse(made, dry_run=True, comparison="comparison-1.json").n_missing == 1
    place = "iteration-2/skill-snapshot/with_skill"
    text = f"---\nname: ledger-keeper\ndescription: x\n---\n{LINE} As it was.\n"
    lay(made, {f"{place}/SKILL.md": text})
    for output in made.rglob("answer.md"):
        output.write_text("<script>alert(1)</script> stand-in quality: 4")
    log = tmp_path / "log"
    found = analyse(made, comparison="comparison-1.json", connection=offline(log=str(log)))
    assert "<script" not in found._repr_html_()
    assert "&lt;script" in found._repr_html_()
    document = found.explained[0].document
    summary = document.comparison_summary
    assert (summary.winner_skill, summary.loser_skill) == (place, "none (without_skill)")
    assert (found.notes, "As it was." in requests(log)[0]) == ((), True)


@pytest.mark.parametrize(
    ("prefers", "says"),
    [("first", "the orders disagree"), ("tie", "a tie in both orders")],
)
def test_a_tie_is_not_analysed_and_says_so(tmp_path, prefers, says):
    path = ledgers(tmp_path, evals=1, runs=1)
    compare(path, NEW, OLD, connection=offline(prefers), repeat=0)
    found = analyse(path, connection=offline())
    assert (found.explained, found.n_missing, found.status) == ((), 0, "done")
    assert says in found.left_out[0].reason
    assert says in repr(found)


def test_a_comparison_of_others_that_names_no_runs_is_left_out(tmp_path):
    bundled = Path(shutil.copytree(BUNDLED, tmp_path / BUNDLED.name))
    found = analyse(bundled, connection=offline())
    (unknown,) = found.left_out
    assert "it does not say which two runs it compared" in unknown.reason
    assert (found.explained, found.status) == ((), "done")
