"""The page: every cell on it, bold where it should be, the same bytes for the same results."""

import re
from itertools import pairwise

import pytest

from tests.calibrate.__main__ import PAGE
from tests.calibrate.lookup import Found
from tests.calibrate.measure import OURS, PEERS, Measured
from tests.calibrate.page import About, page
from tests.calibrate.scenarios import KS, NS, Cell, cells

FINE = Measured(
    size=2000,
    exists=1.0,
    covers_these=0.951,
    covers_tasks=0.949,
    better=0.02,
    worse=0.02,
    width=1.0,
    detectable=0.2,
    truth=0.2,
)
ABOUT = About("make calibrate", 1, 2000, {"Python": "3.11.0"})


def results(**peers: Measured) -> dict[Cell, dict[str, Measured]]:
    """Every cell the same, and power as it is wanted."""
    found: dict[Cell, dict[str, Measured]] = {}
    for cell in cells():
        one = FINE._replace(better=0.8) if cell.scenario.kind != "given" else FINE
        found[cell] = dict.fromkeys(OURS, one)
        if cell.scenario.peers:
            found[cell] |= {name: FINE for name in PEERS if name != "evalstats"} | peers
    return found


def changed(**figures: float) -> dict[Cell, dict[str, Measured]]:
    """One cell with other figures: A/A, pass rate, n = 12, K = 3, these evals."""
    found = results()
    for cell, every in found.items():
        scenario = cell.scenario
        if (scenario.name, scenario.metric, cell.n, cell.runs) == ("A/A", "pass_rate", 12, 3):
            every["these evals"] = FINE._replace(**figures)
    return found


def test_where_all_is_fine_nothing_is_bold():
    text = page(Found(results()), ABOUT)
    assert "**" not in "".join(line for line in text.splitlines() if line.startswith("|"))
    assert "not within" not in text
    assert "by more than the noise" not in text
    assert "Here it is **not installed**" in text
    assert page(Found(results()), ABOUT) == text


@pytest.mark.parametrize("covers", [0.9, 0.99])
def test_a_cell_outside_is_bold_and_told(covers):
    text = page(Found(changed(covers_these=covers)), ABOUT)
    assert f"| **{100 * covers:.1f}** |" in text
    assert re.search(
        rf"Too (narrow|wide) by more than .*{100 * covers:.1f} % \(pass rate, these evals, A/A, "
        r"n = 12, K = 3\)",
        text,
    )


def test_false_verdicts_are_bold_and_told():
    text = page(Found(changed(better=0.05)), ABOUT)
    assert "| **7.0** |" in text
    assert "More than 6 %: 7.0 % (pass rate, these evals, A/A, n = 12, K = 3)" in text


def test_too_little_power_is_bold_and_told():
    found = results()
    for cell, every in found.items():
        if cell.scenario.kind != "given" and (cell.n, cell.runs) == (8, 3):
            found[cell] = dict.fromkeys(every, FINE._replace(better=0.66))
    text = page(Found(found), ABOUT)
    assert text.count("| **66.0** |") == text.count("66.0 ± 2.1 % (") == 4
    assert text.count("which is not within") == 4


def test_a_peer_that_is_there_is_shown():
    text = page(Found(results(evalstats=FINE._replace(size=1000, better=0.3))), ABOUT)
    assert "not installed" not in text
    assert "**evalstats**: refuses below 15 evals" in text
    assert "**32.0** / **32.0** |" in text


def test_the_date_stands_there_where_it_is_given():
    assert "on 2030-01-02: seed 1" in page(Found(results()), ABOUT._replace(date="2030-01-02"))


def test_every_cell_is_asked_for_once():
    every = cells()
    assert len(set(every)) == len(every)
    assert {(cell.n, cell.runs) for cell in every} == {(n, runs) for n in NS for runs in KS}


def test_the_page_in_the_package_is_a_full_one_and_of_this_shape():
    """Whoever changes what is simulated or shown runs `make calibrate` again."""
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(r"seed \d+, [2-9],\d{3} data sets a cell \(", text)
    fresh = page(Found(results(evalstats=FINE)), ABOUT)

    def shape(of: str) -> list[str]:
        lines = of.splitlines()
        heads = [line for line, below in pairwise(lines) if below.startswith(("| :-", "| --"))]
        return [line for line in lines if line.startswith("#")] + heads

    assert shape(text) == shape(fresh)
