"""One review of a feedback.json is changed, and nothing else of it; or nothing at all."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from skill_eval_nb.documents import CheckLabel
from skill_eval_nb.workspace.feedback import (
    COMPLETE,
    NotKept,
    Remarks,
    keep_review,
    keep_status,
    read_reviews,
)

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


def test_the_first_review_makes_the_file(path):
    made = keep_review(path, RUN, Remarks("Good", {"tone": 4}), None)
    assert made.timestamp.endswith("Z")
    said = {"run_id": RUN, "feedback": "Good", "timestamp": made.timestamp, "scores": {"tone": 4}}
    assert held(path) == {"reviews": [said], "status": "in_progress"}
    assert [one.name for one in path.parent.iterdir()] == ["feedback.json"]


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
        (b"", "empty"),
        (b"\xff\xfe\x00", "UTF-16|not text|JSON"),
        (b"[1, 2]", "list of `reviews`"),
        (b'{"reviews": {"a": 1}}', "list of `reviews`"),
        (b'{"reviews": [], /* mine */ "status": "complete"}', "comments left out"),
        (b'{"reviews": [], "reviews": []}', "given twice"),
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


def test_what_is_repaired_is_shown_and_a_byte_order_mark_is_no_reason_not_to_write(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"reviews": [{"run_id": "a", "feedback": "x"},]}')
    now = read_reviews(path)
    assert [one.remarks for one in now.entries] == [Remarks("x")]
    assert "trailing commas" in now.fault
    path.write_bytes(b'\xef\xbb\xbf{"reviews": []}')
    keep_review(path, RUN, Remarks("x"), None)
    assert [one.remarks.text for one in read_reviews(path).entries] == ["x"]


def test_the_status_alone_and_told_from_what_the_file_then_says(path):
    keep_status(path, COMPLETE)
    assert held(path) == {"reviews": [], "status": "complete"}
    their(path)
    keep_status(path, COMPLETE)
    assert held(path) == {**THEIRS, "status": "complete"}
    path.unlink()
    keep_review(path, RUN, Remarks("x"), None, lambda now: f"{len(now.entries)} entry")
    assert held(path)["status"] == "1 entry"


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
