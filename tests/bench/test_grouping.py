"""Suggestions that say the same are found well enough, on pairs that nothing was chosen on."""

from __future__ import annotations

import pytest

from tests.bench.grouping import PARTS, WANTED, pairs, same_expectation, scenes, score


def test_the_held_out_pairs_are_grouped_as_well_as_wanted():
    reached = score("held out")
    assert reached.f1 >= WANTED
    assert reached.precision >= 0.85
    assert reached.f1 > score("held out", same_expectation).f1


@pytest.mark.parametrize("part", PARTS)
def test_there_are_pairs_enough_of_both_kinds(part):
    said = [same for same, _ in pairs(part, same_expectation)]
    assert len(said) > 150
    assert sum(said) > 50


def test_every_scene_names_its_expectations_as_graders_do():
    for scene in [one for part in PARTS for one in scenes(part)]:
        texts = scene["expectations"]
        for _, said, reason in scene["said"]:
            assert isinstance(reason, str)
            assert said is None or said in texts.values() or said.split(":")[0] in texts
