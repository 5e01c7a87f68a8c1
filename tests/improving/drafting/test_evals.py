"""Evals to add, and evals that are too easy."""

from __future__ import annotations

import json
import random
from pathlib import Path

from skill_eval_nb.improving.drafting.rules.evals import of_evals
from skill_eval_nb.stats import plan
from tests.improving.drafting.made import EXISTS, always, look, world


def passes(at: int):
    """A check that passes more often with the skill, drawn for each run."""

    def verdict(name: str, side: str, run: int) -> bool:
        drawn = random.Random(f"{name}{side}{run}{at}").random()
        return drawn < (0.9 if side == "with_skill" else 0.7)

    return verdict


def test_an_eval_that_all_pass_needs_another_task(tmp_path: Path) -> None:
    checks = {"S1": (EXISTS, lambda name, side, run: name == "2" or run == 1)}
    path = world(tmp_path, checks=checks, evals=2)
    (one,) = [each for each in of_evals(look(path)) if each.kind == "reword"]
    assert (one.part, one.target, one.evals, one.missing) == ("evals", "2", ("2",), ("prompt",))
    assert len(one.runs) == 6


def test_one_eval_is_drafted_where_the_plan_asks_for_more(tmp_path: Path) -> None:
    stated = [f"Part {n} is right" for n in range(1, 11)]
    checks = {one: (one, passes(n)) for n, one in enumerate(stated)}
    path = world(tmp_path, checks={"S1": (EXISTS, always), **checks}, evals=7)
    seen = look(path)
    (chosen,) = plan(seen.ws.polars("runs")).filter("chosen").to_dicts()
    (one,) = of_evals(seen)
    assert chosen["n_evals"] > 7
    assert f"asks for {chosen['n_evals']} evals" in one.why
    (item,) = one.new
    assert not isinstance(item, str)
    assert (one.evals, one.target, one.missing) == ((), None, ("prompt",))
    assert [each["id"] for each in item["structural_expectations"]] == ["S1"]
    assert item["expectations"] == stated


def test_a_form_without_checks_says_so(tmp_path: Path) -> None:
    stated = [f"Part {n} is right" for n in range(10)]
    checks = {one: (one, passes(n)) for n, one in enumerate(stated)}
    path = world(tmp_path, checks=checks, evals=7)
    suite = json.loads((path / "evals.json").read_text())
    for each, own in zip(suite["evals"], stated, strict=False):
        each["expectations"] = [own]
    (path / "evals.json").write_text(json.dumps(suite))
    (one,) = [each for each in of_evals(look(path)) if each.kind == "add"]
    assert one.new == ({"prompt": ""},)
    assert "which has no checks yet" in one.why


def test_enough_evals_are_enough(tmp_path: Path) -> None:
    path = world(
        tmp_path, checks={"S1": (EXISTS, lambda name, side, run: side == "with_skill")}, evals=8
    )
    assert [one.kind for one in of_evals(look(path))] == []
