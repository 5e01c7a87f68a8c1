"""One review of a feedback.json is changed, and nothing else; an id is read back as its run."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents import CheckLabel
from skill_eval_nb.tables import check
from skill_eval_nb.workspace.feedback import (
    COMPLETE,
    NotKept,
    Remarks,
    RunIds,
    RunOf,
    folders_of,
    keep_review,
    keep_status,
    read_reviews,
)
from tests.checkout import ROOT
from tests.corpus.build import graded, lay, row

RUN = "eval-0-with_skill"
THEIRS = {
    "version": 2,
    "reviews": [
        {"run_id": "eval-1-with_skill", "feedback": "é", "timestamp": "2026-01-01", "who": "Ann"},
        "a remark that is no review",
        {"id": RUN, "comment": "Too long", "mood": {"tone": 1.50}},
    ],
    "status": "in_progress",
    "reviewers": ["Ann"],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "iteration-1" / "feedback.json"


def held(path):
    return json.loads(path.read_text())


def their(path, value=THEIRS, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, **how))
    return {one.run_id: one for one in read_reviews(path).entries}


def test_a_review_is_changed_under_the_names_it_has_and_all_else_stays(path):
    entries = their(path)
    made = keep_review(path, RUN, Remarks("Short now", {"tone": 2.5}), entries[RUN])
    changed = {"id": RUN, "comment": "Short now", "mood": {"tone": 1.5}}
    changed |= {"timestamp": made.timestamp, "scores": {"tone": 2.5}}
    assert held(path) == {**THEIRS, "reviews": [*THEIRS["reviews"][:2], changed]}
    keep_review(path, RUN, Remarks(), made)
    review = held(path)["reviews"][2]
    assert (review["comment"], "scores" in review) == ("", False)


def test_labels_of_checks_stand_beside_the_review_and_what_others_wrote_of_them_stays(path):
    theirs = {"text": "it is short", "passed": False, "by": "Ann"}
    entries = their(path, {"reviews": [{"run_id": RUN, "feedback": "Fine", "labels": [theirs]}]})
    was = entries[RUN].remarks
    mine = CheckLabel("it is done", True, sampled=True)
    labels = {**was.labels, mine.text: mine}
    made = keep_review(path, RUN, replace(was, labels=labels), entries[RUN])
    review = held(path)["reviews"][0]
    assert (review["run_id"], review["feedback"]) == (RUN, "Fine")  # what every viewer reads
    told = {"text": "it is done", "passed": True, "sampled": True}
    assert review["labels"] == [theirs, told]
    assert read_reviews(path).entries[0] == made
    keep_review(path, "eval-2-with_skill", Remarks(labels={mine.text: mine}, reviewed=False), None)
    alone = held(path)["reviews"][1]
    assert (alone["feedback"], alone["labels"], alone["reviewed"]) == ("", [told], False)
    keep_review(path, RUN, replace(was, labels={}), made)
    assert "labels" not in held(path)["reviews"][0]


def test_a_review_that_lacks_its_text_gets_one(path):
    entries = their(path, {"reviews": [{"run_id": RUN, "scores": {"tone": 1}}]})
    keep_review(path, RUN, Remarks(), entries[RUN])
    review = held(path)["reviews"][0]
    assert (review["feedback"], set(review)) == ("", {"run_id", "timestamp", "feedback"})


def test_what_is_said_already_is_not_written_again_and_what_is_taken_away_is_gone(path):
    entries = their(path)
    before = path.stat().st_mtime_ns, path.stat().st_ino
    assert keep_review(path, RUN, Remarks("Too long"), entries[RUN]) == entries[RUN]
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    for _ in ("it is there", "it is not there any more"):
        assert keep_review(path, RUN, None, entries[RUN]) is None
        assert held(path) == {**THEIRS, "reviews": THEIRS["reviews"][:2]}


def test_what_somebody_else_said_meanwhile_stays(path):
    entries = their(path)
    theirs = keep_review(path, RUN, Remarks("By another hand"), entries[RUN])
    mine = keep_review(path, RUN, Remarks("By mine"), entries[RUN])
    assert [one["feedback"] for one in held(path)["reviews"][3:]] == ["By mine"]
    assert held(path)["reviews"][2] == theirs.raw
    keep_review(path, RUN, Remarks("By mine, again"), mine)
    said = [one.remarks.text for one in read_reviews(path).entries if one.run_id == RUN]
    assert said == ["By another hand", "By mine, again"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{oops", "not JSON"),
        (b'{"reviews": {"a": 1}}', "list of `reviews`"),
        (b'{"reviews": [], /* mine */ "status": "complete"}', "comments removed"),
        (b'{"reviews": [], "reviews": []}', "given twice"),
        (b'{"reviews": [{"run_id": "a"},]}', "trailing commas"),
    ],
)
def test_a_file_that_could_not_be_written_back_is_never_written(path, data, why):
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(NotKept, match=why):
        keep_review(path, RUN, Remarks("x"), None)
    with pytest.raises(NotKept, match=why):
        keep_status(path, COMPLETE)
    assert path.read_bytes() == data
    assert read_reviews(path).fault is not None


def test_a_status_is_told_from_what_the_file_then_says_and_a_first_review_makes_it(path):
    keep_status(path, COMPLETE)
    assert held(path) == {"reviews": [], "status": "complete"}
    their(path)
    keep_status(path, COMPLETE)
    assert held(path) == {**THEIRS, "status": "complete"}
    path.write_bytes(b'\xef\xbb\xbf{"reviews": []}')  # with a mark it is written, too
    keep_review(path, RUN, Remarks("x"), None)
    path.unlink()
    made = keep_review(path, RUN, Remarks("x"), None, lambda now: f"{len(now.entries)} entry")
    said = {"run_id": RUN, "feedback": "x", "timestamp": made.timestamp}
    assert held(path) == {"reviews": [said], "status": "1 entry"}
    assert [one.name for one in path.parent.iterdir()] == ["feedback.json"]


WRITING = """
import sys
from skill_eval_nb.workspace.feedback import Remarks, keep_review
was = None
for n in range(30):
    was = keep_review(sys.argv[1], sys.argv[2], Remarks(f"{sys.argv[2]} {n}"), was)
"""


def test_several_processes_lose_nothing_of_each_other(path):
    commands = [[sys.executable, "-c", WRITING, str(path), f"eval-{n}-x"] for n in range(3)]
    processes = [subprocess.Popen(one) for one in commands]
    assert [one.wait(60) for one in processes] == [0, 0, 0]
    assert sorted(one["feedback"] for one in held(path)["reviews"]) == [
        f"eval-{n}-x 29" for n in range(3)
    ]


# ── the id that feedback gives a run ─────────────────────────────────────────────────────────

DATA = ROOT / "data"
AT = "2026-01-02T03:04:05Z"
BUNDLED = sorted({path.name for path in DATA.glob("*-workspace")} - {"tdd-workspace"})


def of(path: Path, table: pl.DataFrame | None = None) -> RunIds:
    table = sen.load(path).polars("runs") if table is None else table
    ones = dict(table.unique("workspace").select("workspace", "path").iter_rows())
    return RunIds(folders_of(path, ones), table["configuration"].unique())


def write_all(folder: Path) -> dict[str, tuple]:
    """Say something of every run that feedback can be kept of; by the words the run."""
    table = sen.load(folder).polars("runs")
    ids, said = of(folder, table), {}
    by_place = table.group_by("workspace", "iteration", maintain_order=True)
    for place, rows in by_place:
        if not (files := ids.files(*place)):
            continue
        numbered, sides = (rows["run_number"] != 1).any(), set(rows["configuration"])
        reviews = []
        for run in rows.select("eval_id", "configuration", "run_number").iter_rows():
            words = f"{len(said)}"
            run_id = ids.id_of(*place, RunOf(*run), numbered, sides)
            reviews.append({"run_id": run_id, "feedback": words, "timestamp": AT})
            said[words] = (*place, *run)
        whole = {"reviews": reviews, "status": "complete"}
        lay(Path(files[0]).parent, {Path(files[0]).name: whole})
    return said


def loaded(folder: Path) -> dict[str, tuple]:
    """What is read of it."""
    columns = ["feedback", "workspace", "iteration", "eval_id", "configuration", "run_number"]
    rows = sen.load(folder).polars("feedback").select(columns).iter_rows()
    return {words: tuple(run) for words, *run in rows}


def faults(folder: Path) -> set[tuple]:
    return {
        (one.severity, one.code, one.path, one.where)
        for one in check(folder)
        if one.severity != "info"
    }


@pytest.mark.parametrize("name", BUNDLED)
def test_all_runs_of_every_dialect_are_named_so_that_they_are_found_again(tmp_path, name):
    unsaid = shutil.ignore_patterns("feedback.json")
    folder = shutil.copytree(DATA / name, tmp_path / name, ignore=unsaid)
    before = faults(folder)
    said = write_all(folder)
    assert loaded(folder) == said
    assert len(said) == sen.load(folder).runs.height
    assert faults(folder) <= before


def test_runs_that_only_a_benchmark_tells_of(tmp_path):
    stated = {"runs": [row(3, "with_skill", "pf"), row("order", "plain", "p")]}
    lay(tmp_path / "ws", {"iteration-1/benchmark.json": stated})
    assert len(write_all(tmp_path / "ws")) == 2
    assert set(loaded(tmp_path / "ws").values()) == {
        ("ws", "iteration-1", "3", "with_skill", 1),
        ("ws", "iteration-1", "order", "plain", 1),
    }
    assert all(code != "unknown-run" for _, code, _, _ in faults(tmp_path / "ws"))


def test_the_iteration_of_a_benchmark_of_its_own_name_has_no_place_for_feedback(tmp_path):
    stated = {"metadata": {}, "runs": [row(3, "with_skill", "pf")], "run_summary": {}}
    lay(tmp_path / "ws", {"new-figures.json": stated})
    assert of(tmp_path / "ws").files("ws", "new-figures") == []


def test_a_file_of_another_name_is_written_where_it_is_the_only_one(tmp_path):
    reviews = {"reviews": [{"run_id": "eval-0-with_skill", "feedback": "x"}]}
    lay(tmp_path / "ws", {"iteration-1/eval-0/with_skill/grading.json": graded("p")})
    for whose, wanted in (("ann", ["ann"]), ("bob", ["", "ann", "bob"])):
        lay(tmp_path / "ws", {f"iteration-1/feedback-{whose}.json": reviews})
        ids = of(tmp_path / "ws")
        names = [Path(one).stem[9:] for one in ids.files("ws", "iteration-1")]
        assert (names[0], sorted(names)) == (wanted[0], wanted)
    # and ids that name nothing
    assert ids.run_of("ws", "iteration-1", "eval-0") is None
    assert ids.run_of("ws", "iteration-1", "eval-0-with_skill-run-7") == ("0", "with_skill", 7)
