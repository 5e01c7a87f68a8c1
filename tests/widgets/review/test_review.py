"""A review without a browser: what is seen, what is said, and what the file then holds."""

from __future__ import annotations

import json
from itertools import product

import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import check
from skill_eval_nb.widgets.review import review
from skill_eval_nb.widgets.review.queue import side_by_side, token_of
from skill_eval_nb.widgets.ui.source import tell_landed
from skill_eval_nb.workspace import feedback
from tests.charts.worlds import run_keys
from tests.tables.made import workspace as made_of
from tests.widgets.review.made import (
    SIDES,
    doubted,
    file_of,
    held,
    opened,
    shown_runs,
    token,
    workspace,
)
from tests.widgets.trees import find, text

FIRST = token("1", "with_skill")
BESIDE = token("1", "without_skill")


def words_in(folder, iteration=2):
    """The words of all reviews in the file."""
    return sorted(one["feedback"] for one in held(folder, iteration)["reviews"])


def test_what_is_said_of_the_first_pair_is_in_the_file_and_in_the_table(tmp_path):
    panel = opened(tmp_path)
    assert shown_runs(panel) == [FIRST, BESIDE]
    told = text(panel.view())
    seen = ("pair 1 of 4", "0 of 8 runs reviewed", "Do login", "answer 2 1", "check 1", "line 2")
    for part in seen:
        assert part in told
    drawn = []
    panel.observe(lambda _: drawn.append(1), names="_wire")
    panel.do("say", FIRST, "Goo")
    panel.do("say", FIRST, "Good.\nBut long.")
    assert len(drawn) == 1  # while one types, only the progress is drawn
    panel.do("score", FIRST, "tone", "2")
    panel.do("score", FIRST, "order", 5)
    said = {"feedback": "Good.\nBut long.", "scores": {"tone": 2, "order": 5}}
    reviews = [{"run_id": "eval-1-login-with_skill-run-1", **said}]
    assert held(tmp_path) == {"reviews": reviews, "status": "in_progress"}
    folder = tmp_path / "tidy-workspace"
    assert panel.feedback.equals(sen.load(folder).feedback)
    assert not [one for one in check(folder) if one.path.endswith("feedback.json")]
    assert "1 of 8 runs reviewed" in text(panel.view())


def test_runs_without_a_number_are_left_out_and_that_is_said():
    pairs = product(SIDES, [1, None])
    ws = made_of(runs=[run_keys(configuration=side, run_number=n, path=side) for side, n in pairs])
    for pair in ("with and without", "iterations", "single"):
        told = text(review(ws, pair).view())
        assert "2 runs without a number cannot be reviewed" in told
        assert "eval-0" in told


def test_a_folder_that_was_deleted_is_told_and_not_made_anew(tmp_path):
    panel = opened(tmp_path)
    folder = file_of(tmp_path).parent
    folder.rename(tmp_path / "away")
    panel.do("say", FIRST, "Good")
    assert "Not saved" in panel.fault
    assert not folder.exists()
    assert "iteration-2 no longer exists" in text(panel.view())
    (tmp_path / "away").rename(folder)
    panel.do("save")
    assert words_in(tmp_path) == ["Good"]


def test_what_could_not_be_written_is_written_with_what_comes_next(tmp_path, monkeypatch):
    panel = opened(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(feedback, "write_atomic", full)
        panel.do("say", FIRST, "Good")
        assert "No space left" in panel.fault
        assert "of 1 run could not be written" in text(panel.view())
        assert panel.feedback.height == 0
    panel.do("score", BESIDE, "tone", 1)
    assert words_in(tmp_path) == ["", "Good"]
    assert "ot saved" not in text(panel.view())


def test_what_others_say_meanwhile_is_taken_up_and_stays(tmp_path):
    mine, theirs = opened(tmp_path), review(tmp_path / "tidy-workspace")
    mine.do("say", FIRST, "Mine")
    theirs.do("say", BESIDE, "Theirs")
    assert "2 of 8 runs reviewed" in text(mine.view())
    assert len(held(tmp_path)["reviews"]) == 2
    theirs.show()  # they have seen mine
    theirs.do("say", FIRST, "Mine, better said")
    mine.do("say", FIRST, "Mine, again")  # and I am still typing
    assert "Also said of it" in text(mine._tree)
    assert words_in(tmp_path) == ["Mine, again", "Mine, better said", "Theirs"]
    assert mine.feedback.height == 3


def test_runs_that_land_are_seen_and_what_is_looked_at_stays(tmp_path):
    panel = opened(tmp_path)
    panel.do("step", 1)
    panel.do("say", token("1", "with_skill", 2), "x")
    workspace(tmp_path, runs=3)
    tell_landed(tmp_path / "tidy-workspace")
    assert "1 of 12 runs reviewed" in text(panel.view())
    assert shown_runs(panel)[0] == token("1", "with_skill", 2)
    panel.do("say", token("1", "with_skill", 2), "")
    assert held(tmp_path)["reviews"] == []


def test_a_score_that_is_none(tmp_path):
    panel = opened(tmp_path)
    for score in (0, 6, "x", 2.5):
        panel.do("score", FIRST, "tone", score)
        assert panel.fault is not None
        panel.do("dismiss")
    assert not file_of(tmp_path).exists()


def test_single_checks_are_labelled_without_the_judge_and_the_side(tmp_path):
    folder = doubted(tmp_path)
    panel = review(folder, "checks")
    items = panel._now.items
    for at, item in enumerate(items):
        page = panel.view()
        assert item.check in [text(one) for one in find(page, tag="h4")]
        hidden = json.dumps(page)
        assert not [word for word in ("with_skill", "line 1", "4,321", "medium") if word in hidden]
        panel.do("label_check", item.token, ("pass", "fail")[at % 2])
        panel.do("step", 1)
    assert panel.fault is None
    assert f"{len(items)} of {len(items)} checks labelled" in text(panel.view())
    assert [one for one in check(folder) if one.path.endswith("feedback.json")] == []
    feedback = sen.load(folder).feedback
    labels = [label for own in feedback["labels"] for label in json.loads(own)]
    assert len(labels) == len({(item.runs[0], item.check) for item in items}) == len(items)
    assert {label["sampled"] for label in labels} == {True, False}
    assert feedback["feedback"].null_count() == feedback.height  # no run was reviewed
    assert held(tmp_path, 1)["status"] == "in_progress"
    for fine, reviewed in ((True, 1), (False, 0)):
        others = review(folder, "single")
        others.do("call_fine", token("1", "with_skill", iteration="iteration-1"), fine)
        assert f"{reviewed} of 12 runs reviewed" in text(others.view())
    again = review(folder, "checks")
    for item in again._now.items:
        again.do("label_check", item.token, None)
    assert held(tmp_path, 1)["reviews"] == []


def test_words_on_a_run_and_labels_of_its_checks_do_not_touch_each_other(tmp_path):
    doubted(tmp_path)
    panel = review(tmp_path / "tidy-workspace", "checks")
    item = panel._now.items[0]
    run = token_of(item.runs[0])
    panel.do("label_check", item.token, "pass")
    panel.do("say", run, "Good")
    panel.do("score", run, "tone", 4)
    [one] = held(tmp_path, 1)["reviews"]
    assert (one["feedback"], one["scores"], len(one["labels"])) == ("Good", {"tone": 4}, 1)
    assert "reviewed" not in one or one["reviewed"]
    panel.do("label_check", item.token, None)
    panel.do("label_check", item.token, "fail")
    panel.do("say", run, "")
    panel.do("score", run, "tone", None)
    [one] = held(tmp_path, 1)["reviews"]
    assert (one["feedback"], one["labels"][0]["passed"], one["reviewed"]) == ("", False, False)


@pytest.mark.parametrize(
    ("mine", "theirs", "paired"),
    [
        ([1, 2], [3, 4], [[1, 3], [2, 4]]),
        ([2], [1, 2, 3], [[2, 2], [1], [3]]),
        ([1], [], [[1]]),
    ],
)
def test_runs_of_the_same_number_come_together(mine, theirs, paired):
    sides = (
        [run_keys(configuration=side, run_number=n) for n in numbers]
        for side, numbers in zip(SIDES, (mine, theirs), strict=True)
    )
    items = side_by_side(*sides)
    assert [[key.run_number for key in item.runs] for item in items] == paired
