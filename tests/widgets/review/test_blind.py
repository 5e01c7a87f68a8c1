"""A blind review tells nothing of which side is which, until all is scored; then it tells all."""

from __future__ import annotations

import json
import re
import shutil

from skill_eval_nb.widgets.review import review
from skill_eval_nb.widgets.show import outputs
from tests.widgets.review.made import (
    SIDES,
    TELLTALE,
    held,
    opened,
    shown_runs,
    token,
    workspace,
)
from tests.widgets.trees import find, text


def test_nothing_on_the_page_tells_which_side_is_which(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "DOWNLOAD", 1)  # of larger files it is said where they are
    panel = opened(tmp_path, blind=True)
    panel.do("unfold", "difference", True)
    for _ in range(4):
        whole = json.dumps([panel.view(), panel._tree, panel._name])
        said = whole.replace("iteration-1", "")  # of the choice of an iteration
        assert [word for word in TELLTALE if word in said and word != "iteration-1"] == []
        assert "too large to hand over" in whole
        assert str(tmp_path) not in whole
        assert "answer 2" in whole
        assert {text(one) for one in find(panel.view(), tag="mark")} == {"10", "13"}
        panel.do("step", 1)
    assert panel.fault is None
    panel.do("ask_for", "pair", "iterations")
    assert "iteration" not in json.dumps(find(panel.view(), tag="section"))
    assert {"A", "B"} <= {text(one) for one in find(panel.view(), tag="h4")}


def test_what_is_said_of_a_side_is_said_of_its_run(tmp_path):
    panel = opened(tmp_path, blind=True)
    sides = {}
    for _ in range(4):
        for letter, one in zip("AB", shown_runs(panel), strict=True):
            panel.do("say", one, letter)
            sides[one] = letter
        panel.do("step", 1)
    assert held(tmp_path)["status"] == "complete"
    by_id = {one["run_id"]: one["feedback"] for one in held(tmp_path)["reviews"]}
    for eval_id, name in (("1", "login"), ("2", "orders")):
        for side in SIDES:
            for run in (1, 2):
                told = by_id[f"eval-{eval_id}-{name}-{side}-run-{run}"]
                assert told == sides[token(eval_id, side, run)]


def score_all(panel, left_out: int = 0) -> None:
    scores = {"with_skill": 4, "without_skill": 2}
    runs = [(e, s, n) for e in "12" for n in (1, 2) for s in SIDES]
    for eval_id, side, number in runs[: len(runs) - left_out]:
        panel.do("score", token(eval_id, side, number), "tone", scores[side])


def test_it_is_revealed_when_both_sides_of_every_pair_are_scored(tmp_path):
    panel = opened(tmp_path, blind=True)
    score_all(panel, left_out=1)
    assert "3 of 4 pairs scored" in text(panel.view())
    assert "with_skill" not in text(panel.view())
    panel.do("score", token("2", "without_skill", 2), "order", 1)  # not what the other is scored on
    assert "with_skill" not in text(panel.view())
    panel.do("score", token("2", "without_skill", 2), "tone", 5)
    told = text(panel.view())
    assert "You preferred with_skill in 3 of 4 pairs, without_skill in 1, and neither in 0." in told
    assert re.search("[AB]: with_skill", told)
    assert "line 1" in told
    later = review(tmp_path / "tidy-workspace", blind=True)  # in the next session, too
    assert "You preferred with_skill in 3 of 4 pairs" in text(later.view())
    panel.do("score", token("2", "without_skill", 2), "tone", None)
    assert "You preferred with_skill in 3 of 3 pairs" in text(panel.view())


def test_runs_with_none_beside_them_are_left_out_and_that_is_said(tmp_path):
    folder = workspace(tmp_path)
    shutil.rmtree(folder / "iteration-2" / "eval-1-login" / "without_skill" / "run-1")
    panel = review(folder, blind=True)
    assert "1 run with no counterpart" in text(panel.view())
    assert "pair 1 of 3" in text(panel.view())
    score_all(panel)
    assert "You preferred" in text(panel.view())
