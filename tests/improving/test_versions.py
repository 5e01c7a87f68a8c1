"""What a history says of versions, shows and writes: against the statistics, planted truths."""

from __future__ import annotations

import json
import shutil

import jsonschema
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import json_schema
from skill_eval_nb.improving import history
from skill_eval_nb.improving.values import LARGEST_SHOWN, read_texts
from skill_eval_nb.improving.versions import changes, in_words
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.improving.made import NEW

TDD = ROOT / "data" / "tdd-workspace"


def iteration(number, share, side=NEW, evals=6):
    """Files of an iteration's side: three runs an eval around a pass rate, one twentieth apart."""
    place = f"iteration-{number}/eval-{{}}-task/{side}/run-{{}}/grading.json"
    marks = {run: ("p" * (round(share * 20) + run - 2)).ljust(20, "f") for run in (1, 2, 3)}
    return {
        place.format(eval_, run): graded(one)
        for eval_ in range(evals)
        for run, one in marks.items()
    }


def results(lineage):
    return [(one.version, one.parent, one.grading_result) for one in lineage.versions]


def workspace(folder, *shares, **options):
    """A loaded workspace of an iteration for each pass rate."""
    files = {}
    for number, share in enumerate(shares, 1):
        files |= iteration(number, share, **options)
    return sen.load(lay(folder / "made-workspace", files))


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A large gain, then none, then a large loss."""
    return workspace(tmp_path_factory.mktemp("planted"), 0.3, 0.8, 0.8, 0.4)


def test_only_what_is_borne_out_is_won_or_lost_by_the_figures_of_the_deltas(planted):
    found = history(planted)
    assert results(found) == [
        ("v0", None, "baseline"),
        ("v1", "v0", "won"),
        ("v2", "v1", "tie"),
        ("v3", "v1", "lost"),
    ]
    assert found.current_best is None  # v2 ties with v1
    assert not any(one.is_current_best for one in found.versions)
    assert {one.parent_from for one in found.versions[1:]} == {"best so far"}
    for one, parent in zip(found.versions[1:3], ("iteration-1", "iteration-2"), strict=True):
        row = sen.stats.deltas(planted, versus=(one.iteration, parent)).row(0, named=True)
        names = ("estimate", "low", "high", "p", "verdict")
        assert [getattr(one, name) for name in names] == [row[name] for name in names]
        assert row["reason"] in one.reason


def test_an_iterations_own_old_side_is_compared(tmp_path):
    # Across iterations nothing changed; inside iteration 2 the new version is far better.
    files = iteration(1, 0.8) | iteration(2, 0.8) | iteration(2, 0.3, "old_skill")
    one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
    assert one.grading_result == "won"
    assert one.compared == "with_skill against old_skill in iteration-2"
    assert one.estimate == pytest.approx(0.5)
    # Names from files are escaped in HTML.
    bad = "<script>alert(1)<"
    html = history(workspace(tmp_path / "bad", 0.3, 0.8, side=bad, evals=1))._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html


def test_a_stated_parent_decides_the_result_and_the_best_stays_the_best(planted, tmp_path):
    shutil.copytree(planted.path, tmp_path / "made-workspace")
    stated = [{"version": name, "parent": "v0"} for name in ("v2", "v3")]
    lay(tmp_path / "made-workspace", {"history.json": {"iterations": stated}})
    found = history(sen.load(tmp_path / "made-workspace"))
    assert results(found)[2:] == [("v2", "v0", "won"), ("v3", "v0", "won")]
    assert [one.parent_from for one in found.versions[2:]] == ["stated", "stated"]
    assert found.current_best != "v3"  # it beats its parent, and not the best


def test_of_the_bundled_skill_what_was_stated_stands_beside_what_is_borne_out():
    found = history(sen.load(TDD))
    assert results(found) == [("v0", None, "baseline"), ("v1", "v0", "tie")]
    assert found.current_best is None
    assert [one.stated_pass_rate for one in found.versions] == [0.8088, 0.875]
    one = found.versions[1]
    assert (one.parent_from, one.lines_added, one.lines_removed) == ("stated", 9, 5)


def test_without_an_eval_in_common_nothing_is_compared(tmp_path):
    other = iteration(2, 0.8, evals=1).items()
    files = iteration(1, 0.3, evals=1) | {at.replace("eval-0", "eval-9"): one for at, one in other}
    one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
    assert one.grading_result is None
    assert one.reason == "Nothing to compare: no eval has a pass rate in both."


@pytest.mark.parametrize(
    ("names", "known_from"),
    [
        (("v0", "v1", "v2", "v3"), "stated"),
        (("1", "2"), "best so far"),
        (("v0", "v0"), "best so far"),
    ],
    ids=str,
)
def test_a_history_of_others_gives_parents_where_it_names_our_versions(
    planted, names, known_from, tmp_path
):
    versions = [{"version": name, "parent": names[0]} for name in names]
    shutil.copytree(planted.path, tmp_path / "made-workspace")
    lay(tmp_path / "made-workspace", {"history.json": {"iterations": versions}})
    found = history(sen.load(tmp_path / "made-workspace"))
    assert {one.parent_from for one in found.versions[1:]} == {known_from}
    said = f"history.json names the versions {', '.join(names)}, but" in "".join(found.notes)
    assert said is (known_from != "stated")


# ── written ────────────────────────────────────────────────────────────────────────────────────


def test_it_is_the_document_that_people_know_and_is_read_again(tmp_path):
    before = workspace(tmp_path, 0.3, 0.8, evals=3)
    place = tmp_path / "made-workspace"
    path = history(before).write(place)
    written = json.loads(path.read_text())
    jsonschema.validate(written, json_schema("history", "skill-creator"))
    assert (written["skill_name"], written["current_best"]) == ("made", "v1")
    known = ("version", "parent", "expectation_pass_rate", "grading_result", "is_current_best")
    assert [[one[name] for name in known] for one in written["iterations"]] == [
        ["v0", None, 0.3, "baseline", False],
        ["v1", "v0", 0.8, "won", True],
    ]
    ws = sen.load(place)
    assert ws.problems.equals(before.problems)
    rows = ws.table("history").select("version", "grading_result").rows()
    assert rows == [("v0", "baseline"), ("v1", "won")]
    again = history(ws)
    assert [one.stated_pass_rate for one in again.versions] == [0.3, 0.8]
    assert again.notes == ()
    # Our own file is replaced, and the bytes are the same.
    first = path.read_bytes()
    assert history(ws).write(path).read_bytes() == first
    assert not list(place.glob("*.bak*"))


# ── what changed ───────────────────────────────────────────────────────────────────────────────


def test_files_that_came_and_went_are_named_and_evals_are_no_part(tmp_path):
    old = {"SKILL.md": "Same.\n", "notes/a.md": "1\n2\n", "evals/evals.json": "{}", "c.md": "It"}
    new = {"SKILL.md": "Same.\n", "notes/b.md": "1\n", "pic.bin": b"\0\1", "notes/c.md": "It"}
    assert in_words(changes(lay(tmp_path / "old", old), lay(tmp_path / "new", new))) == (
        "notes/a.md removed, 2 lines; notes/b.md added, 1 line; notes/c.md moved; pic.bin added"
    )


def test_the_skill_comes_first_and_what_is_no_text_has_none(tmp_path) -> None:
    none = {"b.bin": b"\xff\xfe\x00", "c.txt": "x" * (LARGEST_SHOWN + 1)}
    files = {"SKILL.md": "# Made up", "a.txt": "a line"}
    assert [*read_texts(lay(tmp_path, none | files))] == [
        *files.items(),
        ("b.bin", None),
        ("c.txt", None),
    ]
