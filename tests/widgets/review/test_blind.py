"""A blind review tells nothing of which side is which, until all is scored; then it tells all."""

from __future__ import annotations

import json

from skill_eval_nb.widgets.show import outputs
from tests.widgets.review.made import (
    SIDES,
    TELLTALE,
    held,
    opened,
    shown_runs,
    token,
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
        assert "too large to download here" in whole
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
