"""What is measured does what it says: `bench` has no tests of its own."""

from __future__ import annotations

import pkgutil
import re
import traceback
from importlib import import_module
from itertools import pairwise

import pytest

import bench
from bench import fuzzing
from bench.calibrate import claims, factors, gates, harder, labelled, looks, pages, small, triggers
from bench.calibrate.__main__ import PAGE
from bench.calibrate.lookup import Found
from bench.calibrate.measure import BY_FAMILY, OURS, PEERS, Measured
from bench.calibrate.page import About, page
from bench.calibrate.scenarios import cells
from bench.generate import workspace
from bench.grouping import WANTED, same_expectation, score
from bench.methods import METHODS
from tests.corpus.build import lay
from tests.tables.made import two_sides

MODULES = [one.name for one in pkgutil.walk_packages(bench.__path__, "bench.")]


@pytest.mark.parametrize("name", [name for name in MODULES if "__main__" not in name])
def test_what_a_measurement_imports_is_there(name):
    import_module(name)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.runs])
def test_every_way_of_reading_finds_every_run(name, tmp_path_factory):
    method = METHODS[name]
    folder = workspace(80, tmp_path_factory.getbasetemp() / "bench")
    assert method.runs
    assert method.runs(method.get_ready()(str(folder))) == 80


def test_damage_ends_in_no_exception(tmp_path):
    """Of a workspace of a few runs, so that much of it is damaged at a time."""
    steps = list(fuzzing.rounds(lay(tmp_path / "small", two_sides()), range(8)))
    found = [
        f"seed {seed}, {done}, {name}: {''.join(traceback.format_exception(fault)[-3:])}"
        for seed, done, name, _, fault in steps
        if fault is not None
    ]
    assert not found
    assert {name for _, _, name, _, _ in steps} >= {"load", "convert", "explore"}
    assert len({done.split()[0] for _, done, _, _, _ in steps}) > 5


def test_a_fault_would_be_found(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing, "check", lambda _: {}["missing"])
    small = lay(tmp_path / "small", two_sides())
    faults = [(one[2], type(one[-1])) for one in fuzzing.rounds(small, range(1)) if one[-1]]
    assert faults == [("check", KeyError)]


def test_pairs_that_nothing_was_chosen_on_are_grouped_as_well_as_wanted():
    reached = score("held out")
    assert reached.f1 >= WANTED
    assert reached.precision >= 0.85
    assert reached.f1 > score("held out", same_expectation).f1


def test_the_page_in_the_package_is_a_full_one_and_of_this_shape():
    """Whoever changes what is simulated or shown runs `make calibrate` again."""
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(r"seed \d+, [2-9],\d{3} data sets a cell,", text)
    one = Measured(2000, 1.0, 0.951, 0.949, 0.02, 0.02, 1.0, 0.2, 0.2)
    methods = [f"{how}, {who}" for how in (labelled.JUDGE, labelled.CORRECTED) for who in OURS]
    measured = dict.fromkeys([*OURS, BY_FAMILY, *PEERS, *methods], one)
    scores = [f"{what} {name}" for what in triggers.PREFIXES for name in triggers.SCORES]
    names = [*scores, "bootstrap f1", pages.TOGETHER, pages.ALONE, *claims.OPINIONS]
    names += [looks.PLANNED, looks.ONE, looks.AGAIN, looks.RUNS, "up", "down", "runs", "evals"]
    names += [*factors.DIFFERS.values(), *factors.CLAIMS.values(), *gates.ENDS.values()]
    shares = dict.fromkeys([*names, gates.UNSAID], 0.05)
    found = Found(
        dict.fromkeys(cells(), measured),
        dict.fromkeys(harder.cells(), measured),
        *(
            dict.fromkeys(room.cells(), shares)
            for room in (factors, pages, looks, small, gates, claims, triggers)
        ),
        dict.fromkeys(labelled.cells(), measured),
    )
    fresh = page(found, About("make calibrate", 1, 2000, {"Python": "3.11.0"}))

    def shape(of: str) -> list[str]:
        lines = of.splitlines()
        heads = [line for line, below in pairwise(lines) if below.startswith(("| :-", "| --"))]
        return [line for line in lines if line.startswith("#")] + heads

    assert shape(text) == shape(fresh)
