"""A review without a browser: what is seen, what is said, and what the file then holds."""

from __future__ import annotations

import json
from itertools import product

import skill_eval_nb as sen
from skill_eval_nb.tables import check
from skill_eval_nb.widgets.review import review
from skill_eval_nb.workspace import feedback
from tests.charts.worlds import run_keys
from tests.tables.made import workspace as made_of
from tests.widgets.review.made import (
    SIDES,
    doubted,
    held,
    opened,
    token,
)
from tests.widgets.trees import find, text

FIRST = token("1", "with_skill")
BESIDE = token("1", "without_skill")


def test_while_one_types_only_the_progress_is_drawn_and_the_table_has_it(tmp_path):
    panel = opened(tmp_path)
    drawn = []
    panel.observe(lambda _: drawn.append(1), names="_wire")
    panel.do("say", FIRST, "Goo")
    panel.do("say", FIRST, "Good.\nBut long.")
    assert len(drawn) == 1
    panel.do("score", FIRST, "order", 5)
    folder = tmp_path / "tidy-workspace"
    assert panel.feedback.equals(sen.load(folder).feedback)
    assert not [one for one in check(folder) if one.path.endswith("feedback.json")]


def test_runs_without_a_number_are_left_out_and_that_is_said():
    pairs = product(SIDES, [1, None])
    ws = made_of(runs=[run_keys(configuration=side, run_number=n, path=side) for side, n in pairs])
    for pair in ("with and without", "iterations", "single"):
        told = text(review(ws, pair).view())
        assert "2 runs without a number cannot be reviewed" in told
        assert "eval-0" in told


def test_what_could_not_be_written_is_written_with_what_comes_next(tmp_path, monkeypatch):
    panel = opened(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(feedback, "write_atomic", full)
        panel.do("say", FIRST, "Good")
        assert "No space left" in panel.fault
        assert "feedback on 1 run could not be written" in text(panel.view())
        assert panel.feedback.height == 0
    panel.do("score", BESIDE, "tone", 1)
    assert sorted(one["feedback"] for one in held(tmp_path)["reviews"]) == ["", "Good"]
    assert "ot saved" not in text(panel.view())


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
